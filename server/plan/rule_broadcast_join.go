package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

var _ Rule = broadcastJoin{}

// BroadcastJoin is the name of the rule that makes the other way of running a
// plan, and of the one that decides for it while the plan runs.
const BroadcastJoin = "broadcast_join"

// broadcastJoin turns an aggregate over inner joins of one table with others into
// an aggregate over that table, whose scan looks its rows up in the others. That
// pays only where these are small, which is not known before they were read: so
// the rule makes another plan, see [Broadcast].
type broadcastJoin struct{}

// Name is "broadcast_join".
func (broadcastJoin) Name() string { return BroadcastJoin }

// Apply rewrites all aggregates for which that is exact.
func (broadcastJoin) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		if a, ok := n.(*Aggregate); ok && overJoin(a.Input) {
			if out, err := broadcastBelow(a); err == nil {
				return out
			}
		}
		return n
	})
	return out, differs(root, out), nil
}

func broadcastBelow(a *Aggregate) (Node, error) {
	if len(a.Keys)+len(a.Aggregates) == 0 || joinsBelow(a.Input) > pushdown.MaxLookups {
		return nil, notPushed("there is nothing to aggregate, or too much to join")
	}
	volatile := false
	Walk(a, func(n Node) bool {
		WalkExprs(n, func(e Expr) { volatile = volatile || isVolatile(e) })
		return true
	})
	f, err := flattened(a.Input)
	if err == nil && volatile {
		err = notPushed("a volatile function sees every row")
	}
	if err != nil {
		return nil, err
	}
	v, err := f.joined()
	if err != nil {
		return nil, err
	}
	b := newPartialBuilder(v)
	out, err := b.split(a)
	if err != nil {
		return nil, err
	}
	_, err = specOf(b.scan())
	return out, err
}

// flat is a tree of inner joins as one list of tables. Expressions count the
// columns of all tables, in their order.
type flat struct {
	tables  []*view
	starts  []int // of the tables' columns
	width   int
	columns []Expr // of the tree's node
	// conditions are all conjuncts of joins and filters.
	conditions []Expr
}

// flattened fails where n is anything else.
func flattened(n Node) (*flat, error) {
	if v, _ := viewOf(n); v != nil {
		f := &flat{tables: []*view{v}, starts: []int{0}, width: len(v.exprs)}
		for i, t := range n.Columns() {
			f.columns = append(f.columns, &Ref{Index: i, RefType: t})
		}
		return f, nil
	}
	switch n := n.(type) {
	case *Filter:
		f, err := flattened(n.Input)
		if err != nil {
			return nil, err
		}
		if f.conditions, err = f.over(f.conditions, n.Conjuncts...); err != nil {
			return nil, err
		}
		f.columns = selectExprs(f.columns, n.Projection)
		return f, nil
	case *Project:
		f, err := flattened(n.Input)
		if err != nil {
			return nil, err
		}
		f.columns, err = f.over(nil, n.Exprs...)
		return f, err
	case *Join:
		if n.Kind == InnerJoin && n.Delim == nil {
			return flattenedJoin(n)
		}
	}
	return nil, notPushed("%s", describe(n))
}

