package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/server/catalog"
)

// TestPartsOfWholeGroups: a is on one scanner each by its bounds.
func TestPartsOfWholeGroups(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	for _, sql := range []string{
		"SELECT a, count(*) FROM p GROUP BY a", "SELECT s, a + 1, sum(f) FROM p WHERE a > 5 GROUP BY s, a", "SELECT a FROM p GROUP BY a HAVING count(*) > 1 AND a > 3",
		"SELECT DISTINCT a, s FROM p", "SELECT DISTINCT s, upper(s), a FROM p WHERE f > 0", "SELECT a, count(DISTINCT s) FROM p GROUP BY a", "SELECT n * 2 FROM (SELECT a, count(*) AS n FROM p GROUP BY a) WHERE n > 1",
	} {
		p, parts, err := env.parts(t, sql, true)
		require.NoError(t, err, sql)
		require.Len(t, parts, 2, "by scanner: %s", sql)
		for _, part := range parts {
			require.Len(t, part.Spec.Partitions, 2, sql)
			require.Empty(t, part.Location, "partial groups need a coordinator")
			again, err := part.Plan(env.snap)
			require.NoError(t, err, sql)
			require.Equal(t, Residual, again.Kind)
			require.Equal(t, p.Residual, again.Residual, sql)
			require.True(t, again.Scans[0].Targets[0].Pinned)
		}
	}
	table := env.snap.Tables["main.p"]
	table.Partitions[0].Columns["a"] = codec.ColumnStats{Min: int64Stats(0, 35, 0).Min, Max: int64Stats(0, 35, 0).Max}
	_, _, err := env.parts(t, "SELECT a, count(*) FROM p GROUP BY a", false)
	require.ErrorContains(t, err, "nothing proves", "bounds that overlap")
	table.Partitions[0].Columns["a"] = int64Stats(0, 9, 1)
	_, _, err = env.parts(t, "SELECT a, count(*) FROM p GROUP BY a", false)
	require.ErrorContains(t, err, "nothing proves", "NULL may be on both")
}

// TestPartsThatScannersServe: only rows as they are, of a scanner that says where.
func TestPartsThatScannersServe(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	for _, s := range env.snap.Scanners {
		s.Advertise = "grpc://" + s.Name + ":1"
	}
	for sql, want := range map[string][]string{
		"SELECT a, s FROM p": {"grpc://s1:1", "grpc://s2:1"}, "SELECT a FROM p WHERE a > 3": {"grpc://s1:1", ""},
		"SELECT a + 1 FROM p": {"", ""}, "SELECT a, count(*) FROM p GROUP BY a": {"", ""}, "SELECT a FROM p WHERE a = 1": {"grpc://s1:1", ""},
	} {
		_, parts, err := env.parts(t, sql, false)
		require.NoError(t, err, sql)
		var have []string
		for _, p := range parts {
			have = append(have, p.Location)
		}
		require.Equal(t, want, have, sql)
	}
}

// TestPartsKeepToTheRules: what a user may read has changed since.
func TestPartsKeepToTheRules(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	_, parts, err := env.parts(t, "SELECT a FROM p", false)
	require.NoError(t, err)
	parts[0].Rules = "others"
	_, err = parts[0].Plan(env.snap)
	require.ErrorContains(t, err, "what may be read of table main.p has changed")
}

// TestPartsByPromise: owners promise which scanner has a value; NULL may be on
// any, unless statistics or the filter say that there is none.
func TestPartsByPromise(t *testing.T) {
	t.Parallel()
	const nothing = "nothing proves that no group is on two scanners"
	noNulls := func(table *catalog.Table) {
		for i := range table.Partitions {
			table.Partitions[i].Rows, table.Partitions[i].Columns = 10, map[string]codec.ColumnStats{"a": {}, "s": {}}
		}
	}
	twoColumns := func(table *catalog.Table) {
		for i := range table.Partitions {
			table.Partitions[i].Promise.Values = nil
			table.Partitions[i].Promise.Buckets.Columns = []string{"a", "s"}
		}
	}
	for name, c := range map[string]struct {
		sql    string
		change []func(*catalog.Table)
		why    string
	}{
		"listed values":             {"SELECT s, count(*) FROM p GROUP BY s", nil, ""},
		"listed values with a NULL": {"SELECT DISTINCT s, f FROM p", []func(*catalog.Table){func(table *catalog.Table) { table.Partitions[0].Promise.Values["s"] = texts("x", "NULL") }}, ""},
		"NULL listed on two": {"SELECT s, count(*) FROM p GROUP BY s", []func(*catalog.Table){func(table *catalog.Table) {
			table.Partitions[0].Promise.Values["s"], table.Partitions[1].Promise.Values["s"] = texts("NULL"), texts("NULL")
		}}, nothing},
		"buckets, which NULL may be in":   {"SELECT a, count(*) FROM p GROUP BY a", nil, nothing},
		"buckets, no NULL by statistics":  {"SELECT a, f, count(*) FROM p GROUP BY a, f HAVING count(*) > 1", []func(*catalog.Table){noNulls}, ""},
		"buckets, no NULL passes":         {"SELECT a, sum(f) FROM p WHERE a IS NOT NULL GROUP BY a", nil, ""},
		"buckets, no NULL is greater":     {"SELECT a, sum(f) FROM p WHERE a > 3 GROUP BY a", nil, ""},
		"buckets, NULL passes too":        {"SELECT a, sum(f) FROM p WHERE a > 3 OR s = 'x' GROUP BY a", nil, nothing},
		"buckets of two":                  {"SELECT s, a, count(*) FROM p GROUP BY s, a", []func(*catalog.Table){twoColumns, noNulls}, ""},
		"buckets of two, one may be NULL": {"SELECT s, a, count(*) FROM p WHERE a = 1 GROUP BY s, a", []func(*catalog.Table){twoColumns}, nothing},
		"buckets of two, grouped by one":  {"SELECT a, count(*) FROM p GROUP BY a", []func(*catalog.Table){twoColumns, noNulls}, nothing},
		"no version of the rows":          {"SELECT s, count(*) FROM p GROUP BY s", []func(*catalog.Table){func(table *catalog.Table) { table.Versioned["s1"] = false }}, "does not know a version"},
		"replicas": {"SELECT s, count(*) FROM p GROUP BY s", []func(*catalog.Table){func(table *catalog.Table) {
			table.Partitions[3].Owners = append(table.Partitions[3].Owners, table.Partitions[0].Owners[0])
		}}, nothing},
		"a value that is on two":        {"SELECT s, count(*) FROM p GROUP BY s", []func(*catalog.Table){func(table *catalog.Table) { table.Partitions[1].Promise.Values["s"] = texts("x") }}, nothing},
		"an expression over the column": {"SELECT a % 2 AS k, count(*) FROM p GROUP BY k", []func(*catalog.Table){noNulls}, nothing},
	} {
		table := bucketed(t, 4, texts("x"), texts("z"), texts("v"), texts("w"))
		table.Versions, table.Versioned = map[string]string{"s1": "rows 1", "s2": "rows 2"}, map[string]bool{"s1": true, "s2": true}
		for _, change := range c.change {
			change(table)
		}
		parts, err := planOver(t, table, c.sql).Parts(true)
		if c.why != "" {
			require.ErrorContains(t, err, c.why, name)
			continue
		}
		require.NoError(t, err, name)
		require.Len(t, parts, 2, name)
		for _, part := range parts {
			require.Equal(t, table.Versions[part.Scanner], part.Version, "that of the rows covers the promise: %s", name)
		}
	}
}
