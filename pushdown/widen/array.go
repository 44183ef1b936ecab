package widen

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	arrowdecimal "github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Batch returns rec with the columns of schema, by name: wider where the type
// is, NULL where rec has none. It does not consume rec.
func Batch(rec arrow.RecordBatch, schema *arrow.Schema, mem memory.Allocator) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, schema.NumFields())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, f := range schema.Fields() {
		at := rec.Schema().FieldIndices(f.Name)
		if len(at) == 0 {
			columns = append(columns, array.MakeArrayOfNull(mem, f.Type, int(rec.NumRows())))
			continue
		}
		c, err := Array(rec.Column(at[0]), f.Type, mem)
		if err != nil {
			return nil, status.Wrap(status.OutOfRange, err, "column %q", f.Name)
		}
		columns = append(columns, c)
	}
	return array.NewRecordBatch(schema, columns, rec.NumRows()), nil
}

// Array returns the values of a with a type that holds them; the caller releases
// it. A value that has no exact counterpart is an OutOfRange error, and a type
// that Holds denies a FailedPrecondition one.
func Array(a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	from := a.DataType()
	switch {
	case arrow.TypeEqual(from, to):
		a.Retain()
		return a, nil
	case !Holds(to, from):
		return nil, status.New(status.FailedPrecondition, "values of type %s cannot be read as %s", from, to)
	case from.ID() == arrow.NULL:
		return array.MakeArrayOfNull(mem, to, a.Len()), nil
	case from.ID() == arrow.DICTIONARY:
		return decoded(a.(*array.Dictionary), to, mem)
	case isNested(to):
		return widenNested(a, to, mem)
	}
	switch to := to.(type) {
	case *arrow.Decimal128Type:
		return toDecimal(a, to, mem)
	case *arrow.TimestampType:
		return toTimestamp(a, to, mem)
	case *arrow.Date32Type:
		return toDays(a, to, mem)
	case *arrow.Time64Type:
		return toTime(a, to, mem)
	case *arrow.Float64Type:
		return toFloat(a, to, mem)
	}
	switch a := a.(type) {
	case array.StringLike:
		return toText(a, to, mem), nil
	case bytesLike:
		return toBytes(a, to, mem), nil
	}
	return toInteger(a, to, mem)
}

func isNested(t arrow.DataType) bool {
	_, ok := t.(arrow.NestedType)
	return ok
}

// throughInt64 goes by way of 64 bits.
func throughInt64(a arrow.Array, mem memory.Allocator, then func(arrow.Array) (arrow.Array, error)) (arrow.Array, error) {
	m, err := toInteger(a, arrow.PrimitiveTypes.Int64, mem)
	if err != nil {
		return nil, err
	}
	defer m.Release()
	return then(m)
}

func toDecimal(a arrow.Array, to *arrow.Decimal128Type, mem memory.Allocator) (arrow.Array, error) {
	if from, ok := a.DataType().(arrow.DecimalType); ok {
		return fromDecimal(a, from, to, mem)
	}
	switch a.DataType().(type) {
	case *arrow.Uint64Type:
		if to.Scale == 0 {
			return unsignedDecimal(a, to, mem), nil
		}
		return convert(a, to, mem, func(x uint64) (decimal128.Num, bool) {
			return scaled(decimal128.FromU64(x), to.Scale), true
		})
	case *arrow.Int64Type:
		return convert(a, to, mem, func(x int64) (decimal128.Num, bool) {
			return scaled(decimal128.FromI64(x), to.Scale), true
		})
	}
	return throughInt64(a, mem, func(m arrow.Array) (arrow.Array, error) { return toDecimal(m, to, mem) })
}

// unsignedDecimal is what every unsigned column becomes for clients: a loop without
// a call a value. It converts what is NULL too, which cannot fail.
func unsignedDecimal(a arrow.Array, to *arrow.Decimal128Type, mem memory.Allocator) arrow.Array {
	data := a.Data()
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	buf.Resize(data.Len() * to.Bytes())
	out := arrow.GetData[decimal128.Num](buf.Bytes())
	for i, x := range a.(*array.Uint64).Uint64Values() {
		out[i] = decimal128.FromU64(x)
	}
	return assemble(data, to, mem, []*memory.Buffer{buf}, nil)
}

// fromDecimal makes decimals of another width or scale.
func fromDecimal(a arrow.Array, from arrow.DecimalType, to *arrow.Decimal128Type, mem memory.Allocator) (arrow.Array, error) {
	up := to.Scale - from.GetScale()
	switch from.(type) {
	case *arrow.Decimal32Type:
		return convert(a, to, mem, func(x arrowdecimal.Decimal32) (decimal128.Num, bool) {
			return scaled(decimal128.FromI64(int64(x)), up), true
		})
	case *arrow.Decimal64Type:
		return convert(a, to, mem, func(x arrowdecimal.Decimal64) (decimal128.Num, bool) {
			return scaled(decimal128.FromI64(int64(x)), up), true
		})
	case *arrow.Decimal256Type:
		return convert(a, to, mem, func(x decimal256.Num) (decimal128.Num, bool) {
			limbs := x.Array() // the lowest first
			return scaled(decimal128.New(int64(limbs[1]), limbs[0]), up), x.FitsInPrecision(to.Precision - up)
		})
	}
	return convert(a, to, mem, func(x decimal128.Num) (decimal128.Num, bool) { return scaled(x, up), true })
}

