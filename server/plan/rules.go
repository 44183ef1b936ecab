package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Rule rewrites a plan. A rule is a value without state: applying it twice
// changes nothing the second time.
type Rule interface {
	// Name is the rule's name in EXPLAIN.
	Name() string
	// Apply returns the rewritten plan, and whether its printed form differs.
	// Even an unchanged plan may carry new reasons in its scans.
	Apply(root Node) (Node, bool, error)
}

// rules are the rules of a rung in the order in which they run.
func rules(level Pushdown) []Rule {
	all := []struct {
		rule   Rule
		levels []Pushdown
	}{
		// Pruning drops operators of which nobody reads the result: they must not
		// stand between a filter and its scan.
		{columnPruning{}, []Pushdown{PushdownFull, PushdownFilter, PushdownOff}},
		// DuckDB leaves some filters in the scans: without pushdown they come out.
		{filterLift{}, []Pushdown{PushdownOff}},
		// Before what asks for inner joins.
		{outerJoin{}, []Pushdown{PushdownFull, PushdownFilter}},
		// Before filters move: what it finds they take along.
		{impliedFilter{}, []Pushdown{PushdownFull, PushdownFilter}},
		// First of the moving rules: an aggregate or a limit may only follow
		// into the scan when no filter is left above it.
		{filterPushdown{}, []Pushdown{PushdownFull, PushdownFilter}},
		// Again: nobody may need the pushed filters' columns any more. Aggregates
		// follow, so that none is pushed that nobody reads.
		{columnPruning{}, []Pushdown{PushdownFull, PushdownFilter, PushdownOff}},
		{eagerAggregation{}, []Pushdown{PushdownFull}},
		{aggregatePushdown{}, []Pushdown{PushdownFull}},
		// DISTINCT is an aggregate without functions; it needs pruned columns.
		{distinctPushdown{}, []Pushdown{PushdownFull}},
		// Before limits: an order must not be lost to a limit without one.
		{topNPushdown{}, []Pushdown{PushdownFull}},
		{limitPushdown{}, []Pushdown{PushdownFull}},
		// When the aggregates are where they will run.
		{reducePushdown{}, []Pushdown{PushdownFull}},
		// When nothing moves any more: what is shared stays as it is.
		{shareCommonSubplans{}, []Pushdown{PushdownFull, PushdownFilter}},
		// After all that may give a better reason.
		{stayReasons{}, []Pushdown{PushdownFull}},
		// Last: it only checks.
		{planCheck{}, []Pushdown{PushdownFull, PushdownFilter, PushdownOff}},
	}
	var out []Rule
	for _, e := range all {
		if slices.Contains(e.levels, level) {
			out = append(out, e.rule)
		}
	}
	return out
}

// applyRules runs rules in order and returns the names of those that changed the
// plan.
func applyRules(root Node, rules []Rule) (Node, []string, error) {
	var fired []string
	types := root.Columns()
	for _, r := range rules {
		next, changed, err := r.Apply(root)
		if status.CodeOf(err) == status.InvalidArgument {
			return nil, nil, err // the statement's fault, not the rule's
		}
		if err != nil {
			return nil, nil, status.Wrap(status.Internal, err, "rule %s", r.Name())
		}
		if !slices.Equal(next.Columns(), types) {
			return nil, nil, status.New(status.Internal, "rule %s changed the result's types from %v to %v", r.Name(), types, next.Columns())
		}
		if root = next; changed && !slices.Contains(fired, r.Name()) {
			fired = append(fired, r.Name())
		}
	}
	return root, fired, nil
}

// differs is the honest "changed" of a rule.
func differs(before, after Node) bool { return before != after && Print(before) != Print(after) }

// conjuncts flattens ANDs and removes duplicates, keeping the order.
func conjuncts(in []Expr) []Expr {
	var out []Expr
	seen := map[string]bool{}
	for _, e := range flattenAnd(in) {
		if text := ExprString(e); !seen[text] {
			seen[text] = true
			out = append(out, e)
		}
	}
	return out
}

// withReason returns s with one more reason.
func withReason(s *Scan, reason string) *Scan {
	if slices.Contains(s.Reasons, reason) {
		return s
	}
	c := *s
	c.Reasons = append(slices.Clone(s.Reasons), reason)
	return &c
}

// explainScans adds a reason to the row scans below n, except those that a
// nearer operator has already explained.
func explainScans(n Node, reason string) Node {
	switch n := n.(type) {
	case *Scan:
		if n.Partial != nil {
			return n
		}
		return withReason(n, reason)
	case *Aggregate, *Distinct:
		return n
	}
	return WithInputs(n, mapSlice(n.Inputs(), func(in Node) Node { return explainScans(in, reason) }))
}

// mapRefs replaces every column reference of e.
func mapRefs(e Expr, f func(*Ref) Expr) Expr {
	return MapExpr(e, func(e Expr) Expr {
		if r, ok := e.(*Ref); ok {
			return f(r)
		}
		return e
	})
}

// remap moves every reference to position at[i].
func remap(e Expr, at []int) Expr {
	return mapRefs(e, func(r *Ref) Expr {
		if at[r.Index] == r.Index {
			return r
		}
		return &Ref{Index: at[r.Index], RefType: r.RefType}
	})
}
