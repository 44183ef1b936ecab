package plan

import "slices"

// rewrite returns n without the columns that are not needed, and for each
// column of n its new position, or -1.
func (p *pruner) rewrite(n Node) (Node, []int) {
	need := p.need[n]
	switch n := n.(type) {
	case *Scan:
		return p.scan(n, need)
	case *Filter:
		return p.filter(n)
	case *Project:
		return p.project(n, need)
	case *Aggregate:
		return p.aggregate(n, need)
	case *Join:
		return p.join(n)
	case *SetOp:
		return p.setOp(n, need)
	case *Sort:
		return p.sort(n)
	case *Window:
		return p.window(n, need)
	case *CTE:
		return p.with(n)
	case *RecursiveCTE:
		return p.recursive(n, need)
	case *CTERef:
		return p.cteRef(n)
	}
	return p.passing(n)
}

// passing handles nodes that keep all columns of their input in place, and
// leaves.
func (p *pruner) passing(n Node) (Node, []int) {
	width := len(n.Columns())
	if len(n.Inputs()) != 1 {
		return n, positions(width)
	}
	in, at := p.rewrite(n.Inputs()[0])
	out := WithInputs(MapExprs(n, func(e Expr) Expr { return remap(e, at) }), []Node{in})
	appended := width - len(at) // UNNEST appends
	for i := range appended {
		at = append(at, len(in.Columns())+i)
	}
	return out, at
}

func (p *pruner) scan(n *Scan, need bits) (Node, []int) {
	if n.Partial != nil {
		return n, positions(len(n.Columns()))
	}
	out := *n
	out.Output, out.Types = nil, nil
	at := make([]int, len(n.Output))
	for i, column := range n.Output {
		at[i] = -1
		if !need[i] {
			continue
		}
		if column < 0 {
			p.rowID = n
		}
		at[i] = len(out.Output)
		out.Output, out.Types = append(out.Output, column), append(out.Types, n.Types[i])
	}
	if len(out.Output) == 0 {
		cheapest := narrowest(n.Table)
		out.Output, out.Types = []int{cheapest}, []Type{narrowType(n, cheapest)}
	}
	return &out, at
}

// narrowType is the type of the column that only carries the row count.
func narrowType(n *Scan, column int) Type {
	if at := slices.Index(n.Output, column); at >= 0 {
		return n.Types[at]
	}
	if t := importedType(n.Table.Arrow.Field(column).Type); t != "" {
		return t
	}
	return "VARCHAR"
}

func (p *pruner) filter(n *Filter) (Node, []int) {
	in, at := p.rewrite(n.Input)
	out := &Filter{Input: in, Conjuncts: remapAll(n.Conjuncts, at)}
	projection, moved := pruneProjection(n.Projection, at, p.need[n])
	if !slices.Equal(projection, positions(len(in.Columns()))) {
		out.Projection = projection
	}
	return out, moved
}

func (p *pruner) sort(n *Sort) (Node, []int) {
	in, at := p.rewrite(n.Input)
	out := &Sort{Input: in, Keys: remapKeys(n.Keys, at)}
	projection, moved := pruneProjection(n.Projection, at, p.need[n])
	if !slices.Equal(projection, positions(len(in.Columns()))) {
		out.Projection = projection
	}
	return out, moved
}

// pruneProjection drops what is not needed from a projection over an input
// whose columns moved. A projection never becomes empty.
func pruneProjection(projection, at []int, need bits) (out, moved []int) {
	if projection == nil {
		return nil, at
	}
	moved = make([]int, len(projection))
	out = []int{}
	for i, column := range projection {
		moved[i] = -1
		if need[i] {
			moved[i] = len(out)
			out = append(out, at[column])
		}
	}
	if len(out) == 0 {
		out = []int{0}
	}
	return out, moved
}

func remapAll(exprs []Expr, at []int) []Expr {
	if exprs == nil {
		return nil
	}
	return mapSlice(exprs, func(e Expr) Expr { return remap(e, at) })
}

func remapKeys(keys []SortKey, at []int) []SortKey {
	return mapSlice(keys, func(k SortKey) SortKey {
		k.Expr = remap(k.Expr, at)
		return k
	})
}

func (p *pruner) project(n *Project, need bits) (Node, []int) {
	in, at := p.rewrite(n.Input)
	kept := keptExprs(n, need)
	exprs := mapSlice(kept, func(i int) Expr { return remap(n.Exprs[i], at) })
	return &Project{Input: in, Exprs: exprs}, movedTo(len(n.Exprs), kept)
}

// movedTo inverts a list of kept positions.
func movedTo(n int, kept []int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = slices.Index(kept, i)
	}
	return at
}

func (p *pruner) aggregate(n *Aggregate, need bits) (Node, []int) {
	in, at := p.rewrite(n.Input)
	kept := keptAggregates(n, need)
	out := *n
	out.Input = in
	out.Keys = remapAll(n.Keys, at)
	out.Aggregates = mapSlice(kept, func(i int) Expr { return remap(n.Aggregates[i], at) })
	moved := positions(len(n.Keys))
	for _, m := range movedTo(len(n.Aggregates), kept) {
		if m >= 0 {
			m += len(n.Keys)
		}
		moved = append(moved, m)
	}
	for i := range n.Groupings {
		moved = append(moved, len(n.Keys)+len(kept)+i)
	}
	return &out, moved
}

