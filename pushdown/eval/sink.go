package eval

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// sink collects the results of successive frames into one array. Every frame
// but the last has a multiple of 64 rows.
type sink interface {
	add(v vec, n int) error
	// finish returns the array and empties the sink.
	finish() arrow.Array
	release()
}

// bitmapSink builds a validity bitmap.
type bitmapSink struct {
	buf   *memory.Buffer
	words []uint64
	nulls int
	rows  int
}

func newBuffer(mem memory.Allocator, size int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(size)
	return b
}

func newBitmap(mem memory.Allocator, rows int) bitmapSink {
	b := newBuffer(mem, 8*wordsFor(rows))
	return bitmapSink{buf: b, words: view[uint64](b.Bytes())}
}

func (b *bitmapSink) add(valid []uint64, n int) {
	dst := b.words[b.rows>>6:]
	if valid == nil {
		fill(dst, n)
	} else {
		copy(dst, valid[:wordsFor(n)])
		maskTail(dst, n)
		b.nulls += n - popCount(dst[:wordsFor(n)])
	}
	b.rows += n
}

func (b *bitmapSink) release() { b.buf.Release() }

// make builds the array from the buffers that follow the validity, which it
// takes over.
func (b *bitmapSink) make(t arrow.DataType, buffers ...*memory.Buffer) arrow.Array {
	all := append([]*memory.Buffer{b.buf}, buffers...)
	if b.nulls == 0 {
		all[0] = nil
	}
	data := array.NewData(t, b.rows, all, nil, b.nulls, 0)
	defer data.Release()
	b.release()
	for _, buf := range buffers {
		buf.Release()
	}
	return array.MakeFromData(data)
}

// fixedSink collects values of a fixed width.
type fixedSink[T any] struct {
	bitmapSink
	t    arrow.DataType
	vals *memory.Buffer
}

func (v *values[T]) sink(t arrow.DataType, rows int, mem memory.Allocator) sink {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY:
		return newTextSink[int32](t, rows, mem)
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return newTextSink[int64](t, rows, mem)
	}
	var zero T
	return &fixedSink[T]{newBitmap(mem, rows), t, newBuffer(mem, rows*int(unsafe.Sizeof(zero)))}
}

func (s *fixedSink[T]) add(v vec, n int) error {
	c := v.(*col[T])
	copy(view[T](s.vals.Bytes())[s.rows:], c.vals[:n])
	s.bitmapSink.add(c.valid, n)
	return nil
}

func (s *fixedSink[T]) finish() arrow.Array { return s.make(s.t, s.vals) }

func (s *fixedSink[T]) release() {
	s.bitmapSink.release()
	s.vals.Release()
}

// boolSink collects booleans.
type boolSink struct {
	bitmapSink
	t    arrow.DataType
	vals bitmapSink
}

func (booleans) sink(t arrow.DataType, rows int, mem memory.Allocator) sink {
	return &boolSink{newBitmap(mem, rows), t, newBitmap(mem, rows)}
}

func (s *boolSink) add(v vec, n int) error {
	b := v.(*truth)
	s.vals.add(b.yes, n)
	s.bitmapSink.add(b.validity(), n)
	return nil
}

func (s *boolSink) finish() arrow.Array { return s.make(s.t, s.vals.buf) }

func (s *boolSink) release() {
	s.bitmapSink.release()
	s.vals.release()
}

// textSink collects strings and binaries.
type textSink[O int32 | int64] struct {
	bitmapSink
	t       arrow.DataType
	offsets *memory.Buffer
	bytes   *memory.Buffer
	size    int
}

func newTextSink[O int32 | int64](t arrow.DataType, rows int, mem memory.Allocator) *textSink[O] {
	var zero O
	s := &textSink[O]{
		bitmapSink: newBitmap(mem, rows), t: t,
		offsets: newBuffer(mem, (rows+1)*int(unsafe.Sizeof(zero))), bytes: newBuffer(mem, 0),
	}
	view[O](s.offsets.Bytes())[0] = 0
	return s
}

func (s *textSink[O]) add(v vec, n int) error {
	c := v.(*col[string])
	total := s.size
	for i, x := range c.vals[:n] {
		if c.valid == nil || bit(c.valid, i) {
			total += len(x)
		}
	}
	if total > math.MaxInt32 && unsafe.Sizeof(O(0)) == 4 {
		return status.New(status.ResourceExhausted, "strings of more than 2 GiB in one batch: send smaller batches")
	}
	if total > s.bytes.Cap() {
		s.bytes.Reserve(max(total, 2*s.bytes.Cap()))
	}
	s.bytes.Resize(total)
	s.copy(c, n)
	s.bitmapSink.add(c.valid, n)
	return nil
}

func (s *textSink[O]) copy(c *col[string], n int) {
	bytes, ends := s.bytes.Bytes(), view[O](s.offsets.Bytes())[s.rows+1:]
	for i, x := range c.vals[:n] {
		if c.valid == nil || bit(c.valid, i) {
			s.size += copy(bytes[s.size:], x)
		}
		ends[i] = O(s.size)
	}
}

func (s *textSink[O]) finish() arrow.Array { return s.make(s.t, s.offsets, s.bytes) }

func (s *textSink[O]) release() {
	s.bitmapSink.release()
	s.offsets.Release()
	s.bytes.Release()
}
