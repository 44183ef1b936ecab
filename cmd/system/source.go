package system

import (
	"cmp"
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

// source is a table of one partition, whose rows are made when it is read. It
// has no version: nothing may be concluded from what it was.
type source[T any] struct {
	columns []column[T]
	rows    func() []T
}

// Schema is that of the columns.
func (s source[T]) Schema(context.Context) (*arrow.Schema, error) {
	fields := make([]arrow.Field, len(s.columns))
	for i, c := range s.columns {
		fields[i] = arrow.Field{Name: c.name, Type: c.typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil), nil
}

// Partitions is the one there is.
func (s source[T]) Partitions(context.Context) ([]scanner.Partition, error) {
	return []scanner.Partition{{ID: "coordinator", Rows: -1, Bytes: -1}}, nil
}

// Capabilities is empty: the scanner filters and aggregates.
func (s source[T]) Capabilities() pushdown.Capabilities { return pushdown.Capabilities{} }

// Scan yields one batch.
func (s source[T]) Scan(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	r := &reader{}
	rows := s.rows()
	b := array.NewRecordBuilder(memory.DefaultAllocator, spec.OutputSchema())
	defer b.Release()
	for i, wanted := range spec.Columns {
		for _, c := range s.columns {
			if c.name != wanted.Name {
				continue
			}
			for _, row := range rows {
				if err := add(b.Field(i), c.value(row)); err != nil {
					return nil, err
				}
			}
		}
	}
	r.batch = b.NewRecordBatch()
	r.rows = int64(len(rows))
	return r, nil
}

func add(b array.Builder, v any) error {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case string:
		b.(*array.StringBuilder).Append(v)
	case int64:
		b.(*array.Int64Builder).Append(v)
	case float64:
		b.(*array.Float64Builder).Append(v)
	case time.Time:
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(v.UnixMicro()))
	default:
		return status.New(status.Internal, "a system table has a %T", v)
	}
	return nil
}

// reader yields a batch.
type reader struct {
	batch arrow.RecordBatch
	rows  int64
	read  atomic.Int64
}

// Next yields the batch, then io.EOF.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if ctx.Err() != nil || r.batch == nil {
		return nil, cmp.Or(ctx.Err(), io.EOF)
	}
	batch := r.batch
	r.batch = nil
	r.read.Store(r.rows)
	return batch, nil
}

// RowsScanned is the number of rows once they are read.
func (r *reader) RowsScanned() int64 { return r.read.Load() }

// Close releases what was not read.
func (r *reader) Close() error {
	if r.batch != nil {
		r.batch.Release()
		r.batch = nil
	}
	return nil
}
