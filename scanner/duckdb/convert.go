package duckdb

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// appender copies DuckDB vectors into one Arrow array. Chunks hold 2048 rows at
// most; appending many of them to one array costs one copy and no work per row
// for types of fixed width.
type appender interface {
	// append copies the rows [from, from+n) of v.
	append(v bind.Vector, from, n int) error
	// bytes is the memory of the rows so far.
	bytes() int
	// finish returns the array and starts an empty one.
	finish() arrow.ArrayData
	release()
}

// newAppender returns the appender from a logical type to an Arrow type. The
// SQL casts every output column, so that the two always correspond.
func newAppender(mem memory.Allocator, to arrow.DataType, from bind.LogicalType) (appender, error) {
	base := validity{mem: mem, dt: to, bits: newGrowing(mem)}
	id := bind.GetTypeId(from)
	switch t := to.(type) {
	case *arrow.BooleanType:
		return &boolAppender{validity: base, data: newGrowing(mem)}, expect(id == bind.TypeBoolean, to, id)
	case *arrow.StringType, *arrow.BinaryType:
		a := &bytesAppender{validity: base, offsets: newGrowing(mem), data: newGrowing(mem)}
		return a, expect(id == bind.TypeVarchar || id == bind.TypeBlob, to, id)
	case *arrow.DictionaryType:
		return newDictAppender(base, t), expect(id == bind.TypeVarchar, to, id)
	case *arrow.Decimal128Type:
		if id != bind.TypeDecimal {
			return nil, expect(false, to, id)
		}
		return newDecimalAppender(base, bind.DecimalInternalType(from)), nil
	case *arrow.MonthDayNanoIntervalType:
		return &intervalAppender{base, newGrowing(mem)}, expect(id == bind.TypeInterval, to, id)
	case arrow.NestedType:
		return newNestedAppender(base, to, from)
	case arrow.FixedWidthDataType:
		m, ok := plainType(id)
		return &fixedAppender{base, newGrowing(mem), t.Bytes()}, expect(ok && arrow.TypeEqual(m.arrow, to), to, id)
	default:
		return nil, expect(false, to, id)
	}
}

func expect(ok bool, to arrow.DataType, id bind.Type) error {
	if ok {
		return nil
	}
	return status.New(status.Internal, "DuckDB returned type number %d where %s was asked for", id, to)
}

// growing is a buffer that doubles. It begins as large as the last one was.
type growing struct {
	buf   *memory.Buffer
	first int
}

func newGrowing(mem memory.Allocator) growing { return growing{buf: memory.NewResizableBuffer(mem)} }

// extend makes room for n more bytes and returns them.
func (g growing) extend(n int) []byte {
	old := g.buf.Len()
	if need := old + n; need > g.buf.Cap() {
		g.buf.Reserve(max(need, 2*g.buf.Cap(), g.first))
	}
	g.buf.ResizeNoShrink(old + n)
	return g.buf.Bytes()[old : old+n : old+n]
}

// validity is what all appenders share: the NULL bitmap, made only once there
// is a NULL.
type validity struct {
	mem  memory.Allocator
	dt   arrow.DataType
	bits growing
	rows int
	has  bool
}

// add copies the validity of n rows and returns DuckDB's mask, nil when all
// are valid.
func (a *validity) add(v bind.Vector, from, n int) []byte {
	mask := validityMask(v, from+n)
	if mask != nil && !a.has {
		a.has = true
		a.grow(a.rows)
		bitutil.SetBitsTo(a.bits.buf.Bytes(), 0, int64(a.rows), true)
	}
	if a.has {
		a.grow(a.rows + n)
		if mask == nil {
			bitutil.SetBitsTo(a.bits.buf.Bytes(), int64(a.rows), int64(n), true)
		} else {
			bitutil.CopyBitmap(mask, from, n, a.bits.buf.Bytes(), a.rows)
		}
	}
	a.rows += n
	return mask
}

func (a *validity) grow(rows int) {
	if more := int(bitutil.BytesForBits(int64(rows))) - a.bits.buf.Len(); more > 0 {
		clear(a.bits.extend(more))
	}
}

// build makes the array from the other buffers and resets the appender; the
// buffers are handed over.
func (a *validity) build(buffers []*memory.Buffer, children []arrow.ArrayData) *array.Data {
	bits, nulls := (*memory.Buffer)(nil), 0
	if a.has {
		bits = a.bits.buf
		nulls = a.rows - bitutil.CountSetBits(bits.Bytes(), 0, a.rows)
	}
	data := array.NewData(a.dt, a.rows, append([]*memory.Buffer{bits}, buffers...), children, nulls, 0)
	for _, b := range buffers {
		b.Release()
	}
	for _, c := range children {
		c.Release()
	}
	a.bits.buf.Release()
	a.bits, a.rows, a.has = newGrowing(a.mem), 0, false
	return data
}

func (a *validity) release() { a.bits.buf.Release() }

// firstSpare is the share by which batches of equal size differ at most, mostly.
const firstSpare = 8

// take hands over g's buffer and starts a new one.
func take(g *growing, mem memory.Allocator) *memory.Buffer {
	buf := g.buf
	*g = newGrowing(mem)
	g.first = buf.Len() + buf.Len()/firstSpare
	return buf
}

