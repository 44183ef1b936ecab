package eval

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Take returns the rows of batch that sel lists, in that order, as new arrays.
// Dictionary columns keep their dictionary. The caller releases the batch.
func Take(batch arrow.RecordBatch, sel []int32, mem memory.Allocator) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, 0, batch.NumCols())
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for _, col := range batch.Columns() {
		taken, err := TakeArray(col, sel, mem)
		if err != nil {
			return nil, err
		}
		cols = append(cols, taken)
	}
	return array.NewRecordBatch(batch.Schema(), cols, int64(len(sel))), nil
}

// TakeArray returns the values of arr that sel lists. The caller releases the
// array.
func TakeArray(arr arrow.Array, sel []int32, mem memory.Allocator) (arrow.Array, error) {
	data, err := takeData(arr.Data(), sel, mem)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	return array.MakeFromData(data), nil
}

// row is a row number in an array; children of lists may have many rows.
type row interface{ ~int32 | ~int64 }

func takeData[R row](data arrow.ArrayData, rows []R, mem memory.Allocator) (arrow.ArrayData, error) {
	t := taker[R]{data: data, rows: rows, mem: mem}
	defer t.release()
	if err := t.values(); err != nil {
		return nil, err
	}
	var dict arrow.ArrayData
	if data.DataType().ID() == arrow.DICTIONARY {
		dict = data.Dictionary()
	}
	if dict == nil {
		return array.NewData(data.DataType(), len(rows), t.buffers, t.children, t.nulls, 0), nil
	}
	return array.NewDataWithDictionary(data.DataType(), len(rows), t.buffers, t.nulls, 0, dict.(*array.Data)), nil
}

// taker builds the buffers and children of one array.
type taker[R row] struct {
	data     arrow.ArrayData
	rows     []R
	mem      memory.Allocator
	buffers  []*memory.Buffer
	children []arrow.ArrayData
	nulls    int
}

func (t *taker[R]) release() {
	for _, b := range t.buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range t.children {
		c.Release()
	}
}

func (t *taker[R]) values() error {
	typ := t.data.DataType()
	if typ.ID() == arrow.NULL {
		t.buffers, t.nulls = []*memory.Buffer{nil}, len(t.rows)
		return nil
	}
	t.validity()
	switch typ := typ.(type) {
	case *arrow.BooleanType:
		t.bools()
		return nil
	case *arrow.StringType, *arrow.BinaryType:
		return takeText[int32](t)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		return takeText[int64](t)
	case *arrow.ListType, *arrow.MapType:
		return takeList[int32](t)
	case *arrow.LargeListType:
		return takeList[int64](t)
	case *arrow.FixedSizeListType:
		return t.fixedList(int64(typ.Len()))
	case *arrow.StructType:
		return t.structs()
	case *arrow.DictionaryType:
		return t.fixed(typ.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8)
	case arrow.FixedWidthDataType:
		return t.fixed(typ.BitWidth() / 8)
	}
	return status.New(status.Unimplemented, "cannot select rows of a column of type %s", typ)
}

// validity builds the first buffer.
func (t *taker[R]) validity() {
	src := buffer(t.data, 0)
	if src == nil || t.data.NullN() == 0 {
		t.buffers = append(t.buffers, nil)
		return
	}
	words := t.bitmap(src)
	t.nulls = len(t.rows) - popCount(words)
}

// bitmap gathers bits into a new buffer.
func (t *taker[R]) bitmap(src []byte) []uint64 {
	b := newBuffer(t.mem, 8*wordsFor(len(t.rows)))
	t.buffers = append(t.buffers, b)
	words := view[uint64](b.Bytes())
	clear(words)
	for i, r := range t.rows {
		at := t.data.Offset() + int(r)
		words[i>>6] |= uint64(src[at>>3]>>(at&7)&1) << (i & 63)
	}
	return words
}

func (t *taker[R]) bools() { t.bitmap(buffer(t.data, 1)) }

