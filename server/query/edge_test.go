package query

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestClientTypes(t *testing.T) {
	t.Parallel()
	u8, u64 := arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64
	dict := &arrow.DictionaryType{IndexType: u8, ValueType: arrow.BinaryTypes.String}
	for _, c := range []struct {
		from       arrow.DataType
		json, want string
		to         arrow.DataType
	}{
		{u8, "[9, 255, null, 0]", "[255 (null) 0]", arrow.PrimitiveTypes.Int16},
		{arrow.PrimitiveTypes.Uint16, "[9, 65535]", "[65535]", arrow.PrimitiveTypes.Int32},
		{arrow.PrimitiveTypes.Uint32, "[9, 4294967295]", "[4294967295]", arrow.PrimitiveTypes.Int64},
		{u64, "[9, 18446744073709551615, null]", "[18446744073709551615 (null)]", &arrow.Decimal128Type{Precision: 20}},
		{dict, `["z", "b", null, "a", "b"]`, `["b" (null) "a" "b"]`, arrow.BinaryTypes.String},
		{arrow.ListOf(u8), "[[9], [1, null], null, [255]]", "[[1 (null)] (null) [255]]", arrow.ListOf(arrow.PrimitiveTypes.Int16)},
		{arrow.FixedSizeListOf(2, u8), "[[9, 9], [1, null], null]", "[[1 (null)] (null)]", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16)},
		{
			arrow.StructOf(arrow.Field{Name: "x", Type: u8, Nullable: true}, arrow.Field{Name: "y", Type: arrow.ListOf(u8), Nullable: true}),
			`[{"x": 9, "y": [9]}, {"x": 1, "y": [2]}, null]`, "{[1 (null)] [[2] (null)]}",
			arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int16, Nullable: true}, arrow.Field{Name: "y", Type: arrow.ListOf(arrow.PrimitiveTypes.Int16), Nullable: true}),
		},
		{arrow.MapOf(u8, u8), `[[{"key": 9, "value": 9}], [{"key": 1, "value": null}]]`, "[{[1] [(null)]}]", arrow.MapOf(arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int16)},
		{arrow.BinaryTypes.String, `["z", "same"]`, `["same"]`, arrow.BinaryTypes.String},
	} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		whole, _, err := array.FromJSON(mem, c.from, strings.NewReader(c.json))
		require.NoError(t, err, c.from)
		sliced := array.NewSlice(whole, 1, int64(whole.Len()))
		whole.Release()
		schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.from, Nullable: true}}, nil)
		batch := array.NewRecordBatch(schema, []arrow.Array{sliced}, int64(sliced.Len()))
		sliced.Release()
		e := newEdge(schema, ClientTypes)
		require.True(t, arrow.TypeEqual(c.to, e.schema.Field(0).Type), "%s is %s", c.from, e.schema)
		got, err := e.apply(batch, mem)
		require.NoError(t, err, c.from)
		require.True(t, got.Schema().Equal(e.schema))
		require.Equal(t, c.want, got.Column(0).String(), c.from)
		got.Release()
		mem.AssertSize(t, 0)
		require.True(t, arrow.TypeEqual(c.from, newEdge(schema, RawTypes).schema.Field(0).Type))
	}
}

func TestResultMetadata(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ   arrow.DataType
		name  string
		scale int32
		digit int32
	}{
		{arrow.PrimitiveTypes.Int64, "BIGINT", 0, 0},
		{arrow.PrimitiveTypes.Uint64, "UBIGINT", 0, 20},
		{&arrow.Decimal128Type{Precision: 12, Scale: 2}, "DECIMAL", 2, 12},
		{arrow.ListOf(&arrow.Decimal128Type{Precision: 12, Scale: 2}), "DECIMAL(12,2)[]", 0, 0},
		{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "TIMESTAMP WITH TIME ZONE", 0, 0},
		{arrow.Null, "NULL", 0, 0},
	} {
		meta := ClientTypes.Field(arrow.Field{Name: "v", Type: c.typ}).Metadata
		name, ok := meta.GetValue(flightsql.TypeNameKey)
		require.True(t, ok)
		require.Equal(t, c.name, name)
		columns := flightsql.ColumnMetadata{Data: &meta}
		digits, hasDigits := columns.Precision()
		scale, _ := columns.Scale()
		require.Equal(t, c.digit > 0, hasDigits, c.name)
		require.Equal(t, []int32{c.digit, c.scale}, []int32{digits, scale}, c.name)
	}
}
