package engine

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// offset is the width of the offsets of a variable-size array.
type offset interface{ ~int32 | ~int64 }

// stringFiller points vectors at the bytes of a utf8 or binary array.
type stringFiller[O offset] struct {
	validity
	offsets []O // of the array's rows, one more than rows
	data    []byte
}

func newStringFiller[O offset](arr arrow.Array, v validity, c *cursor) (filler, error) {
	f := stringFiller[O]{v, offsetsOf[O](arr), bufferOf(arr, 2)}
	if err := checkOffsets(f.offsets, len(f.data)); err != nil {
		return nil, err
	}
	if id := arr.DataType().ID(); id == arrow.STRING || id == arrow.LARGE_STRING {
		if err := checkText(f.offsets, f.data); err != nil {
			return nil, err
		}
	}
	c.pin(f.data)
	return f, nil
}

// pin keeps a buffer in place while vectors point into it.
func (c *cursor) pin(data []byte) {
	if len(data) > 0 {
		c.pins.Pin(unsafe.SliceData(data))
	}
}

// offsetsOf are the offsets of an array's rows.
func offsetsOf[O offset](arr arrow.Array) []O {
	all := valuesOf[O](bufferOf(arr, 1))
	if arr.Len() == 0 || len(all) == 0 {
		return make([]O, 1)
	}
	return all[arr.Data().Offset() : arr.Data().Offset()+arr.Len()+1]
}

// checkOffsets refuses offsets that would read outside of the data.
func checkOffsets[O offset](offsets []O, limit int) error {
	last := offsets[0]
	if last < 0 {
		return status.New(status.DataLoss, "a batch has a negative offset")
	}
	for _, o := range offsets {
		if o < last {
			return status.New(status.DataLoss, "a batch has offsets that fall")
		}
		last = o
	}
	if int64(last) > int64(limit) {
		return status.New(status.DataLoss, "a batch has an offset outside of its data")
	}
	return nil
}

// checkText refuses strings that are not UTF-8, on which DuckDB relies. The
// bytes are checked as a whole; where they are not ASCII only, each string must
// also start at the start of a character.
func checkText[O offset](offsets []O, data []byte) error {
	used := data[offsets[0]:offsets[len(offsets)-1]]
	if ascii(used) {
		return nil
	}
	bad := !utf8.Valid(used)
	for i := 0; i < len(offsets) && !bad; i++ {
		at := int(offsets[i])
		bad = at < int(offsets[len(offsets)-1]) && !utf8.RuneStart(data[at])
	}
	if bad {
		return status.New(status.DataLoss, "a batch has a string that is not UTF-8")
	}
	return nil
}

func ascii(b []byte) bool {
	var all uint64
	for ; len(b) >= 8; b = b[8:] {
		all |= binary.LittleEndian.Uint64(b)
	}
	for _, c := range b {
		all |= uint64(c)
	}
	return all&0x8080808080808080 == 0
}

func (f stringFiller[O]) fill(vec duckdb.Vector, start, n int) error {
	out := stringsOf(vec, n)
	from := f.offsets[start]
	for i := range out {
		to := f.offsets[start+i+1]
		out[i].set(f.data[from:to])
		from = to
	}
	f.copyTo(vec, start, n)
	return nil
}

func viewBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// tableFiller copies strings prepared for the whole batch.
type tableFiller struct {
	validity
	table []stringT
}

func (f tableFiller) fill(vec duckdb.Vector, start, n int) error {
	copy(stringsOf(vec, n), f.table[start:start+n])
	f.copyTo(vec, start, n)
	return nil
}

// newTable makes the strings of all rows that are not NULL.
func newTable(v validity, text bool, n int, value func(int) []byte) ([]stringT, error) {
	table := make([]stringT, n)
	for i := range table {
		if v.null(i) {
			continue
		}
		b := value(i)
		if text && !utf8.Valid(b) {
			return nil, status.New(status.DataLoss, "a batch has a string that is not UTF-8")
		}
		table[i].set(b)
	}
	return table, nil
}

func newViewFiller(arr arrow.Array, v validity, c *cursor, value func(int) []byte) (filler, error) {
	for i := range arr.Data().Buffers()[1:] {
		c.pin(bufferOf(arr, i+1))
	}
	table, err := newTable(v, arr.DataType().ID() == arrow.STRING_VIEW, arr.Len(), value)
	return tableFiller{v, table}, err
}

func newFixedBinary(arr *array.FixedSizeBinary, v validity, c *cursor) (filler, error) {
	c.pin(bufferOf(arr, 1))
	table, err := newTable(v, false, arr.Len(), arr.Value)
	return tableFiller{v, table}, err
}

// lookupFiller reads the strings of a dictionary array.
type lookupFiller[I any] struct {
	validity
	index     []I
	at        func(I) int
	table     []stringT
	tableNull validity
}

// newLookup prepares a dictionary of strings for any index type.
func newLookup(arr *array.Dictionary, values arrow.Array, v validity, c *cursor, value func(int) []byte) (filler, error) {
	dictNull := validityOf(values)
	c.pin(bufferOf(values, 2))
	table, err := newTable(dictNull, true, values.Len(), value)
	if err != nil {
		return nil, err
	}
	switch idx := arr.Indices().(type) {
	case *array.Int8:
		return lookup(idx.Int8Values(), v, table, dictNull), nil
	case *array.Int16:
		return lookup(idx.Int16Values(), v, table, dictNull), nil
	case *array.Int32:
		return lookup(idx.Int32Values(), v, table, dictNull), nil
	case *array.Int64:
		return lookup(idx.Int64Values(), v, table, dictNull), nil
	case *array.Uint8:
		return lookup(idx.Uint8Values(), v, table, dictNull), nil
	case *array.Uint16:
		return lookup(idx.Uint16Values(), v, table, dictNull), nil
	case *array.Uint32:
		return lookup(idx.Uint32Values(), v, table, dictNull), nil
	case *array.Uint64:
		return lookup(idx.Uint64Values(), v, table, dictNull), nil
	}
	return nil, status.New(status.Unimplemented, "the engine cannot read the Arrow type %s", arr.DataType())
}

func lookup[I ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](
	index []I, v validity, table []stringT, tableNull validity,
) filler {
	return lookupFiller[I]{v, index, func(i I) int { return int(i) }, table, tableNull}
}

func (f lookupFiller[I]) fill(vec duckdb.Vector, start, n int) error {
	out := stringsOf(vec, n)
	for i, key := range f.index[start : start+n] {
		if f.null(start + i) {
			out[i] = stringT{}
			continue
		}
		at := f.at(key)
		if uint(at) >= uint(len(f.table)) {
			return status.New(status.DataLoss, "a batch has a dictionary index outside of its dictionary")
		}
		out[i] = f.table[at]
	}
	f.copyTo(vec, start, n)
	if f.tableNull.bits != nil {
		f.nullKeys(vec, start, n)
	}
	return nil
}

// nullKeys marks the rows whose dictionary value is NULL.
func (f lookupFiller[I]) nullKeys(vec duckdb.Vector, start, n int) {
	mask := maskOf(vec, n)
	for i, key := range f.index[start : start+n] {
		if !f.null(start+i) && f.tableNull.null(f.at(key)) {
			mask[i>>3] &^= 1 << (i & 7)
		}
	}
}