func (t *taker[R]) fixed(width int) error {
	switch width {
	case 1:
		return takeFixed[uint8](t)
	case 2:
		return takeFixed[uint16](t)
	case 4:
		return takeFixed[uint32](t)
	case 8:
		return takeFixed[uint64](t)
	case 16:
		return takeFixed[i128](t)
	}
	src := buffer(t.data, 1)
	if len(src) < width*(t.data.Offset()+t.data.Len()) {
		return shortBuffer(t.data)
	}
	dst := newBuffer(t.mem, width*len(t.rows))
	t.buffers = append(t.buffers, dst)
	for i, r := range t.rows {
		at := width * (t.data.Offset() + int(r))
		copy(dst.Bytes()[width*i:], src[at:at+width])
	}
	return nil
}

func takeFixed[T any, R row](t *taker[R]) error {
	src, err := fixedReader[T]{}.values(t.data)
	if err != nil {
		return err
	}
	var zero T
	b := newBuffer(t.mem, int(unsafe.Sizeof(zero))*len(t.rows))
	t.buffers = append(t.buffers, b)
	dst := view[T](b.Bytes())
	for i, r := range t.rows {
		dst[i] = src[r]
	}
	return nil
}

// offsets makes the buffer of offsets for values whose lengths are those of the
// taken rows, and returns it with the source's offsets.
func takeOffsets[O int32 | int64, R row](t *taker[R]) (dst, src []O, err error) {
	var zero O
	b := newBuffer(t.mem, int(unsafe.Sizeof(zero))*(len(t.rows)+1))
	t.buffers = append(t.buffers, b)
	dst = view[O](b.Bytes())
	dst[0] = 0
	src = view[O](buffer(t.data, 1))
	if len(t.rows) == 0 {
		return dst, nil, nil
	}
	if len(src) <= t.data.Offset()+t.data.Len() {
		return nil, nil, shortBuffer(t.data)
	}
	src = src[t.data.Offset():]
	var total int64
	for i, r := range t.rows {
		total += int64(src[r+1] - src[r])
		dst[i+1] = O(total)
	}
	if int64(dst[len(t.rows)]) != total {
		return nil, nil, status.New(status.ResourceExhausted, "values of more than 2 GiB in one batch: send smaller batches")
	}
	return dst, src, nil
}

func takeText[O int32 | int64, R row](t *taker[R]) error {
	dst, src, err := takeOffsets[O](t)
	if err != nil {
		return err
	}
	b := newBuffer(t.mem, int(dst[len(t.rows)]))
	t.buffers = append(t.buffers, b)
	from, to := buffer(t.data, 2), b.Bytes()
	for i, r := range t.rows {
		copy(to[dst[i]:dst[i+1]], from[src[r]:src[r+1]])
	}
	return nil
}

func takeList[O int32 | int64, R row](t *taker[R]) error {
	dst, src, err := takeOffsets[O](t)
	if err != nil {
		return err
	}
	inner := make([]int64, 0, dst[len(t.rows)])
	for _, r := range t.rows {
		for at := src[r]; at < src[r+1]; at++ {
			inner = append(inner, int64(at))
		}
	}
	return takeChild(t, 0, inner)
}

func (t *taker[R]) fixedList(length int64) error {
	inner := make([]int64, 0, length*int64(len(t.rows)))
	for _, r := range t.rows {
		start := length * (int64(t.data.Offset()) + int64(r))
		for at := range length {
			inner = append(inner, start+at)
		}
	}
	return takeChild(t, 0, inner)
}

// structs: a struct's offset applies to its children too.
func (t *taker[R]) structs() error {
	inner := make([]int64, len(t.rows))
	for i, r := range t.rows {
		inner[i] = int64(t.data.Offset()) + int64(r)
	}
	for i := range t.data.Children() {
		if err := takeChild(t, i, inner); err != nil {
			return err
		}
	}
	return nil
}

func takeChild[R row](t *taker[R], i int, rows []int64) error {
	child, err := takeData(t.data.Children()[i], rows, t.mem)
	if err != nil {
		return err
	}
	t.children = append(t.children, child)
	return nil
}
