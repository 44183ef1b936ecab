package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
)

// Print returns the text tree of a plan, one line a node, inputs indented by
// two blanks. Equal texts are equal plans.
func Print(n Node) string {
	var b strings.Builder
	printNode(&b, n, 0)
	return b.String()
}

func printNode(b *strings.Builder, n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(Line(n))
	b.WriteByte('\n')
	for _, in := range n.Inputs() {
		printNode(b, in, depth+1)
	}
}

// Line returns the line of one node, without its inputs.
func Line(n Node) string {
	switch n := n.(type) {
	case *Scan:
		return scanLine(n)
	case *Filter:
		return "Filter " + exprList(" AND ", n.Conjuncts) + projectionText(n.Projection)
	case *Project:
		return "Project [" + exprList(", ", n.Exprs) + "]"
	case *Aggregate:
		return aggregateLine(n)
	case *Distinct:
		return distinctLine(n)
	case *Join:
		return joinLine(n)
	case *Sort:
		return "Sort [" + keysText(n.Keys) + "]" + projectionText(n.Projection)
	case *TopN:
		return "TopN [" + keysText(n.Keys) + "]" + limitText(n.Limit, n.Offset)
	case *Limit:
		return "Limit" + limitText(n.Count, n.Offset)
	case *Window:
		return "Window [" + exprList(", ", n.Exprs) + "]"
	case *Unnest:
		return "Unnest [" + exprList(", ", n.Exprs) + "]"
	}
	return leafLine(n)
}

func leafLine(n Node) string {
	switch n := n.(type) {
	case *SetOp:
		return n.Op + allText(n.All)
	case *CTE:
		return fmt.Sprintf("CTE %d", n.ID)
	case *RecursiveCTE:
		return fmt.Sprintf("RecursiveCTE %d%s", n.ID, allText(n.All))
	case *CTERef:
		return fmt.Sprintf("CTERef %d", n.ID)
	case *DelimGet:
		return fmt.Sprintf("DelimGet %d", n.ID)
	case *Values:
		return valuesLine(n)
	case *TableCall:
		return "TableCall " + n.SQL
	}
	return fmt.Sprintf("%T", n)
}

func scanLine(n *Scan) string {
	column := func(i int) string { return scanColumn(n, i) }
	parts := []string{"Scan " + n.Table.ID() + n.Joined.text(column)}
	if n.Partial == nil {
		parts = append(parts, "["+strings.Join(mapSlice(n.Output, column), ", ")+"]")
	} else {
		parts = append(parts, partialText(n.Partial, column))
	}
	if len(n.Filter) > 0 {
		parts = append(parts, "filter="+strings.Join(exprTexts(n.Filter, column), " AND "))
	}
	if len(n.OrderBy) > 0 {
		parts = append(parts, "order=["+keysTextWith(n.OrderBy, column)+"]")
	}
	if n.Limit != pushdown.NoLimit {
		parts = append(parts, "limit="+strconv.FormatInt(n.Limit, 10))
	}
	if n.Runtime != nil {
		parts = append(parts, n.Runtime.text(column))
	}
	return strings.Join(parts, " ")
}

func scanColumn(n *Scan, i int) string {
	if i < 0 {
		return "rowcount"
	}
	t := n.wide()
	if t.Arrow == nil || i >= t.Arrow.NumFields() {
		return "#" + strconv.Itoa(i)
	}
	return t.Arrow.Field(i).Name
}

func partialText(p *Partial, column func(int) string) string {
	aggs := mapSlice(p.Aggregates, func(a PartialAggregate) string {
		e := AggCall{Name: fmt.Sprint(a.Func), Filter: a.Filter}
		if a.Arg != nil {
			e.Args = []Expr{a.Arg}
		}
		return exprText(&e, column) + "::" + string(a.Type)
	})
	return "partial keys=[" + strings.Join(exprTexts(p.Keys, column), ", ") + "] aggregates=[" + strings.Join(aggs, ", ") + "]" + reduceText(p.Reduce)
}

// reduceText is over the partial's columns.
func reduceText(r *Reduce) string {
	if r == nil {
		return ""
	}
	var parts []string
	if len(r.Filter) > 0 {
		parts = append(parts, "having="+exprList(" AND ", r.Filter))
	}
	if len(r.OrderBy) > 0 {
		parts = append(parts, "order=["+keysText(r.OrderBy)+"]")
	}
	if r.Limit != pushdown.NoLimit {
		parts = append(parts, "limit="+strconv.FormatInt(r.Limit, 10))
	}
	if r.Apart >= 0 {
		parts = append(parts, fmt.Sprintf("apart=#%d", r.Apart))
	}
	return " reduce(" + strings.Join(parts, " ") + ")"
}

func aggregateLine(n *Aggregate) string {
	out := "Aggregate keys=[" + exprList(", ", n.Keys) + "] aggregates=[" + exprList(", ", n.Aggregates) + "]"
	if n.Sets != nil {
		out += fmt.Sprintf(" sets=%v", n.Sets)
	}
	if n.Groupings != nil {
		out += fmt.Sprintf(" groupings=%v", n.Groupings)
	}
	return out
}

func distinctLine(n *Distinct) string {
	if len(n.On) == 0 {
		return "Distinct"
	}
	return "Distinct on=[" + exprList(", ", n.On) + "] order=[" + keysText(n.OrderBy) + "]"
}

func joinLine(n *Join) string {
	out := "Join " + string(n.Kind)
	if n.Delim != nil {
		out += fmt.Sprintf(" delim=%d[%s]", n.Delim.ID, exprList(", ", n.Delim.Columns))
		if n.Delim.Flipped {
			out += " flipped"
		}
	}
	for i, c := range n.Conditions {
		sep := " AND "
		if i == 0 {
			sep = " on "
		}
		out += sep + conditionText(n, c)
	}
	return out + projectionText(n.LeftProjection) + projectionText(n.RightProjection)
}

// conditionText writes both sides over left then right columns.
func conditionText(n *Join, c JoinCondition) string {
	if c.Op == "" {
		return ExprString(c.Left)
	}
	left := len(n.Left.Columns())
	right := exprText(c.Right, func(i int) string { return "#" + strconv.Itoa(left+i) })
	return "(" + ExprString(c.Left) + " " + c.Op + " " + right + ")"
}

func valuesLine(n *Values) string {
	rows := mapSlice(n.Rows, func(r []Expr) string { return "(" + exprList(", ", r) + ")" })
	return "Values [" + strings.Join(rows, ", ") + "]"
}

func allText(all bool) string {
	if all {
		return " ALL"
	}
	return ""
}

func projectionText(p []int) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(" columns=%v", p)
}

func limitText(count, offset int64) string {
	out := ""
	if count != pushdown.NoLimit {
		out = " " + strconv.FormatInt(count, 10)
	}
	if offset != 0 {
		out += " offset=" + strconv.FormatInt(offset, 10)
	}
	return out
}

func exprList(sep string, exprs []Expr) string {
	return strings.Join(mapSlice(exprs, ExprString), sep)
}

// exprTexts are the texts of expressions over named columns.
func exprTexts(exprs []Expr, name func(int) string) []string {
	return mapSlice(exprs, func(e Expr) string { return exprText(e, name) })
}

func keysText(keys []SortKey) string {
	return keysTextWith(keys, func(i int) string { return "#" + strconv.Itoa(i) })
}

func keysTextWith(keys []SortKey, name func(int) string) string {
	p := exprPrinter{name: name}
	p.keys(keys)
	return p.b.String()
}

func mapSlice[T, U any](in []T, f func(T) U) []U {
	out := make([]U, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return slices.Clip(out)
}
