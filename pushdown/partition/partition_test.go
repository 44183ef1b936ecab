package partition_test

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
)

func decimal(unscaled int64, precision, scale int32) scalar.Scalar {
	return scalar.NewDecimal128Scalar(decimal128.FromI64(unscaled), &arrow.Decimal128Type{Precision: precision, Scale: scale})
}

func at(v int64, unit arrow.TimeUnit, zone string) scalar.Scalar {
	return scalar.NewTimestampScalar(arrow.Timestamp(v), &arrow.TimestampType{Unit: unit, TimeZone: zone})
}

// canonical are the bytes of values and their bucket of 1000: owners in other
// languages depend on them.
var canonical = []struct {
	bytes  string
	bucket int
	same   []scalar.Scalar
}{
	{"6201", 869, []scalar.Scalar{scalar.NewBooleanScalar(true)}},
	{"6e000500000000000000" + "0000000000000000", 434, []scalar.Scalar{
		scalar.NewInt8Scalar(5), scalar.NewInt16Scalar(5), scalar.NewInt32Scalar(5), scalar.NewInt64Scalar(5), scalar.NewUint8Scalar(5),
		scalar.NewUint16Scalar(5), scalar.NewUint32Scalar(5), scalar.NewUint64Scalar(5), decimal(5, 9, 0), decimal(500, 9, 2), decimal(50000, 38, 4),
	}},
	{"6e00feffffffffffffff" + "ffffffffffffffff", 615, []scalar.Scalar{scalar.NewInt8Scalar(-2), scalar.NewInt64Scalar(-2), decimal(-20, 3, 1)}},
	{"6e010f00000000000000" + "0000000000000000", 177, []scalar.Scalar{decimal(15, 9, 1), decimal(1500, 18, 3)}},
	{"6e00ffffffffffffffff" + "0000000000000000", 476, []scalar.Scalar{scalar.NewUint64Scalar(math.MaxUint64)}},
	{"660000000000000000", 557, []scalar.Scalar{scalar.NewFloat64Scalar(0), scalar.NewFloat64Scalar(math.Copysign(0, -1)), scalar.NewFloat32Scalar(0)}},
	{"66000000000000f83f", 595, []scalar.Scalar{scalar.NewFloat64Scalar(1.5), scalar.NewFloat32Scalar(1.5)}},
	{"66000000000000f87f", 110, []scalar.Scalar{scalar.NewFloat64Scalar(math.NaN()), scalar.NewFloat32Scalar(float32(math.NaN())), scalar.NewFloat64Scalar(math.Float64frombits(0xfff0000000000001))}},
	{"730300000000000000" + hex.EncodeToString([]byte("aé")), 403, []scalar.Scalar{scalar.NewStringScalar("aé"), scalar.NewLargeStringScalar("aé")}},
	{"730000000000000000", 409, []scalar.Scalar{scalar.NewStringScalar("")}},
	{"780100000000000000ff", 17, []scalar.Scalar{scalar.NewBinaryScalar(memory.NewBufferBytes([]byte{255}), arrow.BinaryTypes.Binary)}},
	{"748051010000000000" + "00000000", 786, []scalar.Scalar{
		scalar.NewDate32Scalar(1), at(86400, arrow.Second, ""), at(86400_000, arrow.Millisecond, "UTC"), at(86400_000_000, arrow.Microsecond, "Asia/Tokyo"), at(86400_000_000_000, arrow.Nanosecond, ""),
	}},
	{"74ffffffffffffffff" + "18c69a3b", 913, []scalar.Scalar{at(-1_000, arrow.Nanosecond, ""), at(-1, arrow.Microsecond, "")}},
	{"63e803000000000000", 2, []scalar.Scalar{
		scalar.NewTime64Scalar(1, arrow.FixedWidthTypes.Time64us), scalar.NewTime64Scalar(1000, arrow.FixedWidthTypes.Time64ns),
	}},
}

func TestCanonicalBytes(t *testing.T) {
	t.Parallel()
	h := partition.Hash{Columns: []string{"c"}, Of: 1000}
	for _, c := range canonical {
		for _, v := range c.same {
			got, ok := partition.Bytes(nil, v)
			require.True(t, ok, v)
			require.Equal(t, c.bytes, hex.EncodeToString(got), "%s %s", v.DataType(), v)
			bucket, ok := h.Bucket(v)
			require.True(t, ok)
			require.Equal(t, c.bucket, bucket, "%s %s", v.DataType(), v)
		}
	}
	for _, v := range []scalar.Scalar{nil, scalar.MakeNullScalar(arrow.PrimitiveTypes.Int64), scalar.NewMonthIntervalScalar(1)} {
		_, ok := h.Bucket(v)
		require.False(t, ok)
	}
	a, _ := h.Bucket(scalar.NewStringScalar("a"), scalar.NewStringScalar("bc"))
	b, _ := h.Bucket(scalar.NewStringScalar("ab"), scalar.NewStringScalar("c"))
	require.NotEqual(t, a, b)
}

// TestEqualValuesHaveEqualBytes: and values that groups tell apart have others.
func TestEqualValuesHaveEqualBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, memory.DefaultAllocator, schema, 20)
		defer pushdowntest.ReleaseAll(batches)
		for c, f := range schema.Fields() {
			if !partition.Hashable(f.Type) {
				continue
			}
			var values []any
			var texts []string
			for _, b := range batches {
				for i := range int(b.NumRows()) {
					v, err := scalar.GetScalar(plain(b.Column(c), i), 0)
					require.NoError(t, err)
					text, ok := partition.Bytes(nil, v)
					require.Equal(t, ok, pushdowntest.ValueAt(b.Column(c), i) != nil)
					if ok {
						values, texts = append(values, pushdowntest.ValueAt(b.Column(c), i)), append(texts, string(text))
					}
				}
			}
			for i := range values {
				require.Equal(t, pushdowntest.Compare(values[0], values[i]) == 0, texts[0] == texts[i], "%v and %v", values[0], values[i])
			}
		}
	})
}

