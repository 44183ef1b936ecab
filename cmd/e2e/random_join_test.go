package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRandomJoins asks joins by plain keys, whose scans narrow each other, at
// every rung, waiting for none and for all that can be waited for.
func TestRandomJoins(t *testing.T) {
	t.Parallel()
	all := randomly(t, "joins", (*sqlGen).keyed, func(sql string) []way {
		r := draw(0, sql, 0)
		return []way{{"full", "1048576", "always", ""}, {"full", "1048576", "late", drawDisabled(r)}, {"filter", "200", "always", drawDisabled(r)}, {"full", "1048576", "off", ""}}
	})
	if all.equal >= 100 {
		require.Positive(t, all.fired["eager_aggregation"])
		require.Positive(t, all.fired["share_common_subplans"])
		require.Greater(t, all.broadcasts, 3)
		require.Greater(t, all.late, 3)
	}
}

// keyed is a statement that joins by plain keys.
func (g *sqlGen) keyed() (string, bool) {
	return pick(g.r, []func() (string, bool){g.chain, g.chain, g.membership, g.joinedGroups, g.joinedAggregates, g.joinedAggregates, g.twins, g.twins, g.star, g.star})()
}

// key is a condition between plain columns of one type, of the same name where
// both tables have it.
func (g *sqlGen) key(a, b scope) string {
	var both []string
	for _, c := range a.table.columns {
		for _, d := range b.table.columns {
			if c.typ == d.typ && (c.name == d.name || g.r.IntN(4) == 0) {
				both = append(both, a.column(c)+" = "+b.column(d))
			}
		}
	}
	cond := pick(g.r, both) // both have id
	if g.r.IntN(6) == 0 {
		cond += " AND " + g.predicate(pick(g.r, []scope{a, b}), 1)
	}
	return cond
}

// few is a filter that often leaves little or nothing of a table.
func (g *sqlGen) few(s scope) string {
	return pick(g.r, []string{"", " WHERE " + s.alias + ".id < 0", " WHERE " + s.alias + ".id <= 3", " WHERE " + s.alias + ".id % 7 = 1", g.where(s)})
}

// side is a table, or a query over one, with the table's columns under an alias.
func (g *sqlGen) side(s scope) string {
	inner := scope{s.table, "i"}
	from := s.table.name + " i" + g.few(inner)
	switch g.r.IntN(6) {
	case 0:
		return "(SELECT * FROM " + from + ") " + s.alias
	case 1:
		return "(SELECT DISTINCT * FROM " + from + ") " + s.alias
	case 2:
		return "(SELECT * FROM " + s.table.name + " UNION ALL SELECT * FROM " + from + ") " + s.alias
	case 3:
		return "(SELECT * FROM " + from + " ORDER BY i.id LIMIT 5) " + s.alias
	}
	return s.table.name + " " + s.alias
}

// chain joins three or four tables by plain keys, in any kinds and shapes.
func (g *sqlGen) chain() (string, bool) {
	scopes := []scope{g.scope("a"), g.scope("b"), g.scope("c"), g.scope("e")}[:3+g.r.IntN(2)]
	from := g.side(scopes[0])
	for i, s := range scopes[1:] {
		kind := pick(g.r, []string{"JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"})
		from += " " + kind + " " + g.side(s) + " ON " + g.key(scopes[g.r.IntN(i+1)], s)
	}
	where := g.few(pick(g.r, scopes))
	if g.r.IntN(3) == 0 {
		return "SELECT count(*), min(a.id), max(b.id), sum(c.id) FROM " + from + where, false
	}
	return "SELECT a.id AS i, b.id AS j, c.id AS k FROM " + from + where, false
}

// membership filters or marks the rows of one table by those of others.
func (g *sqlGen) membership() (string, bool) {
	a, b, c := g.scope("a"), g.scope("b"), g.scope("c")
	col := pick(g.r, a.table.columns)
	inner := b.column(b.table.columns[0])
	needle := a.column(a.table.columns[0])
	for _, d := range b.table.columns {
		if d.name == col.name && d.typ == col.typ {
			needle, inner = a.column(col), b.column(d)
		}
	}
	from := b.table.name + " b" + g.few(b)
	if g.r.IntN(2) == 0 {
		from = b.table.name + " b JOIN " + g.side(c) + " ON " + g.key(b, c) + g.few(pick(g.r, []scope{b, c}))
	}
	in := pick(g.r, []string{" IN ", " NOT IN "}) + "(SELECT " + inner + " FROM " + from + ")"
	exists := pick(g.r, []string{"EXISTS ", "NOT EXISTS "}) + "(SELECT 1 FROM " + b.table.name + " b WHERE " + g.key(a, b) + ")"
	test := pick(g.r, []string{needle + in, exists})
	if g.r.IntN(3) == 0 {
		return "SELECT a.id, " + test + " AS m FROM " + a.table.name + " a" + g.few(a), false
	}
	word := pick(g.r, []string{"SEMI", "ANTI"})
	if g.r.IntN(3) == 0 {
		return "SELECT a.id FROM " + g.side(a) + " " + word + " JOIN " + g.side(b) + " ON " + g.key(a, b) + g.few(a), false
	}
	return "SELECT a.id FROM " + g.side(a) + g.andWhere(a, test), false
}

