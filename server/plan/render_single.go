package plan

import (
	"fmt"
	"slices"
	"strings"
)

// tooManyRows is what DuckDB says of a scalar subquery with several rows.
const tooManyRows = "More than one row returned by a subquery used as an expression - scalar subqueries can only return a single row."

// singleJoin renders the join that adds the one matching row, or NULLs; several
// matching rows are an error. Where the conditions are equalities the right side
// is grouped by them and counted, else it is a scalar subquery.
func (r *renderer) singleJoin(n *Join) *query {
	left, right := r.sides(n)
	if slices.ContainsFunc(n.Conditions, func(c JoinCondition) bool { return c.Op != "=" && c.Op != "IS NOT DISTINCT FROM" }) {
		return r.scalarSubquery(n, left, right)
	}
	return r.groupedSingle(n, left, right)
}

func (r *renderer) groupedSingle(n *Join, left, right relation) *query {
	keys := mapSlice(n.Conditions, func(c JoinCondition) string { return r.expr(c.Right, right.cols) })
	values := selectColumns(right.cols, n.RightProjection)
	firsts := mapSlice(values, func(v string) string { return "first(" + v + ")" })
	grouped := &query{relation: right, groupBy: groupBy(&Aggregate{}, keys)}
	grouped.cols = slices.Concat(keys, firsts, []string{"count(*)"})
	rows := r.sub(grouped)
	left = r.operand(left, true)
	on := []string{"true"}
	if len(keys) > 0 {
		on = nil
	}
	for i, c := range n.Conditions {
		on = append(on, "("+r.expr(c.Left, left.cols)+" "+c.Op+" "+rows.cols[i]+")")
	}
	count := rows.cols[len(rows.cols)-1]
	cols := slices.Clone(selectColumns(left.cols, n.LeftProjection))
	for i := range values {
		value := rows.cols[len(keys)+i]
		cols = append(cols, "CASE WHEN ("+count+" > 1) THEN error("+quoteString(tooManyRows)+") ELSE "+value+" END")
	}
	from := left.from[0] + " LEFT JOIN " + rows.from[0] + " ON " + strings.Join(on, " AND ")
	return &query{relation: relation{from: []string{from}, cols: cols}}
}

func (r *renderer) scalarSubquery(n *Join, left, right relation) *query {
	right = r.hoist(right)
	inner := query{relation: right}
	inner.where = slices.Concat(inner.where, r.conditions(n, left.cols, right.cols))
	values := selectColumns(right.cols, n.RightProjection)
	outer := &query{relation: left}
	outer.cols = slices.Clone(selectColumns(left.cols, n.LeftProjection))
	if len(values) == 1 {
		inner.cols = values
		outer.cols = append(outer.cols, "("+inner.text()+")")
		return outer
	}
	width := len(outer.cols)
	inner.cols = []string{packed(values)}
	outer.cols = append(outer.cols, "("+inner.text()+")")
	sub := r.sub(outer)
	row := sub.cols[width]
	sub.cols = sub.cols[:width:width]
	for i := range values {
		sub.cols = append(sub.cols, fmt.Sprintf("struct_extract(%s, 'f%d')", row, i))
	}
	return &query{relation: sub}
}

// packed makes one struct of several values.
func packed(values []string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = fmt.Sprintf("'f%d': %s", i, v)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
