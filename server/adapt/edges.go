package adapt

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

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

// source is a column of what is sent for a scan.
type source struct {
	scan   *plan.Scan
	column int
	// rows tells when the node that has the column has at most one row, and below when
	// the input of an aggregate without keys has.
	rows, below Check
	// checked: there is an error unless below holds.
	checked bool
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

// yielded is the Arrow type of a source.
func yielded(by source) arrow.DataType {
	if by.scan.Partial != nil {
		return by.scan.SentType(by.column)
	}
	return pushdown.ValueType(by.scan.Table.Arrow.Field(sent(by.scan)[by.column]).Type)
}

// scanBounds is the column itself, if it is one of the table's, a key, or the least
// or the greatest of some values, of which the aggregate above takes one.
func scanBounds(s *plan.Scan, column int) []source {
	if p := s.Partial; p != nil {
		if at := column - len(p.Keys); at >= 0 && (at >= len(p.Aggregates) || !slices.Contains(extremes, p.Aggregates[at].Func)) {
			return nil
		}
		return []source{{scan: s, column: column, rows: OneRow}}
	}
	at := tableColumn(s, column)
	if at < 0 {
		return nil
	}
	return []source{{scan: s, column: slices.Index(sent(s), at), rows: OneRow}}
}

var extremes = []pushdown.AggFunc{pushdown.Min, pushdown.Max}

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
		return limited(a.bounds(n.Input, column), n.Limit)
	case *plan.Limit:
		return limited(a.bounds(n.Input, column), n.Count)
	case *plan.Distinct:
		return distinct(a.bounds(n.Input, column), len(n.On) == 0 && len(n.Columns()) == 1)
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
		return a.groupBounds(n, column)
	case *plan.Join:
		return uncounted(a.joinBounds(n, column))
	case *plan.DelimGet:
		return uncounted(a.delimBounds(n, column))
	}
	return nil
}

// groupBounds: of groups there are no more than of rows, if each row is in one.
func (a *analysis) groupBounds(n *plan.Aggregate, column int) []source {
	out := a.refBounds(n.Input, slices.Concat(n.Keys, n.Aggregates), column)
	switch {
	case n.Sets != nil:
		return uncounted(out)
	case len(n.Keys) > 0:
		return distinct(out, len(n.Keys) == 1 && column == 0)
	}
	for i := range out {
		out[i].below, out[i].rows = out[i].rows, NoCheck
	}
	return out
}

// distinct are sources of a node that has no more rows than its input, and if single
// no more than values.
func distinct(sources []source, single bool) []source {
	for i := range sources {
		if single && sources[i].rows == OneRow {
			sources[i].rows = OneValue
		}
	}
	return sources
}

// limited are sources of a node with so many rows.
func limited(sources []source, rows int64) []source {
	for i := range sources {
		if rows == 0 || rows == 1 {
			sources[i].rows = NoCheck
		}
	}
	return sources
}

// uncounted are sources of a node that may have any number of rows.
func uncounted(sources []source) []source {
	for i := range sources {
		sources[i].rows = never
	}
	return sources
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
	ref, ok := among(exprs[column])
	if !ok {
		return nil
	}
	out := a.bounds(in, ref.Index)
	if _, check := exprs[column].(*plan.Case); check {
		for i := range out {
			out[i].checked = true
		}
	}
	return out
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
