package plan

import (
	"github.com/tributary-db/tributary/pushdown"
)

var _ Rule = reducePushdown{}

// reducePushdown lets scanners drop whole groups that HAVING, a top-N or a LIMIT
// over an aggregate would drop. These stay where they are: a scanner may send
// more.
type reducePushdown struct{}

// Name is "reduce_pushdown".
func (reducePushdown) Name() string { return "reduce_pushdown" }

// Apply reduces the groups below each TopN, Limit and Filter; the topmost of
// them, which comes last, knows most.
func (reducePushdown) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		switch n := n.(type) {
		case *Filter:
			return reduceGroups(n, nil, pushdown.NoLimit)
		case *TopN:
			if rows, ok := rowsWanted(n.Limit, n.Offset); ok {
				return WithInputs(n, []Node{reduceGroups(n.Input, n.Keys, rows)})
			}
		case *Limit:
			if rows, ok := rowsWanted(n.Count, n.Offset); ok {
				return WithInputs(n, []Node{reduceGroups(n.Input, nil, rows)})
			}
		}
		return n
	})
	return out, differs(root, out), nil
}

// reduceGroups returns n with its groups reduced to the first rows of n, in the
// order of keys over n's columns.
func reduceGroups(n Node, keys []SortKey, limit int64) Node {
	g := groupsOf(n)
	if g == nil {
		return n
	}
	r, err := g.reduction(keys, limit)
	scan := *g.scan
	partial := *scan.Partial
	partial.Reduce = r
	scan.Partial = &partial
	if r != nil && err == nil {
		_, err = specOf(&scan)
	}
	if err != nil {
		partial.Reduce = nil
		scan.Reasons = withReason(&scan, "groups are not reduced: "+err.Error()).Reasons
	}
	return Transform(n, func(n Node) Node {
		if _, ok := n.(*Scan); ok {
			return &scan
		}
		return n
	})
}

// groups are the rows of a final aggregate or a DISTINCT over one scan, seen
// through filters and projections, as if the scan yielded each group once.
type groups struct {
	scan *Scan
	// exprs are the output columns over the partial's columns; nil for one that
	// is not known there.
	exprs []Expr
	// having are the conditions on groups that scanners can evaluate; stays is
	// why others cannot be.
	having []Expr
	stays  error
}

// groupsOf is nil for a tree of another shape.
func groupsOf(n Node) *groups {
	switch n := n.(type) {
	case *Aggregate:
		return aggregateGroups(n)
	case *Distinct:
		return distinctGroups(n)
	case *Project:
		if g := groupsOf(n.Input); g != nil {
			g.exprs = mapSlice(n.Exprs, g.inline)
			return g
		}
	case *Filter:
		if g := groupsOf(n.Input); g != nil {
			g.filter(n.Conjuncts)
			if n.Projection != nil {
				g.exprs = mapSlice(n.Projection, func(i int) Expr { return g.exprs[i] })
			}
			return g
		}
	}
	return nil
}

// aggregateGroups are those of a final aggregate whose groups are the rows of
// the partial one: no key was added for a DISTINCT argument.
func aggregateGroups(a *Aggregate) *groups {
	s, ok := a.Input.(*Scan)
	if !ok || s.Partial == nil || a.Sets != nil || len(a.Keys) == 0 {
		return nil
	}
	if _, same := partialKeys(a, s.Partial); !same {
		return nil
	}
	g := &groups{scan: s, exprs: append([]Expr(nil), a.Keys...)}
	for _, e := range a.Aggregates {
		g.exprs = append(g.exprs, ofWhole(e))
	}
	for range a.Groupings {
		g.exprs = append(g.exprs, nil)
	}
	return g
}

func distinctGroups(d *Distinct) *groups {
	if len(d.On) > 0 || !deduped(d.Input) {
		return nil
	}
	if p, ok := d.Input.(*Project); ok {
		return &groups{scan: p.Input.(*Scan), exprs: p.Exprs}
	}
	s := d.Input.(*Scan)
	g := &groups{scan: s}
	for i, t := range s.Columns() {
		g.exprs = append(g.exprs, &Ref{Index: i, RefType: t})
	}
	return g
}

// ofWhole writes a final aggregate over the one partial row of a whole group;
// nil when that is not possible.
func ofWhole(e Expr) Expr {
	switch e := e.(type) {
	case *AggCall:
		if e.Distinct || e.Filter != nil || len(e.Args) != 1 || e.Name != "sum" && !extreme(e.Name) {
			return nil
		}
		return castTo(e.Args[0], e.Result)
	case *Cast:
		arg := ofWhole(e.Arg)
		if arg == nil {
			return nil
		}
		if inner, ok := arg.(*Cast); ok && inner.Arg.Type() == e.Target && widens(e.Target, inner.Target) {
			return inner.Arg
		}
		return &Cast{Arg: arg, Try: e.Try, Target: e.Target}
	case *Call:
		c := *e
		c.Args = mapSlice(e.Args, ofWhole)
		for _, a := range c.Args {
			if a == nil {
				return nil
			}
		}
		return &c
	}
	return nil
}

// inline writes e over the partial's columns; nil when it reads one that is not
// known there, or becomes too large.
func (g *groups) inline(e Expr) Expr {
	known := sizeOf(e) <= maxViewSize
	out := mapRefs(e, func(r *Ref) Expr {
		x := g.exprs[r.Index]
		if known = known && x != nil && sizeOf(x) <= maxViewSize; known {
			return x
		}
		return r
	})
	if !known || sizeOf(out) > maxViewSize {
		return nil
	}
	return out
}

// filter takes the conjuncts that scanners can evaluate. One that can fail must
// not meet groups that another removes.
func (g *groups) filter(conjuncts []Expr) {
	spec, err := specOf(g.unreduced())
	if err != nil {
		g.stays = err
		return
	}
	for _, e := range conjuncts {
		whole := g.inline(e)
		if whole == nil {
			g.stays = notPushed("a condition reads what is not known of a group")
			continue
		}
		converted, err := pushable(groupTable(&spec), whole)
		if err == nil && !pushdown.Infallible(converted) {
			err = notPushed("a condition can fail")
		}
		if err != nil {
			g.stays = err
			continue
		}
		g.having = append(g.having, whole)
	}
}

func (g *groups) unreduced() *Scan {
	c := *g.scan
	p := *c.Partial
	p.Reduce = nil
	c.Partial = &p
	return &c
}

// reduction is what scanners can do of it; nil when there is nothing, with an
// error when there could have been.
func (g *groups) reduction(keys []SortKey, limit int64) (*Reduce, error) {
	r := &Reduce{Filter: canonicalSet(g.having), Limit: limit, Apart: -1}
	stays := g.stays
	for _, k := range keys {
		ref, ok := g.inline(k.Expr).(*Ref)
		if !ok && stays == nil {
			stays = notPushed("a sort key is not a key or an aggregate")
		}
		if ok {
			r.OrderBy = append(r.OrderBy, SortKey{Expr: ref, Descending: k.Descending, NullsFirst: k.NullsFirst})
		}
	}
	if stays != nil {
		r.OrderBy, r.Limit = nil, pushdown.NoLimit
	}
	if len(r.Filter) == 0 && r.Limit == pushdown.NoLimit {
		return nil, stays
	}
	return g.prove(r)
}
