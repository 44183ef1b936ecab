package agg

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// fixedValues is the slice of values of a fixed-width array, offset applied.
func fixedValues[T arrow.FixedWidthType](arr arrow.Array) []T {
	if arr.Len() == 0 {
		return nil
	}
	return arrow.GetValues[T](arr.Data(), 1)
}

// unpackBools writes the bits of a boolean array as 0 and 1 to scratch.
func unpackBools(scratch []uint8, arr arrow.Array) []uint8 {
	scratch = resize(scratch, arr.Len())
	if arr.Len() == 0 {
		return scratch
	}
	d := arr.Data()
	packed, off := d.Buffers()[1].Bytes(), d.Offset()
	for i := range scratch {
		scratch[i] = packed[(off+i)>>3] >> (uint(off+i) & 7) & 1
	}
	return scratch
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// validity is the null bitmap of an array, or nil bits when all are valid.
type validity struct {
	bits []byte
	off  int
}

func validityOf(arr arrow.Array) validity {
	if arr.NullN() == 0 {
		return validity{}
	}
	return validity{bits: arr.NullBitmapBytes(), off: arr.Data().Offset()}
}

func (v validity) all() bool { return v.bits == nil }

func (v validity) at(i int) bool { return v.bits == nil || bitutil.BitIsSet(v.bits, v.off+i) }

// run is the length, at most n, of the run of valid values from i on.
func (v validity) run(i, n int) int {
	for k := range n {
		if !v.at(i + k) {
			return k
		}
	}
	return n
}

// compact copies the values that are valid to dst.
func compact[T any](dst, vals []T, v validity) []T {
	dst = resize(dst, len(vals))
	n := 0
	for i, x := range vals {
		dst[n] = x
		p := uint(v.off + i)
		n += int(v.bits[p>>3] >> (p & 7) & 1)
	}
	return dst[:n]
}

// canonical64 is a float's bits with one NaN and no negative zero.
func canonical64(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7FF8000000000000
	}
	return math.Float64bits(f)
}

func canonical32(f float32) uint32 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return 0x7FC00000
	}
	return math.Float32bits(f)
}

// ordered64 maps canonical bits to integers in DuckDB's order, NaN greatest.
func ordered64(b uint64) uint64 { return b ^ (uint64(int64(b)>>63) | 1<<63) }

func unordered64(o uint64) uint64 { return o ^ (^uint64(int64(o)>>63) | 1<<63) }

func ordered32(b uint32) uint32 { return b ^ (uint32(int32(b)>>31) | 1<<31) }

func unordered32(o uint32) uint32 { return o ^ (^uint32(int32(o)>>31) | 1<<31) }

// fixedArray copies vals into an array of type dt; valid nil means all valid.
func fixedArray[T arrow.FixedWidthType](mem memory.Allocator, dt arrow.DataType, vals []T, valid []bool) arrow.Array {
	body := newBuffer(mem, len(vals)*dt.(arrow.FixedWidthDataType).Bytes())
	copy(body.Bytes(), arrow.GetBytes(vals))
	return bufferArray(mem, dt, len(vals), valid, body)
}

// boolArray packs bytes of 0 and 1.
func boolArray(mem memory.Allocator, vals []uint8, valid []bool) arrow.Array {
	body := newBuffer(mem, int(bitutil.BytesForBits(int64(len(vals)))))
	for i, v := range vals {
		bitutil.SetBitTo(body.Bytes(), i, v != 0)
	}
	return bufferArray(mem, arrow.FixedWidthTypes.Boolean, len(vals), valid, body)
}

// newBuffer returns a zeroed buffer of n bytes.
func newBuffer(mem memory.Allocator, n int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(n)
	clear(b.Bytes())
	return b
}

// bufferArray makes an array of the buffers after the validity and consumes
// them.
func bufferArray(mem memory.Allocator, dt arrow.DataType, n int, valid []bool, bufs ...*memory.Buffer) arrow.Array {
	bitmap, nulls := packValidity(mem, valid)
	all := append([]*memory.Buffer{bitmap}, bufs...)
	data := array.NewData(dt, n, all, nil, nulls, 0)
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	defer data.Release()
	return array.MakeFromData(data)
}

func packValidity(mem memory.Allocator, valid []bool) (*memory.Buffer, int) {
	nulls := 0
	for _, v := range valid {
		if !v {
			nulls++
		}
	}
	if nulls == 0 {
		return nil, 0
	}
	bitmap := newBuffer(mem, int(bitutil.BytesForBits(int64(len(valid)))))
	for i, v := range valid {
		bitutil.SetBitTo(bitmap.Bytes(), i, v)
	}
	return bitmap, nulls
}