func flattenedJoin(n *Join) (*flat, error) {
	left, err := flattened(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := flattened(n.Right)
	if err != nil {
		return nil, err
	}
	f := &flat{width: left.width + right.width, tables: slices.Concat(left.tables, right.tables), starts: left.starts}
	shift := func(e Expr) Expr {
		return mapRefs(e, func(r *Ref) Expr { return &Ref{Index: r.Index + left.width, RefType: r.RefType} })
	}
	for _, at := range right.starts {
		f.starts = append(f.starts, at+left.width)
	}
	moved := mapSlice(right.columns, shift)
	f.columns = slices.Concat(left.columns, moved)
	f.conditions = slices.Concat(left.conditions, mapSlice(right.conditions, shift))
	for _, c := range n.Conditions {
		e := c.Left
		if c.Op != "" {
			by := len(left.columns)
			e = &Comparison{Op: c.Op, Left: c.Left, Right: mapRefs(c.Right, func(r *Ref) Expr { return &Ref{Index: r.Index + by, RefType: r.RefType} })}
		}
		if f.conditions, err = f.over(f.conditions, e); err != nil {
			return nil, err
		}
	}
	f.columns = slices.Concat(selectExprs(left.columns, n.LeftProjection), selectExprs(moved, n.RightProjection))
	return f, nil
}

// over appends expressions over the node's columns, written over the tables'.
func (f *flat) over(to []Expr, exprs ...Expr) ([]Expr, error) {
	to = slices.Clip(to)
	for _, e := range exprs {
		size := sizeOf(e)
		out := mapRefs(e, func(r *Ref) Expr {
			size += sizeOf(f.columns[r.Index])
			return f.columns[r.Index]
		})
		if size > maxViewSize {
			return nil, notPushed("the expressions below it are too large to be combined")
		}
		to = append(to, out)
	}
	return to, nil
}

// tableOf is the table that a column is of.
func (f *flat) tableOf(column int) int {
	at, exact := slices.BinarySearch(f.starts, column)
	for exact && at+1 < len(f.starts) && f.starts[at+1] == column {
		at++ // tables without columns begin there too
	}
	if exact {
		return at
	}
	return at - 1
}

// farTooMany rows are no small table, whatever else is found out while the plan runs.
const farTooMany = 4 * pushdown.MaxRelationRows

// estimatedRows are those of a scan of rows, -1 when that is not known.
func estimatedRows(s *Scan) float64 {
	spec, err := specOf(s)
	if err != nil {
		return -1
	}
	sum := 0.0
	for i := range s.Table.Partitions {
		p := &s.Table.Partitions[i]
		if p.Rows < 0 {
			return -1
		}
		sum += float64(p.Rows) * selectivity(spec.Filter, p)
	}
	return sum
}

// joined is a view of the largest table that looks its rows up in all others.
func (f *flat) joined() (*view, error) {
	large, sizes := 0, mapSlice(f.tables, func(v *view) float64 { return estimatedRows(v.scan) })
	for i := range sizes {
		if sizes[i] > sizes[large] {
			large = i
		}
	}
	for i, n := range sizes {
		if i != large && n > farTooMany {
			return nil, notPushed("about %.0f rows are too many to travel", n)
		}
	}
	p := &placing{flat: f, sizes: sizes, scan: *f.tables[large].scan, over: make([][]Expr, len(f.tables)), left: f.conditions}
	p.scan.Joined = &Joined{Large: f.tables[large].scan}
	p.over[large] = f.tables[large].exprs
	for p.next() {
	}
	if len(p.scan.Joined.Lookups) != len(f.tables)-1 || len(f.tables) == 1 {
		return nil, notPushed("a table is not joined by a column of its own")
	}
	out := &view{}
	for _, e := range f.columns {
		out.exprs = append(out.exprs, p.wide(e))
	}
	for _, e := range p.left {
		if err := p.filter(p.wide(e)); err != nil {
			return nil, err
		}
	}
	out.scan = &p.scan
	return out, nil
}

// placing puts one table after the other behind the large one.
type placing struct {
	*flat
	scan  Scan
	sizes []float64 // rows of the tables
	// over has, of each table that has its place, the columns as the scan sees them.
	over [][]Expr
	// left are the conditions that no lookup has taken.
	left []Expr
}

// next places a table that is joined with those that have a place.
func (p *placing) next() bool {
	best := -1
	for i := range p.tables {
		if p.over[i] == nil && len(p.keys(i)) > 0 && (best < 0 || p.rank(i) < p.rank(best)) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	v := p.tables[best]
	start := p.scan.wide().Arrow.NumFields()
	l := newLookup(v.scan, len(p.scan.Joined.Lookups))
	columns := specColumns(v.scan)
	at := func(r *Ref) Expr { return &Ref{Index: start + slices.Index(columns, r.Index), RefType: r.RefType} }
	taken := p.keys(best)
	var left []Expr
	for i, e := range p.left {
		k, ok := taken[i]
		if !ok {
			left = append(left, e)
			continue
		}
		l.Keys = append(l.Keys, p.wide(k.key))
		l.On = append(l.On, slices.Index(columns, k.column))
	}
	p.left = left
	p.over[best] = []Expr{}
	for _, e := range v.exprs {
		p.over[best] = append(p.over[best], mapRefs(e, at))
	}
	joined := *p.scan.Joined
	joined.Lookups = append(slices.Clip(joined.Lookups), l)
	p.scan.Joined = &joined
	return true
}

// rank puts those first of which a filter leaves the least part: most rows will have
// no match.
func (p *placing) rank(table int) float64 {
	return p.sizes[table] / float64(max(TableRows(p.tables[table].scan.Table), 1))
}

// keyMatch is a condition that a column of a table, a position in Table.Arrow, equals a key
// of tables that have a place.
type keyMatch struct {
	column int
	key    Expr
}

// keys are the matches of a table among the conditions that are left.
func (p *placing) keys(table int) map[int]keyMatch {
	out := map[int]keyMatch{}
	for i, e := range p.left {
		c, ok := e.(*Comparison)
		if !ok || c.Op != "=" || c.Left.Type() != c.Right.Type() {
			continue
		}
		for _, side := range [][2]Expr{{c.Left, c.Right}, {c.Right, c.Left}} {
			if m, ok := p.match(table, side[0], side[1]); ok {
				out[i] = m
				break
			}
		}
	}
	return out
}

func (p *placing) match(table int, own, key Expr) (keyMatch, bool) {
	ref, ok := own.(*Ref)
	if !ok || p.tableOf(ref.Index) != table || !p.placed(key) {
		return keyMatch{}, false
	}
	column, ok := p.tables[table].exprs[ref.Index-p.starts[table]].(*Ref)
	if !ok || column.Index < 0 {
		return keyMatch{}, false
	}
	m := keyMatch{column.Index, key}
	_, err := pushable(p.tables[table].scan.Table, column)
	converted, keyErr := pushable(p.scan.wide(), p.wide(key))
	if err != nil || keyErr != nil || !pushdown.Infallible(converted) {
		return keyMatch{}, false
	}
	return m, keyed(converted.Type(), p.tables[table].scan.Table.Arrow.Field(column.Index).Type)
}

// placed: an expression reads tables that have a place, and at least one.
func (p *placing) placed(e Expr) bool {
	any, all := false, true
	WalkExpr(e, func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			any = true
			all = all && p.over[p.tableOf(r.Index)] != nil
		}
		return true
	})
	return any && all
}

// wide writes an expression over the scan's columns.
func (p *placing) wide(e Expr) Expr {
	return mapRefs(e, func(r *Ref) Expr {
		t := p.tableOf(r.Index)
		return p.over[t][r.Index-p.starts[t]]
	})
}

// filter adds a condition. One that reads only the large table would come before
// the lookups, and must not fail on rows without a match.
func (p *placing) filter(e Expr) error {
	converted, err := pushable(p.scan.wide(), e)
	if err != nil {
		return err
	}
	after := false
	WalkExpr(e, func(e Expr) bool {
		r, ok := e.(*Ref)
		after = after || ok && r.Index >= p.scan.Table.Arrow.NumFields()
		return true
	})
	if !after && !pushdown.Infallible(converted) {
		return notPushed("%s can fail on rows that the join removes", ExprString(e))
	}
	p.scan.Filter = append(slices.Clip(p.scan.Filter), e)
	return nil
}