// plain is one value of an array, out of its dictionary.
func plain(a arrow.Array, i int) arrow.Array {
	if d, ok := a.(*array.Dictionary); ok {
		if d.IsNull(i) {
			return array.MakeArrayOfNull(memory.DefaultAllocator, d.Dictionary().DataType(), 1)
		}
		a, i = d.Dictionary(), d.GetValueIndex(i)
	}
	return array.NewSlice(a, int64(i), int64(i)+1)
}

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "i", Type: arrow.PrimitiveTypes.Int64},
	{Name: "s", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
	{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64)},
}, nil)

func hash(of int, holds ...int) *partition.Buckets {
	return &partition.Buckets{Hash: partition.Hash{Columns: []string{"i", "s"}, Of: of}, Holds: holds}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	b := pushdowntest.Batch(memory.DefaultAllocator, schema, []any{1, "a", nil}, []any{2, nil, nil}, []any{nil, "b", nil})
	defer b.Release()
	one, two, null := scalar.NewInt64Scalar(1), scalar.NewInt64Scalar(2), scalar.MakeNullScalar(arrow.PrimitiveTypes.Int64)
	bucket, ok := hash(64).Bucket(one, scalar.NewStringScalar("a"))
	require.True(t, ok)
	values := func(column string, v ...scalar.Scalar) partition.Promise {
		return partition.Promise{Values: map[string][]scalar.Scalar{column: v}}
	}
	for _, c := range []struct {
		promise partition.Promise
		broken  string
	}{
		{partition.Promise{}, ""},
		{values("i", one, two, null), ""},
		{values("i", one, null), `column "i" has the value 2`},
		{values("i", one, two), `column "i" has the value (null)`},
		{values("s", scalar.NewStringScalar("a"), scalar.NewStringScalar("b"), null), ""},
		{values("s", scalar.NewStringScalar("a"), null), `column "s" has the value b`},
		{values("x", one), `column "x" is NULL`},
		{partition.Promise{Buckets: hash(64, 3, bucket)}, ""},
		{partition.Promise{Buckets: hash(64, (bucket+1)%64)}, "row 0 is in bucket"},
	} {
		err := c.promise.Keep(b)
		if c.broken == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, &status.Error{Code: status.FailedPrecondition})
		require.ErrorContains(t, err, c.broken)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := partition.Promise{Values: map[string][]scalar.Scalar{"i": {scalar.NewInt8Scalar(1)}, "s": {scalar.NewStringScalar("x"), scalar.MakeNullScalar(arrow.Null)}}, Buckets: hash(4, 0, 3)}
	require.NoError(t, good.Validate(schema))
	many := make([]scalar.Scalar, partition.MaxValues+1)
	for text, bad := range map[string]partition.Promise{
		`column "x", of which the table has 0`:       {Values: map[string][]scalar.Scalar{"x": nil}},
		`column "l": values of type list`:            {Values: map[string][]scalar.Scalar{"l": nil}},
		`the value 1.5 for column "i" of type int64`: {Values: map[string][]scalar.Scalar{"i": {scalar.NewFloat64Scalar(1.5)}}},
		`lists 4097 values`:                          {Values: map[string][]scalar.Scalar{"i": many}},
		`a positive number of buckets`:               {Buckets: hash(0)},
		`bucket 4 of 4`:                              {Buckets: hash(4, 4)},
		`needs columns`:                              {Buckets: &partition.Buckets{Hash: partition.Hash{Of: 3}}},
	} {
		err := bad.Validate(schema)
		require.ErrorIs(t, err, &status.Error{Code: status.InvalidArgument}, text)
		require.ErrorContains(t, err, text)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	a := partition.Promise{Values: map[string][]scalar.Scalar{"i": {scalar.NewInt64Scalar(1)}}}
	same := partition.Promise{Values: map[string][]scalar.Scalar{"i": {decimal(10, 3, 1)}}}
	require.Equal(t, a.Text(), same.Text())
	seen := map[string]bool{}
	for _, p := range []partition.Promise{{}, a, {Values: map[string][]scalar.Scalar{"i": {scalar.MakeNullScalar(arrow.Null)}}}, {Buckets: hash(4, 1)}, {Buckets: hash(4, 2)}, {Buckets: hash(5, 1)}} {
		require.False(t, seen[p.Text()], p.Text())
		seen[p.Text()] = true
	}
	empty := partition.Promise{}
	require.True(t, empty.Empty())
	require.True(t, partition.Among(a.Values["i"], decimal(1, 3, 0)))
	require.False(t, partition.Among(a.Values["i"], scalar.MakeNullScalar(arrow.PrimitiveTypes.Int64)))
}

func TestSameBytes(t *testing.T) {
	t.Parallel()
	us := &arrow.TimestampType{Unit: arrow.Microsecond}
	require.True(t, partition.SameBytes(arrow.PrimitiveTypes.Int8, &arrow.Decimal128Type{Precision: 9, Scale: 2}))
	require.True(t, partition.SameBytes(us, arrow.FixedWidthTypes.Date32))
	require.True(t, partition.SameBytes(schema.Field(1).Type, arrow.BinaryTypes.LargeString))
	require.False(t, partition.SameBytes(arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64))
	require.False(t, partition.SameBytes(schema.Field(2).Type, schema.Field(2).Type))
	require.True(t, partition.Hashable(pushdown.ValueType(schema.Field(1).Type)))
}