func (p *pruner) window(n *Window, need bits) (Node, []int) {
	in, at := p.rewrite(n.Input)
	kept := keptWindows(n, need)
	base := len(in.Columns())
	for _, m := range movedTo(len(n.Exprs), kept) {
		if m >= 0 {
			m += base
		}
		at = append(at, m)
	}
	if len(kept) == 0 {
		return in, at
	}
	exprs := mapSlice(kept, func(i int) Expr { return remap(n.Exprs[i], at) })
	return &Window{Input: in, Exprs: exprs}, at
}

func (p *pruner) join(n *Join) (Node, []int) {
	left, leftAt := p.rewrite(n.Left)
	right, rightAt := p.rewrite(n.Right)
	out := *n
	out.Left, out.Right = left, right
	both := slices.Clone(leftAt)
	for _, at := range rightAt {
		if at >= 0 {
			at += len(left.Columns())
		}
		both = append(both, at)
	}
	out.Conditions = mapSlice(n.Conditions, func(c JoinCondition) JoinCondition {
		if c.Op == "" {
			c.Left = remap(c.Left, both)
			return c
		}
		return JoinCondition{Op: c.Op, Left: remap(c.Left, leftAt), Right: remap(c.Right, rightAt)}
	})
	if n.Delim != nil {
		out.Delim = prunedDelim(n.Delim, leftAt, rightAt)
	}
	return p.joinOutput(n, &out, leftAt, rightAt)
}

func prunedDelim(d *Delim, leftAt, rightAt []int) *Delim {
	at := leftAt
	if d.Flipped {
		at = rightAt
	}
	return &Delim{ID: d.ID, Columns: remapAll(d.Columns, at), Flipped: d.Flipped}
}

// joinOutput prunes the join's own projections and says where columns went.
func (p *pruner) joinOutput(n, out *Join, leftAt, rightAt []int) (Node, []int) {
	needLeft, needRight := joinNeeds(n, p.need[n])
	out.LeftProjection, out.RightProjection = nil, nil
	var left, right []int
	if n.Kind != RightSemiJoin && n.Kind != RightAntiJoin {
		out.LeftProjection, left = pruneProjection(n.LeftProjection, leftAt, needLeft)
	}
	switch n.Kind {
	case SemiJoin, AntiJoin:
		return out, left
	case MarkJoin:
	default:
		out.RightProjection, right = pruneProjection(n.RightProjection, rightAt, needRight)
	}
	if n.Kind == RightSemiJoin || n.Kind == RightAntiJoin {
		return out, right
	}
	base := len(selectTypes(out.Left.Columns(), out.LeftProjection))
	if n.Kind == MarkJoin {
		return out, append(slices.Clone(left), base)
	}
	moved := slices.Clone(left)
	for _, at := range right {
		if at >= 0 {
			at += base
		}
		moved = append(moved, at)
	}
	return out, moved
}

func (p *pruner) setOp(n *SetOp, need bits) (Node, []int) {
	out := *n
	out.InputNodes = nil
	for _, in := range n.InputNodes {
		pruned, at := p.rewrite(in)
		out.InputNodes = append(out.InputNodes, exactly(pruned, at, need))
	}
	kept := needed(need)
	out.OutputTypes = mapSlice(kept, func(i int) Type { return n.OutputTypes[i] })
	return &out, movedTo(len(need), kept)
}

// exactly returns n with the needed columns, in their order, and no others.
func exactly(n Node, at []int, need bits) Node {
	kept := mapSlice(needed(need), func(i int) int { return at[i] })
	types := n.Columns()
	if slices.Equal(kept, positions(len(types))) {
		return n
	}
	return &Project{Input: n, Exprs: mapSlice(kept, func(i int) Expr { return &Ref{Index: i, RefType: types[i]} })}
}

func (p *pruner) with(n *CTE) (Node, []int) {
	definition, at := p.rewrite(n.Definition)
	p.moved[n.ID] = movedCTE{at: at, types: definition.Columns()}
	body, moved := p.rewrite(n.Body)
	return &CTE{ID: n.ID, Definition: definition, Body: body}, moved
}

func (p *pruner) recursive(n *RecursiveCTE, need bits) (Node, []int) {
	base, baseAt := p.rewrite(n.Base)
	step, stepAt := p.rewrite(n.Step)
	return &RecursiveCTE{ID: n.ID, All: n.All, Base: exactly(base, baseAt, need), Step: exactly(step, stepAt, need)}, positions(len(need))
}

func (p *pruner) cteRef(n *CTERef) (Node, []int) {
	m, ok := p.moved[n.ID]
	if !ok {
		return n, positions(len(n.Types))
	}
	return &CTERef{ID: n.ID, Types: m.types}, slices.Clone(m.at)
}
