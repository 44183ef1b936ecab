package adapt

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// Edge says that of scan To only rows matter whose Column is among the values of
// column FromColumn of scan From, or, with OrNull, is NULL.
type Edge struct {
	// From and To are positions among plan.Scans.
	From, To int
	// FromColumn counts the columns that scanners send for From.
	FromColumn int
	// Column is a position in To's Table.Arrow.
	Column int
	// OrNull: NULL equals NULL in the condition that the edge comes from.
	OrNull bool
}

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

// source is a column of what is sent for a scan.
type source struct {
	scan   *plan.Scan
	column int
	orNull bool // NULL matters too
}

// Of these joins, rows of the left (right) side without a partner do not matter.
// A mark join's result depends on all of the right side: NULL is not FALSE.
var (
	narrowsLeft  = []plan.JoinKind{plan.InnerJoin, plan.RightJoin, plan.SemiJoin, plan.RightSemiJoin, plan.RightAntiJoin}
	narrowsRight = []plan.JoinKind{plan.InnerJoin, plan.LeftJoin, plan.SemiJoin, plan.RightSemiJoin, plan.AntiJoin, plan.SingleJoin}
)

// equality is a condition between plain columns of one type.
type equality struct {
	left, right int
	nullSafe    bool
}

func equalities(n *plan.Join) []equality {
	var out []equality
	for _, c := range n.Conditions {
		l, lok := c.Left.(*plan.Ref)
		r, rok := c.Right.(*plan.Ref)
		nullSafe := c.Op == "IS NOT DISTINCT FROM"
		if (c.Op == "=" || nullSafe) && lok && rok && l.RefType == r.RefType {
			out = append(out, equality{l.Index, r.Index, nullSafe})
		}
	}
	return out
}

func (a *analysis) join(n *plan.Join) {
	if n.Delim != nil {
		return
	}
	for _, e := range equalities(n) {
		if slices.Contains(narrowsLeft, n.Kind) {
			a.narrow(n.Left, e.left, a.bounds(n.Right, e.right), e.nullSafe)
		}
		if slices.Contains(narrowsRight, n.Kind) {
			a.narrow(n.Right, e.right, a.bounds(n.Left, e.left), e.nullSafe)
		}
	}
}

// narrow notes that only rows of n matter whose column is among the values of
// each source.
func (a *analysis) narrow(n plan.Node, column int, by []source, orNull bool) {
	for _, s := range by {
		s.orNull = orNull
		a.push(n, column, s)
	}
}