const secondsPerDay = 86400

func toTimestamp(a arrow.Array, to *arrow.TimestampType, mem memory.Allocator) (arrow.Array, error) {
	switch from := a.DataType().(type) {
	case *arrow.TimestampType:
		return convert(a, to, mem, multiply[arrow.Timestamp, arrow.Timestamp](nanosIn(from.Unit)/nanosIn(to.Unit)))
	case *arrow.Date32Type:
		const day = secondsPerDay * 1_000_000_000
		return convert(a, to, mem, multiply[arrow.Date32, arrow.Timestamp](day/nanosIn(to.Unit)))
	}
	days, err := toDays(a, arrow.FixedWidthTypes.Date32, mem)
	if err != nil {
		return nil, err
	}
	defer days.Release()
	return toTimestamp(days, to, mem)
}

func toTime(a arrow.Array, to *arrow.Time64Type, mem memory.Allocator) (arrow.Array, error) {
	factor := unitOf(a.DataType()) / nanosIn(to.Unit)
	if a.DataType().ID() == arrow.TIME32 {
		return convert(a, to, mem, multiply[arrow.Time32, arrow.Time64](factor))
	}
	return convert(a, to, mem, multiply[arrow.Time64, arrow.Time64](factor))
}

// multiply is not ok when the product does not fit.
func multiply[S, D ~int32 | ~int64](factor int64) func(S) (D, bool) {
	return func(x S) (D, bool) {
		product := int64(x) * factor
		return D(product), product/factor == int64(x)
	}
}

func toFloat(a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch a.DataType().(type) {
	case *arrow.Float32Type:
		return convert(a, to, mem, func(x float32) (float64, bool) { return float64(x), true })
	case *arrow.Decimal128Type:
		return convert(a, to, mem, func(x decimal128.Num) (float64, bool) {
			f := x.ToFloat64(0)
			back, err := decimal128.FromFloat64(f, maxDigits, 0)
			return f, err == nil && back == x
		})
	case *arrow.Uint64Type:
		return convert(a, to, mem, func(x uint64) (float64, bool) {
			f := float64(x)
			return f, f < 1<<64 && uint64(f) == x
		})
	case *arrow.Int64Type:
		return convert(a, to, mem, func(x int64) (float64, bool) {
			f := float64(x)
			return f, f < 1<<63 && int64(f) == x
		})
	}
	return throughInt64(a, mem, func(m arrow.Array) (arrow.Array, error) { return toFloat(m, to, mem) })
}

// convert maps the values that are not NULL.
func convert[S, D arrow.FixedWidthType](a arrow.Array, to arrow.DataType, mem memory.Allocator, each func(S) (D, bool)) (arrow.Array, error) {
	data := a.Data()
	n := data.Len()
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	buf.Resize(n * to.(arrow.FixedWidthDataType).Bytes())
	out := arrow.GetData[D](buf.Bytes())
	if n > 0 {
		src := arrow.GetData[S](data.Buffers()[1].Bytes())[data.Offset() : data.Offset()+n]
		nulls := a.NullN() > 0
		for i, x := range src {
			var ok bool
			if nulls && a.IsNull(i) {
				out[i] = *new(D)
			} else if out[i], ok = each(x); !ok {
				return nil, status.New(status.OutOfRange, "the value %s of type %s has no exact counterpart in %s", a.ValueStr(i), a.DataType(), to)
			}
		}
	}
	return assemble(data, to, mem, []*memory.Buffer{buf}, nil), nil
}

// assemble makes an array of the rows of data, with its NULLs, from other
// buffers and children that start at its first row.
func assemble(data arrow.ArrayData, to arrow.DataType, mem memory.Allocator, buffers []*memory.Buffer, children []arrow.ArrayData) arrow.Array {
	var valid *memory.Buffer
	nulls := 0
	if bits := data.Buffers()[0]; bits != nil && data.NullN() != 0 {
		valid = memory.NewResizableBuffer(mem)
		defer valid.Release()
		nulls = array.UnknownNullCount
		valid.Resize(int(bitutil.BytesForBits(int64(data.Len()))))
		bitutil.CopyBitmap(bits.Bytes(), data.Offset(), data.Len(), valid.Bytes(), 0)
	}
	out := array.NewData(to, data.Len(), append([]*memory.Buffer{valid}, buffers...), children, nulls, 0)
	defer out.Release()
	return array.MakeFromData(out)
}
