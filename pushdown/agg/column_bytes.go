package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// byteColumn holds strings, binaries and 128-bit decimals.
type byteColumn struct {
	table   *byteTable
	dt      arrow.DataType
	nullRef uint32
	valid   []bool
}

func (c *byteColumn) size() int    { return c.table.size() }
func (c *byteColumn) bytes() int64 { return c.table.bytes() }

func (c *byteColumn) reset() {
	c.table.reset()
	c.nullRef = 0
}

func (c *byteColumn) null() uint32 {
	if c.nullRef == 0 {
		c.nullRef = c.table.addKey(nil) + 1
	}
	return c.nullRef - 1
}

func (c *byteColumn) intern(out []uint32, arr arrow.Array, from int) error {
	src := byteValues(arr)
	v := validityOf(arr)
	switch {
	case src.offs32 != nil && v.all():
		internStrings(c.table, out, src.offs32[from:], src.data)
	case src.offs64 != nil && v.all():
		internStrings(c.table, out, src.offs64[from:], src.data)
	default:
		for i := range out {
			if v.at(from + i) {
				out[i] = c.table.intern(src.at(from + i))
			} else {
				out[i] = c.null()
			}
		}
	}
	return nil
}

func internStrings[O int32 | int64](t *byteTable, out []uint32, offs []O, data []byte) {
	offs = offs[:len(out)+1]
	for i := range out {
		out[i] = t.intern(data[offs[i]:offs[i+1]])
	}
}

func (c *byteColumn) array(mem memory.Allocator, ids []uint32) arrow.Array {
	c.valid = validIDs(c.valid, ids, c.nullRef)
	if c.dt.ID() != arrow.DECIMAL128 {
		return bytesArray(mem, c.dt, len(ids), c.valid, func(i int) []byte { return c.table.at(ids[i]) })
	}
	vals := make([]decimal128.Num, len(ids))
	for i, id := range ids {
		copy(arrow.GetBytes(vals[i:i+1]), c.table.at(id)) // NULL is empty
	}
	return fixedArray(mem, c.dt, vals, c.valid)
}

// bytesSource reads the values of a string-like, decimal or dictionary array as
// bytes.
type bytesSource struct {
	offs32 []int32
	offs64 []int64
	data   []byte
	width  int
	dict   *array.Dictionary
	values *bytesSource
}

func byteValues(arr arrow.Array) bytesSource {
	d := arr.Data()
	if dict, ok := arr.(*array.Dictionary); ok {
		values := byteValues(dict.Dictionary())
		return bytesSource{dict: dict, values: &values}
	}
	if arr.Len() == 0 {
		return bytesSource{offs32: []int32{0}}
	}
	switch arr.DataType().ID() {
	case arrow.DECIMAL128:
		return bytesSource{data: arrow.GetBytes(arrow.GetValues[decimal128.Num](d, 1)), width: 16}
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return bytesSource{offs64: arrow.GetOffsets[int64](d, 1), data: bufferBytes(d.Buffers()[2])}
	default:
		return bytesSource{offs32: arrow.GetOffsets[int32](d, 1), data: bufferBytes(d.Buffers()[2])}
	}
}

func bufferBytes(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}

// at returns the bytes of value i, which must not be NULL.
func (s *bytesSource) at(i int) []byte {
	switch {
	case s.offs32 != nil:
		return s.data[s.offs32[i]:s.offs32[i+1]]
	case s.offs64 != nil:
		return s.data[s.offs64[i]:s.offs64[i+1]]
	case s.dict != nil:
		return s.values.at(s.dict.GetValueIndex(i))
	default:
		return s.data[i*s.width : (i+1)*s.width]
	}
}

// bytesArray builds a string-like array from n values.
func bytesArray(mem memory.Allocator, dt arrow.DataType, n int, valid []bool, at func(int) []byte) arrow.Array {
	total := 0
	for i := range n {
		if valid == nil || valid[i] {
			total += len(at(i))
		}
	}
	data := newBuffer(mem, total)
	var offsets *memory.Buffer
	if id := dt.ID(); id == arrow.LARGE_STRING || id == arrow.LARGE_BINARY {
		offsets = fillBytes[int64](mem, data.Bytes(), n, valid, at)
	} else {
		offsets = fillBytes[int32](mem, data.Bytes(), n, valid, at)
	}
	return bufferArray(mem, dt, n, valid, offsets, data)
}

func fillBytes[O int32 | int64](mem memory.Allocator, data []byte, n int, valid []bool, at func(int) []byte) *memory.Buffer {
	var width O
	buf := newBuffer(mem, (n+1)*len(arrow.GetBytes([]O{width})))
	offs := arrow.GetData[O](buf.Bytes())
	end := 0
	for i := range n {
		if valid == nil || valid[i] {
			end += copy(data[end:], at(i))
		}
		offs[i+1] = O(end)
	}
	return buf
}
