package e2e

import (
	"fmt"
	"strings"
)

// statement is a random statement whose rows, and their order if it is
// ordered, are determined.
func (g *sqlGen) statement() (sql string, ordered bool) {
	shapes := []func() (string, bool){
		g.rows, g.rows, g.grouped, g.grouped, g.grouped, g.grouped, g.ungrouped, g.ungrouped, g.topN, g.topN, g.counted,
		g.distinct, g.joined, g.joined, g.joinGrouped, g.subquery, g.subquery, g.setOp, g.cteTwice, g.windowed, g.nested,
		g.groupingSets, g.prunedAggregate, g.distinctOn, g.using, g.windowOverGroups, g.valuesJoined, g.subqueryUnderOr, g.keyed,
	}
	return pick(g.r, shapes)()
}

// items are n select items with unique names.
func (g *sqlGen) items(s scope, n, depth int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%s AS x%d", g.expr(s, g.anyClass(s), depth), i))
	}
	return strings.Join(out, ", ")
}

func (g *sqlGen) sortKey(e string) string {
	return e + pick(g.r, []string{"", " ASC", " DESC"}) + pick(g.r, []string{"", " NULLS FIRST", " NULLS LAST"})
}

func (g *sqlGen) limit() string {
	out := fmt.Sprintf(" LIMIT %d", pick(g.r, []int{0, 1, 3, 10, 1000}))
	if g.r.IntN(2) == 0 {
		out += fmt.Sprintf(" OFFSET %d", pick(g.r, []int{0, 1, 5, 500}))
	}
	return out
}

func (g *sqlGen) rows() (string, bool) {
	s := g.scope("a")
	what := g.items(s, 1+g.r.IntN(3), g.r.IntN(3))
	if g.r.IntN(4) == 0 {
		what = pick(g.r, []string{"*", "a.*, a.id", "a.id, a.id, *"})
	}
	return "SELECT " + what + " FROM " + s.table.name + " a" + g.where(s), false
}

// group is an aggregation with keys as its first columns.
func (g *sqlGen) group(s scope, from string, order string) (sql string, keys int) {
	keys = g.r.IntN(4)
	items := ""
	var names []string
	for i := range keys {
		items += fmt.Sprintf("%s AS k%d, ", g.expr(s, g.anyClass(s), g.r.IntN(2)), i)
		names = append(names, fmt.Sprintf("k%d", i))
	}
	for i := range 1 + g.r.IntN(3) {
		items += fmt.Sprintf("%s AS a%d, ", g.aggregate(s, order), i)
	}
	sql = "SELECT " + strings.TrimSuffix(items, ", ") + " FROM " + from + g.where(s)
	if keys > 0 {
		sql += " GROUP BY " + strings.Join(names, ", ")
	}
	if g.r.IntN(4) == 0 {
		sql += " HAVING " + g.aggregate(s, order) + pick(g.r, []string{" IS NOT NULL", " IS NULL"}) + " OR count(*) > 2"
	}
	return sql, keys
}

func (g *sqlGen) grouped() (string, bool) {
	s := g.scope("a")
	sql, keys := g.group(s, s.table.name+" a", "a.id")
	if keys == 0 || g.r.IntN(2) == 0 {
		return sql, false
	}
	var by []string
	for i := range keys {
		by = append(by, g.sortKey(fmt.Sprint(i+1)))
	}
	sql += " ORDER BY " + strings.Join(by, ", ")
	if g.r.IntN(2) == 0 {
		sql += g.limit()
	}
	return sql, true
}

