package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown/status"
)

var _ Rule = columnPruning{}

// columnPruning removes the columns that nobody reads, from the top of the plan
// down to the scans.
type columnPruning struct{}

// Name is "column_pruning".
func (columnPruning) Name() string { return "column_pruning" }

// Apply marks what each node must yield, then rewrites the tree. A node may
// still yield more than is needed where dropping it would need another node.
func (columnPruning) Apply(root Node) (Node, bool, error) {
	p := &pruner{need: map[Node]bits{}, cte: map[int]bits{}, moved: map[int]movedCTE{}}
	p.mark(root, allBits(len(root.Columns())))
	out, at := p.rewrite(root)
	if p.rowID != nil {
		return nil, false, status.New(status.InvalidArgument, "table %s has no rowid: its rows lie in several partitions", p.rowID.Table.ID())
	}
	out = exactly(out, at, allBits(len(at)))
	return out, differs(root, out), nil
}

// bits says of each column whether it is needed.
type bits []bool

func allBits(n int) bits {
	out := make(bits, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// or marks in b what is set in o.
func (b bits) or(o bits) {
	for i := range o {
		b[i] = b[i] || o[i]
	}
}

// refs marks the columns that e reads, counted from offset.
func (b bits) refs(e Expr, offset int) {
	WalkExpr(e, func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			b[offset+r.Index] = true
		}
		return true
	})
}

func (b bits) keys(keys []SortKey) {
	for _, k := range keys {
		b.refs(k.Expr, 0)
	}
}

func (b bits) exprs(exprs []Expr) {
	for _, e := range exprs {
		b.refs(e, 0)
	}
}

// through marks the input columns behind the needed columns of a projection.
func (b bits) through(need bits, projection []int) {
	for i, needed := range need {
		if needed && projection == nil {
			b[i] = true
		} else if needed {
			b[projection[i]] = true
		}
	}
}

// pruner holds what the two passes share.
type pruner struct {
	need  map[Node]bits // needed output columns of each node
	cte   map[int]bits  // needed output columns of each CTE
	moved map[int]movedCTE
	rowID *Scan // a scan whose row id is read
}

// movedCTE has the new positions and types of a CTE's columns.
type movedCTE struct {
	at    []int
	types []Type
}

// mark notes that n must yield the needed columns, and marks its inputs.
func (p *pruner) mark(n Node, need bits) {
	if before := p.need[n]; before != nil {
		need = slices.Clone(need)
		need.or(before)
	}
	p.need[n] = need
	switch n := n.(type) {
	case *Join:
		p.markJoin(n, need)
	case *SetOp:
		p.markSetOp(n, need)
	case *CTE:
		p.cte[n.ID] = make(bits, len(n.Definition.Columns()))
		p.mark(n.Body, need)
		p.mark(n.Definition, slices.Clone(p.cte[n.ID]))
	case *RecursiveCTE:
		// Every round reads all that the round before gave.
		p.need[n] = allBits(len(need))
		p.mark(n.Base, p.need[n])
		p.mark(n.Step, p.need[n])
	case *CTERef:
		if p.cte[n.ID] == nil {
			p.cte[n.ID] = make(bits, len(n.Types))
		}
		p.cte[n.ID].or(need)
	default:
		p.markUnary(n, need)
	}
}

// markUnary handles the nodes with one input, and leaves.
func (p *pruner) markUnary(n Node, need bits) {
	if len(n.Inputs()) != 1 {
		return
	}
	input := n.Inputs()[0]
	in := make(bits, len(input.Columns()))
	switch n := n.(type) {
	case *Filter:
		in.through(need, n.Projection)
		in.exprs(n.Conjuncts)
	case *Project:
		for _, i := range keptExprs(n, need) {
			in.refs(n.Exprs[i], 0)
		}
	case *Aggregate:
		in.exprs(n.Keys)
		for _, i := range keptAggregates(n, need) {
			in.refs(n.Aggregates[i], 0)
		}
	case *Sort:
		in.through(need, n.Projection)
		in.keys(n.Keys)
	case *TopN:
		in.or(need)
		in.keys(n.Keys)
	case *Limit:
		in.or(need)
	case *Window:
		in.or(need[:len(in)])
		for _, i := range keptWindows(n, need) {
			in.refs(n.Exprs[i], 0)
		}
	case *Unnest:
		in.or(need[:len(in)])
		in.exprs(n.Exprs)
	default:
		in = allBits(len(in)) // DISTINCT: every column decides what is a duplicate
	}
	p.mark(input, in)
}

// keptExprs are the projection's needed expressions; at least one.
func keptExprs(n *Project, need bits) []int {
	kept := needed(need)
	if len(kept) > 0 || len(n.Exprs) == 0 {
		return kept
	}
	for i, e := range n.Exprs {
		if _, ok := e.(*Const); ok {
			return []int{i}
		}
	}
	return []int{0}
}

// keptAggregates: a global aggregate without functions would yield nothing.
func keptAggregates(n *Aggregate, need bits) []int {
	kept := needed(need[len(n.Keys) : len(n.Keys)+len(n.Aggregates)])
	if len(kept) == 0 && len(n.Keys) == 0 && len(n.Aggregates) > 0 {
		return []int{0}
	}
	return kept
}

func keptWindows(n *Window, need bits) []int {
	return needed(need[len(need)-len(n.Exprs):])
}

func needed(need bits) []int {
	var out []int
	for i, n := range need {
		if n {
			out = append(out, i)
		}
	}
	return out
}

func (p *pruner) markJoin(n *Join, need bits) {
	left, right := make(bits, len(n.Left.Columns())), make(bits, len(n.Right.Columns()))
	fromLeft, fromRight := joinNeeds(n, need)
	left.through(fromLeft, n.LeftProjection)
	right.through(fromRight, n.RightProjection)
	both := append(slices.Clone(left), right...)
	for _, c := range n.Conditions {
		both.refs(c.Left, 0)
		if c.Op != "" {
			both.refs(c.Right, len(left))
		}
	}
	if n.Delim != nil {
		for _, e := range n.Delim.Columns {
			both.refs(e, delimOffset(n, len(left)))
		}
	}
	p.mark(n.Left, both[:len(left):len(left)])
	p.mark(n.Right, both[len(left):])
}

// delimOffset is where the source side's columns begin.
func delimOffset(n *Join, left int) int {
	if n.Delim.Flipped {
		return left
	}
	return 0
}

// joinNeeds divides the needed output columns between the sides.
func joinNeeds(n *Join, need bits) (left, right bits) {
	switch n.Kind {
	case SemiJoin, AntiJoin:
		return need, nil
	case RightSemiJoin, RightAntiJoin:
		return nil, need
	case MarkJoin:
		return need[:len(need)-1], nil
	}
	at := len(selectTypes(n.Left.Columns(), n.LeftProjection))
	return need[:at], need[at:]
}

// markSetOp: only UNION ALL does not compare whole rows.
func (p *pruner) markSetOp(n *SetOp, need bits) {
	if !unionAll(n) {
		need = allBits(len(need))
	} else if !slices.Contains(need, true) && len(need) > 0 {
		need = slices.Clone(need)
		need[0] = true
	}
	p.need[n] = need
	for _, in := range n.InputNodes {
		p.mark(in, need)
	}
}

func unionAll(n *SetOp) bool { return n.Op == "UNION" && n.All }
