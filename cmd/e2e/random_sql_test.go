package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// class is a kind of values that random expressions mix.
type class int

const (
	whole class = iota
	decimal
	double
	text
	truth
	date
	stamp
	zoned
	clock
	blob
	list
	record
	span
	uid
)

var literals = map[class][]string{
	whole:   {"0", "1", "2", "-3", "7", "NULL", "300"},
	decimal: {"0.5", "-1.50", "2.0", "NULL::DECIMAL(5,2)", "0.333"},
	double:  {"0.5::DOUBLE", "-1.5::DOUBLE", "2::DOUBLE", "'nan'::DOUBLE", "0.25::FLOAT"},
	text:    {"'a'", "''", "'A'", "'zürich'", "'m'", "'ab'", "NULL::VARCHAR"},
	truth:   {"true", "false", "NULL::BOOLEAN"},
	date:    {"DATE '2024-01-31'", "DATE '1970-01-01'"},
	stamp:   {"TIMESTAMP '2024-01-31 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999999'", "TIMESTAMP_S '2024-01-31 12:00:00'", "TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", "TIMESTAMP_MS '2024-01-31 12:00:00.5'"},
	zoned:   {"TIMESTAMPTZ '2024-01-31 00:00:00+00'", "TIMESTAMPTZ '2024-01-31 12:00:00.5+00'"},
	clock:   {"TIME '12:30:00'", "TIME '00:00:00'"},
	blob:    {"'a'::BLOB", `'\xFF'::BLOB`, "''::BLOB"},
	list:    {"[1, 2]", "[]::INTEGER[]"},
	record:  {"{'a': 1, 'b': 'x'}"},
	uid:     {"'" + uuidA + "'::UUID", "'" + strings.ToUpper(uuidB) + "'::UUID", "NULL::UUID"},
	span:    {"INTERVAL 1 DAY", "INTERVAL 36 HOURS"},
}

var patterns = []string{"a%", "%b", "%a%", "_", "a_b", "a\\_b", "%", "", "key-1%", "%-1", "z%h", "日%", "a\\%b", "a%b", "%\\b"}

// sqlGen writes random SQL. Statements that DuckDB refuses are not avoided:
// both sides must refuse them.
type sqlGen struct {
	r      *rand.Rand
	tables []*randomTable
}

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// scope is a table under an alias.
type scope struct {
	table *randomTable
	alias string
}

func (s scope) column(c randomColumn) string { return s.alias + "." + quoted(c.name) }

func (g *sqlGen) scope(alias string) scope { return scope{pick(g.r, g.tables), alias} }

func (g *sqlGen) column(s scope, c class) (string, bool) {
	var have []string
	for _, col := range s.table.columns {
		if col.class == c {
			have = append(have, s.column(col))
		}
	}
	if len(have) == 0 {
		return "", false
	}
	return pick(g.r, have), true
}

// anyClass is the class of some column.
func (g *sqlGen) anyClass(s scope) class { return pick(g.r, s.table.columns).class }

func (g *sqlGen) leaf(s scope, c class) string {
	if col, ok := g.column(s, c); ok && g.r.IntN(5) > 0 {
		return col
	}
	return pick(g.r, literals[c])
}

