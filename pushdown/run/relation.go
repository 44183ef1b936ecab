package run

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Relation copies rows into a relation of the given columns, which are the batches',
// decoded.
func Relation(columns []pushdown.Column, batches []arrow.RecordBatch) (*pushdown.Relation, error) {
	fields, arrs, total := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns)), int64(0)
	for _, b := range batches {
		total += b.NumRows()
	}
	if total > pushdown.MaxRelationRows {
		return nil, status.New(status.ResourceExhausted, "a relation of %d rows is too large to travel with a scan", total)
	}
	for i, c := range columns {
		var err error
		fields[i] = c.Field()
		if arrs[i], err = column(c.DataType, i, batches); err != nil {
			return nil, err
		}
	}
	return pushdown.NewRelation(array.NewRecordBatch(arrow.NewSchema(fields, nil), arrs, total))
}

// column is a column of several batches.
func column(dt arrow.DataType, at int, batches []arrow.RecordBatch) (arrow.Array, error) {
	mem := memory.DefaultAllocator
	if len(batches) == 0 {
		return array.MakeArrayOfNull(mem, dt, 0), nil
	}
	parts := make([]arrow.Array, len(batches))
	for i, b := range batches {
		field := b.Schema().Field(at)
		if !arrow.TypeEqual(pushdown.ValueType(field.Type), dt) {
			return nil, status.New(status.DataLoss, "column %q is %s, not %s", field.Name, field.Type, dt)
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: field.Type, Nullable: true}}, nil)
		decode, err := eval.Compile(pushdown.Column{Name: "c", DataType: field.Type}, schema)
		if err != nil {
			return nil, err
		}
		alone := array.NewRecordBatch(schema, []arrow.Array{b.Column(at)}, b.NumRows())
		parts[i], err = decode.Eval(alone, mem)
		alone.Release()
		if err != nil {
			return nil, err
		}
		defer parts[i].Release()
	}
	return array.Concatenate(parts, mem)
}
