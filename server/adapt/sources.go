package adapt

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

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
