package scanner_test

import (
	"errors"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
)

const benchRows = 2_000_000

// benchTable has one partition that holds nine tenths of the rows.
func benchTable(b *testing.B) *running {
	b.Helper()
	source, err := memsource.New(schema, nil)
	require.NoError(b, err)
	for id, n := range map[string]int{"0": benchRows * 9 / 10, "1": benchRows / 10} {
		batch := numbers(memory.DefaultAllocator, 0, n)
		require.NoError(b, source.Put(memsource.Partition{ID: id, Batches: nil}))
		part := memsource.Partition{ID: id}
		for at := 0; at < n; at += 50_000 {
			part.Batches = append(part.Batches, batch.NewSlice(int64(at), int64(min(at+50_000, n))))
		}
		require.NoError(b, source.Put(part))
	}
	return start(b, memory.DefaultAllocator, scanner.Config{Tables: []scanner.Table{{Name: "t", Source: source}}})
}

func drain(b *testing.B, c *codec.Client, spec pushdown.Spec) (rows int64) {
	b.Helper()
	s, err := c.Scan(b.Context(), codec.OpenRequest{ScanID: "x", Spec: spec}, memory.DefaultAllocator)
	require.NoError(b, err)
	defer s.Close()
	_, err = s.Opened()
	require.NoError(b, err)
	for {
		batch, err := s.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		require.NoError(b, err)
		rows += batch.Record.NumRows()
		batch.Record.Release()
		require.NoError(b, s.Grant(batch.WireBytes))
	}
}

func BenchmarkScan(b *testing.B) {
	r := benchTable(b)
	c := r.client()
	b.Run("what=rows", func(b *testing.B) {
		for b.Loop() {
			require.EqualValues(b, benchRows, drain(b, c, rowsSpec("0", "1")))
		}
		b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("what=groups", func(b *testing.B) {
		for b.Loop() {
			require.EqualValues(b, 3, drain(b, c, countSpec("0", "1")))
		}
		b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("what=limit", func(b *testing.B) {
		spec := rowsSpec("0", "1")
		spec.Limit = 100
		for b.Loop() {
			require.EqualValues(b, 100, drain(b, c, spec))
		}
	})
	b.Run("what=doget", func(b *testing.B) {
		c := r.flightClient()
		for b.Loop() {
			stream, err := c.DoGet(b.Context(), &flight.Ticket{Ticket: []byte("t")})
			require.NoError(b, err)
			reader, err := flight.NewRecordReader(stream)
			require.NoError(b, err)
			n := int64(0)
			for reader.Next() {
				n += reader.RecordBatch().NumRows()
			}
			reader.Release()
			require.EqualValues(b, benchRows, n)
		}
		b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
}
