package eval

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func wireTypes() *arrow.Schema {
	text := arrow.BinaryTypes.String
	return schemaOf(
		arrow.Field{Name: "null", Type: arrow.Null}, arrow.Field{Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
		arrow.Field{Name: "i8", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "i16", Type: arrow.PrimitiveTypes.Int16},
		arrow.Field{Name: "f32", Type: arrow.PrimitiveTypes.Float32}, arrow.Field{Name: "f64", Type: arrow.PrimitiveTypes.Float64},
		arrow.Field{Name: "dec", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}},
		arrow.Field{Name: "text", Type: text}, arrow.Field{Name: "large", Type: arrow.BinaryTypes.LargeString},
		arrow.Field{Name: "fixed", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}},
		arrow.Field{Name: "dict", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}},
		arrow.Field{Name: "list", Type: arrow.ListOf(text)}, arrow.Field{Name: "big", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Int32)},
		arrow.Field{Name: "pair", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16)},
		arrow.Field{Name: "map", Type: arrow.MapOf(text, arrow.PrimitiveTypes.Int64)},
		arrow.Field{Name: "struct", Type: arrow.StructOf(
			arrow.Field{Name: "a", Type: arrow.ListOf(arrow.FixedWidthTypes.Boolean), Nullable: true},
			arrow.Field{Name: "b", Type: text, Nullable: true})},
		arrow.Field{Name: "interval", Type: arrow.FixedWidthTypes.MonthDayNanoInterval},
	)
}

const wireRows = `[
{"bool":true,"i8":1,"i16":1,"f32":1.5,"f64":1.5,"dec":"1.25","text":"one","large":"eins","fixed":"YWJj","dict":"x","list":["a","b"],"big":[1],"pair":[1,2],"map":[{"key":"k","value":1}],"struct":{"a":[true],"b":"s"},"interval":{"months":1,"days":2,"nanoseconds":3}},
{},
{"bool":false,"i8":3,"i16":3,"f32":3.5,"f64":3.5,"dec":"3.25","text":"","large":"drei","fixed":"YWJk","dict":"y","list":[],"big":[null,2,3],"pair":[3,null],"map":[],"struct":{"a":null,"b":"t"},"interval":{"months":4,"days":5,"nanoseconds":6}},
{"bool":true,"i8":4,"i16":4,"f32":4.5,"f64":4.5,"dec":"4.25","text":"four","large":"vier","fixed":"YWJl","dict":"x","list":[null,"c"],"big":[],"pair":[5,6],"map":[{"key":"k","value":null},{"key":"l","value":2}],"struct":{"a":[],"b":null},"interval":{"months":7,"days":8,"nanoseconds":9}}
]`

// TestTake picks rows of every type, from a whole batch and from a slice.
func TestTake(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	batch := jsonBatch(t, wireTypes(), wireRows)
	defer batch.Release()
	for _, c := range []struct {
		from int64
		sel  []int32
	}{{0, []int32{0, 1, 2, 3}}, {0, []int32{3, 1}}, {0, nil}, {1, []int32{0, 2}}, {2, []int32{1, 0, 1}}} {
		part := batch.NewSlice(c.from, batch.NumRows())
		got, err := Take(part, c.sel, mem)
		require.NoError(t, err)
		require.EqualValues(t, len(c.sel), got.NumRows())
		for i, col := range got.Columns() {
			for row, r := range c.sel {
				at := int64(r)
				require.True(t, array.SliceEqual(part.Column(i), at, at+1, col, int64(row), int64(row)+1),
					"column %s row %d", part.ColumnName(i), r)
			}
		}
		got.Release()
		part.Release()
	}
}

func TestTakeUnknownType(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	b := array.NewStringViewBuilder(mem)
	defer b.Release()
	b.Append("x")
	arr := b.NewArray()
	defer arr.Release()
	_, err := TakeArray(arr, []int32{0}, mem)
	require.ErrorContains(t, err, "string_view")
}
