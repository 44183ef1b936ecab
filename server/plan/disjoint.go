package plan

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// prove finds out why each scanner that has a group has all of it, or all that
// matters for r; an error when there is no reason to think so.
func (g *groups) prove(r *Reduce) (*Reduce, error) {
	spec, err := specOf(g.unreduced())
	if err != nil {
		return nil, err
	}
	targets, err := targetsOf(g.scan.Table, spec)
	if err != nil {
		return nil, err
	}
	if len(targets) <= 1 {
		r.Why = "one scanner has all partitions"
		return r, nil
	}
	if g.byKeys(r) {
		r.Why = "the keys alone decide"
		return r, nil
	}
	if g.byPromise(r, targets) {
		return r, nil
	}
	for i := range g.scan.Partial.Keys {
		column, ok := g.scan.keyColumn(i)
		if !ok {
			continue
		}
		if d := disjointBy(g.scan.Table, targets, column); d.proven {
			r.Pinned, r.Why = true, "no value of "+column.Name+" is on two scanners"
			if d.nulls {
				r.Apart = i
			}
			return r, nil
		}
	}
	return nil, notPushed("neither statistics nor partition functions prove that no key is on two scanners")
}

// byKeys: r drops groups by their keys alone, and what it keeps of two scanners
// is the same groups or does not matter. That needs no more than keys if there
// are no aggregates, and otherwise an order of which ties are the same group.
func (g *groups) byKeys(r *Reduce) bool {
	keys := len(g.scan.Partial.Keys)
	for _, e := range r.Filter {
		if !readsBelow(e, keys) {
			return false
		}
	}
	if r.Limit == pushdown.NoLimit {
		return true
	}
	ordered := map[int]bool{}
	for _, k := range r.OrderBy {
		ref := k.Expr.(*Ref)
		if ref.Index >= keys {
			return false
		}
		ordered[ref.Index] = true
	}
	return len(g.scan.Partial.Aggregates) == 0 || len(ordered) == keys
}

// readsBelow: e reads only the first n columns.
func readsBelow(e Expr, n int) bool {
	below := true
	WalkExpr(e, func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			below = below && r.Index < n
		}
		return below
	})
	return below
}

// disjointness of the scanners' values of a column.
type disjointness struct {
	proven bool
	// nulls: several may have NULL.
	nulls bool
}

func partitionsByID(t *catalog.Table) map[string]*catalog.Partition {
	out := make(map[string]*catalog.Partition, len(t.Partitions))
	for i := range t.Partitions {
		out[t.Partitions[i].ID] = &t.Partitions[i]
	}
	return out
}

// keyColumn is the column of the table that the ith key of the scan's groups is.
func (s *Scan) keyColumn(i int) (pushdown.Column, bool) {
	ref, ok := s.Partial.Keys[i].(*Ref)
	if !ok || ref.Index < 0 || ref.Index >= s.Table.Arrow.NumFields() {
		return pushdown.Column{}, false
	}
	return tableColumn(s.Table, ref.Index), true
}

// span is where the values of a partition lie.
type span struct {
	target int
	lo, hi scalar.Scalar
}

// disjointBy proves from the bounds of every partition that is read that no
// value of the column is on two scanners. A table with replicas is left alone:
// no replica could take over from a scanner that must keep to a version.
func disjointBy(t *catalog.Table, targets []Target, column pushdown.Column) disjointness {
	var d disjointness
	var spans []span
	parts := partitionsByID(t)
	for i := range targets {
		if t.Versions[targets[i].Scanner.Name] == "" {
			return d
		}
		for _, id := range targets[i].Partitions {
			p := parts[id]
			f := facts{columns: p.Columns, rows: p.Rows}
			k, ok := f.column(column)
			if !ok || len(p.Owners) > 1 || len(p.Columns) == 0 {
				return d
			}
			d.nulls = d.nulls || k.nulls
			if !k.values || p.Rows == 0 {
				continue
			}
			if _, ordered := compareScalars(k.lo, k.hi); !ordered {
				return d
			}
			spans = append(spans, span{i, k.lo, k.hi})
		}
	}
	d.proven = apartSpans(spans)
	return d
}

// apartSpans reports whether spans of different targets have no value in common.
func apartSpans(spans []span) bool {
	comparable := true
	compare := func(a, b scalar.Scalar) int {
		order, ok := compareScalars(a, b)
		comparable = comparable && ok
		return order
	}
	slices.SortFunc(spans, func(a, b span) int { return compare(a.lo, b.lo) })
	for i := 1; i < len(spans); i++ {
		last, next := &spans[i-1], &spans[i]
		if compare(next.lo, last.hi) > 0 {
			continue
		}
		if next.target != last.target {
			return false
		}
		if compare(next.hi, last.hi) < 0 {
			next.hi = last.hi
		}
	}
	return comparable
}
