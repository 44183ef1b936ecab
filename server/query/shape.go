package query

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/sqllex"
)

// shape is a statement with gaps where it compares columns with constants, of the
// one kind of which the engine's plan has each constant exactly as it is, and
// depends on none of them otherwise:
//
//	SELECT … FROM table WHERE column op constant AND … [GROUP BY … | ORDER BY … | LIMIT …]
//
// with one SELECT, so that no other condition reads those columns, each column in
// one comparison, so that none makes another redundant, and constants that need no
// rounding, no cast that could fail, and no other type for another value.
type shape struct {
	// parts is the text around the gaps.
	parts  []string
	kinds  []gapKind
	values []string
}

// gapKind is what is known of a constant besides its value.
type gapKind byte

const (
	// intGap is a whole number below 2³¹, an INTEGER to the engine.
	intGap gapKind = 'i'
	// longGap is one from there on and below 2⁶³, a BIGINT.
	longGap gapKind = 'l'
	// textGap is a text of plain characters.
	textGap gapKind = 't'
)

// key is the same for statements that differ in values only.
func (s *shape) key() string {
	var out strings.Builder
	for i, p := range s.parts {
		out.WriteString(p)
		if i < len(s.kinds) {
			out.WriteByte(0)
			out.WriteByte(byte(s.kinds[i]))
		}
	}
	return out.String()
}

// with is the statement with other values.
func (s *shape) with(values []string) string {
	var out strings.Builder
	for i, p := range s.parts {
		out.WriteString(p)
		if i < len(values) {
			out.WriteString(values[i])
		}
	}
	return out.String()
}

// shapeOf reads a statement; false when it is of no such shape, or not surely.
func shapeOf(sql string, tables map[string]*catalog.Table) (*shape, bool) {
	r := shapeReader{sql: sql, tokens: slices.Collect(sqllex.Tokens(sql))}
	if strings.IndexByte(sql, 0) >= 0 || !r.once("SELECT") || !r.once("FROM") || !r.once("WHERE") || r.strange() {
		return nil, false
	}
	from := r.find("FROM")
	table, next := r.table(from+1, tables)
	if !r.at(0).Is("SELECT") || table == nil || !r.at(next).Is("WHERE") {
		return nil, false
	}
	return r.conditions(next+1, table)
}

type shapeReader struct {
	sql    string
	tokens []sqllex.Token
	shape  shape
	done   int // up to where the text is in the shape
	used   []string
}

// at is the i-th token, an empty one behind the end.
func (r *shapeReader) at(i int) sqllex.Token {
	if i < len(r.tokens) {
		return r.tokens[i]
	}
	return sqllex.Token{}
}

func (r *shapeReader) find(word string) int {
	return slices.IndexFunc(r.tokens, func(t sqllex.Token) bool { return t.Is(word) })
}

func (r *shapeReader) once(word string) bool {
	n := 0
	for _, t := range r.tokens {
		if t.Is(word) {
			n++
		}
	}
	return n == 1
}

// strangers begin other queries, or conditions beside WHERE.
var strangers = []string{
	"HAVING", "QUALIFY", "WINDOW", "OVER", "UNION", "INTERSECT", "EXCEPT", "WITH", "TABLE", "VALUES", "JOIN", "USING", "SAMPLE", "TABLESAMPLE",
	"PIVOT", "UNPIVOT", "DESCRIBE", "SHOW", "SUMMARIZE", "EXISTS",
}

func (r *shapeReader) strange() bool {
	return slices.ContainsFunc(r.tokens, func(t sqllex.Token) bool {
		return t.Kind == sqllex.Parameter || slices.ContainsFunc(strangers, t.Is)
	})
}

// name is a name as it is looked up; "" for what is none.
func name(t sqllex.Token) string {
	switch t.Kind {
	case sqllex.Word:
		return t.Text
	case sqllex.Name:
		if bare := t.Text[1 : len(t.Text)-1]; !strings.Contains(bare, `"`) {
			return bare
		}
	}
	return ""
}

// table reads the name of a table and returns it with the position behind.
func (r *shapeReader) table(i int, tables map[string]*catalog.Table) (*catalog.Table, int) {
	schema, table, next := "main", name(r.at(i)), i+1
	if r.at(next).Text == "." {
		schema, table, next = table, name(r.at(i+2)), i+3
	}
	found := tables[schema+"."+table]
	if found != nil && found.Arrow != nil {
		return found, next
	}
	for _, t := range tables {
		if strings.EqualFold(t.Schema, schema) && strings.EqualFold(t.Name, table) {
			if found != nil || t.Arrow == nil {
				return nil, 0
			}
			found = t
		}
	}
	return found, next
}

