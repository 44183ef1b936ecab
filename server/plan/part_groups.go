package plan

import (
	"slices"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
)

// groups: every group of an aggregate is on one scanner.
func (d divider) groups(a *Aggregate) error {
	if len(a.Sets) > 1 || len(a.Sets) == 1 && len(a.Sets[0]) < len(a.Keys) {
		return notDivided("it has grouping sets")
	}
	return d.apart(a.Input, a.Keys)
}

// distinct: equal rows are on one scanner.
func (d divider) distinct(n *Distinct) error {
	if len(n.On) > 0 {
		return notDivided("its rows depend on each other: DISTINCT ON")
	}
	return d.apart(n.Input, columnRefs(n.Input))
}

func columnRefs(n Node) []Expr {
	var refs []Expr
	for i, t := range n.Columns() {
		refs = append(refs, &Ref{Index: i, RefType: t})
	}
	return refs
}

// apart: a scan of groups lies below, and the values of one of the keys, which
// are over n's columns, or combinations of them, are proven to be on one scanner
// each. What owners promise is as good as statistics: the version of a part
// covers both.
func (d divider) apart(n Node, keys []Expr) error {
	scan, keys := throughProject(n, keys)
	if scan == nil || scan.Partial == nil || scan.Limit != pushdown.NoLimit || len(scan.OrderBy) > 0 {
		return notDivided("its groups are not formed by the scanners")
	}
	if r := scan.Partial.Reduce; r != nil && r.Limit != pushdown.NoLimit {
		return notDivided("its groups depend on each other")
	}
	columns := map[string]int{}
	for i, k := range keys {
		column, ok := scan.groupColumn(k)
		if !ok {
			continue
		}
		columns[column.Name] = i
		if by := disjointBy(scan.Table, d.scan.Targets, column); by.proven && !by.nulls {
			return nil
		}
	}
	if by := promisedApart(scan.Table, d.scan.Targets, columns); by != nil && d.neverNull(by.hashed()) {
		return nil
	}
	return notDivided("nothing proves that no group is on two scanners")
}

// neverNull: no row that passes the filter has NULL in one of these columns.
func (d divider) neverNull(columns []string) bool {
	parts := partitionsByID(d.scan.Table)
	for _, name := range columns {
		column := tableColumn(d.scan.Table, d.scan.Table.Arrow.FieldIndices(name)[0])
		if null := (facts{columns: map[string]codec.ColumnStats{name: {Nulls: 1}}, rows: 1}); ruledOut(null, d.scan.Spec.Filter) != nil {
			continue
		}
		for i := range d.scan.Targets {
			if slices.ContainsFunc(d.scan.Targets[i].Partitions, func(id string) bool {
				k, ok := factsOf(parts[id]).column(column)
				return !ok || k.nulls
			}) {
				return false
			}
		}
	}
	return true
}

// throughProject rewrites keys over a projection into keys over the scan below.
func throughProject(n Node, keys []Expr) (*Scan, []Expr) {
	p, ok := n.(*Project)
	if !ok {
		scan, _ := n.(*Scan)
		return scan, keys
	}
	var below []Expr
	for _, k := range keys {
		if ref, ok := k.(*Ref); ok {
			below = append(below, p.Exprs[ref.Index])
		}
	}
	return throughProject(p.Input, below)
}

// groupColumn is the column of the table that a key over the scan's groups is.
func (s *Scan) groupColumn(key Expr) (pushdown.Column, bool) {
	at, ok := key.(*Ref)
	if !ok || at.Index < 0 || at.Index >= len(s.Partial.Keys) {
		return pushdown.Column{}, false
	}
	return s.keyColumn(at.Index)
}
