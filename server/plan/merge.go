package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

// Merge says that all a Residual plan does is to bring the partial groups of its
// only scan together, as the kernels do: its SQL is needed only when they are many.
type Merge struct {
	// Columns are the scan's output columns that the result's are, in order.
	Columns []int
}

// merge returns nil for plans that do more, or that give a value another type.
func (p *Plan) merge() *Merge {
	if len(p.Scans) != 1 {
		return nil
	}
	columns, ok := mergedColumns(p.Root)
	if !ok || !p.yields(columns) {
		return nil
	}
	return &Merge{Columns: columns}
}

// mergedColumns are the scan's columns that a tree of a final aggregate or DISTINCT and
// projections yields.
func mergedColumns(n Node) ([]int, bool) {
	switch n := n.(type) {
	case *Project:
		in, ok := mergedColumns(n.Input)
		if !ok {
			return nil, false
		}
		return picked(in, n.Exprs)
	case *Distinct:
		partial := allGroups(n.Input)
		if partial == nil || len(n.On)+len(partial.Aggregates) > 0 {
			return nil, false
		}
		return positions(len(partial.Keys)), true
	case *Aggregate:
		partial := allGroups(n.Input)
		if partial == nil {
			return nil, false
		}
		return finalColumns(n, partial)
	}
	return nil, false
}

// allGroups is the partial aggregate of a scan, if it yields all its groups.
func allGroups(n Node) *Partial {
	s, ok := n.(*Scan)
	if !ok || s.Partial == nil || s.Partial.Reduce != nil || len(s.OrderBy) > 0 || s.Limit != pushdown.NoLimit {
		return nil
	}
	return s.Partial
}

// finalColumns are the partial's columns that a final aggregate merges, if its
// groups are the partial's.
func finalColumns(a *Aggregate, partial *Partial) ([]int, bool) {
	out, ok := partialKeys(a, partial)
	if !ok || len(a.Sets) > 0 || len(a.Groupings) > 0 {
		return nil, false
	}
	for _, e := range a.Aggregates {
		at, ok := mergedColumn(e, partial)
		if !ok {
			return nil, false
		}
		out = append(out, at)
	}
	return out, true
}

// partialKeys are the positions of a final aggregate's keys among the partial's, if
// these are the same keys: none was added for a DISTINCT argument, and none is there
// twice, which would hide that.
func partialKeys(a *Aggregate, partial *Partial) ([]int, bool) {
	out := make([]int, 0, len(a.Keys)+len(a.Aggregates))
	for _, k := range a.Keys {
		ref, ok := k.(*Ref)
		if !ok || slices.Contains(out, ref.Index) || ref.Index >= len(partial.Keys) {
			return nil, false
		}
		out = append(out, ref.Index)
	}
	return out, len(out) == len(partial.Keys)
}

// mergedColumn is the partial aggregate that e merges as the kernels would: a sum
// of counts, which is 0 for no rows, a sum of sums, a least of least values.
func mergedColumn(e Expr, partial *Partial) (int, bool) {
	o, zeroed := e.(*Operator)
	if zeroed {
		if o.Kind != "COALESCE" || len(o.Args) != 2 || ExprString(o.Args[1]) != ExprString(zero(o.Result)) {
			return 0, false
		}
		e = o.Args[0]
	}
	cast, widened := e.(*Cast)
	if widened {
		if cast.Try {
			return 0, false
		}
		e = cast.Arg
	}
	call, ok := e.(*AggCall)
	if !ok || call.Distinct || call.Filter != nil || len(call.OrderBy) > 0 || len(call.Args) != 1 {
		return 0, false
	}
	ref, ok := call.Args[0].(*Ref)
	if !ok || ref.Index < len(partial.Keys) {
		return 0, false
	}
	switch partial.Aggregates[ref.Index-len(partial.Keys)].Func {
	case pushdown.Count, pushdown.CountStar:
		return ref.Index, call.Name == "sum"
	case pushdown.Sum:
		return ref.Index, call.Name == "sum" && !zeroed
	case pushdown.Min:
		return ref.Index, call.Name == "min" && !zeroed && !widened
	case pushdown.Max:
		return ref.Index, call.Name == "max" && !zeroed && !widened
	}
	return 0, false
}
