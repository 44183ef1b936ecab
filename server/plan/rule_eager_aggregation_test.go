package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// randomJoinedAggregate aggregates rows of fact that are joined with dim, often
// by few keys.
func randomJoinedAggregate(t *rapid.T) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	fact := pick("fact", "fact x", "fact x", "(SELECT *, k % 3 AS m FROM fact WHERE b % 7 <> 3) x", "(SELECT * FROM fact WHERE upper(s) <> 'X') x",
		"(SELECT x.* FROM fact x JOIN dim w ON x.k = w.g) x")
	if rapid.IntRange(0, 5).Draw(t, "membership") == 0 {
		member := pick("in", "x.k IN (SELECT k FROM dim)", "x.k NOT IN (SELECT k FROM dim WHERE k > 2)", "EXISTS (SELECT 1 FROM dim y WHERE y.k = x.k AND y.g < x.g)",
			"x.k > (SELECT min(k) FROM dim)")
		return grouped(t, fact+" WHERE "+member, false)
	}
	on := pick("on", "x.k = y.k", "x.k = y.k", "x.k = y.k", "x.k IS NOT DISTINCT FROM y.k", "x.k = y.k AND x.bo", "x.k + 1 = y.g", "y.k < x.k", "x.k = y.k AND x.g > y.g", "x.k = y.k AND random() >= 0")
	from := fact + " " + pick("kind", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN") + " dim y ON " + on
	if rapid.Bool().Draw(t, "third") {
		from += pick("more", " JOIN dim z ON z.g = y.g", " LEFT JOIN dim z ON z.x = y.x AND z.k = x.k", " JOIN (SELECT DISTINCT g FROM dim) z ON z.g = x.k")
	}
	return grouped(t, from+pick("where", "", "", " WHERE y.x > 3", " WHERE x.b > 20", " WHERE x.k = 3", " WHERE x.k IN (1, 4) OR y.s IS NULL", " WHERE x.k IS NULL", " WHERE x.b < 0"), true)
}

func grouped(t *rapid.T, from string, two bool) string {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	keys := []string{"x.bo", "x.k", "quarter(x.dt)", "year(x.dt)", "coalesce(x.k, -1)", "x.k > 4", "1", "x.f"}
	calls := []string{
		"count(*)", "count(x.b)", "count(x.l)", "sum(x.d)", "sum(x.b)", "avg(x.d)", "avg(x.b)", "min(x.s)", "max(x.f)", "min(x.ts)", "sum(x.f)", "sum(x.bo)", "avg(x.f)",
		"count(*) FILTER (WHERE x.bo)", "sum(x.d) FILTER (WHERE x.s = 'x')", "bool_or(x.bo)", "sum(CASE WHEN x.bo THEN x.d END)", "count(coalesce(x.s, 'none'))",
		"max(x.k)", "count(DISTINCT x.k)", "count(1)", "count(NULL)", "max(upper(x.s))", "min(x.h)",
	}
	if two {
		keys = append(keys, "y.s", "y.s", "y.g", "x.k + y.g", "coalesce(y.s, 'none')")
		calls = append(calls, "max(y.x)", "count(DISTINCT y.s)", "min(x.k + y.x)", "sum(DISTINCT y.x)", "max(y.s) FILTER (WHERE x.bo)")
	}
	if rapid.IntRange(0, 7).Draw(t, "unmergeable") == 0 {
		calls = append(calls, "median(x.b)", "stddev(x.b)", "count(DISTINCT x.b)", "sum(x.h)", "sum(x.b * x.k)")
	}
	var names []string
	sql := "SELECT "
	for i, k := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 2).Draw(t, "keys") {
		names = append(names, fmt.Sprintf("k%d", i))
		sql += k + " AS " + names[i] + ", "
	}
	sql += strings.Join(rapid.SliceOfN(rapid.SampledFrom(calls), 1, 4).Draw(t, "calls"), ", ") + " FROM " + from
	if len(names) == 0 {
		return sql
	}
	by := strings.Join(names, ", ")
	return sql + " GROUP BY " + pick("sets", by, by, by, "ROLLUP ("+by+")") + pick("having", "", "", " HAVING count(*) > 2")
}

// TestRandomJoinedAggregates: an aggregate below joins gives DuckDB's answer.
func TestRandomJoinedAggregates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	planner := New(w.binder)
	all, below := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		sql := randomJoinedAggregate(rt)
		want := w.oracle(t, sql)
		slices.Sort(want)
		requireIdempotent(t, w.bind(t, sql), rules(PushdownFull), sql)
		p, err := planner.Plan(t.Context(), sql, w.snap, Options{})
		require.NoError(rt, err, sql)
		got := w.execute(t, p)
		slices.Sort(got)
		require.Equal(rt, want, got, "%s\n%s", sql, p.Explain())
		if all++; slices.Contains(p.Fired, "eager_aggregation") {
			below++
		}
	})
	require.Greater(t, 5*below, all, "of %d statements", all)
	t.Logf("%d of %d statements", below, all)
}
