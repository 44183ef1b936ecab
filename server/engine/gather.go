package engine

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// gatherer collects rows of vectors into one Arrow array.
type gatherer interface {
	// append adds rows [start, start+n) of a flat vector.
	append(vec duckdb.Vector, start, n int) error
	// bytes is the size of what was added since the last finish.
	bytes() int
	// finish hands over what was added, and starts anew.
	finish() arrow.ArrayData
	// release frees what was added and not handed over.
	release()
}

func columnError(err error, name string) error {
	return status.Wrap(status.Internal, err, "result column %q", name)
}

// newColumns makes the gatherers of the prepared statement's columns.
func (r *Result) newColumns() error {
	if r.alloc == nil {
		r.alloc = memory.DefaultAllocator
	}
	r.target = firstBatchRows
	r.columns = make([]gatherer, r.schema.NumFields())
	for i := range r.columns {
		t := duckdb.PreparedStatementColumnLogicalType(r.stmt, duckdb.IdxT(i))
		g := newGatherer(t, r.schema.Field(i).Type, r.alloc)
		duckdb.DestroyLogicalType(&t)
		r.columns[i] = g
	}
	return nil
}

// newGatherer picks by DuckDB's type; out is what describeType says of it.
func newGatherer(t duckdb.LogicalType, out arrow.DataType, mem memory.Allocator) gatherer {
	base := nulls{mem: mem, out: out}
	switch id := duckdb.GetTypeId(t); id {
	case duckdb.TypeSQLNull:
		return &nullGatherer{}
	case duckdb.TypeBoolean:
		return &boolGatherer{nulls: base, data: grown{mem: mem}}
	case duckdb.TypeVarchar, duckdb.TypeBlob:
		return &stringGatherer{nulls: base, offsets: grown{mem: mem}, data: grown{mem: mem}}
	case duckdb.TypeHugeInt:
		return newConverter(base, checkHuge(out))
	case duckdb.TypeDecimal:
		return newDecimalGatherer(t, base)
	case duckdb.TypeInterval:
		return newConverter(base, toMonthDayNano)
	case duckdb.TypeUUID:
		return &uuidGatherer{stringGatherer{nulls: base, offsets: grown{mem: mem}, data: grown{mem: mem}}}
	case duckdb.TypeEnum:
		return newEnumGatherer(t, base)
	case duckdb.TypeList, duckdb.TypeMap, duckdb.TypeArray, duckdb.TypeStruct:
		return newNested(id, t, base)
	}
	return &fixedGatherer{nulls: base, data: grown{mem: mem}, width: out.(arrow.FixedWidthDataType).BitWidth() / 8}
}

// grown is a buffer that doubles.
type grown struct {
	mem memory.Allocator
	buf *memory.Buffer
}

// extend makes room for n more bytes and returns them.
func (g *grown) extend(n int) []byte {
	if g.buf == nil {
		g.buf = memory.NewResizableBuffer(g.mem)
	}
	old := g.buf.Len()
	if need := old + n; need > g.buf.Cap() {
		g.buf.Reserve(max(need, 2*g.buf.Cap(), 4096))
	}
	g.buf.ResizeNoShrink(old + n)
	return g.buf.Bytes()[old : old+n : old+n]
}

func (g *grown) len() int {
	if g.buf == nil {
		return 0
	}
	return g.buf.Len()
}

// take hands the buffer over; an empty one when nothing was added.
func (g *grown) take() *memory.Buffer {
	buf := g.buf
	if buf == nil {
		buf = memory.NewBufferBytes([]byte{})
	}
	g.buf = nil
	return buf
}

func (g *grown) release() {
	if g.buf != nil {
		g.buf.Release()
		g.buf = nil
	}
}

// nulls counts rows and collects the validity of a column. The bitmap is made
// when the first NULL comes.
type nulls struct {
	mem   memory.Allocator
	out   arrow.DataType
	rows  int
	count int
	bits  *memory.Buffer
}

