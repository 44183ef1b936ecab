package exec

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// conform returns rec with the columns of schema: those at the given positions,
// or, without positions, those with the schema's names. Types are cast where
// they differ (a dictionary is decoded). It does not consume rec.
func conform(rec arrow.RecordBatch, schema *arrow.Schema, positions []int, mem memory.Allocator) (arrow.RecordBatch, error) {
	if rec.Schema().Equal(schema) && positions == nil {
		rec.Retain()
		return rec, nil
	}
	columns := make([]arrow.Array, 0, schema.NumFields())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, f := range schema.Fields() {
		at, err := position(rec, i, f.Name, positions)
		if err != nil {
			return nil, err
		}
		col, err := castTo(rec.Column(at), f, mem)
		if err != nil {
			return nil, err
		}
		columns = append(columns, col)
	}
	return array.NewRecordBatch(schema, columns, rec.NumRows()), nil
}

// position finds the i-th wanted column in rec.
func position(rec arrow.RecordBatch, i int, name string, positions []int) (int, error) {
	if positions != nil {
		if positions[i] >= int(rec.NumCols()) {
			return 0, status.New(status.DataLoss, "a batch has %d columns, column %d is wanted", rec.NumCols(), positions[i])
		}
		return positions[i], nil
	}
	if i < int(rec.NumCols()) && rec.ColumnName(i) == name {
		return i, nil
	}
	if at := rec.Schema().FieldIndices(name); len(at) > 0 {
		return at[0], nil
	}
	return 0, status.New(status.DataLoss, "a batch lacks the column %q that was asked for", name)
}

func castTo(col arrow.Array, f arrow.Field, mem memory.Allocator) (arrow.Array, error) {
	if arrow.TypeEqual(col.DataType(), f.Type) {
		col.Retain()
		return col, nil
	}
	ctx := compute.WithAllocator(context.Background(), mem)
	out, err := compute.CastArray(ctx, col, compute.SafeCastOptions(f.Type))
	if err != nil {
		return nil, status.Wrap(status.DataLoss, err, "column %q is %s, not %s", f.Name, col.DataType(), f.Type)
	}
	return out, nil
}

// size is the memory that a batch refers to.
func size(rec arrow.RecordBatch) int64 {
	var bytes int64
	for _, c := range rec.Columns() {
		bytes += dataSize(c.Data())
	}
	return bytes
}

func dataSize(d arrow.ArrayData) int64 {
	var bytes int64
	for _, b := range d.Buffers() {
		if b != nil {
			bytes += int64(b.Len())
		}
	}
	for _, child := range d.Children() {
		bytes += dataSize(child)
	}
	if d.DataType().ID() == arrow.DICTIONARY {
		bytes += dataSize(d.Dictionary())
	}
	return bytes
}
