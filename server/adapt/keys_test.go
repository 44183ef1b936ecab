package adapt_test

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/adapt"
)

func arrayOf(t *testing.T, dt arrow.DataType, values ...string) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	for _, v := range values {
		if v == "NULL" {
			b.AppendNull()
			continue
		}
		require.NoError(t, b.AppendValueFromString(v))
	}
	return b.NewArray()
}

// TestKeys: every type of key gives its distinct values in order, without NULL.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dt     arrow.DataType
		values string
		want   string
	}{
		{arrow.PrimitiveTypes.Int8, "3 -128 3 NULL 127", "k in (-128, 3, 127)"},
		{arrow.PrimitiveTypes.Int64, "-9223372036854775808 9223372036854775807 -1", "k in (-9223372036854775808, -1, 9223372036854775807)"},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551615 0", "k in (0, 18446744073709551615)"},
		{arrow.PrimitiveTypes.Int32, "7 7 NULL", "k = 7"},
		{arrow.BinaryTypes.String, "b a NULL b", "k in ('a', 'b')"},
		{arrow.BinaryTypes.LargeString, "b a", "k in ('a', 'b')"},
		{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, "b a NULL b", "k in ('a', 'b')"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, "-1.50 2 99999999999999999999.99", "k in (-1.50, 2.00, 99999999999999999999.99)"},
		{arrow.FixedWidthTypes.Date32, "2024-01-31 1969-12-31", "k in ('1969-12-31', '2024-01-31')"},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, "2024-01-31T00:00:00.5Z 1969-12-31T23:59:59Z", "k in ('1969-12-31 23:59:59', '2024-01-31 00:00:00.5')"},
	} {
		keys := adapt.NewKeys(pushdown.ValueType(c.dt))
		values := arrayOf(t, c.dt, strings.Fields(c.values)...)
		keys.Add(values)
		values.Release()
		e := keys.Filter(pushdown.Column{Name: "k", DataType: c.dt})
		require.NotNil(t, e, c.dt)
		require.Equal(t, c.want, strings.Trim(strings.ToLower(pushdown.ExprString(e)), "()")+strings.Repeat(")", strings.Count(c.want, ")")), c.dt)
		require.Equal(t, int64(strings.Count(c.values, "NULL")), keys.Nulls)
	}
}

func TestConsecutiveKeysAreARange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dt     arrow.DataType
		values string
		want   string
	}{
		{arrow.PrimitiveTypes.Int32, "4 3 NULL 5 4", "3 consecutive values"},
		{arrow.PrimitiveTypes.Int32, "4 3 6", "3 values"},
		{arrow.PrimitiveTypes.Int64, "-1 1 0", "3 consecutive values"},
		{arrow.PrimitiveTypes.Int64, "-9223372036854775808 9223372036854775807", "2 values"},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551615 18446744073709551614", "2 consecutive values"},
		{arrow.PrimitiveTypes.Uint64, "18446744073709551615 0", "2 values"},
		{arrow.FixedWidthTypes.Date32, "2024-02-01 2024-01-31", "2 consecutive values"},
		{&arrow.Decimal128Type{Precision: 38, Scale: 2}, "184467440737095516.15 184467440737095516.16", "2 consecutive values"},
		{arrow.BinaryTypes.String, "a b", "2 values"},
	} {
		keys := adapt.NewKeys(c.dt)
		values := arrayOf(t, c.dt, strings.Fields(c.values)...)
		keys.Add(values)
		values.Release()
		require.Equal(t, c.want, keys.Text(), c.values)
		_, isRange := keys.Filter(pushdown.Column{Name: "k", DataType: c.dt}).(pushdown.And)
		require.Equal(t, strings.Contains(c.want, "consecutive"), isRange, c.values)
	}
}

func TestManyKeysAreARange(t *testing.T) {
	t.Parallel()
	keys := adapt.NewKeys(arrow.PrimitiveTypes.Int64)
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range int64(10_001) {
		b.Append(i*7 - 100)
	}
	b.Append(math.MaxInt64) // after there were too many
	values := b.NewArray()
	defer values.Release()
	keys.Add(values)
	e := keys.Filter(pushdown.Column{Name: "k", DataType: arrow.PrimitiveTypes.Int64})
	require.Contains(t, pushdown.ExprString(e), "-100")
	require.Contains(t, pushdown.ExprString(e), "9223372036854775807")
	require.Equal(t, "a range of more than 10000 values", keys.Text())
}

// TestLongTextsAreARange: a message must not grow with the texts.
func TestLongTextsAreARange(t *testing.T) {
	t.Parallel()
	keys := adapt.NewKeys(arrow.BinaryTypes.String)
	for _, r := range "abc" {
		values := arrayOf(t, arrow.BinaryTypes.String, strings.Repeat(string(r), 400_000))
		keys.Add(values)
		values.Release()
	}
	require.Contains(t, keys.Text(), "range")
	require.NotNil(t, keys.Filter(pushdown.Column{Name: "k", DataType: arrow.BinaryTypes.String}))
	values := arrayOf(t, arrow.BinaryTypes.String, strings.Repeat("z", 1<<20))
	defer values.Release()
	keys.Add(values)
	require.Nil(t, keys.Filter(pushdown.Column{Name: "k", DataType: arrow.BinaryTypes.String}), "not even a range")
	require.False(t, keys.None())
}

func TestNoKeys(t *testing.T) {
	t.Parallel()
	keys := adapt.NewKeys(arrow.PrimitiveTypes.Int32)
	values := arrayOf(t, arrow.PrimitiveTypes.Int32, "NULL", "NULL")
	defer values.Release()
	keys.Add(values)
	require.True(t, keys.None())
	other := arrayOf(t, arrow.PrimitiveTypes.Float64, "1")
	defer other.Release()
	keys.Add(other)
	require.False(t, keys.None(), "what cannot be read may be anything")
	require.Nil(t, keys.Filter(pushdown.Column{Name: "k", DataType: arrow.PrimitiveTypes.Int32}))
}