func (g *sqlGen) ungrouped() (string, bool) {
	s := g.scope("a")
	var items []string
	for i := range 1 + g.r.IntN(4) {
		items = append(items, fmt.Sprintf("%s AS a%d", g.aggregate(s, "a.id"), i))
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM " + s.table.name + " a" + g.where(s), false
}

func (g *sqlGen) prunedAggregate() (string, bool) {
	s := g.scope("a")
	return "SELECT " + g.aggregate(s, "a.id") + ", " + g.aggregate(s, "a.id") + " FROM " + s.table.name + " a WHERE " +
		pick(g.r, []string{"false", "a.id < 0", "a.id IS NULL", "NULL", "1 = 2"}), false
}

func (g *sqlGen) topN() (string, bool) {
	s := g.scope("a")
	by := []string{}
	for range g.r.IntN(3) {
		by = append(by, g.sortKey(g.expr(s, g.anyClass(s), pick(g.r, []int{0, 0, 1}))))
	}
	by = append(by, g.sortKey("a.id"))
	sql := "SELECT a.id, " + g.items(s, 1+g.r.IntN(2), 1) + " FROM " + s.table.name + " a" + g.where(s) + " ORDER BY " + strings.Join(by, ", ")
	if g.r.IntN(4) > 0 {
		sql += g.limit()
	}
	return sql, true
}

// counted limits rows without an order: their number is determined.
func (g *sqlGen) counted() (string, bool) {
	s := g.scope("a")
	return "SELECT count(*) FROM (SELECT " + pick(g.r, []string{"*", "a.id", "1"}) + " FROM " + s.table.name + " a" + g.where(s) + g.limit() + ")", false
}

func (g *sqlGen) distinct() (string, bool) {
	s := g.scope("a")
	return "SELECT DISTINCT " + g.items(s, 1+g.r.IntN(2), g.r.IntN(2)) + " FROM " + s.table.name + " a" + g.where(s), false
}

// on joins two scopes by a class they share, mostly by equality.
func (g *sqlGen) on(a, b scope) string {
	c := g.anyClass(a)
	if _, ok := g.column(b, c); !ok {
		c = whole
	}
	cond := g.expr(a, c, g.r.IntN(2)) + " " + pick(g.r, []string{"=", "=", "=", "IS NOT DISTINCT FROM", "<"}) + " " + g.leaf(b, c)
	if g.r.IntN(3) == 0 {
		cond += " AND " + g.predicate(pick(g.r, []scope{a, b}), 1)
	}
	return cond
}

func (g *sqlGen) join(a, b scope) string {
	kind := pick(g.r, []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"})
	return a.table.name + " a " + kind + " " + b.table.name + " b ON " + g.on(a, b)
}

func (g *sqlGen) joined() (string, bool) {
	a, b := g.scope("a"), g.scope("b")
	if g.r.IntN(4) == 0 {
		kind := pick(g.r, []string{"SEMI", "ANTI"})
		return "SELECT " + g.items(a, 2, 1) + " FROM " + a.table.name + " a " + kind + " JOIN " + b.table.name + " b ON " + g.on(a, b) + g.where(a), false
	}
	sql := "SELECT a.id AS i, b.id AS j, " + g.items(pick(g.r, []scope{a, b}), 1, 1) + " FROM " + g.join(a, b) + g.where(pick(g.r, []scope{a, b}))
	if g.r.IntN(2) == 0 {
		return sql + " ORDER BY " + g.sortKey("i") + ", " + g.sortKey("j") + g.limit(), true
	}
	return sql, false
}

func (g *sqlGen) joinGrouped() (string, bool) {
	a, b := g.scope("a"), g.scope("b")
	sql, _ := g.group(pick(g.r, []scope{a, b}), g.join(a, b), "a.id, b.id")
	return sql, false
}

func (g *sqlGen) subquery() (string, bool) {
	a, b := g.scope("a"), g.scope("b")
	c := g.anyClass(a)
	cond := ""
	switch g.r.IntN(5) {
	case 0:
		cond = pick(g.r, []string{"EXISTS", "NOT EXISTS"}) + " (SELECT 1 FROM " + b.table.name + " b WHERE " + g.on(a, b) + ")"
	case 1:
		cond = g.expr(a, c, 1) + pick(g.r, []string{" IN", " NOT IN"}) + " (SELECT " + g.leaf(b, c) + " FROM " + b.table.name + " b" + g.where(b) + ")"
	case 2:
		cond = g.leaf(a, whole) + " >= (SELECT " + pick(g.r, []string{"min", "max", "count", "sum"}) + "(" + g.leaf(b, whole) + ") FROM " + b.table.name + " b" + g.where(b) + ")"
	case 3:
		return "SELECT a.id, (SELECT " + g.aggregate(b, "b.id") + " FROM " + b.table.name + " b WHERE " + g.on(a, b) + ") AS s FROM " + a.table.name + " a" + g.where(a), false
	case 4:
		cond = g.leaf(a, c) + pick(g.r, []string{" = ANY", " < ALL", " > ANY"}) + " (SELECT " + g.leaf(b, c) + " FROM " + b.table.name + " b" + g.where(b) + ")"
	}
	what := pick(g.r, []string{"a.id, " + g.items(a, 1, 1), "count(*), " + g.aggregate(a, "a.id")})
	return "SELECT " + what + " FROM " + a.table.name + " a WHERE " + cond, false
}

func (g *sqlGen) setOp() (string, bool) {
	a, b := g.scope("a"), g.scope("b")
	c, d := g.anyClass(a), g.anyClass(a)
	side := func(s scope) string {
		if g.r.IntN(3) == 0 {
			return fmt.Sprintf("SELECT %s AS x, min(%s) AS y FROM %s %s GROUP BY x", g.expr(s, c, 1), g.leaf(s, d), s.table.name, s.alias)
		}
		return fmt.Sprintf("SELECT %s AS x, %s AS y FROM %s %s%s", g.expr(s, c, 1), g.leaf(s, d), s.table.name, s.alias, g.where(s))
	}
	op := pick(g.r, []string{"UNION ALL", "UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"})
	sql := side(a) + " " + op + " " + side(b)
	if g.r.IntN(3) == 0 {
		return "SELECT x, count(*) AS n, count(y) FROM (" + sql + ") u GROUP BY x", false
	}
	return sql, false
}

func (g *sqlGen) cteTwice() (string, bool) {
	s := g.scope("a")
	inner, keys := g.group(s, s.table.name+" a", "a.id")
	if keys == 0 || g.r.IntN(2) == 0 {
		inner = "SELECT " + g.items(s, 1, 1) + ", a.id AS i FROM " + s.table.name + " a" + g.where(s)
		return "WITH q AS (" + inner + ") SELECT p.x0, count(*), max(q.i) FROM q p JOIN q ON p.i = q.i + 1 GROUP BY p.x0", false
	}
	return "WITH q AS (" + inner + ") SELECT (SELECT count(*) FROM q), p.k0, p.a0, (SELECT max(k0) FROM q) FROM q p WHERE p.k0 IN (SELECT k0 FROM q WHERE a0 IS NOT NULL)", false
}

func (g *sqlGen) windowed() (string, bool) {
	s := g.scope("a")
	over := "(PARTITION BY " + g.leaf(s, g.anyClass(s)) + " ORDER BY " + g.sortKey(g.leaf(s, g.anyClass(s))) + ", a.id"
	call := pick(g.r, []string{
		"row_number() OVER " + over + ")", "rank() OVER " + over + ")", "ntile(3) OVER " + over + ")",
		"lag(" + g.expr(s, g.anyClass(s), 0) + ") OVER " + over + ")", "first_value(" + g.expr(s, g.anyClass(s), 0) + ") OVER " + over + ")",
		"sum(" + g.leaf(s, whole) + ") OVER " + over + " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
		"count(*) FILTER (WHERE " + g.predicate(s, 1) + ") OVER (PARTITION BY " + g.leaf(s, g.anyClass(s)) + ")",
	})
	sql := "SELECT a.id, " + call + " AS w FROM " + s.table.name + " a" + g.where(s)
	return sql + pick(g.r, []string{"", " QUALIFY row_number() OVER " + over + ") <= 2"}), false
}

// nested aggregates or filters an aggregation or a limited scan again.
func (g *sqlGen) nested() (string, bool) {
	s := g.scope("a")
	inner, keys := g.group(s, s.table.name+" a", "a.id")
	if keys == 0 {
		return "SELECT * FROM (" + inner + ") q WHERE a0 IS NOT NULL", false
	}
	switch g.r.IntN(3) {
	case 0:
		return "SELECT k0, count(*), min(a0), max(a0) FROM (" + inner + ") q GROUP BY k0", false
	case 1:
		return "SELECT * FROM (" + inner + ") q WHERE k0 IS NOT NULL AND a0 IS NOT NULL", false
	}
	top, _ := g.topN()
	return "SELECT x0, count(*), sum(id) FROM (" + top + ") q GROUP BY x0", false
}

func (g *sqlGen) groupingSets() (string, bool) {
	s := g.scope("a")
	sets := pick(g.r, []string{"GROUPING SETS ((k0), (k1), ())", "ROLLUP (k0, k1)", "CUBE (k0, k1)"})
	return fmt.Sprintf("SELECT %s AS k0, %s AS k1, %s, count(*) FROM %s a%s GROUP BY %s", g.leaf(s, g.anyClass(s)), g.leaf(s, g.anyClass(s)),
		g.aggregate(s, "a.id"), s.table.name, g.where(s), sets), false
}

func (g *sqlGen) distinctOn() (string, bool) {
	s := g.scope("a")
	key := g.leaf(s, g.anyClass(s))
	return "SELECT DISTINCT ON (" + key + ") a.id, " + g.items(s, 1, 1) + " FROM " + s.table.name + " a" + g.where(s) + " ORDER BY " + key + ", a.id DESC", false
}

func (g *sqlGen) using() (string, bool) {
	a, b := g.scope("a"), g.scope("b")
	kind := pick(g.r, []string{"JOIN", "LEFT JOIN", "FULL JOIN"})
	return "SELECT id, " + g.items(a, 1, 1) + ", " + g.items(b, 1, 0) + " FROM " + a.table.name + " a " + kind + " " + b.table.name + " b USING (id)" + g.where(a), false
}

func (g *sqlGen) windowOverGroups() (string, bool) {
	s := g.scope("a")
	key := g.expr(s, g.anyClass(s), 1)
	return "SELECT " + key + " AS k0, " + g.aggregate(s, "a.id") + " AS a0, sum(count(*)) OVER (), rank() OVER (ORDER BY count(*)) FROM " + s.table.name + " a" + g.where(s) + " GROUP BY k0", false
}

func (g *sqlGen) valuesJoined() (string, bool) {
	s := g.scope("a")
	c := g.anyClass(s)
	return fmt.Sprintf("SELECT v.k, %s FROM %s a %s JOIN (VALUES (%s), (%s)) v(k) ON %s = v.k%s GROUP BY v.k",
		g.aggregate(s, "a.id"), s.table.name, pick(g.r, []string{"", "LEFT", "RIGHT"}), pick(g.r, literals[c]), pick(g.r, literals[c]), g.leaf(s, c), g.where(s)), false
}

func (g *sqlGen) subqueryUnderOr() (string, bool) {
	a, b := g.scope("a"), g.scope("b")
	c := g.anyClass(a)
	return fmt.Sprintf("SELECT a.id, %s IN (SELECT %s FROM %s b%s) AS m FROM %s a WHERE %s OR %s%sIN (SELECT %s FROM %s b%s)",
		g.leaf(a, c), g.leaf(b, c), b.table.name, g.where(b), a.table.name, g.predicate(a, 1), g.leaf(a, c), pick(g.r, []string{" ", " NOT "}), g.leaf(b, c), b.table.name, g.where(b)), false
}