// validityMask views the mask of a vector as bytes, least significant bit
// first as in Arrow.
func validityMask(v bind.Vector, rows int) []byte {
	ptr := bind.VectorGetValidity(v)
	if ptr == nil || rows == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(ptr), (rows+63)/64*8)
}

// values views the rows [from, from+n) of a vector.
func values[T any](v bind.Vector, from, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(bind.VectorGetData(v)), from+n)[from:]
}

func viewAs[T any](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}

// fixedAppender is for types whose bytes are the same on both sides.
type fixedAppender struct {
	validity
	data  growing
	width int
}

func (a *fixedAppender) append(v bind.Vector, from, n int) error {
	a.add(v, from, n)
	copy(a.data.extend(n*a.width), values[byte](v, from*a.width, n*a.width))
	return nil
}

func (a *fixedAppender) bytes() int { return a.data.buf.Len() }

func (a *fixedAppender) finish() arrow.ArrayData {
	return a.build([]*memory.Buffer{take(&a.data, a.mem)}, nil)
}

func (a *fixedAppender) release() { a.validity.release(); a.data.buf.Release() }

// boolAppender packs bytes into bits.
type boolAppender struct {
	validity
	data growing
}

func (a *boolAppender) append(v bind.Vector, from, n int) error {
	start := a.rows
	a.add(v, from, n)
	if more := int(bitutil.BytesForBits(int64(a.rows))) - a.data.buf.Len(); more > 0 {
		clear(a.data.extend(more))
	}
	bits := a.data.buf.Bytes()
	for i, b := range values[byte](v, from, n) {
		if b != 0 {
			bitutil.SetBit(bits, start+i)
		}
	}
	return nil
}

func (a *boolAppender) bytes() int { return a.data.buf.Len() }

func (a *boolAppender) finish() arrow.ArrayData {
	return a.build([]*memory.Buffer{take(&a.data, a.mem)}, nil)
}

func (a *boolAppender) release() { a.validity.release(); a.data.buf.Release() }

// decimalAppender widens DuckDB's 16, 32 and 64 bit decimals, and checks that
// 128 bit ones fit: DuckDB's SUM can return 39 digits.
type decimalAppender struct {
	validity
	data  growing
	widen func(to []decimal128.Num, v bind.Vector, from, n int)
	check bool
}

func newDecimalAppender(base validity, physical bind.Type) *decimalAppender {
	a := &decimalAppender{validity: base, data: newGrowing(base.mem)}
	switch physical {
	case bind.TypeSmallInt:
		a.widen = widenDecimal[int16]
	case bind.TypeInteger:
		a.widen = widenDecimal[int32]
	case bind.TypeBigInt:
		a.widen = widenDecimal[int64]
	default:
		a.check = true
		a.widen = func(to []decimal128.Num, v bind.Vector, from, n int) {
			copy(to, values[decimal128.Num](v, from, n))
		}
	}
	return a
}

func widenDecimal[T int16 | int32 | int64](to []decimal128.Num, v bind.Vector, from, n int) {
	for i, x := range values[T](v, from, n) {
		to[i] = decimal128.FromI64(int64(x))
	}
}

func (a *decimalAppender) append(v bind.Vector, from, n int) error {
	mask := a.add(v, from, n)
	to := viewAs[decimal128.Num](a.data.extend(n * arrow.Decimal128SizeBytes))
	a.widen(to, v, from, n)
	if !a.check {
		return nil
	}
	for i, x := range to {
		if (mask == nil || bitutil.BitIsSet(mask, from+i)) && !x.FitsInPrecision(38) {
			return status.New(status.OutOfRange, "a sum has more than 38 digits, which DECIMAL cannot hold")
		}
	}
	return nil
}

func (a *decimalAppender) bytes() int { return a.data.buf.Len() }

func (a *decimalAppender) finish() arrow.ArrayData {
	return a.build([]*memory.Buffer{take(&a.data, a.mem)}, nil)
}

func (a *decimalAppender) release() { a.validity.release(); a.data.buf.Release() }

// duckInterval is DuckDB's INTERVAL.
type duckInterval struct {
	months, days int32
	micros       int64
}

type intervalAppender struct {
	validity
	data growing
}

const nanosPerMicro = 1000

func (a *intervalAppender) append(v bind.Vector, from, n int) error {
	mask := a.add(v, from, n)
	to := viewAs[arrow.MonthDayNanoInterval](a.data.extend(n * arrow.MonthDayNanoIntervalSizeBytes))
	for i, x := range values[duckInterval](v, from, n) {
		nanos := x.micros * nanosPerMicro
		if (mask == nil || bitutil.BitIsSet(mask, from+i)) && nanos/nanosPerMicro != x.micros {
			return status.New(status.OutOfRange, "an INTERVAL of %d microseconds does not fit Arrow's nanoseconds", x.micros)
		}
		to[i] = arrow.MonthDayNanoInterval{Months: x.months, Days: x.days, Nanoseconds: nanos}
	}
	return nil
}

func (a *intervalAppender) bytes() int { return a.data.buf.Len() }

func (a *intervalAppender) finish() arrow.ArrayData {
	return a.build([]*memory.Buffer{take(&a.data, a.mem)}, nil)
}

func (a *intervalAppender) release() { a.validity.release(); a.data.buf.Release() }
