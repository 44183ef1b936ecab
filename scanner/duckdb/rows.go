package duckdb

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
)

// rowSource yields rows that are in memory.
type rowSource struct {
	schema  *arrow.Schema
	batches map[string][]arrow.RecordBatch
}

func (s *rowSource) Schema(context.Context) (*arrow.Schema, error) { return s.schema, nil }

func (s *rowSource) Partitions(context.Context) ([]scanner.Partition, error) {
	out := make([]scanner.Partition, 0, len(s.batches))
	for id := range s.batches {
		out = append(out, scanner.Partition{ID: id, Rows: -1, Bytes: -1})
	}
	return out, nil
}

// Capabilities says that it only yields rows.
func (s *rowSource) Capabilities() pushdown.Capabilities { return pushdown.Capabilities{} }

func (s *rowSource) Scan(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	r, schema := &replay{}, spec.OutputSchema()
	at := make([]int, len(spec.Columns))
	for i, c := range spec.Columns {
		at[i] = s.schema.FieldIndices(c.Name)[0]
	}
	for _, id := range spec.Partitions {
		for _, b := range s.batches[id] {
			r.batches = append(r.batches, project(b, schema, at))
		}
	}
	return r, nil
}

func project(b arrow.RecordBatch, schema *arrow.Schema, at []int) arrow.RecordBatch {
	columns := make([]arrow.Array, len(at))
	for i, c := range at {
		columns[i] = b.Column(c)
	}
	return array.NewRecordBatch(schema, columns, b.NumRows())
}

// replay yields batches whose memory is the garbage collector's.
type replay struct {
	batches []arrow.RecordBatch
	rows    atomic.Int64
}

func (r *replay) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, engineError(ctx, "")
	}
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	batch := r.batches[0]
	r.batches = r.batches[1:]
	r.rows.Add(batch.NumRows())
	batch.Retain()
	return batch, nil
}

func (r *replay) RowsScanned() int64 { return r.rows.Load() }

func (r *replay) Close() error { return nil }
