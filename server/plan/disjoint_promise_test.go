package plan

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/server/catalog"
)

// TestWholeByPromise: groups whose keys contain the columns that rows are
// divided by are whole, and scanners keep to the promise, not to the rows.
func TestWholeByPromise(t *testing.T) {
	t.Parallel()
	table := bucketed(t, 4, texts("x", "y"), texts("z"), texts("v"), texts("w", "NULL"))
	for _, c := range []struct{ sql, why, spec string }{
		{"SELECT a, count(*) FROM p GROUP BY a HAVING count(*) > 1", "by its partition function hash(a, 4) no value of a is on two scanners", "reduce apart k0 having (a0 > 1)"},
		{"SELECT f, a, sum(f) AS x FROM p GROUP BY f, a ORDER BY x DESC LIMIT 2", "by its partition function hash(a, 4) no value of a is on two scanners", "apart k1 order by a0 desc limit 2"},
		{"SELECT s, min(a) FROM p GROUP BY s HAVING min(a) >= 3", "by its partition function no value of s is on two scanners", "reduce having (a0 >= 3)"},
		{"SELECT s, a, count(*) AS n FROM p GROUP BY ALL ORDER BY n LIMIT 1", "by its partition function no value of s is on two scanners", "reduce order by a0 limit 1"},
		{"SELECT f, count(*) FROM p GROUP BY f HAVING count(*) > 1", "", ""},
		{"SELECT a % 2 AS k, count(*) FROM p GROUP BY k HAVING count(*) > 1", "", ""},
	} {
		p := planOver(t, table, c.sql)
		scan := p.Scans[0]
		require.Equal(t, c.why, scan.Whole, c.sql)
		if c.why == "" {
			require.Nil(t, scan.Spec.Reduce, c.sql)
			require.Contains(t, p.Explain(), "not pushed: groups are not reduced: neither statistics nor partition functions prove", c.sql)
			continue
		}
		require.Contains(t, scan.Spec.String(), c.spec, c.sql)
		for _, target := range scan.Targets {
			require.True(t, target.Pinned)
			require.Equal(t, table.PromiseVersions[target.Scanner.Name], target.Version)
		}
	}
}

// TestPlaces: combinations of values and buckets that are, and are not, on two
// scanners. Partitions 0 and 2 are on one.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const sql = "SELECT a, s, count(*) FROM p GROUP BY a, s HAVING count(*) > 1"
	for name, c := range map[string]struct {
		change func(table *catalog.Table)
		why    string
	}{
		"a value on two":           {func(table *catalog.Table) { table.Partitions[1].Promise.Values["s"] = texts("x") }, "by its partition function hash(a, 4) no combination of s, a is on two scanners"},
		"one on one scanner twice": {func(table *catalog.Table) { table.Partitions[2].Promise.Values["s"] = texts("x") }, "by its partition function no value of s is on two scanners"},
		"NULL on two": {func(table *catalog.Table) {
			table.Partitions[0].Promise.Values["s"] = texts("NULL")
			table.Partitions[1].Promise.Values["s"] = texts("NULL")
		}, "by its partition function hash(a, 4) no combination of s, a is on two scanners"},
		"values and bucket on two": {func(table *catalog.Table) {
			table.Partitions[1].Promise.Values["s"] = texts("x")
			table.Partitions[1].Promise.Buckets.Holds = []int{0, 1}
		}, ""},
		"another hash, and a value on two": {func(table *catalog.Table) {
			table.Partitions[1].Promise.Values["s"] = texts("x")
			table.Partitions[1].Promise.Buckets = &partition.Buckets{Hash: partition.Hash{Columns: []string{"a"}, Of: 5}, Holds: []int{1}}
		}, ""},
		"a hash of two columns": {func(table *catalog.Table) {
			for i := range table.Partitions {
				table.Partitions[i].Promise.Values = nil
				table.Partitions[i].Promise.Buckets.Columns = []string{"a", "s"}
			}
		}, ""},
		"one has none": {func(table *catalog.Table) { table.Partitions[3].Promise = partition.Promise{} }, ""},
		"replicas": {func(table *catalog.Table) {
			table.Partitions[3].Owners = append(table.Partitions[3].Owners, table.Partitions[0].Owners[0])
		}, ""},
		"no version": {func(table *catalog.Table) { delete(table.PromiseVersions, "s2") }, ""},
	} {
		table := bucketed(t, 4, texts("x"), texts("z"), texts("v"), texts("w"))
		c.change(table)
		require.Equal(t, c.why, planOver(t, table, sql).Scans[0].Whole, name)
	}
}

// TestPairsOfKeys: years and months, of which only both together are apart.
func TestPairsOfKeys(t *testing.T) {
	t.Parallel()
	s1, s2 := testScanner("s1", pushdown.AllCapabilities()), testScanner("s2", pushdown.AllCapabilities())
	table := testTable(t, "p", "y BIGINT, m BIGINT, v BIGINT", 4, s1, s2)
	table.PromiseVersions = map[string]string{"s1": "promise 1", "s2": "promise 2"}
	for i := range table.Partitions { // m is on both, y too
		year, month := int64(2023+i/2), int64(1+(i+i/2)%2)
		table.Partitions[i].Promise.Values = map[string][]scalar.Scalar{"y": {scalar.NewInt64Scalar(year)}, "m": {scalar.NewInt64Scalar(month)}}
	}
	why := func(keys string) string {
		return planOver(t, table, "SELECT "+keys+", sum(v) AS s FROM p GROUP BY ALL HAVING sum(v) > 1").Scans[0].Whole
	}
	require.Equal(t, "by its partition function no combination of m, y is on two scanners", why("y, m"))
	require.Equal(t, "by its partition function no combination of m, y is on two scanners", why("m, v, y"))
	require.Empty(t, why("y"))
	require.Empty(t, why("m, v"))
}