// validityIn is the validity mask of a vector up to a row; nil when all are valid.
func validityIn(vec duckdb.Vector, rows int) []byte {
	p := duckdb.VectorGetValidity(vec)
	if p == nil || rows == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(p), (rows+63)/64*8)
}

// add notes n rows and returns their mask when one of them is NULL.
func (v *nulls) add(vec duckdb.Vector, start, n int) []byte {
	mask := validityIn(vec, start+n)
	if mask != nil {
		if valid := bitutil.CountSetBits(mask, start, n); valid < n {
			v.count += n - valid
		} else {
			mask = nil
		}
	}
	v.extend(mask, start, n)
	v.rows += n
	return mask
}

func (v *nulls) extend(mask []byte, start, n int) {
	if v.bits == nil {
		if mask == nil {
			return
		}
		v.bits = memory.NewResizableBuffer(v.mem)
		v.reserve(v.rows)
		bitutil.SetBitsTo(v.bits.Bytes(), 0, int64(v.rows), true)
	}
	v.reserve(v.rows + n)
	if mask == nil {
		bitutil.SetBitsTo(v.bits.Bytes(), int64(v.rows), int64(n), true)
		return
	}
	bitutil.CopyBitmap(mask, start, n, v.bits.Bytes(), v.rows)
}

func (v *nulls) reserve(rows int) {
	need := int(bitutil.BytesForBits(int64(rows)))
	if need > v.bits.Cap() {
		v.bits.Reserve(max(need, 2*v.bits.Cap(), 512))
	}
	v.bits.ResizeNoShrink(need)
}

// data makes the array of the collected rows and starts anew. It takes over
// the buffers and the children.
func (v *nulls) data(buffers []*memory.Buffer, children []arrow.ArrayData) arrow.ArrayData {
	all := append([]*memory.Buffer{v.bits}, buffers...)
	d := array.NewData(v.out, v.rows, all, children, v.count, 0)
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	v.bits, v.rows, v.count = nil, 0, 0
	return d
}

func (v *nulls) release() {
	if v.bits != nil {
		v.bits.Release()
		v.bits = nil
	}
}

type nullGatherer struct{ rows int }

func (g *nullGatherer) append(_ duckdb.Vector, _, n int) error { g.rows += n; return nil }
func (g *nullGatherer) bytes() int                             { return 0 }
func (g *nullGatherer) release()                               {}
func (g *nullGatherer) finish() arrow.ArrayData {
	d := array.NewData(arrow.Null, g.rows, []*memory.Buffer{nil}, nil, g.rows, 0)
	g.rows = 0
	return d
}

// fixedGatherer copies values whose layout is the same on both sides.
type fixedGatherer struct {
	nulls
	data  grown
	width int
}

func (g *fixedGatherer) append(vec duckdb.Vector, start, n int) error {
	g.add(vec, start, n)
	src := dataOf[byte](vec, (start+n)*g.width)
	copy(g.data.extend(n*g.width), src[start*g.width:])
	return nil
}

func (g *fixedGatherer) bytes() int { return g.data.len() }

func (g *fixedGatherer) finish() arrow.ArrayData {
	return g.nulls.data([]*memory.Buffer{g.data.take()}, nil)
}

func (g *fixedGatherer) release() {
	g.nulls.release()
	g.data.release()
}

type boolGatherer struct {
	nulls
	data grown
}

func (g *boolGatherer) append(vec duckdb.Vector, start, n int) error {
	before := g.rows
	g.add(vec, start, n)
	g.data.extend(int(bitutil.BytesForBits(int64(g.rows))) - g.data.len())
	bits := g.data.buf.Bytes()
	for i, b := range dataOf[byte](vec, start+n)[start:] {
		bitutil.SetBitTo(bits, before+i, b == 1)
	}
	return nil
}

func (g *boolGatherer) bytes() int { return g.data.len() }

func (g *boolGatherer) finish() arrow.ArrayData {
	return g.nulls.data([]*memory.Buffer{g.data.take()}, nil)
}