func (g *sqlGen) andWhere(s scope, test string) string {
	if w := g.few(s); w != "" {
		return w + " AND " + test
	}
	return " WHERE " + test
}

// joinedGroups joins a table with groups of another, or asks for them row by row.
func (g *sqlGen) joinedGroups() (string, bool) {
	a, b, c := g.scope("a"), g.scope("b"), g.scope("c")
	// Keys of one type: whether a cast meets the row on which it fails depends on
	// the order of the joins, in DuckDB too.
	group, outer := b.column(b.table.columns[0]), a.column(a.table.columns[0])
	col := pick(g.r, b.table.columns)
	for _, d := range a.table.columns {
		if d.name == col.name && d.typ == col.typ {
			group, outer = b.column(col), a.column(d)
		}
	}
	call := pick(g.r, []string{"count(*)", "sum(b.id)", "min(b.id)", "count(DISTINCT b.id % 3)"})
	if g.r.IntN(2) == 0 {
		return fmt.Sprintf("SELECT a.id, (SELECT %s FROM %s b WHERE %s) AS s FROM %s a%s", call, b.table.name, g.key(a, b), a.table.name, g.few(a)), false
	}
	groups := fmt.Sprintf("(SELECT %s AS k, %s AS n FROM %s b%s GROUP BY k) q", group, call, b.table.name, g.few(b))
	kind := pick(g.r, []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"})
	sql := fmt.Sprintf("SELECT a.id, q.n FROM %s %s %s ON %s = q.k", g.side(a), kind, groups, outer)
	if g.r.IntN(2) == 0 {
		sql += " JOIN " + g.side(c) + " ON " + g.key(a, c)
	}
	return sql + g.few(a), false
}

// twins writes the groups of a table or a join twice, and joins both with each
// other and often with a table that leaves few of them.
func (g *sqlGen) twins() (string, bool) {
	a, b, c := g.scope("a"), g.scope("b"), g.scope("c")
	from := g.side(a)
	if g.r.IntN(2) == 0 {
		from += " " + pick(g.r, []string{"JOIN", "LEFT JOIN"}) + " " + g.side(b) + " ON " + g.key(a, b)
	}
	key := pick(g.r, []string{"a.id", "a.few", g.groupKey(a)})
	groups := fmt.Sprintf("(SELECT %s AS k, count(*) AS n, %s AS v FROM %s%s GROUP BY k)", key, g.mergeable(a), from, g.few(a))
	sql := "SELECT p.k, p.n, q.v FROM " + groups + " p " + pick(g.r, []string{"JOIN", "LEFT JOIN", "FULL JOIN", "SEMI JOIN"}) + " " + groups + " q ON p.k IS NOT DISTINCT FROM q.k"
	if strings.Contains(sql, " SEMI JOIN (SELECT "+key) {
		sql = strings.Replace(sql, "q.v", "p.v", 1)
	}
	if key != "a.id" && key != "a.few" || g.r.IntN(2) == 0 {
		return sql, false
	}
	return sql + " JOIN " + g.side(c) + " ON c.id = p.k" + g.few(c), false
}

// joinedAggregates aggregates one of two or three joined tables, whose rows are
// mostly alike in what the join looks at.
func (g *sqlGen) joinedAggregates() (string, bool) {
	a, b, c := g.largest("a"), g.scope("b"), g.scope("c")
	on := pick(g.r, []string{"a.few = b.few", "a.few = b.few", "a.few IS NOT DISTINCT FROM b.few", "a.few < b.few", "a.few = b.few AND " + g.predicate(b, 1), g.key(a, b)})
	own := pick(g.r, []string{a.table.name + " a", a.table.name + " a", g.side(a)})
	from := own + " " + pick(g.r, []string{"JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"}) + " " + g.side(b) + " ON " + on
	if g.r.IntN(3) == 0 {
		from += " " + pick(g.r, []string{"JOIN", "LEFT JOIN"}) + " " + g.side(c) + " ON c.id = " + pick(g.r, []string{"a.few", "b.id"})
	}
	if g.r.IntN(6) == 0 {
		from = own + " " + pick(g.r, []string{"SEMI", "ANTI"}) + " JOIN " + g.side(b) + " ON " + on
		b = a
	}
	items, by := "", ""
	for i, k := range []string{g.groupKey(a), g.groupKey(b)}[:g.r.IntN(3)] {
		items += fmt.Sprintf("%s AS k%d, ", k, i)
		by += fmt.Sprintf(", k%d", i)
	}
	var calls []string
	for range 1 + g.r.IntN(3) {
		calls = append(calls, g.mergeable(a))
	}
	if g.r.IntN(3) == 0 {
		calls = append(calls, pick(g.r, []string{"max(" + b.alias + ".id)", "count(DISTINCT " + b.alias + ".id)", g.aggregate(pick(g.r, []scope{a, b}), a.alias+".id, "+b.alias+".id")}))
	}
	sql := "SELECT " + items + strings.Join(calls, ", ") + " FROM " + from + g.few(pick(g.r, []scope{a, b}))
	if by != "" {
		sql += " GROUP BY " + by[2:] + pick(g.r, []string{"", "", " HAVING count(*) > 2"})
	}
	return sql, false
}

// star aggregates a table that is joined with one to three others, by keys of its own or
// of each other, and by more.
func (g *sqlGen) star() (string, bool) {
	scopes := []scope{g.largest("a"), g.scope("b"), g.scope("c"), g.scope("e")}[:2+g.r.IntN(3)]
	from := scopes[0].table.name + " a"
	for i, s := range scopes[1:] {
		on := g.key(scopes[g.r.IntN(2)*g.r.IntN(i+1)], s)
		on = pick(g.r, []string{on, on, s.alias + ".few = a.few", s.alias + ".id = a.few"})
		side := pick(g.r, []string{s.table.name + " " + s.alias, g.side(s)})
		from += " JOIN " + side + " ON " + on + pick(g.r, []string{"", "", " AND a.id <> " + s.alias + ".id"})
	}
	any := func() scope { return pick(g.r, scopes) }
	items, by := "", ""
	for i := range g.r.IntN(3) {
		items += fmt.Sprintf("%s AS k%d, ", g.groupKey(any()), i)
		by += fmt.Sprintf(", k%d", i)
	}
	calls := []string{g.mergeable(any())}
	for range g.r.IntN(3) {
		calls = append(calls, g.mergeable(any()))
	}
	sql := "SELECT " + items + strings.Join(calls, ", ") + " FROM " + from + pick(g.r, []string{"", g.few(any())})
	if by != "" {
		sql += " GROUP BY " + by[2:] + pick(g.r, []string{"", "", " HAVING count(*) > 2"})
	}
	return sql, false
}

// largest is the table with the most rows.
func (g *sqlGen) largest(alias string) scope {
	rows := func(t *randomTable) int { return len(slices.Concat(t.partitions...)) }
	return scope{slices.MaxFunc(g.tables, func(a, b *randomTable) int { return rows(a) - rows(b) }), alias}
}

// groupKey is mostly one of few values.
func (g *sqlGen) groupKey(s scope) string {
	return pick(g.r, []string{s.alias + ".few", s.alias + ".few", "coalesce(" + s.alias + ".few, -1)", s.alias + ".few > 1", s.column(pick(g.r, s.table.columns)), g.expr(s, g.anyClass(s), 1)})
}

// mergeable is an aggregate that scanners mostly compute.
func (g *sqlGen) mergeable(s scope) string {
	col := s.column(pick(g.r, s.table.columns))
	call := pick(g.r, []string{"count(*)", "count(" + col + ")", "min(" + col + ")", "max(" + col + ")", "sum(" + s.alias + ".few)", "avg(" + s.alias + ".id)"})
	if c, ok := g.column(s, pick(g.r, []class{whole, decimal})); ok && g.r.IntN(3) == 0 {
		call = pick(g.r, []string{"sum", "avg"}) + "(" + c + ")"
	}
	if g.r.IntN(4) == 0 {
		call += " FILTER (WHERE " + pick(g.r, []string{s.alias + ".id % 3 = 1", s.alias + ".few > 1", col + " IS NOT NULL", g.predicate(s, 1)}) + ")"
	}
	return call
}
