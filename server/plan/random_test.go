package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// randomStatement composes a statement over t and u whose result is determined
// but for its order.
func randomStatement(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	source := randomSource(t, 2)
	where := ""
	if n := rapid.IntRange(0, 3).Draw(t, "conjuncts"); n > 0 {
		where = " WHERE " + strings.Join(rapid.SliceOfN(rapid.Custom(randomPredicate), n, n).Draw(t, "where"), pick("and", " AND ", " AND ", " OR "))
	}
	switch pick("form", "rows", "distinct", "group", "group", "total", "topn", "topn", "limited", "alternatives", "twins") {
	case "rows":
		return "SELECT a, s, d FROM " + source + where
	case "distinct":
		return "SELECT DISTINCT " + randomKey(t) + ", " + randomKey(t) + " FROM " + source + where
	case "group":
		key := randomKey(t)
		having := pick("having", "", " HAVING count(*) > 1")
		return fmt.Sprintf("SELECT %s AS k, %s FROM %s%s GROUP BY k%s", key, randomAggregates(t), source, where, having)
	case "total":
		return "SELECT " + randomAggregates(t) + " FROM " + source + where
	case "limited":
		return fmt.Sprintf("SELECT count(*) FROM (SELECT a FROM %s LIMIT %d)", source, rapid.IntRange(0, 30).Draw(t, "limit"))
	case "twins":
		groups := fmt.Sprintf("(SELECT %s AS k, count(*) AS n, sum(a) AS x FROM %s%s GROUP BY k)", randomKey(t), source, where)
		return "SELECT p.k, p.n, q.x FROM " + groups + " p JOIN " + groups + " q ON p.k IS NOT DISTINCT FROM q.k WHERE " + pick("twin", "p.n > 0", "p.n <= q.n", "q.x > 3", "p.x > (SELECT avg(v) FROM u)")
	case "alternatives":
		return "SELECT x.a, y.v FROM t x JOIN u y ON x.a = y.a WHERE (x.s = 'x' AND y.v > 0) OR (" + pick("alternative", "x.d > 50", "x.b = 3", "x.bo") + " AND y.s = 'x')"
	}
	order := fmt.Sprintf(" ORDER BY %s%s, b, a, s, d LIMIT %d", pick("key", "a", "s", "d", "b"), pick("direction", "", " DESC", " NULLS FIRST"), rapid.IntRange(0, 30).Draw(t, "limit"))
	return "SELECT a, b, s, d FROM " + source + where + order
}

// randomSource yields columns a, b, s, d, f, bo.
func randomSource(t *rapid.T, depth int) string {
	plain := "(SELECT a, b, s, d, f, bo FROM t)"
	if depth == 0 {
		return plain
	}
	switch rapid.IntRange(0, 7).Draw(t, "source") {
	case 0:
		return "(SELECT a, b, s, d, f, bo FROM " + randomSource(t, depth-1) + " WHERE " + randomPredicate(t) + ")"
	case 1:
		return "(SELECT a, max(b) AS b, s, sum(d) AS d, min(f) AS f, bool_or(bo) AS bo FROM " + randomSource(t, depth-1) + " GROUP BY a, s)"
	case 2:
		return "(SELECT x.a, x.b, y.s, x.d, y.v AS f, x.bo FROM " + randomSource(t, depth-1) + " x JOIN u y ON x.a = y.a)"
	case 3:
		return "(SELECT x.a, x.b, y.s, x.d, y.v AS f, x.bo FROM " + randomSource(t, depth-1) + " x LEFT JOIN u y ON x.s = y.s AND x.a < y.a)"
	case 4:
		return "(SELECT a, b, s, d, f, bo FROM " + plain + " UNION ALL SELECT a, 0, s, 1.5, v, true FROM u)"
	case 5:
		return "(SELECT * FROM " + plain + " WHERE a IN (SELECT a FROM u WHERE v > 0))"
	case 6:
		return "(SELECT DISTINCT a, 0 AS b, s, 2.5 AS d, 0.5::DOUBLE AS f, bo FROM " + randomSource(t, depth-1) + ")"
	}
	return plain
}

func randomPredicate(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"a > 3", "a <> 5", "s = 'x'", "s LIKE 'a%'", "s NOT LIKE '%b%'", "s IS NULL", "d BETWEEN 1 AND 90", "f >= 0", "f = 'nan'::DOUBLE",
		"a IN (1, 3, 7)", "s NOT IN ('x', 'rare')", "bo", "NOT bo", "a + 1 < 6", "upper(s) = 'X'", "length(s) > 1", "a IS DISTINCT FROM 4",
		"coalesce(a, 0) = 0", "CASE WHEN bo THEN a > 2 ELSE d > 0 END", "(a > 6 OR s < 'b')", "d * 2 > 50", "b % 2 = 0", "-a > -4",
	}).Draw(t, "predicate")
}

func randomKey(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "s", "bo", "f", "a + 1", "coalesce(s, '?')", "upper(s)", "a > 4", "d"}).Draw(t, "key")
}

func randomAggregates(t *rapid.T) string {
	one := rapid.SampledFrom([]string{
		"count(*)", "count(a)", "count(s)", "sum(a)", "sum(d)", "avg(a)", "avg(d)", "min(s)", "max(s)", "min(f)", "max(f)", "sum(b)",
		"count(DISTINCT a)", "sum(DISTINCT a)", "count(DISTINCT s)", "min(a + b)", "sum(a) FILTER (WHERE s = 'x')", "count(*) FILTER (WHERE upper(s) = 'X')",
		"bool_and(bo)", "sum(bo)", "median(a)", "sum(CASE WHEN bo THEN d ELSE 0 END)", "stddev(a)", "count(*) + sum(a)",
	})
	return strings.Join(rapid.SliceOfN(one, 1, 4).Draw(t, "aggregates"), ", ")
}

// TestRandomStatements: every rung gives DuckDB's answer, and the rules are
// idempotent.
func TestRandomStatements(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 11)
	planner := New(w.binder)
	rapid.Check(t, func(rt *rapid.T) {
		sql := randomStatement(rt)
		want := w.oracle(t, sql)
		slices.Sort(want)
		root := w.bind(t, sql)
		level := rapid.SampledFrom(levels()).Draw(rt, "level")
		requireIdempotent(t, root, rules(level), sql)
		p, err := planner.Plan(t.Context(), sql, w.snap, Options{Pushdown: level})
		require.NoError(rt, err, sql)
		got := w.execute(t, p)
		slices.Sort(got)
		require.Equal(rt, want, got, "%s\nlevel %s\n%s", sql, level, p.Explain())
	})
}
