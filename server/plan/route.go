package plan

import "slices"

// route is the way from a node down to a table, or to the groups of one, through
// operators that treat alike the rows of it that they cannot tell apart.
type route struct {
	node Node
	next *route // nil at the leaf
	left bool   // of a join: next is its left side
	// columns are the node's, over the leaf's; nil for others.
	columns []Expr
	// nullable: there are rows in which the leaf's columns are NULL because no row
	// of it matched.
	nullable bool
	// need are the node's columns that are read above it.
	need bits
}

// routes are the ways from n to the tables below it.
func routes(n Node) []*route {
	if leaf := leafRoute(n); leaf != nil {
		return []*route{leaf}
	}
	var out []*route
	switch n := n.(type) {
	case *Filter:
		for _, r := range routes(n.Input) {
			out = append(out, r.above(n, selectExprs(r.columns, n.Projection)))
		}
	case *Project:
		for _, r := range routes(n.Input) {
			out = append(out, r.above(n, mapSlice(n.Exprs, r.over)))
		}
	case *Join:
		out = append(joinRoutes(n, true), joinRoutes(n, false)...)
	}
	return out
}

// leafRoute is the way that ends at n, which is a view of a table or a partial
// aggregate; nil for others.
func leafRoute(n Node) *route {
	s, ok := n.(*Scan)
	if v, _ := viewOf(n); v == nil && !(ok && s.Partial != nil) {
		return nil
	}
	out := &route{node: n}
	for i, t := range n.Columns() {
		out.columns = append(out.columns, &Ref{Index: i, RefType: t})
	}
	return out
}

// above is the way from n, which has these columns, over r.
func (r *route) above(n Node, columns []Expr) *route {
	return &route{node: n, next: r, columns: columns, nullable: r.nullable}
}

func selectExprs(in []Expr, positions []int) []Expr {
	if positions == nil {
		return in
	}
	return mapSlice(positions, func(i int) Expr { return in[i] })
}

// Of these joins, each row of the left (right) side yields as many rows as it
// has partners, or one row, or none.
var (
	followsLeft  = []JoinKind{InnerJoin, LeftJoin, RightJoin, OuterJoin, SemiJoin, AntiJoin, MarkJoin, SingleJoin}
	followsRight = []JoinKind{InnerJoin, LeftJoin, RightJoin, OuterJoin, RightSemiJoin, RightAntiJoin}
	nullsLeft    = []JoinKind{RightJoin, OuterJoin}
	nullsRight   = []JoinKind{LeftJoin, OuterJoin}
)

// joinRoutes are the ways through one side of a join. The sides of a correlated
// join read each other.
func joinRoutes(n *Join, left bool) []*route {
	side, kinds, nulls := n.Right, followsRight, nullsRight
	if left {
		side, kinds, nulls = n.Left, followsLeft, nullsLeft
	}
	if n.Delim != nil || !slices.Contains(kinds, n.Kind) {
		return nil
	}
	out := routes(side)
	for i, r := range out {
		columns := make([]Expr, len(n.Columns()))
		for c := range columns {
			if of, at, ok := n.Side(c); ok && of == left {
				columns[c] = r.columns[at]
			}
		}
		out[i] = r.above(n, columns)
		out[i].left = left
		out[i].nullable = r.nullable || slices.Contains(nulls, n.Kind)
	}
	return out
}

// leaf is the node at the end.
func (r *route) leaf() Node {
	for r.next != nil {
		r = r.next
	}
	return r.node
}

// scan is the scan in the leaf.
func (r *route) scan() *Scan { return Scans(r.leaf())[0] }

// grouped: the rows at the end are groups already.
func (r *route) grouped() bool { return r.scan().Partial != nil }

// over writes an expression over the node's columns over those of the leaf; nil
// when it reads others, or becomes too large.
func (r *route) over(e Expr) Expr {
	size, ok := 0, true
	WalkExpr(e, func(e Expr) bool {
		size++
		if ref, isRef := e.(*Ref); isRef {
			if ok = ok && r.columns[ref.Index] != nil; ok {
				size += sizeOf(r.columns[ref.Index])
			}
		}
		ok = ok && size <= maxViewSize
		return ok
	})
	if !ok {
		return nil
	}
	return mapRefs(e, func(ref *Ref) Expr { return r.columns[ref.Index] })
}

// volatile: an operator on the way computes something of each row anew.
func (r *route) volatile() bool {
	found := false
	for ; r.next != nil; r = r.next {
		WalkExprs(r.node, func(e Expr) { found = found || isVolatile(e) })
	}
	return found
}

