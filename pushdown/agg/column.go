package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// column numbers the distinct values of one key column, NULL among them.
type column interface {
	// intern writes the ids of the len(out) values of arr from row from on.
	intern(out []uint32, arr arrow.Array, from int) error
	// null is the id of NULL.
	null() uint32
	size() int
	bytes() int64
	reset()
	// array yields the values of the given ids.
	array(mem memory.Allocator, ids []uint32) arrow.Array
}

// newColumn returns the table for keys of type dt.
func newColumn(dt arrow.DataType, h hashing) (column, error) {
	if d, ok := dt.(*arrow.DictionaryType); ok {
		inner, err := newColumn(d.ValueType, h)
		if err != nil {
			return nil, err
		}
		return &dictColumn{column: inner}, nil
	}
	words := wordColumn{table: newWordTable(h), dt: dt}
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.DECIMAL128:
		return &byteColumn{table: newByteTable(h), dt: dt}, nil
	case arrow.BOOL:
		return &boolColumn{wordColumn: words}, nil
	case arrow.FLOAT32, arrow.FLOAT64:
		return &floatColumn{wordColumn: words}, nil
	}
	switch wordWidth(dt) {
	case 1, 2, 4, 8:
		return &words, nil
	}
	return nil, status.New(status.Unimplemented, "rows cannot be grouped by a value of type %s", dt)
}

// wordWidth is the width in bytes of the integer-like types, else 0.
func wordWidth(dt arrow.DataType) int {
	switch dt.ID() {
	case arrow.DATE32, arrow.DATE64, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
	default:
		if !arrow.IsInteger(dt.ID()) {
			return 0
		}
	}
	return dt.(arrow.FixedWidthDataType).Bytes()
}

// wordColumn holds the integer-like types by their bits.
type wordColumn struct {
	table   *wordTable
	dt      arrow.DataType
	nullRef uint32 // id of NULL plus one
	valid   []bool // scratch
}

func (c *wordColumn) size() int    { return len(c.table.keys) }
func (c *wordColumn) bytes() int64 { return c.table.bytes() }

func (c *wordColumn) reset() {
	c.table.reset()
	c.nullRef = 0
}

func (c *wordColumn) null() uint32 {
	if c.nullRef == 0 {
		c.nullRef = c.table.addKey(0) + 1
	}
	return c.nullRef - 1
}

func (c *wordColumn) intern(out []uint32, arr arrow.Array, from int) error {
	v := validityOf(arr)
	switch wordWidth(c.dt) {
	case 1:
		internColumn(c, out, fixedValues[uint8](arr)[from:], v, from)
	case 2:
		internColumn(c, out, fixedValues[uint16](arr)[from:], v, from)
	case 4:
		internColumn(c, out, fixedValues[uint32](arr)[from:], v, from)
	default:
		internColumn(c, out, fixedValues[uint64](arr)[from:], v, from)
	}
	return nil
}

// internColumn interns len(out) values; row i of vals is row from+i of v.
func internColumn[T word](c *wordColumn, out []uint32, vals []T, v validity, from int) {
	if v.all() {
		internWords(c.table, out, vals[:len(out)])
		return
	}
	for i := 0; i < len(out); {
		run := v.run(from+i, len(out)-i)
		if run == 0 {
			out[i] = c.null()
			i++
			continue
		}
		internWords(c.table, out[i:i+run], vals[i:i+run])
		i += run
	}
}

func (c *wordColumn) array(mem memory.Allocator, ids []uint32) arrow.Array {
	valid := c.validOf(ids)
	switch wordWidth(c.dt) {
	case 1:
		return fixedArray(mem, c.dt, gatherWords[uint8](c.table, ids), valid)
	case 2:
		return fixedArray(mem, c.dt, gatherWords[uint16](c.table, ids), valid)
	case 4:
		return fixedArray(mem, c.dt, gatherWords[uint32](c.table, ids), valid)
	default:
		return fixedArray(mem, c.dt, gatherWords[uint64](c.table, ids), valid)
	}
}

func (c *wordColumn) validOf(ids []uint32) []bool {
	c.valid = validIDs(c.valid, ids, c.nullRef)
	return c.valid
}

// validIDs marks the ids that are not NULL; nil when there is no NULL.
func validIDs(scratch []bool, ids []uint32, nullRef uint32) []bool {
	if nullRef == 0 {
		return nil
	}
	scratch = resize(scratch, len(ids))
	for i, id := range ids {
		scratch[i] = id+1 != nullRef
	}
	return scratch
}

func gatherWords[T word](t *wordTable, ids []uint32) []T {
	out := make([]T, len(ids))
	for i, id := range ids {
		out[i] = T(t.keys[id])
	}
	return out
}

// boolColumn holds booleans as 0 and 1.
type boolColumn struct {
	wordColumn
	bits []uint8
}

func (c *boolColumn) intern(out []uint32, arr arrow.Array, from int) error {
	c.bits = unpackBools(c.bits, arr)
	internColumn(&c.wordColumn, out, c.bits[from:], validityOf(arr), from)
	return nil
}

func (c *boolColumn) array(mem memory.Allocator, ids []uint32) arrow.Array {
	return boolArray(mem, gatherWords[uint8](c.table, ids), c.validOf(ids))
}

// floatColumn holds floats by their canonical bits.
type floatColumn struct {
	wordColumn
	bits []uint64
}

func (c *floatColumn) intern(out []uint32, arr arrow.Array, from int) error {
	c.bits = resize(c.bits, len(out))
	if c.dt.ID() == arrow.FLOAT32 {
		for i, f := range fixedValues[float32](arr)[from : from+len(out)] {
			c.bits[i] = uint64(canonical32(f))
		}
	} else {
		for i, f := range fixedValues[float64](arr)[from : from+len(out)] {
			c.bits[i] = canonical64(f)
		}
	}
	internColumn(&c.wordColumn, out, c.bits, validityOf(arr), from)
	return nil
}

func (c *floatColumn) array(mem memory.Allocator, ids []uint32) arrow.Array {
	if c.dt.ID() == arrow.FLOAT32 {
		return fixedArray(mem, c.dt, gatherWords[uint32](c.table, ids), c.validOf(ids))
	}
	return fixedArray(mem, c.dt, gatherWords[uint64](c.table, ids), c.validOf(ids))
}
