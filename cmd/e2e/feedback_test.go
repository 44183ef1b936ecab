package e2e

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server/query"
)

// TestFeedback: a condition of which statistics guess that a fifth of the rows
// passes is known after a scan, also with other constants. That changes which scan
// of a join comes first, until the table changes.
func TestFeedback(t *testing.T) {
	t.Parallel()
	d, src := newDuck(t), numberedSource(t, 0, 1)
	c := startCluster(t, []node{{name: "s", tables: []scanner.Table{{Name: "t", Source: src}}}}, memory.DefaultAllocator)
	on, off := query.DefaultSettings(), query.DefaultSettings()
	require.NoError(t, on.Set("adaptive", "always"))
	require.NoError(t, on.Set("disabled_rules", "broadcast_join")) // which has an order of its own
	require.NoError(t, off.Set("adaptive", "off"))
	const few, other, join = "SELECT v FROM t WHERE v % 5000 = 7", "SELECT v FROM t WHERE v % 5000 = 8", `SELECT count(*), sum(b.v) FROM t a JOIN t b ON a.v = b.v WHERE a.v % 5000 = 7 AND b.k = 3`
	explain := func(set query.Settings, sql string) string { return answer(t, d, c, set, "EXPLAIN "+sql) }
	want := answer(t, d, c, off, join)
	answer(t, d, c, off, few)
	require.NotContains(t, explain(on, few), "earlier scans", "without adapting nothing is remembered")
	require.Contains(t, answer(t, d, c, on, "EXPLAIN ANALYZE "+join), "scan2 first")

	answer(t, d, c, on, few)
	require.Contains(t, explain(on, few), "scan1: 3 rows expected by earlier scans, 3000 by statistics")
	require.NotContains(t, explain(off, few), "earlier scans")
	require.Contains(t, explain(on, other), "scan1: 95 rows expected by earlier scans, 3000 by statistics", "half way, by one scan")
	text := answer(t, d, c, on, "EXPLAIN ANALYZE "+join)
	require.Contains(t, text, "scan1 first")
	require.NotContains(t, text, "scan2 first")
	require.Equal(t, want, answer(t, d, c, on, join))

	require.NoError(t, src.Put(memsource.Partition{ID: "9"}))
	require.NoError(t, c.Catalog().Refresh(t.Context()))
	require.NotContains(t, explain(on, few), "earlier scans", "the table is another one")
}
