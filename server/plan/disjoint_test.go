package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// TestWholeGroups plans over four partitions on two scanners: which reductions
// go down, and what proves that groups are whole.
func TestWholeGroups(t *testing.T) {
	t.Parallel()
	full := pushdown.AllCapabilities()
	env := &rulesEnv{binder: newEngineBinder(t), snap: &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}}
	table := prunedTable(t, 4, testScanner("s1", full), testScanner("s2", full.Without("reduce")))
	env.snap.Tables[table.ID()] = table
	for _, c := range []struct{ sql, why, spec string }{
		{"SELECT a, count(*) FROM p GROUP BY a HAVING count(*) > 1", "no value of a is on two scanners", "reduce having (a0 > 1)"},
		{"SELECT d, a, sum(a) AS x FROM p GROUP BY d, a ORDER BY x DESC LIMIT 2", "no value of d is on two scanners", "reduce apart k0 order by a0 desc limit 2"},
		{"SELECT s, d, min(a) FROM p GROUP BY s, d HAVING min(a) >= 3", "no value of d is on two scanners", "reduce apart k1 having (a0 >= 3)"},
		{"SELECT DISTINCT a, s FROM p LIMIT 3", "the keys alone decide", "reduce limit 3"},
		{"SELECT s, count(*) FROM p GROUP BY s ORDER BY s LIMIT 3", "the keys alone decide", "reduce order by k0 limit 3"},
		{"SELECT s, count(*) FROM p WHERE a = 5 GROUP BY s HAVING count(*) > 1", "no value of s is on two scanners", "reduce having (a0 > 1)"},
		{"SELECT s, count(*) FROM p GROUP BY s HAVING count(*) > 1", "", ""},
		{"SELECT a % 2 AS k, count(*) FROM p GROUP BY k HAVING count(*) > 1", "", ""},
		{"SELECT f, count(*) FROM p GROUP BY f HAVING count(*) > 1", "", ""},
	} {
		p, err := New(env.binder).Plan(t.Context(), c.sql, env.snap, Options{})
		require.NoError(t, err, c.sql)
		scan := p.Scans[0]
		require.Equal(t, c.why, scan.Whole, c.sql)
		if c.why == "" {
			require.Nil(t, scan.Spec.Reduce, c.sql)
			require.Contains(t, p.Explain(), "not pushed: groups are not reduced", c.sql)
			continue
		}
		require.Contains(t, scan.Spec.String(), c.spec, c.sql)
		require.Contains(t, p.Explain(), "complete aggregate\n", c.sql)
		require.Equal(t, scan.Spec.Reduce, scan.Targets[0].Split.Remote.Reduce, c.sql)
		require.Nil(t, scan.Targets[1].Split.Remote.Reduce, "the scanner cannot")
		for _, target := range scan.Targets {
			require.Equal(t, c.why != "the keys alone decide", target.Pinned, c.sql)
			require.Equal(t, target.Pinned, target.Version != "", c.sql)
		}
	}
}

// TestNothingIsProvenFrom: tables whose statistics do not prove anything.
func TestNothingIsProvenFrom(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(table *catalog.Table, p *catalog.Partition){
		"no version":       func(table *catalog.Table, _ *catalog.Partition) { table.Versions["s1"] = "" },
		"replicas":         func(_ *catalog.Table, p *catalog.Partition) { p.Owners = append(p.Owners, p.Owners[0]) },
		"no statistics":    func(_ *catalog.Table, p *catalog.Partition) { p.Columns = nil },
		"no bounds":        func(_ *catalog.Table, p *catalog.Partition) { p.Columns["a"] = codec.ColumnStats{} },
		"a common value":   func(_ *catalog.Table, p *catalog.Partition) { p.Columns["a"] = int64Stats(9, 12, 0) },
		"one inside":       func(_ *catalog.Table, p *catalog.Partition) { p.Columns["a"] = int64Stats(22, 23, 0) },
		"one around":       func(_ *catalog.Table, p *catalog.Partition) { p.Columns["a"] = int64Stats(-5, 100, 0) },
		"bounds that lie":  func(_ *catalog.Table, p *catalog.Partition) { p.Columns["a"] = int64Stats(19, 10, 0) },
		"nonsensical NULL": func(_ *catalog.Table, p *catalog.Partition) { p.Columns["a"] = int64Stats(10, 19, 11) },
	} {
		table := prunedTable(t, 4, testScanner("s1", pushdown.AllCapabilities()), testScanner("s2", pushdown.AllCapabilities()))
		targets := []Target{{Scanner: table.Partitions[0].Owners[0], Partitions: []string{"p0", "p2"}}, {Scanner: table.Partitions[1].Owners[0], Partitions: []string{"p1", "p3"}}}
		require.Equal(t, disjointness{proven: true}, disjointBy(table, targets, columnA), name)
		change(table, &table.Partitions[1])
		require.False(t, disjointBy(table, targets, columnA).proven, name)
	}
}

// TestSpansOfOneScannerMayOverlap: it merges its own partitions.
func TestSpansOfOneScannerMayOverlap(t *testing.T) {
	t.Parallel()
	table := prunedTable(t, 4, testScanner("s1", pushdown.AllCapabilities()), testScanner("s2", pushdown.AllCapabilities()))
	table.Partitions[0].Columns["a"] = int64Stats(20, 50, 0)
	table.Partitions[2].Columns["a"] = int64Stats(25, 26, 1)
	table.Partitions[1].Columns["a"] = codec.ColumnStats{Nulls: 10}
	table.Partitions[3].Columns["a"] = int64Stats(51, 52, 0)
	targets := []Target{{Scanner: table.Partitions[0].Owners[0], Partitions: []string{"p0", "p2"}}, {Scanner: table.Partitions[1].Owners[0], Partitions: []string{"p1", "p3"}}}
	require.Equal(t, disjointness{proven: true, nulls: true}, disjointBy(table, targets, columnA))
	table.Partitions[3].Columns["a"] = int64Stats(50, 52, 0)
	require.False(t, disjointBy(table, targets, columnA).proven)
}
