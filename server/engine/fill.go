package engine

import (
	"context"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// filler writes the rows of one Arrow array into vectors.
type filler interface {
	// fill writes rows [start, start+n) to the beginning of the vector.
	fill(vec duckdb.Vector, start, n int) error
}

// newFiller prepares an array. Memory that vectors will point into is pinned by
// the cursor, which also owns what is made here.
func newFiller(arr arrow.Array, c *cursor) (filler, error) {
	v := validityOf(arr)
	switch arr := arr.(type) {
	case *array.Null:
		return nullFiller{}, nil
	case *array.Boolean:
		return boolFiller{v, bufferOf(arr, 1), arr.Data().Offset()}, nil
	case *array.String, *array.Binary:
		return newStringFiller[int32](arr, v, c)
	case *array.LargeString, *array.LargeBinary:
		return newStringFiller[int64](arr, v, c)
	case *array.StringView:
		return newViewFiller(arr, v, c, func(i int) []byte { return viewBytes(arr.Value(i)) })
	case *array.BinaryView:
		return newViewFiller(arr, v, c, arr.Value)
	case *array.FixedSizeBinary:
		return newFixedBinary(arr, v, c)
	case *array.Decimal128:
		return newDecimalFiller(arr, v), nil
	case *array.Dictionary:
		return newDictionaryFiller(arr, v, c)
	case *array.Map:
		return newListFiller[int32](arr, arr.ListValues(), v, c)
	case *array.List:
		return newListFiller[int32](arr, arr.ListValues(), v, c)
	case *array.LargeList:
		return newListFiller[int64](arr, arr.ListValues(), v, c)
	case *array.FixedSizeList:
		return newArrayFiller(arr, v, c)
	case *array.Struct:
		return newStructFiller(arr, v, c)
	case array.ExtensionArray:
		return newFiller(arr.Storage(), c)
	}
	return newFixedFiller(arr, v)
}

// newFixedFiller is for the types of one width: most are copied, the others
// converted.
func newFixedFiller(arr arrow.Array, v validity) (filler, error) {
	switch t := arr.DataType().(type) {
	case *arrow.Date64Type:
		return converting(arr, v, func(ms int64) (int32, error) { return int32(floorDiv(ms, 86_400_000)), nil }), nil
	case *arrow.Time32Type:
		factor := int64(1000)
		if t.Unit == arrow.Second {
			factor = 1_000_000
		}
		return converting(arr, v, func(x int32) (int64, error) { return int64(x) * factor, nil }), nil
	case *arrow.TimestampType:
		if t.TimeZone != "" && t.Unit != arrow.Microsecond {
			return zonedFiller(arr, v, t.Unit), nil
		}
	case *arrow.MonthDayNanoIntervalType:
		return converting(arr, v, func(x arrow.MonthDayNanoInterval) (interval, error) {
			return interval{x.Months, x.Days, x.Nanoseconds / 1000}, nil
		}), nil
	}
	fixed, ok := arr.DataType().(arrow.FixedWidthDataType)
	if !ok || fixed.BitWidth()%8 != 0 {
		return nil, status.New(status.Unimplemented, "the engine cannot read the Arrow type %s", arr.DataType())
	}
	width := fixed.BitWidth() / 8
	return fixedFiller{v, bufferOf(arr, 1)[arr.Data().Offset()*width:], width}, nil
}

// interval has the layout of duckdb_interval.
type interval struct {
	months, days int32
	micros       int64
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// zonedFiller brings instants of another unit to microseconds.
func zonedFiller(arr arrow.Array, v validity, unit arrow.TimeUnit) filler {
	if unit == arrow.Nanosecond {
		return converting(arr, v, func(ns int64) (int64, error) { return floorDiv(ns, 1000), nil })
	}
	factor := int64(1000)
	if unit == arrow.Second {
		factor = 1_000_000
	}
	return converting(arr, v, func(x int64) (int64, error) {
		if us := x * factor; us/factor == x {
			return us, nil
		}
		return 0, status.New(status.OutOfRange, "the instant %d%s does not fit microseconds", x, unit)
	})
}

// bufferOf is a buffer of an array, nil when absent.
func bufferOf(arr arrow.Array, i int) []byte {
	if b := arr.Data().Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

// validity is the null bitmap of an array; bits is nil when nothing is NULL.
type validity struct {
	bits   []byte
	offset int
}

func validityOf(arr arrow.Array) validity {
	if arr.NullN() == 0 || len(arr.NullBitmapBytes()) == 0 {
		return validity{}
	}
	return validity{arr.NullBitmapBytes(), arr.Data().Offset()}
}

func (v validity) null(row int) bool {
	return v.bits != nil && !bitutil.BitIsSet(v.bits, v.offset+row)
}

// copyTo copies the bits of some rows to a vector.
func (v validity) copyTo(vec duckdb.Vector, start, n int) {
	if v.bits == nil || n == 0 {
		return
	}
	bitutil.CopyBitmap(v.bits, v.offset+start, n, maskOf(vec, n), 0)
}

// maskOf is the writable validity mask of a vector.
func maskOf(vec duckdb.Vector, n int) []byte {
	duckdb.VectorEnsureValidityWritable(vec)
	return unsafe.Slice((*byte)(duckdb.VectorGetValidity(vec)), (n+63)/64*8)
}

type nullFiller struct{}

func (nullFiller) fill(vec duckdb.Vector, _, n int) error {
	clear(maskOf(vec, n))
	return nil
}

// fixedFiller copies values whose layout is the same on both sides.
type fixedFiller struct {
	validity
	data  []byte // from the array's first row
	width int
}

func (f fixedFiller) fill(vec duckdb.Vector, start, n int) error {
	copy(dataOf[byte](vec, n*f.width), f.data[start*f.width:(start+n)*f.width])
	f.copyTo(vec, start, n)
	return nil
}

type boolFiller struct {
	validity
	data   []byte
	offset int
}

func (f boolFiller) fill(vec duckdb.Vector, start, n int) error {
	out := dataOf[byte](vec, n)
	for i := range out {
		bit := f.offset + start + i
		out[i] = f.data[bit>>3] >> (bit & 7) & 1
	}
	f.copyTo(vec, start, n)
	return nil
}

// convertFiller converts each value that is not NULL.
type convertFiller[S, D any] struct {
	validity
	data    []S
	convert func(S) (D, error)
}

func converting[S, D any](arr arrow.Array, v validity, convert func(S) (D, error)) filler {
	off, n := arr.Data().Offset(), arr.Len()
	return convertFiller[S, D]{v, valuesOf[S](bufferOf(arr, 1))[off : off+n], convert}
}

func (f convertFiller[S, D]) fill(vec duckdb.Vector, start, n int) error {
	out := dataOf[D](vec, n)
	for i, x := range f.data[start : start+n] {
		var err error
		if f.null(start + i) {
			out[i] = *new(D)
		} else if out[i], err = f.convert(x); err != nil {
			return err
		}
	}
	f.copyTo(vec, start, n)
	return nil
}

// newDecimalFiller narrows to DuckDB's physical type of the precision.
func newDecimalFiller(arr *array.Decimal128, v validity) filler {
	switch t := arr.DataType().(*arrow.Decimal128Type); {
	case t.Precision <= 4:
		return converting(arr, v, narrowing[int16](t))
	case t.Precision <= 9:
		return converting(arr, v, narrowing[int32](t))
	case t.Precision <= 18:
		return converting(arr, v, narrowing[int64](t))
	}
	return fixedFiller{v, bufferOf(arr, 1)[arr.Data().Offset()*16:], 16}
}

func narrowing[D int16 | int32 | int64](t *arrow.Decimal128Type) func(decimal128.Num) (D, error) {
	return func(x decimal128.Num) (D, error) {
		d := D(x.LowBits())
		if decimal128.FromI64(int64(d)) != x {
			return 0, status.New(status.OutOfRange, "the value %s does not fit %s", x.BigInt(), t)
		}
		return d, nil
	}
}

// newDictionaryFiller looks strings up in a table made once per batch; other
// dictionaries are decoded first.
func newDictionaryFiller(arr *array.Dictionary, v validity, c *cursor) (filler, error) {
	switch values := arr.Dictionary().(type) {
	case *array.String:
		return newLookup(arr, values, v, c, func(i int) []byte { return viewBytes(values.Value(i)) })
	case *array.LargeString:
		return newLookup(arr, values, v, c, func(i int) []byte { return viewBytes(values.Value(i)) })
	}
	dense, err := compute.TakeArray(context.Background(), arr.Dictionary(), arr.Indices())
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "decode a dictionary")
	}
	c.owned = append(c.owned, dense)
	return newFiller(dense, c)
}
