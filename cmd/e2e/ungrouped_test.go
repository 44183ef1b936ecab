package e2e

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

// uniqueSchema has a column with a value per row, one with a few values, and one to
// add up.
var uniqueSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "few", Type: arrow.PrimitiveTypes.Int32}, {Name: "v", Type: arrow.PrimitiveTypes.Int16},
}, nil)

const uniqueRows = 600_000 // of each scanner

// uniquePart are rows [from, from + uniqueRows) of the table.
func uniquePart(from int64) memsource.Partition {
	part := memsource.Partition{ID: fmt.Sprint(from)}
	for at := from; at < from+uniqueRows; at += 50_000 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, uniqueSchema)
		for i := at; i < at+50_000; i++ {
			b.Field(0).(*array.Int64Builder).Append(i * 7919 % (4 * uniqueRows))
			b.Field(1).(*array.Int32Builder).Append(int32(i % 5))
			b.Field(2).(*array.Int16Builder).Append(int16(i % 100))
		}
		part.Batches = append(part.Batches, b.NewRecordBatch())
		b.Release()
	}
	return part
}

// uniqueCluster has the table on two scanners. Only the coordinator allocates by mem: a
// frame of a stream that is cancelled while it is sent gRPC leaves to the collector.
func uniqueCluster(t *testing.T, mem memory.Allocator) (*server.Coordinator, *memsource.Source) {
	cfg := server.Config{Alloc: mem}
	var last *memsource.Source
	for i := range int64(2) {
		src, err := memsource.New(uniqueSchema, []memsource.Partition{uniquePart(i * uniqueRows)})
		require.NoError(t, err)
		n := node{name: fmt.Sprintf("s%d", i), tables: []scanner.Table{{Name: "t", Source: src}}}
		cfg.Scanners, last = append(cfg.Scanners, startScanner(t, n, memory.DefaultAllocator)), src
	}
	return startCoordinator(t, cfg), last
}

// TestGroupsThatReduceNothing: scanners find that there is a group per row, the query
// goes on over rows, and the next one like it begins with them; until the table
// changes.
func TestGroupsThatReduceNothing(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	d := newDuck(t)
	c, src := uniqueCluster(t, mem)
	on := query.DefaultSettings()
	const found, rows = "rows were no fewer as groups", "stays at the coordinator: there is about a group per row"
	for _, c1 := range []struct{ sql, want string }{
		{"SELECT count(*), sum(n), max(s) FROM (SELECT id, count(*) AS n, sum(v) AS s FROM t GROUP BY id)", "1200000 1200000 99"},
		{"SELECT few, count(DISTINCT id + 1), avg(v) FROM t WHERE few < 4 GROUP BY few ORDER BY few LIMIT 1", "0 240000 47.5"},
		{"SELECT count(*) FROM (SELECT DISTINCT id, v FROM t)", "1200000"},
		{"SELECT count(*), sum(n) FROM (SELECT 0 AS n FROM t UNION ALL SELECT count(*) FROM t WHERE few >= 2 GROUP BY id)", "1920000 720000"},
	} {
		require.NotContains(t, answer(t, d, c, on, "EXPLAIN "+c1.sql), rows, c1.sql)
		require.Equal(t, c1.want, answer(t, d, c, on, c1.sql), "the query that finds it: %s", c1.sql)
		text := answer(t, d, c, on, "EXPLAIN ANALYZE "+c1.sql)
		require.Contains(t, text, rows, c1.sql)
		require.Contains(t, text, "earlier scans are remembered\n  rules: partial_aggregation", c1.sql)
		require.NotContains(t, text, "mode aggregate", c1.sql)
	}
	r, err := run(c, on, "SELECT id + 3 AS k, count(*) AS n FROM t GROUP BY k") // merged without the engine at first
	require.NoError(t, err)
	require.EqualValues(t, 2*uniqueRows, r.rows())
	r.release()
	const byID = "SELECT count(*) FROM (SELECT id + 2 FROM t GROUP BY id + 2)"
	text := answer(t, d, c, on, "EXPLAIN ANALYZE "+byID)
	require.Contains(t, text, found)
	require.NotContains(t, text, "mode aggregate")
	require.Contains(t, answer(t, d, c, on, "EXPLAIN "+byID), rows)
	require.NoError(t, src.Put(memsource.Partition{ID: "empty"}))
	require.NoError(t, c.Catalog().Refresh(t.Context()))
	require.NotContains(t, answer(t, d, c, on, "EXPLAIN "+byID), rows, "the table is another one")
}

// TestGroupsThatReduce stay, as do all where nobody adapts.
func TestGroupsThatReduce(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	c, _ := uniqueCluster(t, memory.DefaultAllocator)
	on, off, without := query.DefaultSettings(), query.DefaultSettings(), query.DefaultSettings()
	require.NoError(t, off.Set("adaptive", "off"))
	require.NoError(t, without.Set("disabled_rules", "partial_aggregation"))
	const byID = "SELECT count(*) FROM (SELECT id FROM t GROUP BY id)"
	for _, c1 := range []struct {
		set query.Settings
		sql string
	}{
		{on, "SELECT few, count(*) FROM t GROUP BY few"},
		{on, "SELECT count(*) FROM (SELECT id % 100000, sum(v) FROM t GROUP BY id % 100000)"},
		{on, "SELECT count(*) FROM (SELECT id FROM t WHERE few = 0 AND v < 20 GROUP BY id)"},
		{off, byID},
		{without, byID},
	} {
		for range 2 {
			text := answer(t, d, c, c1.set, "EXPLAIN ANALYZE "+c1.sql)
			require.NotContains(t, text, "a group per row", c1.sql)
			require.Contains(t, text, "mode aggregate", c1.sql)
		}
	}
}