// push carries a restriction of a column down to the scans where dropping the
// rows is the same as dropping them here.
func (a *analysis) push(n plan.Node, column int, by source) {
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

func (a *analysis) pushRef(in plan.Node, exprs []plan.Expr, column int, by source) {
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
func (a *analysis) pushJoin(n *plan.Join, column int, by source) {
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
func (a *analysis) scan(s *plan.Scan, column int, by source) {
	at := tableColumn(s, column)
	if at < 0 || s.Limit != pushdown.NoLimit || len(s.OrderBy) > 0 || s == by.scan {
		return
	}
	if s.Partial != nil && s.Partial.Reduce != nil {
		return // its groups may be the first of all
	}
	if t := yielded(by); !joinable(t) || !pushdown.Comparable(t, s.Table.Arrow.Field(at).Type) {
		return
	}
	e := Edge{From: a.at[by.scan], FromColumn: by.column, To: a.at[s], Column: at, OrNull: by.orNull && !excludesNull(s, at)}
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

// yielded is the Arrow type of a source.
func yielded(by source) arrow.DataType {
	return pushdown.ValueType(by.scan.Table.Arrow.Field(sent(by.scan)[by.column]).Type)
}

// scanBounds is the column itself, if it is one of the table's.
func scanBounds(s *plan.Scan, column int) []source {
	at := tableColumn(s, column)
	if at < 0 {
		return nil
	}
	return []source{{scan: s, column: slices.Index(sent(s), at)}}
}

// bounds are the sources among whose values each value of a column is that is
// not NULL.
func (a *analysis) bounds(n plan.Node, column int) []source {
	switch n := n.(type) {
	case *plan.Scan:
		return scanBounds(n, column)
	case *plan.Filter:
		return a.bounds(n.Input, plan.Projected(n.Projection, column))
	case *plan.Sort:
		return a.bounds(n.Input, plan.Projected(n.Projection, column))
	case *plan.TopN:
		return a.bounds(n.Input, column)
	case *plan.Limit:
		return a.bounds(n.Input, column)
	case *plan.Distinct:
		return a.bounds(n.Input, column)
	case *plan.CTE:
		return a.bounds(n.Body, column)
	case *plan.CTERef:
		if definition := a.ctes[n.ID]; definition != nil {
			return a.bounds(definition, column)
		}
	case *plan.Window:
		if column < len(n.Input.Columns()) {
			return a.bounds(n.Input, column)
		}
	case *plan.Project:
		return a.refBounds(n.Input, n.Exprs, column)
	case *plan.Aggregate:
		return a.refBounds(n.Input, slices.Concat(n.Keys, n.Aggregates), column)
	case *plan.Join:
		return a.joinBounds(n, column)
	case *plan.DelimGet:
		return a.delimBounds(n, column)
	}
	return nil
}

// delimBounds: the correlated values are those of the source of their join.
func (a *analysis) delimBounds(n *plan.DelimGet, column int) []source {
	j := a.delims[n.ID]
	if j == nil {
		return nil
	}
	if j.Delim.Flipped {
		return a.refBounds(j.Right, j.Delim.Columns, column)
	}
	return a.refBounds(j.Left, j.Delim.Columns, column)
}

func (a *analysis) refBounds(in plan.Node, exprs []plan.Expr, column int) []source {
	if column >= len(exprs) {
		return nil
	}
	if ref, ok := among(exprs[column]); ok {
		return a.bounds(in, ref.Index)
	}
	return nil
}

// choosing are the aggregates that yield one of the values, or NULL.
var choosing = []string{"first", "last", "any_value", "min", "max"}

// among finds the column of which an expression is a value, if it is not NULL. A
// subquery's single value is one, wrapped in a check that there is no other.
func among(e plan.Expr) (*plan.Ref, bool) {
	switch e := e.(type) {
	case *plan.Ref:
		return e, true
	case *plan.AggCall:
		if slices.Contains(choosing, e.Name) && len(e.Args) == 1 {
			return among(e.Args[0])
		}
	case *plan.Case:
		for _, w := range e.Whens {
			if call, ok := w.Then.(*plan.Call); !ok || call.Name != "error" {
				return nil, false
			}
		}
		if e.Else != nil {
			return among(e.Else)
		}
	}
	return nil, false
}

// Of these joins, a row with a value from the left (right) side has met the
// conditions.
var (
	matchesLeft  = []plan.JoinKind{plan.InnerJoin, plan.RightJoin, plan.SemiJoin}
	matchesRight = []plan.JoinKind{plan.InnerJoin, plan.LeftJoin, plan.RightSemiJoin}
)

func (a *analysis) joinBounds(n *plan.Join, column int) []source {
	left, at, ok := n.Side(column)
	if !ok || n.Delim != nil {
		return nil
	}
	if left {
		out := a.bounds(n.Left, at)
		for _, e := range equalities(n) {
			if e.left == at && slices.Contains(matchesLeft, n.Kind) {
				out = append(out, a.bounds(n.Right, e.right)...)
			}
		}
		return out
	}
	out := a.bounds(n.Right, at)
	for _, e := range equalities(n) {
		if e.right == at && slices.Contains(matchesRight, n.Kind) {
			out = append(out, a.bounds(n.Left, e.left)...)
		}
	}
	return out
}
