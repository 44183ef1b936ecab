package duckdb

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func TestBatchesGrow(t *testing.T) {
	t.Parallel()
	s := querySource(t, "SELECT i::INTEGER AS i FROM range(500000) r(i)")
	r, err := s.Scan(t.Context(), tableSpec(t, s))
	require.NoError(t, err)
	defer r.Close()
	var sizes []int64
	total := int64(0)
	for {
		batch, err := r.Next(t.Context())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		sizes = append(sizes, batch.NumRows())
		total += batch.NumRows()
		batch.Release()
	}
	require.EqualValues(t, 500000, total)
	require.EqualValues(t, 500000, r.RowsScanned())
	require.LessOrEqual(t, sizes[0], int64(2048))
	require.Less(t, len(sizes), 60)
	_, err = r.Next(t.Context())
	require.Equal(t, io.EOF, err)
}

func TestWideRowsMakeSmallBatches(t *testing.T) {
	t.Parallel()
	s := querySource(t, "SELECT repeat('x', 10000) AS s FROM range(1000)")
	r, err := s.Scan(t.Context(), tableSpec(t, s))
	require.NoError(t, err)
	defer r.Close()
	n := int64(0)
	for n < 1000 {
		batch, err := r.Next(t.Context())
		require.NoError(t, err)
		n += batch.NumRows()
		batch.Release()
	}
}

// endless yields rows for much longer than a test runs.
const endless = "(SELECT a.i FROM range(10000000) a(i), range(10000000) b(j))"

func TestCancel(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"before the first row": "SELECT sum(i)::BIGINT AS i FROM " + endless,
		"between rows":         "SELECT i FROM " + endless,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t)
			ctx, cancel := context.WithCancel(t.Context())
			start := time.AfterFunc(100*time.Millisecond, cancel)
			defer start.Stop()
			began := time.Now()
			err := e.exec(ctx, sql)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, status.Canceled, status.CodeOf(err))
			require.Less(t, time.Since(began), 2*time.Second)
			n, err := e.queryInt(t.Context(), "SELECT 5::BIGINT")
			require.NoError(t, err)
			require.EqualValues(t, 5, n)
		})
	}
}

func TestCancelOfNext(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	schema := pushdown.Spec{Columns: []pushdown.Column{{Name: "i", DataType: i64(0).Type()}}}
	r, err := e.query(t.Context(), "SELECT i FROM "+endless, schema.OutputSchema())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for err == nil {
		batch, next := r.Next(ctx)
		if err = next; err == nil {
			batch.Release()
		}
	}
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, err = r.Next(t.Context())
	require.ErrorContains(t, err, "closed")
}

func TestCloseEarly(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	schema := pushdown.Spec{Columns: []pushdown.Column{{Name: "i", DataType: i64(0).Type()}}}
	for range 20 {
		r, err := e.query(t.Context(), "SELECT i FROM "+endless, schema.OutputSchema())
		require.NoError(t, err)
		batch, err := r.Next(t.Context())
		require.NoError(t, err)
		batch.Release()
		began := time.Now()
		require.NoError(t, r.Close())
		require.Less(t, time.Since(began), time.Second)
	}
}

func TestEngineIsLocked(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, sql := range []string{"INSTALL httpfs", "LOAD httpfs", "SET threads = 1", "SET TimeZone = 'Asia/Tokyo'"} {
		require.Error(t, e.exec(t.Context(), sql), sql)
	}
	text, err := e.queryText(t.Context(), "SELECT string_agg(extension_name, ',' ORDER BY extension_name) FROM duckdb_extensions() WHERE loaded")
	require.NoError(t, err)
	require.Equal(t, "autocomplete,core_functions,icu,json,parquet", text)
	zone, err := e.queryText(t.Context(), "SELECT current_setting('TimeZone')")
	require.NoError(t, err)
	require.Equal(t, "UTC", zone)
	require.Equal(t, "1.5.6", Version())
}

func TestClosedEngine(t *testing.T) {
	t.Parallel()
	e, err := NewEngine(EngineConfig{TempDir: t.TempDir(), MemoryLimit: 1 << 30})
	require.NoError(t, err)
	require.NoError(t, e.Close())
	require.ErrorIs(t, e.exec(t.Context(), "SELECT 1"), &status.Error{Code: status.Unavailable})
	_, err = NewEngine(EngineConfig{TempDir: "/nonexistent/dir"})
	require.Error(t, err)
}

func BenchmarkLimit100(b *testing.B) {
	s := querySource(b, "SELECT i AS a, i % 10 AS b, 'text ' || i AS c, now() AS d FROM range(3000000) r(i)")
	spec := tableSpec(b, s)
	spec.Limit = 100
	for b.Loop() {
		rows(b, s, spec)
	}
}

func BenchmarkExport(b *testing.B) {
	s := querySource(b, "SELECT i AS a, i % 10 AS b, 'text ' || i AS c, now() AS d FROM range(3000000) r(i)")
	spec := tableSpec(b, s)
	for b.Loop() {
		r, err := s.Scan(b.Context(), spec)
		require.NoError(b, err)
		for {
			batch, err := r.Next(b.Context())
			if err == io.EOF {
				break
			}
			batch.Release()
		}
		require.NoError(b, r.Close())
	}
	b.ReportMetric(3e6*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkGroup(b *testing.B) {
	s := querySource(b, "SELECT 'scope ' || (i % 20) AS g FROM range(3000000) r(i)")
	all := tableSpec(b, s)
	spec := pushdown.Spec{Partitions: all.Partitions, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "g", Expr: col(all, "g")}}, Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}}
	for b.Loop() {
		rows(b, s, spec)
	}
}
