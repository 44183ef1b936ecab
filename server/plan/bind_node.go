package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

func (r *reader) filter(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	exprs, err := expressions(n, scopeOf(in))
	if err != nil {
		return nil, err
	}
	out := &Filter{Input: in, Conjuncts: flattenAnd(exprs)}
	out.Projection, err = projection(n.Projection, in)
	if err != nil || (len(out.Conjuncts) > 0 || out.Projection != nil) {
		return out, err
	}
	return in, nil
}

// flattenAnd splits conjunctions into their parts.
func flattenAnd(exprs []Expr) []Expr {
	var out []Expr
	for _, e := range exprs {
		if c, ok := e.(*Conjunction); ok && !c.Or {
			out = append(out, flattenAnd(c.Args)...)
			continue
		}
		out = append(out, e)
	}
	return out
}

// projection checks a projection map; an empty one keeps all columns.
func projection(p []int, in Node) ([]int, error) {
	if len(p) == 0 {
		return nil, nil
	}
	width := len(in.Columns())
	for _, i := range p {
		if i < 0 || i >= width {
			return nil, unsupported("a projection of column %d of %d", i, width)
		}
	}
	return p, nil
}

func (r *reader) project(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	exprs, err := expressions(n, scopeOf(in))
	return &Project{Input: in, Exprs: exprs}, err
}

func (r *reader) aggregate(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	s := scopeOf(in)
	out := &Aggregate{Input: in}
	if out.Keys, err = s.exprs(n.Groups); err != nil {
		return nil, err
	}
	if out.Aggregates, err = expressions(n, s); err != nil {
		return nil, err
	}
	if len(n.GroupingFunctions) > 0 {
		out.Groupings = n.GroupingFunctions
	}
	if !plainGrouping(n.GroupingSets, len(out.Keys)) {
		out.Sets = n.GroupingSets
	}
	return out, checkGroupings(out)
}

func plainGrouping(sets [][]int, keys int) bool {
	return len(sets) == 0 || len(sets) == 1 && len(sets[0]) == keys
}

func checkGroupings(n *Aggregate) error {
	for _, positions := range slices.Concat(n.Sets, n.Groupings) {
		for _, p := range positions {
			if p < 0 || p >= len(n.Keys) {
				return unsupported("a grouping set with key %d of %d", p, len(n.Keys))
			}
		}
	}
	return nil
}

func (r *reader) distinct(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	s := scopeOf(in)
	out := &Distinct{Input: in}
	switch n.DistinctType {
	case "DISTINCT":
		return out, nil
	case "DISTINCT_ON":
		if out.On, err = s.exprs(n.DistinctTargets); err != nil || n.OrderBy == nil {
			return out, err
		}
		out.OrderBy, err = s.keys(n.OrderBy.Orders)
		return out, err
	}
	return nil, unsupported("DISTINCT of kind %s", n.DistinctType)
}

// setOp reads a set operation; the rewrites may have left it one operand.
func (r *reader) setOp(n *jsonNode) (Node, error) {
	op := map[string]string{"LOGICAL_UNION": "UNION", "LOGICAL_INTERSECT": "INTERSECT", "LOGICAL_EXCEPT": "EXCEPT"}[n.Type]
	out := &SetOp{Op: op, All: n.SetOpAll}
	for i := range n.Children {
		in, err := r.node(&n.Children[i])
		if err != nil {
			return nil, err
		}
		out.InputNodes = append(out.InputNodes, in)
	}
	if len(out.InputNodes) == 0 || op != "UNION" && len(out.InputNodes) != 2 {
		return nil, unsupported("%s of %d operands", op, len(out.InputNodes))
	}
	out.OutputTypes = out.InputNodes[0].Columns()
	for _, in := range out.InputNodes {
		if !slices.Equal(in.Columns(), out.OutputTypes) {
			return nil, unsupported("%s of different types", op)
		}
	}
	if len(out.InputNodes) == 1 && out.All {
		return out.InputNodes[0], nil
	}
	return out, nil
}

func (r *reader) sort(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	out := &Sort{Input: in}
	if out.Projection, err = projection(n.Projections, in); err != nil {
		return nil, err
	}
	out.Keys, err = scopeOf(in).keys(n.Orders)
	return out, err
}

func (r *reader) topN(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	keys, err := scopeOf(in).keys(n.Orders)
	return &TopN{Input: in, Keys: keys, Limit: n.Limit, Offset: n.Offset}, err
}

func (r *reader) limit(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	out := &Limit{Input: in, Count: pushdown.NoLimit}
	if out.Count, err = limitValue(n.LimitVal, pushdown.NoLimit); err != nil {
		return nil, err
	}
	out.Offset, err = limitValue(n.OffsetVal, 0)
	return out, err
}

func limitValue(v *jsonLimit, unset int64) (int64, error) {
	switch {
	case v == nil || v.Type == "UNSET":
		return unset, nil
	case v.Type == "CONSTANT_VALUE":
		return v.Constant, nil
	}
	return 0, unsupported("LIMIT or OFFSET of kind %s", v.Type)
}

func (r *reader) window(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	exprs, err := expressions(n, scopeOf(in))
	return &Window{Input: in, Exprs: exprs}, err
}

func (r *reader) unnest(n *jsonNode) (Node, error) {
	in, err := r.child(n)
	if err != nil {
		return nil, err
	}
	exprs, err := expressions(n, scopeOf(in))
	return &Unnest{Input: in, Exprs: exprs}, err
}

// cte reads a materialised CTE. DuckDB wraps a recursive one in a second CTE of
// the name that the query uses.
func (r *reader) cte(n *jsonNode) (Node, error) {
	first, second, err := r.children(n)
	if err != nil {
		return nil, err
	}
	if n.Type == "LOGICAL_MATERIALIZED_CTE" {
		return &CTE{ID: int(n.TableIndex), Definition: first, Body: second}, nil
	}
	if n.RefRecurring || len(n.KeyTargets) > len("[]") {
		return nil, unsupported("a recursive CTE with USING KEY or recurring references")
	}
	return &RecursiveCTE{ID: int(n.TableIndex), All: n.UnionAll, Base: first, Step: second}, nil
}
