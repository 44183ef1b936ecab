package adapt

import (
	"fmt"
	"slices"
	"strings"

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
	out, changed := narrowAll(root, facts, Planned, func(n *narrowing, f plan.RuntimeFilter) {
		n.runtime.Filters = append(n.runtime.Filters, f)
	})
	return out, changed, nil
}

// narrowAll finds the filters that scans in a state should get by the edges from
// finished ones, and have not got; add notes one.
func narrowAll(root plan.Node, facts Facts, state State, add func(*narrowing, plan.RuntimeFilter)) (plan.Node, bool) {
	edges := Edges(root)
	return amend(root, func(i int, s *plan.Scan, r plan.Runtime) plan.Runtime {
		n := narrowing{scan: s, rows: float64(facts[i].Size), sized: facts[i].Size > 0, runtime: r, larger: narrowsLarger(i, edges, facts), add: add}
		var fresh []Edge
		for _, e := range edges {
			if e.To != i || facts[i].State != state || facts[e.From].State != Finished || !e.holds(&facts[e.From]) {
				continue
			}
			if f := filterOf(e, facts); n.has(f) {
				n.count(keptShare(s, e, facts[e.From].Keys[e.FromColumn]))
			} else {
				fresh = append(fresh, e)
			}
		}
		for _, e := range fresh {
			n.apply(e, facts)
		}
		return n.runtime
	})
}

// narrowing collects the filters of a scan.
type narrowing struct {
	scan    *plan.Scan
	rows    float64 // that its filters are expected to leave, if sized
	sized   bool
	runtime plan.Runtime
	larger  bool // what it yields narrows a larger scan
	add     func(*narrowing, plan.RuntimeFilter)
}

// narrowsLarger: the rows of scan i may be keys for a larger scan.
func narrowsLarger(i int, edges []Edge, facts Facts) bool {
	return slices.ContainsFunc(edges, func(e Edge) bool {
		return e.From == i && facts[e.To].State == Planned && facts[e.To].Size > facts[i].Size
	})
}

func filterOf(e Edge, facts Facts) plan.RuntimeFilter {
	f := plan.RuntimeFilter{Column: e.Column, Source: fmt.Sprintf("%s.c%d", facts[e.From].ID, e.FromColumn)}
	if e.OrNull {
		f.Source += " or NULL"
	}
	if e.Op != pushdown.Equal {
		f.Source = e.Op.String() + " " + f.Source
	}
	return f
}

func (n *narrowing) has(f plan.RuntimeFilter) bool {
	same := func(g plan.RuntimeFilter) bool { return f.Column == g.Column && f.Source == g.Source }
	return slices.ContainsFunc(n.runtime.Filters, same) || slices.ContainsFunc(n.runtime.Late, same)
}

// count takes note of what a filter leaves.
func (n *narrowing) count(share float64, known bool) {
	if known {
		n.rows *= share
	}
}

func (n *narrowing) apply(e Edge, facts Facts) {
	keys := facts[e.From].Keys[e.FromColumn]
	switch {
	case keys == nil || n.runtime.Removed:
		return
	case keys.None() && !e.OrNull:
		n.runtime.Removed = true
		return
	}
	share, known := keptShare(n.scan, e, keys)
	if known && (share > enough || e.Op == pushdown.Equal && !n.worth(keys, n.rows*(1-share))) {
		return
	}
	f := filterOf(e, facts)
	field := n.scan.Table.Arrow.Field(e.Column)
	f.Text = textOf(e, keys, f.Source)
	if f.Expr = condition(e, keys, pushdown.Column{Name: field.Name, DataType: field.Type}); f.Expr != nil {
		n.add(n, f)
		n.count(share, known)
	}
}

// enough of a column's range among the keys, and a filter costs more than the few
// rows that it drops.
const enough = 0.8

// worth: to send and look up the keys costs less than the rows that they drop,
// or makes the scan small enough to have keys itself.
func (n *narrowing) worth(keys *Keys, dropped float64) bool {
	return !n.sized || dropped > rowsPerKey*float64(keys.listed()) || n.larger && n.rows > maxValues
}

// rowsPerKey are the rows that come in the time that one key takes, from the
// coordinator to the look-ups of every scanner.
const rowsPerKey = 10

func textOf(e Edge, keys *Keys, source string) string {
	if e.Op == pushdown.Equal {
		return "in " + keys.Text() + " of " + source
	}
	op, from, _ := strings.Cut(source, " ")
	return op + " " + keys.Text() + " of " + from
}

// condition is what the rows that matter meet, nil for anything.
func condition(e Edge, keys *Keys, column pushdown.Column) pushdown.Expr {
	if e.Op != pushdown.Equal {
		return keys.Bound(column, e.Op)
	}
	null := pushdown.IsNull{Arg: column}
	if e.OrNull && keys.None() {
		return null
	}
	among := keys.Filter(column)
	if among == nil || !e.OrNull {
		return among
	}
	return pushdown.Or{Args: []pushdown.Expr{among, null}}
}
