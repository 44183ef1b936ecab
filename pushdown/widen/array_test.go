package widen_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
)

// decode makes an array of JSON values; that of a dictionary type has one entry
// a row.
func decode(t *testing.T, typ arrow.DataType, values string) arrow.Array {
	t.Helper()
	if d, ok := typ.(*arrow.DictionaryType); ok {
		b := array.NewDictionaryBuilder(memory.DefaultAllocator, d).(*array.BinaryDictionaryBuilder)
		for i, dense := 0, decode(t, d.ValueType, values).(*array.String); i < dense.Len(); i++ {
			if dense.IsNull(i) {
				b.AppendNull()
			} else {
				require.NoError(t, b.AppendString(dense.Value(i)))
			}
		}
		return b.NewArray()
	}
	arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	require.NoError(t, err, typ)
	return arr
}

func TestArray(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from   arrow.DataType
		values string
		to     arrow.DataType
		want   string // values when empty
	}{
		{from: i8, values: `[-128, null, 127]`, to: i64},
		{from: u32, values: `[0, null, 4294967295]`, to: i64},
		{from: u64, values: `[0, null, 18446744073709551615]`, to: dec(20, 0), want: `["0", null, "18446744073709551615"]`},
		{from: i16, values: `[-5, null, 32767]`, to: dec(12, 2), want: `["-5.00", null, "32767.00"]`},
		{from: dec(4, 1), values: `["-999.9", null, "0.1"]`, to: dec(38, 20), want: `["-999.90000000000000000000", null, "0.10000000000000000000"]`},
		{from: &arrow.Decimal32Type{Precision: 9, Scale: 2}, values: `["-1.50", null, "9999999.99"]`, to: dec(9, 2)},
		{from: &arrow.Decimal64Type{Precision: 18, Scale: 1}, values: `["-0.1", null, "7.0"]`, to: dec(20, 3), want: `["-0.100", null, "7.000"]`},
		{from: dec256(50, 2), values: `["-999999999999999999999999999999999999.99", null, "0.01", "18446744073709551616.00"]`, to: dec(38, 2)},
		{from: dec256(20, 0), values: `["-99999999999999999999", null]`, to: dec(38, 18), want: `["-99999999999999999999.000000000000000000", null]`},
		{from: i32, values: `[-2147483648, null, 2147483647]`, to: f64},
		{from: i64, values: `[-9007199254740992, null, 1152921504606846976]`, to: f64},
		{from: u64, values: `[0, null, 9223372036854775808]`, to: f64},
		{from: dec(20, 0), values: `["-12", null, "9007199254740992"]`, to: f64, want: `[-12, null, 9007199254740992]`},
		{from: f32, values: `[-1.5, null, 0.25]`, to: f64},
		{from: day, values: `["1969-12-31", null, "2024-02-29"]`, to: ts(arrow.Microsecond, ""), want: `["1969-12-31", null, "2024-02-29"]`},
		{from: arrow.FixedWidthTypes.Date64, values: `["1969-12-31", null, "2024-02-29"]`, to: day},
		{from: arrow.FixedWidthTypes.Date64, values: `["1969-12-31", null]`, to: ts(arrow.Second, "")},
		{from: u8, values: `[0, null, 255]`, to: i16},
		{from: i8, values: `[-1, null]`, to: dec(20, 0), want: `["-1", null]`},
		{from: arrow.BinaryTypes.StringView, values: `["x", null, "longer than twelve bytes"]`, to: text},
		{from: bytes, values: `["YWI=", null]`, to: arrow.BinaryTypes.LargeBinary},
		{from: ts(arrow.Second, ""), values: `["1969-12-31 23:59:59", null]`, to: ts(arrow.Nanosecond, "")},
		{from: ts(arrow.Second, "Asia/Tokyo"), values: `["1969-12-31 23:59:59Z", null]`, to: ts(arrow.Microsecond, "UTC")},
		{from: arrow.FixedWidthTypes.Time32ms, values: `["01:02:03.004", null]`, to: arrow.FixedWidthTypes.Time64ns},
		{from: text, values: `["x", null, ""]`, to: arrow.BinaryTypes.LargeString},
		{from: dict(u8), values: `["x", null, "y", "x"]`, to: text},
		{from: &arrow.FixedSizeBinaryType{ByteWidth: 2}, values: `["YWI=", null]`, to: bytes},
		{from: arrow.Null, values: `[null, null]`, to: arrow.ListOf(i8)},
		{from: arrow.ListOf(i8), values: `[[1, null], null, [], [3]]`, to: arrow.ListOf(f64)},
		{from: arrow.ListOf(i8), values: `[[1, null], null, [], [3]]`, to: arrow.LargeListOf(i32)},
		{from: arrow.FixedSizeListOf(2, i8), values: `[[1, 2], null, [3, null]]`, to: arrow.FixedSizeListOf(2, i32)},
		{from: arrow.FixedSizeListOf(2, i8), values: `[[1, 2], null, [3, null]]`, to: arrow.ListOf(i32)},
		{from: arrow.MapOf(text, i8), values: `[[{"key": "k", "value": 1}], null, []]`, to: arrow.MapOf(text, i64)},
		{
			from: record(field("a", i8), field("b", text)), values: `[{"a": 1, "b": "x"}, null, {"a": null, "b": null}]`,
			to:   record(field("c", day), field("b", text), field("a", i64)),
			want: `[{"c": null, "b": "x", "a": 1}, null, {"c": null, "b": null, "a": null}]`,
		},
		{
			from: arrow.ListOf(record(field("a", i8))), values: `[[{"a": 1}, null], null]`,
			to: arrow.ListOf(record(field("a", i16), field("b", text))), want: `[[{"a": 1, "b": null}, null], null]`,
		},
	} {
		if c.want == "" {
			c.want = c.values
		}
		arr, want := decode(t, c.from, c.values), decode(t, c.to, c.want)
		for from := range arr.Len() {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			got, err := widen.Array(array.NewSlice(arr, int64(from), int64(arr.Len())), c.to, mem)
			require.NoError(t, err, "%s to %s", c.from, c.to)
			require.True(t, array.Equal(array.NewSlice(want, int64(from), int64(want.Len())), got), "%s to %s: %s instead of %s", c.from, c.to, got, want)
			got.Release()
			mem.AssertSize(t, 0)
		}
	}
}

