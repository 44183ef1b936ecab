package plan

import (
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Render writes a plan as one SQL statement for the embedded engine. names are
// the names of the result's columns; scanSQL gives, for each scan reached, a
// complete SELECT with columns named c0, c1, …. What has no faithful SQL is an
// error of code Unimplemented.
//
// Inner joins and the filters over them become one flat SELECT … FROM … WHERE:
// the engine orders the joins with the cardinalities that it sees.
func Render(root Node, names []string, scanSQL func(*Scan) string) (string, error) {
	r := renderer{scanSQL: scanSQL, delims: map[int]string{}}
	q := r.query(root)
	if width := len(root.Columns()); r.err == nil && width != len(names) {
		return "", status.New(status.Internal, "a plan of %d columns has %d names", width, len(names))
	}
	sql := r.named(q, names)
	if r.err != nil {
		return "", r.err
	}
	return r.with() + sql, nil
}

// renderer collects what all parts of the statement share.
type renderer struct {
	scanSQL func(*Scan) string
	// aliases counts the table aliases t1, t2, ….
	aliases int
	// ctes are the definitions of the WITH clause, in order of dependency.
	ctes      []string
	recursive bool
	// delims are the names of the tables of correlated values.
	delims map[int]string
	// step counts the recursive steps around the node.
	step int
	err  error
}

func (r *renderer) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *renderer) alias() string {
	r.aliases++
	return "t" + strconv.Itoa(r.aliases)
}

// define adds a CTE. They are all at the top of the statement: none refers to
// anything but other CTEs.
func (r *renderer) define(name, body string) {
	r.ctes = append(r.ctes, name+" AS MATERIALIZED ("+body+")")
}

func (r *renderer) with() string {
	switch {
	case len(r.ctes) == 0:
		return ""
	case r.recursive:
		return "WITH RECURSIVE " + strings.Join(r.ctes, ", ") + " "
	}
	return "WITH " + strings.Join(r.ctes, ", ") + " "
}

// relation is a FROM and a WHERE clause and the columns over them, which are
// plain references.
type relation struct {
	from  []string
	where []string
	cols  []string
	// joined: the one item of from is a chain of joins, not a plain item.
	joined bool
}

// query is a SELECT, or a set operation whose columns are c0, c1, ….
type query struct {
	relation
	distinct string
	groupBy  string
	orderBy  string
	limit    string
	setOp    string
}

// numbered are the names c0, c1, … of n columns.
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "c" + strconv.Itoa(i)
	}
	return out
}

// text writes a query with columns c0, c1, ….
func (q *query) text() string {
	if q.setOp != "" {
		return q.setOp
	}
	return q.selectAs(numbered(len(q.cols)))
}

// named writes the outermost query.
func (r *renderer) named(q *query, names []string) string {
	if q.setOp != "" {
		q = &query{relation: r.sub(q)}
	}
	if len(names) != len(q.cols) {
		return q.text()
	}
	return q.selectAs(mapSlice(names, quoteName))
}

func (q *query) selectAs(names []string) string {
	cols := make([]string, len(q.cols))
	for i, c := range q.cols {
		cols[i] = c + " AS " + names[i]
	}
	if len(cols) == 0 {
		cols = []string{"0 AS c0"}
	}
	var b strings.Builder
	b.WriteString("SELECT " + q.distinct + strings.Join(cols, ", "))
	if len(q.from) > 0 {
		b.WriteString(" FROM " + strings.Join(q.from, ", "))
	}
	if len(q.where) > 0 {
		b.WriteString(" WHERE " + strings.Join(q.where, " AND "))
	}
	b.WriteString(q.groupBy + q.orderBy + q.limit)
	return b.String()
}

// sub makes a query an item of FROM.
func (r *renderer) sub(q *query) relation {
	return r.item(q.text(), len(q.cols))
}

// item is a complete SELECT of width columns as an item of FROM.
func (r *renderer) item(sql string, width int) relation {
	alias := r.alias()
	return relation{from: []string{"(" + sql + ") " + alias}, cols: columnsOf(alias, width)}
}

func columnsOf(alias string, width int) []string {
	return mapSlice(numbered(width), func(c string) string { return alias + "." + c })
}

func selectColumns(cols []string, positions []int) []string {
	if positions == nil {
		return cols
	}
	return mapSlice(positions, func(p int) string { return cols[p] })
}
