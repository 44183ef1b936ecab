package pushdowntest

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

// ValueAt reads value i of arr.
func ValueAt(arr arrow.Array, i int) any {
	if arr.IsNull(i) {
		return nil
	}
	switch a := arr.(type) {
	case *array.Dictionary:
		return ValueAt(a.Dictionary(), a.GetValueIndex(i))
	case *array.Boolean:
		return a.Value(i)
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.LargeBinary:
		return string(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).BigInt()
	case *array.Uint64:
		return new(big.Int).SetUint64(a.Value(i))
	}
	return big.NewInt(smallInt(arr, i))
}

func smallInt(arr arrow.Array, i int) int64 {
	switch a := arr.(type) {
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return int64(a.Value(i))
	case *array.Uint16:
		return int64(a.Value(i))
	case *array.Uint32:
		return int64(a.Value(i))
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	}
	panic(fmt.Sprintf("pushdowntest: no values of type %s", arr.DataType()))
}

// Rows reads every row of the batches.
func Rows(batches ...arrow.RecordBatch) [][]any {
	var out [][]any
	for _, b := range batches {
		for i := range int(b.NumRows()) {
			row := make([]any, b.NumCols())
			for c, col := range b.Columns() {
				row[c] = ValueAt(col, i)
			}
			out = append(out, row)
		}
	}
	return out
}

// Scalar returns v as a scalar of the plain type dt.
func Scalar(dt arrow.DataType, v any) scalar.Scalar {
	arr := Array(memory.DefaultAllocator, dt, []any{v})
	defer arr.Release()
	s, err := scalar.GetScalar(arr, 0)
	if err != nil {
		panic(err)
	}
	return s
}

// Array builds an array of type dt. A dictionary gets the distinct values in
// order of appearance.
func Array(mem memory.Allocator, dt arrow.DataType, vals []any) arrow.Array {
	if d, ok := dt.(*arrow.DictionaryType); ok {
		return encoded(mem, d, vals)
	}
	b := array.NewBuilder(mem, dt)
	defer b.Release()
	for _, v := range vals {
		appendValue(b, v)
	}
	return b.NewArray()
}

func encoded(mem memory.Allocator, dt *arrow.DictionaryType, vals []any) arrow.Array {
	var distinct, codes []any
	seen := map[string]*big.Int{}
	for _, v := range vals {
		if v == nil {
			codes = append(codes, nil)
			continue
		}
		k := Text(v)
		if seen[k] == nil {
			seen[k] = big.NewInt(int64(len(distinct)))
			distinct = append(distinct, v)
		}
		codes = append(codes, seen[k])
	}
	return DictionaryArray(mem, dt, codes, distinct)
}

// DictionaryArray builds a dictionary array from codes and values as given.
func DictionaryArray(mem memory.Allocator, dt *arrow.DictionaryType, codes, values []any) arrow.Array {
	indices := Array(mem, dt.IndexType, codes)
	defer indices.Release()
	dict := Array(mem, dt.ValueType, values)
	defer dict.Release()
	return array.NewDictionaryArray(dt, indices, dict)
}

func appendValue(b array.Builder, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Float32Builder:
		b.Append(float32(v.(float64)))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.LargeStringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder: // large ones too
		b.Append([]byte(v.(string)))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(v.(*big.Int)))
	case *array.Uint64Builder:
		b.Append(v.(*big.Int).Uint64())
	default:
		appendInt(b, v.(*big.Int).Int64())
	}
}

func appendInt(b array.Builder, v int64) {
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(v)
	case *array.Uint8Builder:
		b.Append(uint8(v))
	case *array.Uint16Builder:
		b.Append(uint16(v))
	case *array.Uint32Builder:
		b.Append(uint32(v))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v))
	default:
		panic(fmt.Sprintf("pushdowntest: no builder for %T", b))
	}
}

// Batch builds a batch from rows; integers may be given as int.
func Batch(mem memory.Allocator, schema *arrow.Schema, rows ...[]any) arrow.RecordBatch {
	cols := make([]arrow.Array, schema.NumFields())
	for c := range cols {
		vals := make([]any, len(rows))
		for i, row := range rows {
			vals[i] = row[c]
			if n, ok := row[c].(int); ok {
				vals[i] = big.NewInt(int64(n))
			}
		}
		cols[c] = Array(mem, schema.Field(c).Type, vals)
		defer cols[c].Release()
	}
	return array.NewRecordBatch(schema, cols, int64(len(rows)))
}

// Compare orders two values that are not NULL as DuckDB does.
func Compare(a, b any) int {
	switch a := a.(type) {
	case bool:
		return cmp.Compare(btoi(a), btoi(b.(bool)))
	case float64:
		return compareFloats(a, b.(float64))
	case string:
		return strings.Compare(a, b.(string))
	}
	return a.(*big.Int).Cmp(b.(*big.Int))
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	}
	return cmp.Compare(a, b)
}

// Text is a text that two values share only when they are equal.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if v == 0 {
			v = 0 // no negative zero
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return strconv.Quote(v)
	}
	return v.(*big.Int).String()
}

// RowText is the text of a row.
func RowText(row []any) string {
	parts := make([]string, len(row))
	for i, v := range row {
		parts[i] = Text(v)
	}
	return strings.Join(parts, " | ")
}
