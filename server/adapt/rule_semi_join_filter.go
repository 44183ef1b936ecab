package adapt

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

var _ Rule = semiJoinFilter{}

// semiJoinFilter gives the join keys of a finished scan to the scans that it is
// joined with and that have not started.
type semiJoinFilter struct{}

// Name is "semi_join_filter".
func (semiJoinFilter) Name() string { return "semi_join_filter" }

// Apply adds a filter for each edge from a finished scan. Where that scan has no
// key, the other one is not needed.
func (semiJoinFilter) Apply(root plan.Node, facts Facts) (plan.Node, bool, error) {
	edges := Edges(root)
	out, changed := amend(root, func(i int, s *plan.Scan, r plan.Runtime) plan.Runtime {
		for _, e := range edges {
			if e.To == i && facts[i].State == Planned && facts[e.From].State == Finished && !r.Removed {
				r = narrowed(s, e, facts[e.From], r)
			}
		}
		return r
	})
	return out, changed, nil
}

func narrowed(s *plan.Scan, e Edge, from ScanFacts, r plan.Runtime) plan.Runtime {
	keys := from.Keys[e.FromColumn]
	f := plan.RuntimeFilter{Column: e.Column, Source: fmt.Sprintf("%s.c%d", from.ID, e.FromColumn)}
	if e.OrNull {
		f.Source += " or NULL"
	}
	if useless(s, e, keys) {
		return r
	}
	same := func(g plan.RuntimeFilter) bool { return f.Column == g.Column && f.Source == g.Source }
	if keys == nil || slices.ContainsFunc(r.Filters, same) {
		return r
	}
	if keys.None() && !e.OrNull {
		r.Removed = true
		return r
	}
	field := s.Table.Arrow.Field(e.Column)
	f.Text = "in " + keys.Text() + " of " + f.Source
	if f.Expr = condition(keys, pushdown.Column{Name: field.Name, DataType: field.Type}, e.OrNull); f.Expr != nil {
		r.Filters = append(r.Filters, f)
	}
	return r
}

// enough of a column's range among the keys, and a filter costs more than the few
// rows that it drops.
const enough = 0.8

// useless: the keys are nearly all values that the column may have.
func useless(s *plan.Scan, e Edge, keys *Keys) bool {
	low, high, ok := plan.Domain(s.Table, s.Table.Arrow.Field(e.Column).Name)
	if !ok || keys == nil {
		return false
	}
	n, ok := keys.within(low, high)
	return ok && float64(n) > enough*(high-low+1)
}

// condition is what the rows that matter meet, nil for anything.
func condition(keys *Keys, column pushdown.Column, orNull bool) pushdown.Expr {
	null := pushdown.IsNull{Arg: column}
	if orNull && keys.None() {
		return null
	}
	among := keys.Filter(column)
	if among == nil || !orNull {
		return among
	}
	return pushdown.Or{Args: []pushdown.Expr{among, null}}
}
