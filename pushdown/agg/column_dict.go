package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/status"
)

// maxDictionaries is the number of dictionaries whose mapping is kept. One
// stream mostly has one; streams that were merged have one each.
const maxDictionaries = 8

// unmapped marks a code that no row had yet: a value of the dictionary that does
// not occur is no group.
const unmapped = ^uint32(0)

// dictColumn maps the codes of a dictionary to ids once per dictionary. Values
// are numbered by the inner column, so differing dictionaries unify.
type dictColumn struct {
	column
	maps []*dictMap // most recently used last
}

type dictMap struct {
	data   arrow.ArrayData // retained: its address is the identity
	values arrow.Array
	ids    []uint32
}

func (m *dictMap) release() {
	m.values.Release()
	m.data.Release()
}

func (c *dictColumn) bytes() int64 {
	n := c.column.bytes()
	for _, m := range c.maps {
		n += int64(cap(m.ids)) * 4
	}
	return n
}

func (c *dictColumn) reset() {
	for _, m := range c.maps {
		m.release()
	}
	c.maps = nil
	c.column.reset()
}

func (c *dictColumn) intern(out []uint32, arr arrow.Array, from int) error {
	dict, ok := arr.(*array.Dictionary)
	if !ok { // partial rows and computed keys are decoded
		return c.column.intern(out, arr, from)
	}
	if len(out) == 0 {
		return nil
	}
	m := c.mapping(dict)
	codes := dict.Indices()
	switch codes.DataType().(arrow.FixedWidthDataType).Bytes() {
	case 1:
		return internCodes(c, m, out, fixedValues[uint8](codes)[from:], validityOf(codes), from)
	case 2:
		return internCodes(c, m, out, fixedValues[uint16](codes)[from:], validityOf(codes), from)
	case 4:
		return internCodes(c, m, out, fixedValues[uint32](codes)[from:], validityOf(codes), from)
	default:
		return internCodes(c, m, out, fixedValues[uint64](codes)[from:], validityOf(codes), from)
	}
}

// mapping finds or starts the mapping of arr's dictionary.
func (c *dictColumn) mapping(arr *array.Dictionary) *dictMap {
	data := arr.Data().Dictionary()
	for i, m := range c.maps {
		if m.data == data {
			last := len(c.maps) - 1
			copy(c.maps[i:], c.maps[i+1:])
			c.maps[last] = m
			return m
		}
	}
	m := &dictMap{data: data, values: arr.Dictionary()}
	if len(c.maps) == maxDictionaries {
		m.ids = c.maps[0].ids
		c.maps[0].release()
		c.maps = append(c.maps[:0], c.maps[1:]...)
	}
	m.data.Retain()
	m.values.Retain()
	m.ids = resize(m.ids, m.values.Len())
	for i := range m.ids {
		m.ids[i] = unmapped
	}
	c.maps = append(c.maps, m)
	return m
}

func internCodes[T word](c *dictColumn, m *dictMap, out []uint32, codes []T, v validity, from int) error {
	ids := m.ids
	for i, code := range codes[:len(out)] {
		if !v.at(from + i) {
			out[i] = c.null()
			continue
		}
		if uint64(code) >= uint64(len(ids)) {
			return status.New(status.DataLoss, "dictionary code %d is outside its dictionary of %d values", code, len(ids))
		}
		if ids[code] == unmapped {
			if err := c.column.intern(ids[code:code+1], m.values, int(code)); err != nil {
				return err
			}
		}
		out[i] = ids[code]
	}
	return nil
}