func (g *sqlGen) expr(s scope, c class, depth int) string {
	if depth <= 0 || g.r.IntN(3) == 0 {
		return g.leaf(s, c)
	}
	if g.r.IntN(4) == 0 {
		return g.choice(s, c, depth-1)
	}
	sub := func(c class) string { return g.expr(s, c, depth-1) }
	switch c {
	case whole:
		return pick(g.r, []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", sub(whole), pick(g.r, []string{"+", "-", "*"}), sub(whole))
			},
			func() string { return "(-" + sub(whole) + ")" },
			func() string { return "abs(" + sub(whole) + ")" },
			func() string { return "(" + sub(whole) + " % 3)" },
			func() string { return "length(" + sub(text) + ")" },
			func() string { return "len(" + sub(list) + ")" },
			func() string { return "(" + sub(record) + ").a" },
			func() string { return "TRY_CAST(" + sub(text) + " AS INTEGER)" },
			func() string { return "date_diff('day', " + sub(date) + ", " + sub(date) + ")" },
			func() string { return "CAST(" + sub(truth) + " AS INTEGER)" },
			func() string {
				return fmt.Sprintf("CAST(%s AS %s)", sub(whole), pick(g.r, []string{"BIGINT", "INTEGER", "UBIGINT", "SMALLINT", "HUGEINT"}))
			},
			func() string { return "CAST(" + sub(decimal) + " AS BIGINT)" },
			func() string { return "year(" + sub(date) + ")" },
			func() string {
				return fmt.Sprintf("%s(%s)", pick(g.r, []string{"year", "quarter", "month", "day", "hour", "minute", "second"}), sub(pick(g.r, []class{date, stamp})))
			},
			func() string {
				return fmt.Sprintf("(%s %s %s)", sub(whole), pick(g.r, []string{"%", "//"}), sub(whole))
			},
			func() string { return "(" + sub(whole) + " // 2)" },
		})()
	case decimal:
		return pick(g.r, []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", sub(decimal), pick(g.r, []string{"+", "-", "*"}), sub(pick(g.r, []class{decimal, whole})))
			},
			func() string { return "(-" + sub(decimal) + ")" },
			func() string {
				return fmt.Sprintf("CAST(%s AS DECIMAL(%s))", sub(pick(g.r, []class{whole, decimal})), pick(g.r, []string{"18,2", "9,3", "38,4", "38,0", "5,0"}))
			},
			func() string { return "round(" + sub(decimal) + ", 1)" },
			func() string { return "greatest(" + sub(decimal) + ", " + sub(whole) + ")" },
		})()
	case double:
		return pick(g.r, []func() string{
			func() string {
				return fmt.Sprintf("(%s %s %s)", sub(double), pick(g.r, []string{"+", "-", "*"}), sub(double))
			},
			func() string { return "(-" + sub(double) + ")" },
			func() string { return "CAST(" + sub(pick(g.r, []class{whole, decimal, double})) + " AS DOUBLE)" },
			func() string { return "(" + sub(whole) + " / 4)" },
			func() string { return "(" + sub(double) + " / " + sub(double) + ")" },
			func() string { return "abs(" + sub(double) + ")" },
			func() string { return "CAST(" + sub(double) + " AS FLOAT)" },
		})()
	case text:
		return pick(g.r, []func() string{
			func() string { return pick(g.r, []string{"lower", "upper", "trim", "reverse"}) + "(" + sub(text) + ")" },
			func() string { return "(" + sub(text) + " || " + sub(text) + ")" },
			func() string { return "substr(" + sub(text) + ", 1, 2)" },
			func() string {
				return fmt.Sprintf("%s(%s, %d)", pick(g.r, []string{"left", "right", "substring"}), sub(text), g.r.IntN(5)-1)
			},
			func() string { return fmt.Sprintf("substring(%s, %d, %d)", sub(text), g.r.IntN(4), g.r.IntN(4)) },
			func() string {
				return "CAST(" + sub(pick(g.r, []class{whole, decimal, date, truth, uid})) + " AS VARCHAR)"
			},
		})()
	case truth:
		return g.predicate(s, depth)
	case date:
		return pick(g.r, []func() string{
			func() string { return "CAST(" + sub(stamp) + " AS DATE)" },
			func() string { return "(" + sub(date) + " + 3)" },
			func() string { return "last_day(" + sub(date) + ")" },
		})()
	case stamp:
		return pick(g.r, []func() string{
			func() string {
				return fmt.Sprintf("date_trunc('%s', %s)", pick(g.r, []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second"}), sub(pick(g.r, []class{stamp, date})))
			},
			func() string { return "CAST(" + sub(date) + " AS TIMESTAMP)" },
			func() string { return "(" + sub(stamp) + " + " + sub(span) + ")" },
			func() string {
				return "CAST(" + sub(stamp) + " AS " + pick(g.r, []string{"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_NS", "TIMESTAMP_MS"}) + ")"
			},
		})()
	}
	return g.leaf(s, c)
}

