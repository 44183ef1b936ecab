package plan

import "slices"

var _ Rule = outerJoin{}

// outerJoin makes an outer join an inner one where something above drops the
// rows that it fills up with NULL. DuckDB does so for filters; here an inner
// join's condition counts as well. Inner joins are rendered flat, and narrow
// both sides.
type outerJoin struct{}

// Name is "outer_join".
func (outerJoin) Name() string { return "outer_join" }

// Apply changes the kinds of joins.
func (outerJoin) Apply(root Node) (Node, bool, error) {
	out := rejecting(root, nil)
	return out, differs(root, out), nil
}

// nullRejects are columns of a node of which each row matters only if the column
// is not NULL.
type nullRejects map[int]bool

func (r nullRejects) with(columns []int) nullRejects {
	out := nullRejects{}
	for c := range r {
		out[c] = true
	}
	for _, c := range columns {
		out[c] = true
	}
	return out
}

// through maps columns to those of an input; at is negative for what is none.
func (r nullRejects) through(at func(column int) int) nullRejects {
	out := nullRejects{}
	for c := range r {
		if i := at(c); i >= 0 {
			out[i] = true
		}
	}
	return out
}

// rejecting rewrites n, of which rows with NULL in certain columns do not matter.
// Limits and windows depend on every row.
func rejecting(n Node, r nullRejects) Node {
	switch n := n.(type) {
	case *Filter:
		in := r.through(func(c int) int { return Projected(n.Projection, c) })
		return WithInputs(n, []Node{rejecting(n.Input, in.with(strictColumns(n.Conjuncts)))})
	case *Sort:
		return WithInputs(n, []Node{rejecting(n.Input, r.through(func(c int) int { return Projected(n.Projection, c) }))})
	case *Project:
		return WithInputs(n, []Node{rejecting(n.Input, r.through(refAt(n.Exprs)))})
	case *Aggregate:
		if n.Sets == nil {
			return WithInputs(n, []Node{rejecting(n.Input, r.through(refAt(n.Keys)))})
		}
	case *Distinct:
		if len(n.On) == 0 {
			return WithInputs(n, []Node{rejecting(n.Input, r)})
		}
	case *SetOp:
		if n.Op == "UNION" {
			return WithInputs(n, mapSlice(n.InputNodes, func(in Node) Node { return rejecting(in, r) }))
		}
	case *CTE:
		return WithInputs(n, []Node{rejecting(n.Definition, nil), rejecting(n.Body, r)})
	case *Join:
		return rejectingJoin(n, r)
	}
	return WithInputs(n, mapSlice(n.Inputs(), func(in Node) Node { return rejecting(in, nil) }))
}

// refAt finds the column that an expression is.
func refAt(exprs []Expr) func(int) int {
	return func(c int) int {
		if c < len(exprs) {
			if ref, ok := exprs[c].(*Ref); ok {
				return ref.Index
			}
		}
		return -1
	}
}

// rejectingJoin changes the kind first: an inner join's conditions say something
// of both sides.
func rejectingJoin(n *Join, r nullRejects) Node {
	if n.Delim != nil {
		return WithInputs(n, []Node{rejecting(n.Left, nil), rejecting(n.Right, nil)})
	}
	left := r.through(func(c int) int { return sideAt(n, c, true) })
	right := r.through(func(c int) int { return sideAt(n, c, false) })
	c := *n
	c.Kind = stricter(n.Kind, len(left) > 0, len(right) > 0)
	onLeft, onRight := strictConditions(n)
	if !slices.Contains(keepsOnlyLeftMatches, c.Kind) {
		onLeft = nil
	}
	if !slices.Contains(keepsOnlyRightMatches, c.Kind) {
		onRight = nil
	}
	if !slices.Contains(carriesLeft, c.Kind) {
		left = nil
	}
	if !slices.Contains(carriesRight, c.Kind) {
		right = nil
	}
	c.Left, c.Right = rejecting(n.Left, left.with(onLeft)), rejecting(n.Right, right.with(onRight))
	if c.Kind == n.Kind && c.Left == n.Left && c.Right == n.Right {
		return n
	}
	return &c
}

var (
	// Of these joins, a row of the left (right) side that meets no condition adds
	// nothing to the result.
	keepsOnlyLeftMatches  = []JoinKind{InnerJoin, RightJoin, SemiJoin}
	keepsOnlyRightMatches = []JoinKind{InnerJoin, LeftJoin, RightSemiJoin}
	// Of these, dropping a row of the left (right) side drops its rows of the
	// result, and nothing else.
	carriesLeft  = []JoinKind{InnerJoin, LeftJoin, SemiJoin, AntiJoin, MarkJoin, SingleJoin}
	carriesRight = []JoinKind{InnerJoin, RightJoin, RightSemiJoin, RightAntiJoin}
)

// sideAt is the position in one side of an output column, -1 when it is no
// column of that side.
func sideAt(n *Join, column int, wantLeft bool) int {
	if left, at, ok := n.Side(column); ok && left == wantLeft {
		return at
	}
	return -1
}

// stricter is the kind of a join whose rows with NULL for the whole left (right)
// side do not matter.
func stricter(kind JoinKind, left, right bool) JoinKind {
	switch {
	case kind == LeftJoin && right, kind == RightJoin && left, kind == OuterJoin && left && right:
		return InnerJoin
	case kind == OuterJoin && left:
		return LeftJoin
	case kind == OuterJoin && right:
		return RightJoin
	}
	return kind
}

// strictConditions are the columns of each side that are not NULL in a pair of
// rows that the join accepts.
func strictConditions(n *Join) (left, right []int) {
	width := len(n.Left.Columns())
	for _, c := range n.Conditions {
		switch {
		case c.Op == "":
			for _, i := range strictColumns([]Expr{c.Left}) {
				if i < width {
					left = append(left, i)
				} else {
					right = append(right, i-width)
				}
			}
		case isStrict(c.Op):
			left, right = append(left, nullThrough(c.Left)...), append(right, nullThrough(c.Right)...)
		}
	}
	return left, right
}

func isStrict(op string) bool { return op != "IS DISTINCT FROM" && op != "IS NOT DISTINCT FROM" }

// strictColumns are the columns that are not NULL where all conjuncts are true.
func strictColumns(conjuncts []Expr) []int {
	var out []int
	for _, e := range conjuncts {
		switch e := e.(type) {
		case *Comparison:
			if isStrict(e.Op) {
				out = append(append(out, nullThrough(e.Left)...), nullThrough(e.Right)...)
			}
		case *Between:
			out = append(out, nullThrough(e.Arg)...)
		case *Operator:
			if e.Kind == "IN" || e.Kind == "IS NOT NULL" {
				out = append(out, nullThrough(e.Args[0])...)
			}
		case *Conjunction:
			if !e.Or {
				out = append(out, strictColumns(e.Args)...)
			}
		}
	}
	return out
}

// nullThrough is the column, if any, with which the expression is NULL.
func nullThrough(e Expr) []int {
	switch e := e.(type) {
	case *Ref:
		return []int{e.Index}
	case *Cast:
		return nullThrough(e.Arg)
	}
	return nil
}
