package pushdowntest

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// Types are the column types that the generators draw from.
func Types() []arrow.DataType {
	p := arrow.PrimitiveTypes
	return []arrow.DataType{
		arrow.FixedWidthTypes.Boolean,
		p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64,
		p.Float32, p.Float64,
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary,
		&arrow.Decimal128Type{Precision: 9, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 0},
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us,
		&arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Second},
		&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		&arrow.DictionaryType{IndexType: p.Uint8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: p.Int32, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: p.Int16, ValueType: p.Int64},
	}
}

// Schema draws a table schema of three to eight columns named c0, c1, …
func Schema(t *rapid.T) *arrow.Schema {
	types := rapid.SliceOfN(rapid.SampledFrom(Types()), 3, 8).Draw(t, "types")
	fields := make([]arrow.Field, len(types))
	for i, dt := range types {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: dt, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

var words = []string{
	"", "a", "ab", "abc", "b", "B", "a%b", "aé", "éa", "\x00", "a\x00", "0123456789abcdef",
	"0123456789abcdefg", "0123456789abcdefh", "a string that is longer than the rest",
}

// Value draws a value of dt that is not NULL from a small domain with the
// extremes in it, so that values repeat.
func Value(t *rapid.T, dt arrow.DataType) any {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		return Value(t, dt.ValueType)
	case *arrow.BooleanType:
		return rapid.Bool().Draw(t, "bool")
	case *arrow.Float32Type, *arrow.Float64Type:
		return rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 1, -1, 1.5, -2.25, 3, math.NaN(), -math.NaN(), math.Inf(1), math.Inf(-1), 1 << 20,
		}).Draw(t, "float")
	case *arrow.StringType, *arrow.LargeStringType, *arrow.BinaryType, *arrow.LargeBinaryType:
		return rapid.SampledFrom(words).Draw(t, "string")
	}
	return integral(t, dt)
}

func integral(t *rapid.T, dt arrow.DataType) any {
	lo, hi := Range(dt)
	if d, ok := dt.(*arrow.Decimal128Type); ok && d.Precision == 38 {
		lo, hi = big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64) // room for sums
	}
	if dt.ID() == arrow.TIME64 {
		lo, hi = big.NewInt(0), big.NewInt(86_399_999_999)
	}
	choice := rapid.IntRange(-6, 12).Draw(t, "int")
	switch {
	case choice == 12:
		return hi
	case choice == 11:
		return lo
	case choice < 0 && lo.Sign() == 0:
		choice = -choice
	}
	return big.NewInt(int64(choice))
}

// Batches draws up to four batches of the schema. Arrays have NULLs or none,
// may be slices of longer ones, and every dictionary is drawn anew: with unused
// values, duplicates and NULLs.
func Batches(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, maxRows int) []arrow.RecordBatch {
	n := rapid.IntRange(0, 4).Draw(t, "batches")
	out := make([]arrow.RecordBatch, n)
	for i := range out {
		out[i] = RandomBatch(t, mem, schema, rapid.IntRange(0, maxRows).Draw(t, "rows"))
	}
	return out
}

// RandomBatch draws one batch of n rows, see [Batches].
func RandomBatch(t *rapid.T, mem memory.Allocator, schema *arrow.Schema, n int) arrow.RecordBatch {
	before, after := rapid.IntRange(0, 9).Draw(t, "before"), rapid.IntRange(0, 3).Draw(t, "after")
	cols := make([]arrow.Array, schema.NumFields())
	for c := range cols {
		cols[c] = randomArray(t, mem, schema.Field(c).Type, before+n+after)
		defer cols[c].Release()
	}
	whole := array.NewRecordBatch(schema, cols, int64(before+n+after))
	defer whole.Release()
	return whole.NewSlice(int64(before), int64(before+n))
}

func randomArray(t *rapid.T, mem memory.Allocator, dt arrow.DataType, n int) arrow.Array {
	nullPct := rapid.SampledFrom([]int{0, 0, 20, 100}).Draw(t, "null%")
	if d, ok := dt.(*arrow.DictionaryType); ok {
		values := randomValues(t, d.ValueType, rapid.IntRange(1, 8).Draw(t, "dictionary"), nullPct/2)
		codes := make([]any, n)
		for i := range codes {
			if rapid.IntRange(0, 99).Draw(t, "null") >= nullPct {
				codes[i] = big.NewInt(int64(rapid.IntRange(0, len(values)-1).Draw(t, "code")))
			}
		}
		return DictionaryArray(mem, d, codes, values)
	}
	return Array(mem, dt, randomValues(t, dt, n, nullPct))
}

func randomValues(t *rapid.T, dt arrow.DataType, n, nullPct int) []any {
	vals := make([]any, n)
	for i := range vals {
		if rapid.IntRange(0, 99).Draw(t, "null") >= nullPct {
			vals[i] = Value(t, dt)
		}
	}
	return vals
}

// ReleaseAll releases batches.
func ReleaseAll(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}
