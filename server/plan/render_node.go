package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
)

// query renders a node as a SELECT of its own.
func (r *renderer) query(n Node) *query {
	switch n := n.(type) {
	case *Project:
		return r.project(n)
	case *Aggregate:
		return r.aggregate(n)
	case *Window:
		return r.appended(n.Input, n.Exprs)
	case *Unnest:
		return r.appended(n.Input, n.Exprs)
	case *Distinct:
		return r.distinct(n)
	case *Sort:
		q := &query{relation: r.relation(n.Input)}
		q.orderBy = r.orderBy(n.Keys, q.cols)
		q.cols = selectColumns(q.cols, n.Projection)
		return q
	case *TopN:
		q := &query{relation: r.relation(n.Input)}
		q.orderBy, q.limit = r.orderBy(n.Keys, q.cols), limitClause(n.Limit, n.Offset)
		return q
	case *Limit:
		return r.limit(n)
	case *SetOp:
		return r.setOp(n)
	case *RecursiveCTE:
		return r.recursiveCTE(n)
	case *CTE:
		r.defineCTE(n)
		return r.query(n.Body)
	case *Join:
		return r.joinQuery(n)
	}
	return &query{relation: r.relation(n)}
}

// relation renders a node so that the nodes above can add to its WHERE.
func (r *renderer) relation(n Node) relation {
	switch n := n.(type) {
	case *Filter:
		return r.filter(n)
	case *Project:
		if refs := plainRefs(n.Exprs); refs != nil {
			in := r.relation(n.Input)
			in.cols = selectColumns(in.cols, refs)
			return in
		}
	case *Join:
		if rel, ok := r.joinRelation(n); ok {
			return rel
		}
	case *Scan:
		return r.scan(n)
	case *TableCall:
		return r.item(n.SQL, len(n.Types))
	case *CTE:
		r.defineCTE(n)
		return r.relation(n.Body)
	case *CTERef:
		return r.tableNamed(cteName(n.ID), len(n.Types))
	case *DelimGet:
		return r.tableNamed(r.delims[n.ID], len(n.Types))
	case *Values:
		return r.values(n)
	}
	return r.sub(r.query(n))
}

// scan reads a table, once for all rounds of a recursive step.
func (r *renderer) scan(n *Scan) relation {
	sql, width := r.scanSQL(n), len(n.Columns())
	if r.step == 0 {
		return r.item(sql, width)
	}
	name := "rows_" + r.alias()
	r.define(name, sql)
	return r.tableNamed(name, width)
}

func (r *renderer) defineCTE(n *CTE) {
	if r.step > 0 {
		r.fail(unsupported("a CTE inside a recursive step"))
	}
	r.define(cteName(n.ID), r.query(n.Definition).text())
}

func cteName(id int) string { return fmt.Sprintf("cte%d", id) }

// tableNamed is a CTE as an item of FROM.
func (r *renderer) tableNamed(name string, width int) relation {
	if name == "" {
		r.fail(unsupported("a scan of correlated values outside their join"))
	}
	alias := r.alias()
	return relation{from: []string{name + " " + alias}, cols: columnsOf(alias, width)}
}

// plainRefs are the positions that the expressions refer to, or nil when one is
// more than a reference.
func plainRefs(exprs []Expr) []int {
	out := make([]int, len(exprs))
	for i, e := range exprs {
		ref, ok := e.(*Ref)
		if !ok {
			return nil
		}
		out[i] = ref.Index
	}
	return out
}

// filter adds to the WHERE of its input. A volatile condition must see the rows
// of its own input and no others.
func (r *renderer) filter(n *Filter) relation {
	in := r.relation(n.Input)
	conjuncts := r.exprs(n.Conjuncts, in.cols)
	in.where = append(in.where, conjuncts...)
	in.cols = selectColumns(in.cols, n.Projection)
	if slices.ContainsFunc(n.Conjuncts, isVolatile) {
		return r.sub(&query{relation: in})
	}
	return in
}

func isVolatile(e Expr) bool {
	found := false
	WalkExpr(e, func(e Expr) bool {
		c, ok := e.(*Call)
		found = found || ok && c.Volatile
		return !found
	})
	return found
}

// project joins the SELECT of an ordered input where that changes nothing, so
// that the order stays that of the outermost query.
func (r *renderer) project(n *Project) *query {
	var q *query
	switch in := n.Input.(type) {
	case *Sort:
		q = r.query(in)
	case *TopN, *Limit:
		if plainRefs(n.Exprs) != nil {
			q = r.query(in)
		}
	}
	if q == nil || q.distinct != "" {
		q = &query{relation: r.relation(n.Input)}
	}
	q.cols = r.exprs(n.Exprs, q.cols)
	return q
}

// appended is the input's columns followed by expressions.
func (r *renderer) appended(input Node, exprs []Expr) *query {
	q := &query{relation: r.relation(input)}
	q.cols = slices.Concat(q.cols, r.exprs(exprs, q.cols))
	return q
}

