package eval

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func arrowDecimal(v int64) decimal128.Num { return decimal128.FromI64(v) }

// mapColumns replaces every input column.
func (g *golden) mapColumns(f func(i int, a arrow.Array) arrow.Array) {
	var fields []arrow.Field
	var cols []arrow.Array
	for i, field := range g.batch.Schema().Fields() {
		col := f(i, g.batch.Column(i))
		fields = append(fields, arrow.Field{Name: field.Name, Type: col.DataType(), Nullable: true})
		cols = append(cols, col)
	}
	g.batch = array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, g.batch.NumRows())
}

// toLarge gives strings and binaries 64-bit offsets.
func toLarge(a arrow.Array) arrow.Array {
	switch a := a.(type) {
	case *array.String:
		b := array.NewLargeStringBuilder(memory.DefaultAllocator)
		for i := range a.Len() {
			if a.IsNull(i) {
				b.AppendNull()
			} else {
				b.Append(a.Value(i))
			}
		}
		return b.NewArray()
	case *array.Binary:
		b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
		for i := range a.Len() {
			if a.IsNull(i) {
				b.AppendNull()
			} else {
				b.Append(a.Value(i))
			}
		}
		return b.NewArray()
	}
	return a
}

var indexTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32,
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
}

// toDictionary encodes a. The dictionary holds each distinct value, preceded by
// a NULL that every other NULL row names, and repeated until it has at least
// padding values.
func toDictionary(t testing.TB, a arrow.Array, seed, padding int) arrow.Array {
	t.Helper()
	first := map[string]int{}
	var rows []int32
	nullRow := int32(-1)
	codes := make([]int64, a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			nullRow = int32(i)
			continue
		}
		key := a.ValueStr(i)
		if _, seen := first[key]; !seen {
			first[key] = len(rows)
			rows = append(rows, int32(i))
		}
		codes[i] = int64(first[key]) + 1
	}
	require.GreaterOrEqual(t, nullRow, int32(0))
	rows = append([]int32{nullRow}, rows...)
	for n := len(rows); len(rows) < padding; {
		rows = append(rows, rows[:n]...)
	}
	values, err := TakeArray(a, rows, memory.DefaultAllocator)
	require.NoError(t, err)
	typ := &arrow.DictionaryType{IndexType: indexTypes[seed%len(indexTypes)], ValueType: a.DataType()}
	if len(rows) < 100 {
		typ.IndexType = []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8}[seed%2]
	}
	indices := array.NewBuilder(memory.DefaultAllocator, typ.IndexType)
	for i, code := range codes {
		if a.IsNull(i) && i%2 == 0 {
			indices.AppendNull()
			continue
		}
		appendCode(indices, code)
	}
	return array.NewDictionaryArray(typ, indices.NewArray(), values)
}

func appendCode(b array.Builder, code int64) {
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(code))
	case *array.Uint8Builder:
		b.Append(uint8(code))
	case *array.Uint16Builder:
		b.Append(uint16(code))
	case *array.Int16Builder:
		b.Append(int16(code))
	case *array.Int32Builder:
		b.Append(int32(code))
	case *array.Uint32Builder:
		b.Append(uint32(code))
	case *array.Int64Builder:
		b.Append(code)
	case *array.Uint64Builder:
		b.Append(uint64(code))
	}
}
