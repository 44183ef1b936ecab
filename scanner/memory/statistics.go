package memory

import (
	"cmp"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/sketch"
)

// statistics counts the NULLs of every column and finds the bounds of those
// whose order is beyond doubt: not of floats, with their NaN and two zeros.
func statistics(schema *arrow.Schema, batches []arrow.RecordBatch) map[string]codec.ColumnStats {
	out := make(map[string]codec.ColumnStats, schema.NumFields())
	for i, f := range schema.Fields() {
		arrays := make([]arrow.Array, len(batches))
		stats := codec.ColumnStats{}
		for j, b := range batches {
			arrays[j] = b.Column(i)
			stats.Nulls += nulls(arrays[j])
		}
		stats.Min, stats.Max = bounds(f.Type, arrays)
		stats.Exact = stats.Min != nil
		if s := sketch.Of(arrays); s != nil {
			stats.Distinct, stats.Sketch = int64(math.Round(s.Count())), s.Bytes()
		}
		out[f.Name] = stats
	}
	return out
}

// nulls counts the values that read as NULL.
func nulls(a arrow.Array) int64 {
	if d, ok := a.(*array.Dictionary); ok && d.Dictionary().NullN() > 0 {
		n := int64(0)
		for i := range d.Len() {
			if d.IsNull(i) || d.Dictionary().IsNull(d.GetValueIndex(i)) {
				n++
			}
		}
		return n
	}
	if a.DataType().ID() == arrow.NULL {
		return int64(a.Len())
	}
	return int64(a.NullN())
}

// bounds are nil for a type without bounds and for a column without values.
func bounds(t arrow.DataType, arrays []arrow.Array) (lo, hi scalar.Scalar) {
	switch t := t.(type) {
	case *arrow.Int8Type:
		return extremes(arrays, cmp.Compare[int8], func(v int8) scalar.Scalar { return scalar.NewInt8Scalar(v) })
	case *arrow.Int16Type:
		return extremes(arrays, cmp.Compare[int16], func(v int16) scalar.Scalar { return scalar.NewInt16Scalar(v) })
	case *arrow.Int32Type:
		return extremes(arrays, cmp.Compare[int32], func(v int32) scalar.Scalar { return scalar.NewInt32Scalar(v) })
	case *arrow.Int64Type:
		return extremes(arrays, cmp.Compare[int64], func(v int64) scalar.Scalar { return scalar.NewInt64Scalar(v) })
	case *arrow.Uint8Type:
		return extremes(arrays, cmp.Compare[uint8], func(v uint8) scalar.Scalar { return scalar.NewUint8Scalar(v) })
	case *arrow.Uint16Type:
		return extremes(arrays, cmp.Compare[uint16], func(v uint16) scalar.Scalar { return scalar.NewUint16Scalar(v) })
	case *arrow.Uint32Type:
		return extremes(arrays, cmp.Compare[uint32], func(v uint32) scalar.Scalar { return scalar.NewUint32Scalar(v) })
	case *arrow.Uint64Type:
		return extremes(arrays, cmp.Compare[uint64], func(v uint64) scalar.Scalar { return scalar.NewUint64Scalar(v) })
	case *arrow.Date32Type:
		return extremes(arrays, cmp.Compare[arrow.Date32], func(v arrow.Date32) scalar.Scalar { return scalar.NewDate32Scalar(v) })
	case *arrow.TimestampType:
		return extremes(arrays, cmp.Compare[arrow.Timestamp], func(v arrow.Timestamp) scalar.Scalar { return scalar.NewTimestampScalar(v, t) })
	case *arrow.Decimal128Type:
		return extremes(arrays, decimal128.Num.Cmp, func(v decimal128.Num) scalar.Scalar { return scalar.NewDecimal128Scalar(v, t) })
	case *arrow.StringType:
		return extremes(arrays, cmp.Compare[string], func(v string) scalar.Scalar { return scalar.NewStringScalar(v) })
	case *arrow.LargeStringType:
		return extremes(arrays, cmp.Compare[string], func(v string) scalar.Scalar { return scalar.NewLargeStringScalar(v) })
	}
	return nil, nil
}

// extremes are the least and the greatest value.
func extremes[T any](arrays []arrow.Array, compare func(a, b T) int, box func(T) scalar.Scalar) (lo, hi scalar.Scalar) {
	var least, most T
	found := false
	for _, a := range arrays {
		values, ok := a.(interface{ Value(int) T })
		if !ok {
			return nil, nil
		}
		for i := range a.Len() {
			if a.IsNull(i) {
				continue
			}
			v := values.Value(i)
			if !found || compare(v, least) < 0 {
				least = v
			}
			if !found || compare(v, most) > 0 {
				most = v
			}
			found = true
		}
	}
	if !found {
		return nil, nil
	}
	return box(least), box(most)
}
