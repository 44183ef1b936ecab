package duckdb

import (
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// duckString is DuckDB's string: up to 12 bytes lie inside, longer ones behind
// a pointer that follows four bytes of prefix.
type duckString struct {
	length uint32
	inline [inlineBytes]byte
}

const (
	inlineBytes   = 12
	pointerOffset = 4
	offsetBytes   = 4
)

// view returns the bytes, valid as long as the chunk.
func (s *duckString) view() []byte {
	if s.length <= inlineBytes {
		return s.inline[:s.length]
	}
	ptr := *(*unsafe.Pointer)(unsafe.Pointer(&s.inline[pointerOffset]))
	return unsafe.Slice((*byte)(ptr), s.length)
}

// bytesAppender is for VARCHAR and BLOB.
type bytesAppender struct {
	validity
	offsets growing
	data    growing
}

func (a *bytesAppender) append(v bind.Vector, from, n int) error {
	mask := a.add(v, from, n)
	strings := values[duckString](v, from, n)
	total := a.data.buf.Len()
	offsets := viewAs[int32](a.startOffsets().extend(n * offsetBytes))
	for i := range strings {
		if mask == nil || bitutil.BitIsSet(mask, from+i) {
			total += int(strings[i].length)
		}
		if total > math.MaxInt32 {
			return status.New(status.ResourceExhausted, "more than 2 GiB of text in %d rows", a.rows)
		}
		offsets[i] = int32(total)
	}
	a.copyValues(strings, offsets, a.data.extend(total-a.data.buf.Len()))
	return nil
}

// copyValues fills to, which ends at the last offset.
func (a *bytesAppender) copyValues(strings []duckString, offsets []int32, to []byte) {
	start := a.data.buf.Len() - len(to)
	pos := 0
	for i := range strings {
		end := int(offsets[i]) - start
		if end > pos { // a NULL has garbage and no length
			copy(to[pos:end], strings[i].view())
			pos = end
		}
	}
}

// startOffsets puts the leading zero.
func (a *bytesAppender) startOffsets() growing {
	if a.offsets.buf.Len() == 0 {
		clear(a.offsets.extend(offsetBytes))
	}
	return a.offsets
}

func (a *bytesAppender) bytes() int { return a.offsets.buf.Len() + a.data.buf.Len() }

func (a *bytesAppender) finish() arrow.ArrayData {
	a.startOffsets()
	return a.build([]*memory.Buffer{take(&a.offsets, a.mem), take(&a.data, a.mem)}, nil)
}

func (a *bytesAppender) release() {
	a.validity.release()
	a.offsets.buf.Release()
	a.data.buf.Release()
}

// dictAppender encodes text as a dictionary, for columns that are an ENUM in
// DuckDB.
type dictAppender struct {
	validity
	indices growing
	width   int
	known   map[string]uint32
	members *array.StringBuilder
}

func newDictAppender(base validity, t *arrow.DictionaryType) *dictAppender {
	width := t.IndexType.(arrow.FixedWidthDataType).Bytes()
	return &dictAppender{
		validity: base, indices: newGrowing(base.mem), width: width,
		known: map[string]uint32{}, members: array.NewStringBuilder(base.mem),
	}
}

func (a *dictAppender) append(v bind.Vector, from, n int) error {
	mask := a.add(v, from, n)
	to := a.indices.extend(n * a.width)
	clear(to)
	strings := values[duckString](v, from, n)
	for i := range strings {
		if mask != nil && !bitutil.BitIsSet(mask, from+i) {
			continue
		}
		if err := a.put(to[i*a.width:], a.index(strings[i].view())); err != nil {
			return err
		}
	}
	return nil
}

func (a *dictAppender) index(text []byte) uint32 {
	if i, ok := a.known[string(text)]; ok {
		return i
	}
	i := uint32(len(a.known))
	a.known[string(text)] = i
	a.members.BinaryBuilder.Append(text)
	return i
}

// put writes an index little-endian.
func (a *dictAppender) put(to []byte, index uint32) error {
	if a.width < offsetBytes && index>>(8*a.width) != 0 {
		return status.New(status.OutOfRange, "more than %d members in an ENUM column", 1<<(8*a.width))
	}
	for i := range a.width {
		to[i] = byte(index >> (8 * i))
	}
	return nil
}

func (a *dictAppender) bytes() int { return a.indices.buf.Len() }

func (a *dictAppender) finish() arrow.ArrayData {
	dict := a.members.NewArray()
	defer dict.Release()
	data := a.build([]*memory.Buffer{take(&a.indices, a.mem)}, nil)
	clear(a.known)
	data.SetDictionary(dict.Data())
	return data
}

func (a *dictAppender) release() {
	a.validity.release()
	a.indices.buf.Release()
	a.members.Release()
}