// TestInexact: a value that the wider type does not have is an error.
func TestInexact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from   arrow.DataType
		values string
		to     arrow.DataType
	}{
		{i64, `[9007199254740993]`, f64},
		{i64, `[9223372036854775807]`, f64},
		{u64, `[18446744073709551615]`, f64},
		{dec(38, 0), `["9007199254740993"]`, f64},
		{dec256(50, 2), `["1000000000000000000000000000000000000.00"]`, dec(38, 2)},
		{dec256(76, 0), `["-9999999999999999999999999999999999999999999999999999999999999999999999999999"]`, dec(38, 0)},
		{dec256(76, 0), `["340282366920938463463374607431768211456"]`, dec(38, 0)},
		{arrow.ListOf(i64), `[[9007199254740993]]`, arrow.ListOf(f64)},
		{day, `["9999-12-31"]`, ts(arrow.Nanosecond, "")},
		{ts(arrow.Second, ""), `["2400-01-01 00:00:00"]`, ts(arrow.Nanosecond, "")},
	} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		_, err := widen.Array(decode(t, c.from, c.values), c.to, mem)
		require.Equal(t, status.OutOfRange, status.CodeOf(err), "%s: %v", c.from, err)
		mem.AssertSize(t, 0)
	}
	_, err := widen.Array(decode(t, i64, `[1]`), i32, memory.DefaultAllocator)
	require.Equal(t, status.FailedPrecondition, status.CodeOf(err))
}

func TestBatch(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	own := arrow.NewSchema([]arrow.Field{field("n", i8), field("x", text)}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, own, strings.NewReader(`[{"n": 1, "x": "a"}, {"n": null, "x": "b"}]`))
	require.NoError(t, err)
	schema := arrow.NewSchema([]arrow.Field{field("lacking", day), field("n", i64)}, nil)
	got, err := widen.Batch(rec, schema, mem)
	require.NoError(t, err)
	defer got.Release()
	text, err := got.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `[{"lacking": null, "n": 1}, {"lacking": null, "n": null}]`, string(text))
	_, err = widen.Batch(rec, arrow.NewSchema([]arrow.Field{field("x", day)}, nil), mem)
	require.ErrorContains(t, err, `column "x"`)
}