// choice is an expression that picks one of several.
func (g *sqlGen) choice(s scope, c class, depth int) string {
	sub := func() string { return g.expr(s, c, depth) }
	switch g.r.IntN(4) {
	case 0:
		return "coalesce(" + sub() + ", " + sub() + ")"
	case 1:
		return "nullif(" + sub() + ", " + sub() + ")"
	case 2:
		return fmt.Sprintf("CASE WHEN %s THEN %s WHEN %s THEN %s END", g.predicate(s, depth), sub(), g.predicate(s, depth), sub())
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", g.predicate(s, depth), sub(), sub())
}

func (g *sqlGen) predicate(s scope, depth int) string {
	if depth <= 0 {
		return g.comparison(s, 0)
	}
	switch g.r.IntN(8) {
	case 0:
		return "(" + g.predicate(s, depth-1) + " AND " + g.predicate(s, depth-1) + ")"
	case 1:
		return "(" + g.predicate(s, depth-1) + " OR " + g.predicate(s, depth-1) + ")"
	case 2:
		return "(NOT " + g.predicate(s, depth-1) + ")"
	case 3:
		return "(" + g.expr(s, g.anyClass(s), depth-1) + pick(g.r, []string{" IS NULL", " IS NOT NULL"}) + ")"
	case 4:
		not := pick(g.r, []string{"", "NOT "})
		switch g.r.IntN(4) {
		case 0:
			return fmt.Sprintf("%s(%s, '%s')", pick(g.r, []string{"starts_with", "contains", "suffix"}), g.expr(s, text, depth-1), pick(g.r, []string{"a", "", "b", "key"}))
		case 1:
			return fmt.Sprintf("(%s %sILIKE '%s')", g.expr(s, text, depth-1), not, pick(g.r, patterns))
		}
		escape := pick(g.r, []string{"", "", ` ESCAPE '\'`})
		return fmt.Sprintf("(%s %sLIKE '%s'%s)", g.expr(s, text, depth-1), not, pick(g.r, patterns), escape)
	}
	return g.comparison(s, depth-1)
}

var comparisons = []string{"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}

func (g *sqlGen) comparison(s scope, depth int) string {
	c := g.anyClass(s)
	other := c
	if c <= double && g.r.IntN(3) == 0 {
		other = class(g.r.IntN(int(double) + 1))
	}
	if (c == date || c == stamp || c == zoned) && g.r.IntN(3) == 0 {
		other = pick(g.r, []class{date, stamp, zoned})
	}
	l := g.expr(s, c, depth)
	switch g.r.IntN(5) {
	case 0:
		var values []string
		for range 1 + g.r.IntN(4) {
			values = append(values, pick(g.r, literals[other]))
		}
		return fmt.Sprintf("(%s %sIN (%s))", l, pick(g.r, []string{"", "NOT "}), strings.Join(values, ", "))
	case 1:
		return fmt.Sprintf("(%s %sBETWEEN %s AND %s)", l, pick(g.r, []string{"", "NOT "}), g.expr(s, other, 0), g.expr(s, c, 0))
	}
	return fmt.Sprintf("(%s %s %s)", l, pick(g.r, comparisons), g.expr(s, other, depth))
}

func (g *sqlGen) where(s scope) string {
	switch g.r.IntN(4) {
	case 0:
		return ""
	case 1:
		return " WHERE " + g.predicate(s, 2) + " AND " + g.predicate(s, 1)
	}
	return " WHERE " + g.predicate(s, 2)
}

// aggregate is one call; order is a unique column of the scope.
func (g *sqlGen) aggregate(s scope, order string) string {
	number := func() string {
		if g.r.IntN(4) == 0 {
			return g.choice(s, double, 0) // sums of these are exact in any order
		}
		return g.expr(s, pick(g.r, []class{whole, decimal}), 1)
	}
	any := func() string { return g.expr(s, g.anyClass(s), 1) }
	call := ""
	switch g.r.IntN(16) {
	case 0, 1:
		call = "count(*)"
	case 2:
		call = "count(" + any() + ")"
	case 3, 4:
		call = "count(DISTINCT " + any() + ")"
	case 5, 6:
		call = "sum(" + number() + ")"
	case 7:
		call = "avg(" + number() + ")"
	case 8:
		call = "min(" + any() + ")"
	case 9:
		call = "max(" + any() + ")"
	case 10:
		call = pick(g.r, []string{"bool_and", "bool_or"}) + "(" + g.predicate(s, 1) + ")"
	case 11:
		call = pick(g.r, []string{"sum", "avg"}) + "(DISTINCT " + g.expr(s, pick(g.r, []class{whole, decimal}), 0) + ")"
	case 12:
		call = fmt.Sprintf("string_agg(%s, ',' ORDER BY %s)", g.expr(s, text, 1), order)
	case 13:
		call = fmt.Sprintf("%s(%s ORDER BY %s)", pick(g.r, []string{"first", "last", "list"}), any(), order)
	case 14:
		// product is left out: whether infinity meets zero depends on the order of rows.
		call = pick(g.r, []string{"bit_xor", "bit_and", "median", "stddev_pop", "bit_or"}) + "(" + g.expr(s, whole, 0) + ")"
	case 15:
		call = fmt.Sprintf("%s(%s, (%s))", pick(g.r, []string{"arg_min", "arg_max"}), any(), order)
	}
	if g.r.IntN(4) == 0 {
		call += " FILTER (WHERE " + g.predicate(s, 1) + ")"
	}
	return call
}