func (g *boolGatherer) release() {
	g.nulls.release()
	g.data.release()
}

// converter converts each value that is not NULL.
type converter[S, D any] struct {
	fixedGatherer
	convert func(S) (D, error)
}

func newConverter[S, D any](base nulls, convert func(S) (D, error)) gatherer {
	width := int(unsafe.Sizeof(*new(D)))
	return &converter[S, D]{fixedGatherer{nulls: base, data: grown{mem: base.mem}, width: width}, convert}
}

func (g *converter[S, D]) append(vec duckdb.Vector, start, n int) error {
	mask := g.add(vec, start, n)
	out := valuesOf[D](g.data.extend(n * g.width))
	for i, x := range dataOf[S](vec, start+n)[start:] {
		var err error
		if mask != nil && !bitutil.BitIsSet(mask, start+i) {
			out[i] = *new(D)
		} else if out[i], err = g.convert(x); err != nil {
			return err
		}
	}
	return nil
}

// checkHuge refuses the values of 39 digits, which decimal128 cannot hold.
func checkHuge(out arrow.DataType) func(decimal128.Num) (decimal128.Num, error) {
	limit := decimal128.GetMaxValue(38)
	return func(x decimal128.Num) (decimal128.Num, error) {
		if limit.Less(x) || x.Less(limit.Negate()) {
			return x, status.New(status.OutOfRange, "the value %s has more than the 38 digits that %s can hold", unscaled(x, out), out)
		}
		return x, nil
	}
}

func unscaled(x decimal128.Num, t arrow.DataType) string {
	scale := t.(*arrow.Decimal128Type).Scale
	v := new(big.Float).SetPrec(200).SetInt(x.BigInt())
	if scale == 0 {
		return v.Text('f', 0)
	}
	v.Quo(v, new(big.Float).SetPrec(200).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	return v.Text('f', int(scale))
}

// newDecimalGatherer widens from DuckDB's physical type.
func newDecimalGatherer(t duckdb.LogicalType, base nulls) gatherer {
	switch duckdb.DecimalInternalType(t) {
	case duckdb.TypeSmallInt:
		return newConverter(base, widen[int16])
	case duckdb.TypeInteger:
		return newConverter(base, widen[int32])
	case duckdb.TypeBigInt:
		return newConverter(base, widen[int64])
	}
	return newConverter(base, checkHuge(base.out))
}

func widen[S int16 | int32 | int64](x S) (decimal128.Num, error) {
	return decimal128.FromI64(int64(x)), nil
}

func toMonthDayNano(x interval) (arrow.MonthDayNanoInterval, error) {
	if x.micros > math.MaxInt64/1000 || x.micros < math.MinInt64/1000 {
		return arrow.MonthDayNanoInterval{}, status.New(status.OutOfRange, "an interval of %d µs does not fit nanoseconds", x.micros)
	}
	return arrow.MonthDayNanoInterval{Months: x.months, Days: x.days, Nanoseconds: x.micros * 1000}, nil
}

// uuidGatherer writes UUIDs as text.
type uuidGatherer struct{ stringGatherer }

func (g *uuidGatherer) append(vec duckdb.Vector, start, n int) error {
	mask := g.add(vec, start, n)
	offsets := g.extendOffsets(n)
	for i, x := range dataOf[[2]uint64](vec, start+n)[start:] {
		if mask == nil || bitutil.BitIsSet(mask, start+i) {
			writeUUID(g.data.extend(36), x)
		}
		offsets[i] = int32(g.data.len())
	}
	return nil
}

// writeUUID formats DuckDB's form: a 128-bit integer with its top bit flipped.
func writeUUID(out []byte, x [2]uint64) {
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], x[1]^1<<63)
	binary.BigEndian.PutUint64(raw[8:], x[0])
	at := 0
	for i, group := range [5]int{4, 2, 2, 2, 6} {
		if i > 0 {
			out[at] = '-'
			at++
		}
		at += hex.Encode(out[at:], raw[(at-i)/2:(at-i)/2+group])
	}
}
