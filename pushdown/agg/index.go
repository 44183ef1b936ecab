package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Missing is what [Index.Find] gives for a tuple that is not in the index.
const Missing = ^uint32(0)

// Index finds rows by the values of some columns, which are compared, not only
// hashed. It is for one goroutine.
type Index struct {
	keys keySet
	// rows has the rows of each tuple one after the other, from starts.
	rows, starts []uint32
	unique       bool
}

// NewIndex indexes the rows of columns; rows in which one is NULL are left out.
// mask is that of [Options].
func NewIndex(columns []arrow.Array, mask uint64) (*Index, error) {
	var types []arrow.DataType
	for _, c := range columns {
		switch c.DataType().ID() {
		case arrow.FLOAT32, arrow.FLOAT64, arrow.DICTIONARY:
			return nil, status.New(status.Unimplemented, "rows cannot be looked up by a value of type %s", c.DataType())
		}
		types = append(types, c.DataType())
	}
	keys, err := newKeySet(types, newHashing(mask))
	if err != nil {
		return nil, err
	}
	x := &Index{keys: *keys}
	return x, x.fill(columns)
}

func (x *Index) fill(columns []arrow.Array) error {
	ids := make([]uint32, columns[0].Len())
	if err := x.keys.intern(ids, columns); err != nil {
		return err
	}
	for i := range ids {
		for _, c := range columns {
			if c.IsNull(i) {
				ids[i] = Missing
			}
		}
	}
	x.starts = make([]uint32, x.keys.size()+1)
	for _, id := range ids {
		if id != Missing {
			x.starts[id+1]++
		}
	}
	x.unique = true
	for i := 1; i < len(x.starts); i++ {
		x.unique = x.unique && x.starts[i] <= 1
		x.starts[i] += x.starts[i-1]
	}
	x.rows = make([]uint32, x.starts[len(x.starts)-1])
	next := append([]uint32(nil), x.starts...)
	for row, id := range ids {
		if id != Missing {
			x.rows[next[id]] = uint32(row)
			next[id]++
		}
	}
	return nil
}

// Find writes the tuple of each of the len(out) rows of columns, or Missing.
func (x *Index) Find(out []uint32, columns []arrow.Array) error {
	if err := x.find(0, out, columns[0]); err != nil {
		return err
	}
	x.keys.ids = resize(x.keys.ids, len(out))
	for i, pairs := range x.keys.pairs {
		ids := x.keys.ids[:len(out)]
		if err := x.find(i+1, ids, columns[i+1]); err != nil {
			return err
		}
		pairs.findPairs(out, ids)
	}
	return nil
}

// Rows are the rows of a tuple.
func (x *Index) Rows(tuple uint32) []uint32 { return x.rows[x.starts[tuple]:x.starts[tuple+1]] }

// Unique reports that no tuple has two rows.
func (x *Index) Unique() bool { return x.unique }

// find numbers the values of one column.
func (x *Index) find(column int, out []uint32, arr arrow.Array) error {
	if dict, ok := arr.(*array.Dictionary); ok {
		return x.findCodes(column, out, dict)
	}
	v := validityOf(arr)
	switch c := x.keys.columns[column].(type) {
	case *wordColumn:
		c.findAll(out, arr, v)
	case *boolColumn:
		c.bits = unpackBools(c.bits, arr)
		findColumn(c.table, out, c.bits, v)
	case *byteColumn:
		src := byteValues(arr)
		for i := range out {
			if out[i] = Missing; v.at(i) {
				out[i] = c.table.find(src.at(i))
			}
		}
	default:
		return status.New(status.Internal, "no look-up by a value of type %s", arr.DataType())
	}
	return nil
}

// findCodes looks up each value of a dictionary once.
func (x *Index) findCodes(column int, out []uint32, dict *array.Dictionary) error {
	of := make([]uint32, dict.Dictionary().Len())
	if err := x.find(column, of, dict.Dictionary()); err != nil {
		return err
	}
	for i := range out {
		out[i] = Missing
		if dict.IsNull(i) {
			continue
		}
		code := dict.GetValueIndex(i)
		if uint(code) >= uint(len(of)) {
			return status.New(status.DataLoss, "dictionary code %d is outside its dictionary of %d values", code, len(of))
		}
		out[i] = of[code]
	}
	return nil
}

func (c *wordColumn) findAll(out []uint32, arr arrow.Array, v validity) {
	switch wordWidth(c.dt) {
	case 1:
		findColumn(c.table, out, fixedValues[uint8](arr), v)
	case 2:
		findColumn(c.table, out, fixedValues[uint16](arr), v)
	case 4:
		findColumn(c.table, out, fixedValues[uint32](arr), v)
	default:
		findColumn(c.table, out, fixedValues[uint64](arr), v)
	}
}

func findColumn[T word](t *wordTable, out []uint32, vals []T, v validity) {
	findWords(t, out, vals[:len(out)])
	if v.all() {
		return
	}
	for i := range out {
		if !v.at(i) {
			out[i] = Missing
		}
	}
}

func findWords[T word](t *wordTable, out []uint32, keys []T) {
	out = out[:len(keys)]
	for i, k := range keys {
		out[i] = t.find(uint64(k))
	}
}

func (t *wordTable) find(k uint64) uint32 {
	top := uint64(len(t.slots) - 1)
	for p := t.word(k) & top; ; p = (p + 1) & top {
		s := &t.slots[p]
		if s.ref == 0 {
			return Missing
		}
		if s.key == k {
			return s.ref - 1
		}
	}
}

// findPairs replaces out by the pairs of it and right.
func (t *wordTable) findPairs(out, right []uint32) {
	for i, left := range out {
		if out[i] = Missing; left != Missing && right[i] != Missing {
			out[i] = t.find(uint64(left)<<32 | uint64(right[i]))
		}
	}
}

func (t *byteTable) find(s []byte) uint32 {
	d := t.digest(s)
	top := uint64(len(t.slots) - 1)
	for p := t.mix(d) & top; ; p = (p + 1) & top {
		slot := &t.slots[p]
		if slot.ref == 0 {
			return Missing
		}
		if slot.a == d.a && slot.b == d.b && slot.n == d.n && (len(s) <= exactBytes || string(t.at(slot.ref-1)) == string(s)) {
			return slot.ref - 1
		}
	}
}
