package plan

import (
	"context"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// Predicate turns a condition over one table into conjuncts that every scanner
// and the coordinator's kernels evaluate alike. Only conditions are taken that
// cannot fail: they run before whatever a statement asks of the rows.
func (p *Planner) Predicate(ctx context.Context, snap *catalog.Snapshot, t *catalog.Table, condition string) ([]pushdown.Expr, error) {
	if err := p.binder.Sync(ctx, snap); err != nil {
		return nil, err
	}
	bound, err := p.binder.Bind(ctx, "SELECT (\n"+condition+"\n) FROM "+quoteName(t.Schema)+"."+quoteName(t.Name))
	if err != nil {
		return nil, err
	}
	root, err := readPlan(bound, snap)
	if err != nil {
		return nil, err
	}
	e, err := conditionOf(root, t)
	if err != nil {
		return nil, err
	}
	var out []pushdown.Expr
	for _, conjunct := range flattenAnd([]Expr{e}) {
		converted, err := pushable(t, conjunct)
		if err != nil {
			return nil, err
		}
		if !pushdown.Infallible(converted) {
			return nil, status.New(status.InvalidArgument, "%s can fail on some rows", pushdown.ExprString(converted))
		}
		out = append(out, converted)
	}
	return out, nil
}

// conditionOf is the only column of a plan that reads nothing but t, over the
// table's columns.
func conditionOf(root Node, t *catalog.Table) (Expr, error) {
	v, why := viewOf(root)
	switch {
	case v == nil:
		return nil, status.New(status.InvalidArgument, "it must be a condition over the columns of %s alone, but %s", t.ID(), why)
	case v.scan.Table != t || len(v.scan.Filter) > 0 || len(v.exprs) != 1 || v.exprs[0].Type() != "BOOLEAN":
		return nil, status.New(status.InvalidArgument, "it must be one condition over the columns of %s", t.ID())
	}
	return v.exprs[0], nil
}