func (r *renderer) distinct(n *Distinct) *query {
	q := &query{relation: r.relation(n.Input), distinct: "DISTINCT "}
	if len(n.On) > 0 {
		q.distinct = "DISTINCT ON (" + strings.Join(r.exprs(n.On, q.cols), ", ") + ") "
		q.orderBy = r.orderBy(n.OrderBy, q.cols)
	}
	return q
}

// limit joins the SELECT of a sorted input.
func (r *renderer) limit(n *Limit) *query {
	if s, ok := n.Input.(*Sort); ok {
		q := r.query(s)
		q.limit = limitClause(n.Count, n.Offset)
		return q
	}
	return &query{relation: r.relation(n.Input), limit: limitClause(n.Count, n.Offset)}
}

func limitClause(count, offset int64) string {
	out := ""
	if count != pushdown.NoLimit {
		out = fmt.Sprintf(" LIMIT %d", count)
	}
	if offset != 0 {
		out += fmt.Sprintf(" OFFSET %d", offset)
	}
	return out
}

// orderBy leaves constants out: they order nothing.
func (r *renderer) orderBy(keys []SortKey, cols []string) string {
	var parts []string
	for _, k := range keys {
		if _, constant := k.Expr.(*Const); !constant {
			parts = append(parts, r.expr(k.Expr, cols)+k.direction())
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(parts, ", ")
}

// aggregate groups by position. Grouping sets need columns as keys: expressions
// move below.
func (r *renderer) aggregate(n *Aggregate) *query {
	in := r.relation(n.Input)
	keys := r.exprs(n.Keys, in.cols)
	if n.Sets != nil || n.Groupings != nil {
		width := len(in.cols)
		in.cols = slices.Concat(in.cols, keys)
		in = r.sub(&query{relation: in})
		keys = in.cols[width:]
	}
	q := &query{relation: in}
	q.cols = slices.Concat(keys, r.exprs(n.Aggregates, in.cols))
	for _, g := range n.Groupings {
		q.cols = append(q.cols, "GROUPING("+strings.Join(selectColumns(keys, g), ", ")+")")
	}
	q.groupBy = groupBy(n, keys)
	if len(q.cols) == 0 {
		// One row without columns, however many there are below.
		return &query{}
	}
	return q
}

func groupBy(n *Aggregate, keys []string) string {
	switch {
	case n.Sets != nil:
		sets := mapSlice(n.Sets, func(s []int) string { return "(" + strings.Join(selectColumns(keys, s), ", ") + ")" })
		return " GROUP BY GROUPING SETS (" + strings.Join(sets, ", ") + ")"
	case len(keys) > 0:
		positions := make([]string, len(keys))
		for i := range positions {
			positions[i] = fmt.Sprint(i + 1)
		}
		return " GROUP BY " + strings.Join(positions, ", ")
	}
	return ""
}

func (r *renderer) setOp(n *SetOp) *query {
	op := " " + n.Op + allText(n.All) + " "
	parts := mapSlice(n.InputNodes, func(in Node) string { return "(" + r.query(in).text() + ")" })
	if len(parts) == 1 {
		return &query{relation: r.relation(n.InputNodes[0]), distinct: "DISTINCT "}
	}
	cols := numbered(len(n.OutputTypes))
	return &query{relation: relation{cols: cols}, setOp: strings.Join(parts, op)}
}

// recursiveCTE reads the scans of the step once, not in every round.
func (r *renderer) recursiveCTE(n *RecursiveCTE) *query {
	base := r.query(n.Base).text()
	r.recursive = true
	r.step++
	step := r.query(n.Step).text()
	r.step--
	op := "UNION" + allText(n.All)
	width := len(n.Columns())
	name := cteName(n.ID)
	columns := "(" + strings.Join(numbered(max(width, 1)), ", ") + ")"
	r.ctes = append(r.ctes, name+columns+" AS (("+base+") "+op+" ("+step+"))")
	return &query{relation: r.tableNamed(name, width)}
}

// values is a constant table. One row without columns needs no FROM.
func (r *renderer) values(n *Values) relation {
	switch {
	case len(n.Rows) == 0:
		nulls := mapSlice(n.Types, func(t Type) string { return nullConst(t).SQL })
		return r.sub(&query{relation: relation{cols: nulls, where: []string{"false"}}})
	case len(n.Types) == 0 && len(n.Rows) == 1:
		return relation{}
	case len(n.Types) == 0:
		r.fail(unsupported("rows without columns"))
	}
	rows := mapSlice(n.Rows, func(row []Expr) string { return "(" + strings.Join(r.exprs(row, nil), ", ") + ")" })
	alias := r.alias()
	names := "(" + strings.Join(numbered(len(n.Types)), ", ") + ")"
	return relation{
		from: []string{"(VALUES " + strings.Join(rows, ", ") + ") " + alias + names},
		cols: columnsOf(alias, len(n.Types)),
	}
}
