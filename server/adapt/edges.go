package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// Edge says that of scan To only rows matter whose Column compares by Op with one
// of the values of column FromColumn of scan From, or, with OrNull, is NULL.
type Edge struct {
	// From and To are positions among plan.Scans.
	From, To int
	// FromColumn counts the columns that scanners send for From.
	FromColumn int
	// Column is a position in To's Table.Arrow.
	Column int
	// Op is Equal, or one of the four comparisons by order.
	Op pushdown.CompareOp
	// OrNull: NULL equals NULL in the condition that the edge comes from.
	OrNull bool
	// One: the condition is with the one row of an aggregate.
	One bool
	// Check says what must be known of From before the edge holds.
	Check Check
}

// Check says when an edge from a scalar subquery holds. The engine fails when there
// are several rows, but only if it looks: where rows are dropped it may not.
type Check uint8

// The checks.
const (
	// NoCheck: whatever From yields.
	NoCheck Check = iota
	// OneRow: From has at most one row.
	OneRow
	// OneValue: From has at most one value, NULL being one.
	OneValue
	// never: nothing about From tells.
	never
)

// holds reports whether an edge holds for what its From has yielded.
func (e *Edge) holds(from *ScanFacts) bool {
	switch e.Check {
	case OneRow:
		return from.Rows <= 1
	case OneValue:
		return from.Rows <= 1 || from.Keys[e.FromColumn].single()
	}
	return true
}

// sharp: the edge promises to leave few rows. What is greater or less than one of
// several values may well be all.
func (e *Edge) sharp() bool { return e.Op == pushdown.Equal || e.One }

// Edges finds the edges of a plan, in order. They hold for whatever the scans
// yield; nothing follows from them before From has yielded everything.
func Edges(root plan.Node) []Edge {
	a := analysis{at: map[*plan.Scan]int{}, delims: map[int]*plan.Join{}, ctes: map[int]plan.Node{}}
	for i, s := range plan.Scans(root) {
		a.at[s] = i
	}
	plan.Walk(root, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.Join:
			if n.Delim != nil {
				a.delims[n.Delim.ID] = n
			}
		case *plan.CTE:
			a.ctes[n.ID] = n.Definition
		}
		return true
	})
	plan.Walk(root, func(n plan.Node) bool {
		switch n := n.(type) {
		case *plan.RecursiveCTE:
			return false // its step runs several times
		case *plan.Join:
			a.join(n)
		}
		return true
	})
	return a.edges
}

// analysis collects edges.
type analysis struct {
	at     map[*plan.Scan]int
	delims map[int]*plan.Join // by id
	ctes   map[int]plan.Node  // definitions by id
	edges  []Edge
}

// Of these joins, rows of the left (right) side without a partner do not matter.
// A mark join's result depends on all of the right side: NULL is not FALSE.
var (
	narrowsLeft  = []plan.JoinKind{plan.InnerJoin, plan.RightJoin, plan.SemiJoin, plan.RightSemiJoin, plan.RightAntiJoin}
	narrowsRight = []plan.JoinKind{plan.InnerJoin, plan.LeftJoin, plan.SemiJoin, plan.RightSemiJoin, plan.AntiJoin, plan.SingleJoin}
)

// comparison is a condition between plain columns of one type.
type comparison struct {
	left, right int
	op          pushdown.CompareOp
	nullSafe    bool
}

var operators = map[string]pushdown.CompareOp{
	"=": pushdown.Equal, "IS NOT DISTINCT FROM": pushdown.Equal,
	"<": pushdown.Less, "<=": pushdown.LessEqual, ">": pushdown.Greater, ">=": pushdown.GreaterEqual,
}

func comparisons(n *plan.Join) []comparison {
	var out []comparison
	for _, c := range n.Conditions {
		l, lok := c.Left.(*plan.Ref)
		r, rok := c.Right.(*plan.Ref)
		op, ok := operators[c.Op]
		if ok && lok && rok && l.RefType == r.RefType {
			out = append(out, comparison{l.Index, r.Index, op, c.Op == "IS NOT DISTINCT FROM"})
		}
	}
	return out
}

func equalities(n *plan.Join) []comparison {
	return slices.DeleteFunc(comparisons(n), func(c comparison) bool { return c.op != pushdown.Equal })
}

func (a *analysis) join(n *plan.Join) {
	if n.Delim != nil {
		return
	}
	for _, c := range comparisons(n) {
		if slices.Contains(narrowsLeft, n.Kind) {
			a.narrow(n.Left, c.left, a.bounds(n.Right, c.right), restriction{op: c.op, orNull: c.nullSafe})
		}
		if slices.Contains(narrowsRight, n.Kind) {
			a.narrow(n.Right, c.right, a.bounds(n.Left, c.left), restriction{op: c.op.Mirror(), orNull: c.nullSafe})
		}
	}
}

// restriction says that only rows matter whose column compares by op with a value
// of the source.
type restriction struct {
	source
	op     pushdown.CompareOp
	orNull bool // NULL matters too
}

