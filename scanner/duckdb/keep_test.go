package duckdb

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
)

// keeping is a source over small files that have settled, with so much memory for
// their rows.
func keeping(t testing.TB, budget int64, queries ...string) (*Source, string) {
	t.Helper()
	e, dir := newEngine(t), t.TempDir()
	e.keep.budget = budget
	for i, q := range queries {
		settle(t, write(t, e, q, dir, string(rune('a'+i))+".parquet"))
	}
	return globSource(t, e, dir+"/*.parquet"), dir
}

// isKept asks once.
func isKept(t testing.TB, s *Source, spec pushdown.Spec) bool {
	t.Helper()
	kept, err := s.Kept(t.Context(), spec)
	require.NoError(t, err)
	return kept != nil
}

func TestSmallPartitionsAreKept(t *testing.T) {
	t.Parallel()
	s, dir := keeping(t, 1<<20, "SELECT i AS id, 'a' || i AS name FROM range(3000) r(i)", "SELECT 7 AS id, 'b' AS name")
	spec := tableSpec(t, s)
	require.False(t, isKept(t, s, spec), "the first scan")
	kept, err := s.Kept(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, sortedRows(rows(t, s, spec)), sortedRows(rows(t, kept, spec)))
	one := spec
	one.Partitions, one.Columns = spec.Partitions[1:], spec.Columns[1:]
	kept, err = s.Kept(t.Context(), one)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"b"}}, rows(t, kept, one))

	settle(t, write(t, s.cfg.Engine, "SELECT 8 AS id, 'new' AS name", dir, "b.parquet"))
	require.False(t, isKept(t, s, one), "the file is another")
	require.Zero(t, s.cfg.Engine.keep.used)
	kept, err = s.Kept(t.Context(), one)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"new"}}, rows(t, kept, one))
}

func TestWhatIsNotKept(t *testing.T) {
	t.Parallel()
	const small, wide = "SELECT 1::INTEGER AS id, 'x' AS text", "SELECT i::INTEGER AS id, repeat('x', 3000) AS text FROM range(8000) r(i)"
	fresh, dir := keeping(t, 1<<20, small)
	write(t, fresh.cfg.Engine, small, dir, "b.parquet")
	later := time.Now().Add(time.Hour) // however slow the test is
	require.NoError(t, os.Chtimes(filepath.Join(dir, "b.parquet"), later, later))
	off, _ := keeping(t, 0, small)
	plain, _ := keeping(t, 1<<20, small)
	much, _ := keeping(t, 1<<20, "SELECT i::INTEGER AS id, 'x' AS text FROM range(60000) r(i)")
	long, _ := keeping(t, 64<<20, wide)
	none := func(*pushdown.Spec) {}
	for name, c := range map[string]struct {
		source *Source
		change func(*pushdown.Spec)
	}{
		"no memory":                         {off, none},
		"a file that was just made":         {fresh, none},
		"more than its share of the memory": {much, none},
		"values longer than was thought":    {long, none},
		"a wider column":                    {plain, func(s *pushdown.Spec) { s.Columns[0].DataType = arrow.PrimitiveTypes.Int64 }},
		"a column of other partitions":      {plain, func(s *pushdown.Spec) { s.Columns[0].Name = "elsewhere" }},
		"no partitions":                     {plain, func(s *pushdown.Spec) { s.Partitions = nil }},
	} {
		spec := tableSpec(t, c.source)
		c.change(&spec)
		for range 3 {
			require.False(t, isKept(t, c.source, spec), name)
		}
		require.Zero(t, c.source.cfg.Engine.keep.used, name)
	}
}

// TestTheIdleMakeRoom: rows that are in use stay; those that were not for a while
// go.
func TestTheIdleMakeRoom(t *testing.T) {
	t.Parallel()
	const query = "SELECT i AS id FROM range(5000) r(i)"
	s, _ := keeping(t, 100<<10, query, query, query)
	k := &s.cfg.Engine.keep
	spec := tableSpec(t, s)
	var kept []bool
	ask := func(id string) {
		one := spec
		one.Partitions = []string{id}
		isKept(t, s, one)
		kept = append(kept, isKept(t, s, one))
	}
	for _, id := range spec.Partitions {
		ask(id)
	}
	require.Equal(t, []bool{true, true, false}, kept)
	k.mu.Lock()
	for _, r := range k.rows {
		r.touched = time.Now().Add(-2 * keepIdle)
	}
	k.mu.Unlock()
	for range keepRest {
		ask(spec.Partitions[2])
	}
	require.True(t, kept[len(kept)-1])
	require.LessOrEqual(t, k.used, k.budget)
	require.Len(t, k.rows, 2)
}

// TestServedFromMemory: the kernels answer as DuckDB does.
func TestServedFromMemory(t *testing.T) {
	t.Parallel()
	s, _ := keeping(t, 16<<20, "SELECT i % 3 AS g, i::DECIMAL(18,2) AS v FROM range(10000) r(i)", "SELECT NULL::BIGINT AS g, 5::DECIMAL(18,2) AS v")
	all := tableSpec(t, s)
	spec := pushdown.Spec{Table: "main.t", Partitions: all.Partitions, Limit: pushdown.NoLimit,
		Filter:     []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Left: col(all, "g"), Right: i64(2)}},
		GroupBy:    []pushdown.NamedExpr{{Name: "g", Expr: col(all, "g")}},
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}, {Name: "s", Func: pushdown.Sum, Arg: col(all, "v")}}}
	client := serve(t, s)
	for range 3 {
		scan, err := client.Scan(t.Context(), codec.OpenRequest{ScanID: "x", Spec: spec}, memory.DefaultAllocator)
		require.NoError(t, err)
		var got [][]string
		for b, err := scan.Next(); err != io.EOF; b, err = scan.Next() {
			require.NoError(t, err)
			got = append(got, texts(b.Record)...)
			b.Record.Release()
		}
		require.Equal(t, [][]string{{"0", "3334", "16668333"}, {"1", "3333", "16661667"}}, sortedRows(got))
		require.EqualValues(t, 10001, scan.End().RowsScanned)
		scan.Close()
	}
	require.Len(t, s.cfg.Engine.keep.rows, 2)
}
