package duckdb

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEngine opens an engine whose Arrow memory must be given back.
func newEngine(t testing.TB) *Engine {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	e, err := NewEngine(EngineConfig{Alloc: mem, TempDir: t.TempDir(), Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, e.Close())
		mem.AssertSize(t, 0)
	})
	return e
}

// write stores the rows of a query in a file and returns its path.
func write(t testing.TB, e *Engine, query, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, e.exec(t.Context(), "COPY ("+query+") TO "+quoteText(path)))
	return path
}

func globSource(t testing.TB, e *Engine, pattern string) *Source {
	t.Helper()
	s, err := FromGlob(e, pattern)
	require.NoError(t, err)
	return s
}

// tableSpec reads all columns of all partitions.
func tableSpec(t testing.TB, s *Source) pushdown.Spec {
	t.Helper()
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	partitions, err := s.Partitions(t.Context())
	require.NoError(t, err)
	spec := pushdown.Spec{Table: "main.t", Limit: pushdown.NoLimit}
	for _, f := range schema.Fields() {
		spec.Columns = append(spec.Columns, pushdown.Column{Name: f.Name, DataType: f.Type})
	}
	for _, p := range partitions {
		spec.Partitions = append(spec.Partitions, p.ID)
	}
	return spec
}

// rows runs a spec and returns each row as text, in the order of arrival.
func rows(t testing.TB, s scanner.Source, spec pushdown.Spec) [][]string {
	t.Helper()
	out, err := tryRows(t.Context(), s, spec)
	require.NoError(t, err)
	return out
}

func tryRows(ctx context.Context, s scanner.Source, spec pushdown.Spec) ([][]string, error) {
	r, err := s.Scan(ctx, spec)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := [][]string{}
	for {
		batch, err := r.Next(ctx)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, texts(batch)...)
		batch.Release()
	}
}

func texts(batch arrow.RecordBatch) [][]string {
	out := make([][]string, batch.NumRows())
	for _, c := range batch.Columns() {
		for i := range out {
			out[i] = append(out[i], text(c, i))
		}
	}
	return out
}

func text(a arrow.Array, i int) string {
	if d, ok := a.(*array.Dictionary); ok && a.IsValid(i) {
		return d.Dictionary().ValueStr(d.GetValueIndex(i))
	}
	return a.ValueStr(i)
}

func col(s pushdown.Spec, name string) pushdown.Column {
	for _, c := range s.Columns {
		if c.Name == name {
			return c
		}
	}
	panic("no column " + name)
}