// narrow notes that only rows of n matter whose column compares with one of the
// values of each source.
func (a *analysis) narrow(n plan.Node, column int, sources []source, by restriction) {
	for _, s := range sources {
		by.source = s
		a.push(n, column, by)
	}
}

// push carries a restriction of a column down to the scans where dropping the
// rows is the same as dropping them here.
func (a *analysis) push(n plan.Node, column int, by restriction) {
	switch n := n.(type) {
	case *plan.Scan:
		a.scan(n, column, by)
	case *plan.Filter:
		a.push(n.Input, plan.Projected(n.Projection, column), by)
	case *plan.Sort:
		a.push(n.Input, plan.Projected(n.Projection, column), by)
	case *plan.Project:
		a.pushRef(n.Input, n.Exprs, column, by)
	case *plan.Aggregate:
		// Groups go as a whole, each row being in one group.
		if n.Sets == nil {
			a.pushRef(n.Input, n.Keys, column, by)
		}
	case *plan.Distinct:
		if len(n.On) == 0 {
			a.push(n.Input, column, by)
		}
	case *plan.SetOp:
		if n.Op == "UNION" {
			for _, in := range n.InputNodes {
				a.push(in, column, by)
			}
		}
	case *plan.CTE:
		a.push(n.Body, column, by)
	case *plan.Join:
		a.pushJoin(n, column, by)
	}
}

func (a *analysis) pushRef(in plan.Node, exprs []plan.Expr, column int, by restriction) {
	if column >= len(exprs) {
		return
	}
	if ref, ok := exprs[column].(*plan.Ref); ok {
		a.push(in, ref.Index, by)
	}
}

// preserves the rows of a side: each output row has the columns of one.
var (
	preservesLeft  = []plan.JoinKind{plan.InnerJoin, plan.LeftJoin, plan.SemiJoin, plan.AntiJoin, plan.MarkJoin, plan.SingleJoin}
	preservesRight = []plan.JoinKind{plan.InnerJoin, plan.RightJoin, plan.RightSemiJoin, plan.RightAntiJoin}
)

// pushJoin restricts the side that a column is of and, through an equality with
// that column, the other side.
func (a *analysis) pushJoin(n *plan.Join, column int, by restriction) {
	if n.Delim != nil {
		return
	}
	left, at, ok := n.Side(column)
	switch {
	case !ok:
	case left && slices.Contains(preservesLeft, n.Kind):
		a.push(n.Left, at, by)
		for _, e := range equalities(n) {
			if e.left == at && slices.Contains(narrowsRight, n.Kind) {
				a.push(n.Right, e.right, by)
			}
		}
	case !left && slices.Contains(preservesRight, n.Kind):
		a.push(n.Right, at, by)
		for _, e := range equalities(n) {
			if e.right == at && slices.Contains(narrowsLeft, n.Kind) {
				a.push(n.Left, e.left, by)
			}
		}
	}
}

// scan adds an edge to a scan that yields the column unchanged and whose other
// rows do not depend on the dropped ones.
func (a *analysis) scan(s *plan.Scan, column int, by restriction) {
	at := tableColumn(s, column)
	if at < 0 || s.Limit != pushdown.NoLimit || len(s.OrderBy) > 0 || s == by.scan {
		return
	}
	if s.Partial != nil && s.Partial.Reduce != nil {
		return // its groups may be the first of all
	}
	if by.checked && by.below == never {
		return
	}
	if t := yielded(by.source); !joinable(t) || !pushdown.Comparable(t, s.Table.Arrow.Field(at).Type) {
		return
	}
	e := Edge{From: a.at[by.scan], FromColumn: by.column, To: a.at[s], Column: at, Op: by.op, One: by.rows == NoCheck,
		OrNull: by.orNull && !excludesNull(s, at)}
	if by.checked {
		e.Check = by.below
	}
	if !slices.Contains(a.edges, e) {
		a.edges = append(a.edges, e)
	}
}

// excludesNull: the scan has no row in which a column is NULL.
func excludesNull(s *plan.Scan, column int) bool {
	return slices.ContainsFunc(s.Filter, func(e plan.Expr) bool {
		op, ok := e.(*plan.Operator)
		if !ok || op.Kind != "IS NOT NULL" {
			return false
		}
		ref, ok := op.Args[0].(*plan.Ref)
		return ok && ref.Index == column
	})
}

// sent are the table's columns that scanners send for a scan, in order, -1 for
// computed ones: of a row scan each once, of a partial aggregate the keys.
func sent(s *plan.Scan) []int {
	var out []int
	if s.Partial == nil {
		for _, c := range s.Output {
			if c >= 0 && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
		return out
	}
	for _, k := range s.Partial.Keys {
		column := -1
		if ref, ok := k.(*plan.Ref); ok {
			column = ref.Index
		}
		out = append(out, column)
	}
	return out
}

// tableColumn is the table's column that a scan yields at a position, -1 for a
// computed one.
func tableColumn(s *plan.Scan, column int) int {
	if s.Partial == nil {
		return s.Output[column]
	}
	if keys := sent(s); column < len(keys) {
		return keys[column]
	}
	return -1
}
