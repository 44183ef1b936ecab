package plan

import (
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

var (
	_ Rule = filterPushdown{}
	_ Rule = filterLift{}
)

// filterPushdown moves the conjuncts above a scan into it, as far as scanners
// can evaluate them exactly, and takes out of it what they cannot.
type filterPushdown struct{}

// Name is "filter_pushdown".
func (filterPushdown) Name() string { return "filter_pushdown" }

// Apply divides the conjuncts over each scan between scanners and coordinator.
func (filterPushdown) Apply(root Node) (Node, bool, error) {
	out := filterMover{divide: dividePushable}.apply(root)
	return out, differs(root, out), nil
}

// filterLift takes all filters out of the scans.
type filterLift struct{}

// Name is "filter_lift".
func (filterLift) Name() string { return "filter_lift" }

// Apply puts a Filter above each scan that has one.
func (filterLift) Apply(root Node) (Node, bool, error) {
	out := filterMover{divide: divideNothing}.apply(root)
	return out, differs(root, out), nil
}

// filterMover collects the conjuncts over each scan, inside and directly above
// it, and divides them anew. The division depends on the set alone, so doing it
// again changes nothing.
type filterMover struct {
	divide func(s *Scan, all []Expr) division
}

// division says which conjuncts, over the table's columns, the scan gets.
type division struct {
	push, keep []Expr
	reasons    []string
}

func (m filterMover) apply(root Node) Node {
	return Transform(root, func(n Node) Node {
		switch n := n.(type) {
		case *Scan:
			if len(n.Filter) == 0 || !rowScan(n) {
				return n
			}
			return m.place(n, n.Filter, nil)
		case *Filter:
			return m.filter(n)
		}
		return n
	})
}

func rowScan(s *Scan) bool { return s.Partial == nil && !reducedScan(s) }

// filter handles a Filter whose input is already done.
func (m filterMover) filter(f *Filter) Node {
	switch in := f.Input.(type) {
	case *Scan:
		if !rowScan(in) {
			return f
		}
		above := mapSlice(f.Conjuncts, func(e Expr) Expr { return overTable(in, e) })
		return m.place(in, append(slices.Clone(in.Filter), above...), f.Projection)
	case *Filter:
		if overScan(in) {
			return m.filter(mergeFilters(f, in))
		}
	case *Project:
		if overScan(in) {
			return m.throughProject(f, in)
		}
	}
	return f
}

// overScan reports whether n is filters and projections over a row scan.
func overScan(n Node) bool {
	switch n := n.(type) {
	case *Scan:
		return rowScan(n)
	case *Filter:
		return overScan(n.Input)
	case *Project:
		return overScan(n.Input)
	}
	return false
}

func overTable(s *Scan, e Expr) Expr {
	return mapRefs(e, func(r *Ref) Expr { return &Ref{Index: s.Output[r.Index], RefType: r.RefType} })
}

// mergeFilters is one Filter in the place of two.
func mergeFilters(outer, inner *Filter) *Filter {
	if inner.Projection == nil {
		return &Filter{Input: inner.Input, Conjuncts: append(slices.Clone(inner.Conjuncts), outer.Conjuncts...), Projection: outer.Projection}
	}
	out := &Filter{Input: inner.Input, Conjuncts: slices.Clone(inner.Conjuncts), Projection: inner.Projection}
	for _, e := range outer.Conjuncts {
		out.Conjuncts = append(out.Conjuncts, remap(e, inner.Projection))
	}
	if outer.Projection != nil {
		out.Projection = mapSlice(outer.Projection, func(i int) int { return inner.Projection[i] })
	}
	return out
}

// throughProject moves the conjuncts that read only plain columns of the
// projection below it.
func (m filterMover) throughProject(f *Filter, p *Project) Node {
	var below, above []Expr
	for _, e := range f.Conjuncts {
		if !isVolatile(e) && readsPlain(e, p.Exprs) {
			below = append(below, mapRefs(e, func(r *Ref) Expr { return p.Exprs[r.Index] }))
		} else {
			above = append(above, e)
		}
	}
	if len(below) == 0 || len(above) > 0 {
		return f // a conjunct must not overtake another one that may guard it
	}
	project := &Project{Input: m.filter(&Filter{Input: p.Input, Conjuncts: below}), Exprs: p.Exprs}
	if f.Projection == nil {
		return project
	}
	return &Filter{Input: project, Projection: f.Projection}
}

func readsPlain(e Expr, exprs []Expr) bool {
	plain := true
	WalkExpr(e, func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			_, isRef := exprs[r.Index].(*Ref)
			plain = plain && isRef
		}
		return plain
	})
	return plain
}

// place gives the scan its part of the conjuncts and puts the rest above.
func (m filterMover) place(s *Scan, all []Expr, projection []int) Node {
	d := m.divide(s, conjuncts(all))
	c := *s
	c.Filter = canonicalSet(d.push)
	out := &c
	for _, reason := range d.reasons {
		out = withReason(out, reason)
	}
	if len(d.keep) == 0 {
		return chosen(out, projection)
	}
	return keepAbove(out, d.keep, projection)
}

// chosen applies a projection to the scan itself.
func chosen(s *Scan, projection []int) *Scan {
	if projection == nil {
		return s
	}
	c := *s
	c.Output = mapSlice(projection, func(i int) int { return s.Output[i] })
	c.Types = mapSlice(projection, func(i int) Type { return s.Types[i] })
	return &c
}

// keepAbove filters the scan at the coordinator. Columns that only the filter
// reads are added to the scan's output and projected away.
func keepAbove(s *Scan, keep []Expr, projection []int) Node {
	c := *s
	c.Output, c.Types = slices.Clone(s.Output), slices.Clone(s.Types)
	f := &Filter{Projection: projection}
	for _, e := range keep {
		f.Conjuncts = append(f.Conjuncts, mapRefs(e, func(r *Ref) Expr {
			at := slices.Index(c.Output, r.Index)
			if at < 0 {
				at = len(c.Output)
				c.Output, c.Types = append(c.Output, r.Index), append(c.Types, r.RefType)
			}
			return &Ref{Index: at, RefType: r.RefType}
		}))
	}
	if projection == nil && len(c.Output) > len(s.Output) {
		f.Projection = positions(len(s.Output))
	}
	f.Input = &c
	return f
}

func divideNothing(_ *Scan, all []Expr) division { return division{keep: all} }

// dividePushable pushes what scanners evaluate exactly. A conjunct that can
// fail is pushed only when nothing else that may guard it is left behind, and
// never two of them, whose order the scanner would not keep.
func dividePushable(s *Scan, all []Expr) division {
	var d division
	var fallible []Expr
	kept := map[Expr]bool{}
	for _, e := range all {
		converted, err := pushable(s.Table, e)
		switch {
		case err != nil:
			d.reasons = append(d.reasons, "filter stays at the coordinator: "+err.Error())
			kept[e] = true
		case !pushdown.Infallible(converted):
			fallible = append(fallible, e)
		}
	}
	if len(kept) > 0 || len(fallible) > 1 {
		for _, e := range fallible {
			d.reasons = append(d.reasons, fmt.Sprintf("filter stays at the coordinator: %s can fail on rows that another predicate removes", filterText(s, e)))
			kept[e] = true
		}
	}
	for _, e := range all {
		if kept[e] {
			d.keep = append(d.keep, e)
		} else {
			d.push = append(d.push, e)
		}
	}
	return d
}

// filterText prints an expression over the table's columns.
func filterText(s *Scan, e Expr) string {
	return exprText(e, func(i int) string { return scanColumn(s, i) })
}