// mark notes which columns are read above each node, and returns those that are
// read of the leaf.
func (r *route) mark(need bits) bits {
	r.need = need
	if r.next == nil {
		return need
	}
	in := make(bits, len(r.next.columns))
	switch n := r.node.(type) {
	case *Filter:
		in.through(need, n.Projection)
		in.exprs(n.Conjuncts)
	case *Project:
		for i, e := range n.Exprs {
			if need[i] {
				in.refs(e, 0)
			}
		}
	case *Join:
		r.markJoin(n, in)
	}
	return r.next.mark(in)
}

// markJoin marks what is read of the side that the way goes through.
func (r *route) markJoin(n *Join, in bits) {
	for c, needed := range r.need {
		if left, at, ok := n.Side(c); ok && needed && left == r.left {
			in[at] = true
		}
	}
	width := len(n.Left.Columns())
	both := make(bits, width+len(n.Right.Columns()))
	for _, c := range n.Conditions {
		both.refs(c.Left, 0)
		if c.Op != "" {
			both.refs(c.Right, width)
		}
	}
	if r.left {
		in.or(both[:width])
	} else {
		in.or(both[width:])
	}
}

// rebuild puts other rows in the place of the leaf's. leafAt has the new
// positions of the leaf's columns, -1 for those that nobody reads; more are columns
// of the other rows that are read besides, in order. It returns the new positions
// of the node's columns, and those of the columns of the other rows.
func (r *route) rebuild(leaf Node, leafAt, more []int) (out Node, at, all []int) {
	if r.next == nil {
		return leaf, leafAt, positions(len(leaf.Columns()))
	}
	in, at, all := r.next.rebuild(leaf, leafAt, more)
	switch n := r.node.(type) {
	case *Filter:
		return &Filter{Input: in, Conjuncts: remapAll(n.Conjuncts, at)}, selectColumnsAt(at, n.Projection), all
	case *Project:
		return r.rebuildProject(n, in, at, all, more)
	case *Join:
		return r.rebuildJoin(n, in, at, all)
	}
	return r.node, at, all
}

func selectColumnsAt(at, projection []int) []int {
	if projection == nil {
		return at
	}
	return mapSlice(projection, func(i int) int { return at[i] })
}

// rebuildProject keeps the expressions that are read above and adds what is read
// of the other rows.
func (r *route) rebuildProject(n *Project, in Node, at, all, more []int) (Node, []int, []int) {
	out := &Project{Input: in}
	moved := make([]int, len(n.Exprs))
	for i, e := range n.Exprs {
		if moved[i] = -1; r.need[i] {
			moved[i] = len(out.Exprs)
			out.Exprs = append(out.Exprs, remap(e, at))
		}
	}
	types := in.Columns()
	added := make([]int, len(all))
	for i, c := range all {
		if added[i] = -1; slices.Contains(more, i) {
			added[i] = len(out.Exprs)
			out.Exprs = append(out.Exprs, &Ref{Index: c, RefType: types[c]})
		}
	}
	return out, moved, added
}

// rebuildJoin keeps all columns of the new side.
func (r *route) rebuildJoin(n *Join, in Node, at, all []int) (Node, []int, []int) {
	out := *n
	leftAt, rightAt := at, positions(len(n.Right.Columns()))
	if r.left {
		out.Left, out.LeftProjection = in, nil
	} else {
		leftAt, rightAt = positions(len(n.Left.Columns())), at
		out.Right, out.RightProjection = in, nil
	}
	out.Conditions = remapConditions(n.Conditions, leftAt, rightAt, len(out.Left.Columns()))
	return &out, r.joinedAt(n, &out, at), r.shifted(&out, all)
}

// shifted are positions of the new side among the join's columns.
func (r *route) shifted(out *Join, in []int) []int {
	if r.left || out.Kind == RightSemiJoin || out.Kind == RightAntiJoin {
		return in
	}
	return offset(in, len(selectTypes(out.Left.Columns(), out.LeftProjection)))
}

// joinedAt are the new positions of a join's columns.
func (r *route) joinedAt(n, out *Join, at []int) []int {
	own := r.shifted(out, at)
	moved := positions(len(n.Columns()))
	by := len(out.Columns()) - len(n.Columns())
	for c := range moved {
		left, in, ok := n.Side(c)
		if ok && left == r.left {
			moved[c] = own[in]
		} else if r.left {
			moved[c] += by
		}
	}
	return moved
}

func offset(at []int, by int) []int {
	return mapSlice(at, func(i int) int {
		if i < 0 {
			return i
		}
		return i + by
	})
}

// remapConditions moves the columns of both sides of a join; width is that of the
// new left side.
func remapConditions(in []JoinCondition, leftAt, rightAt []int, width int) []JoinCondition {
	both := slices.Concat(leftAt, offset(rightAt, width))
	return mapSlice(in, func(c JoinCondition) JoinCondition {
		if c.Op == "" {
			return JoinCondition{Left: remap(c.Left, both)}
		}
		return JoinCondition{Op: c.Op, Left: remap(c.Left, leftAt), Right: remap(c.Right, rightAt)}
	})
}