// conditions reads what follows WHERE.
func (r *shapeReader) conditions(i int, table *catalog.Table) (*shape, bool) {
	for {
		next, ok := r.condition(i, table)
		if !ok {
			return nil, false
		}
		switch t := r.at(next); {
		case t.Is("AND"):
			i = next + 1
		case t.Kind == 0, t.Is("GROUP"), t.Is("ORDER"), t.Is("LIMIT"):
			r.shape.parts = append(r.shape.parts, r.sql[r.done:])
			return &r.shape, true
		default:
			return nil, false
		}
	}
}

// condition reads column op constant and returns the position behind it.
func (r *shapeReader) condition(i int, table *catalog.Table) (int, bool) {
	field, ok := column(name(r.at(i)), table)
	if !ok || slices.Contains(r.used, field.Name) {
		return 0, false
	}
	r.used = append(r.used, field.Name)
	if i = r.comparison(i + 1); i == 0 {
		return 0, false
	}
	if r.at(i).Is("CAST") {
		return i + 6, r.at(i+1).Text == "(" && r.at(i+3).Is("AS") && r.at(i+4).Is(sqlNames[field.Type.ID()]) && r.at(i+5).Text == ")" &&
			r.at(i+2).Kind == sqllex.String && r.constant(r.at(i+2), field.Type.ID())
	}
	t := r.at(i)
	if (t.Kind == sqllex.String) != (field.Type.ID() == arrow.STRING) || t.End == r.at(i+1).Start {
		return 0, false
	}
	return i + 1, r.constant(t, field.Type.ID())
}

// column finds a column whose name is that of no other and whose type is one of
// those that constants are compared with as they are.
func column(name string, table *catalog.Table) (found arrow.Field, ok bool) {
	for _, f := range table.Arrow.Fields() {
		if strings.EqualFold(f.Name, name) {
			if ok {
				return f, false
			}
			found, ok = f, true
		}
	}
	return found, ok && sqlNames[found.Type.ID()] != "" && !pushdown.IsUUID(found)
}

var sqlNames = map[arrow.Type]string{
	arrow.INT32: "INTEGER", arrow.INT64: "BIGINT", arrow.UINT32: "UINTEGER", arrow.UINT64: "UBIGINT", arrow.STRING: "VARCHAR",
}

// comparison returns the position behind an operator, 0 when there is none.
func (r *shapeReader) comparison(i int) int {
	op := r.at(i).Text
	if next := r.at(i + 1); next.Kind == sqllex.Symbol && next.Start == r.at(i).End {
		op += next.Text
	}
	if !slices.Contains([]string{"=", "<", ">", "<=", ">=", "<>", "!="}, op) {
		return 0
	}
	return i + len(op)
}

// constant makes a gap of a literal.
func (r *shapeReader) constant(t sqllex.Token, column arrow.Type) bool {
	start, end := t.Start, t.End
	if t.Kind == sqllex.String {
		start, end = start+1, end-1
	}
	if t.Kind != sqllex.String && t.Kind != sqllex.Number || t.Text[0] == 'e' || t.Text[0] == 'E' || t.Text[0] == '$' || end < start {
		return false
	}
	value := r.sql[start:end]
	kind, ok := kindOf(value, column)
	r.shape.parts = append(r.shape.parts, r.sql[r.done:start])
	r.shape.kinds = append(r.shape.kinds, kind)
	r.shape.values = append(r.shape.values, value)
	r.done = end
	return ok
}

// maxGapText is the longest text in a gap.
const maxGapText = 256

func kindOf(value string, column arrow.Type) (gapKind, bool) {
	if column == arrow.STRING {
		return textGap, len(value) > 0 && len(value) <= maxGapText && strings.IndexFunc(value, special) < 0
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil || strconv.FormatInt(n, 10) != value || n < 0:
		return 0, false
	case n < 1<<31:
		return intGap, true
	}
	return longGap, column == arrow.INT64 || column == arrow.UINT64
}

// special characters are written in another way in SQL or in JSON.
func special(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`'"\`, c) }
