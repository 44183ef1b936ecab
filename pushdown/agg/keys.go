package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// keySet numbers the distinct tuples of several key columns: pairs[i] numbers
// the pairs of (id of the first i+1 columns, id of column i+1).
type keySet struct {
	columns []column
	pairs   []*wordTable
	ids     []uint32 // scratch
	words   []uint64 // scratch
}

func newKeySet(types []arrow.DataType, h hashing) (*keySet, error) {
	k := &keySet{}
	for i, dt := range types {
		c, err := newColumn(dt, h)
		if err != nil {
			return nil, err
		}
		k.columns = append(k.columns, c)
		if i > 0 {
			k.pairs = append(k.pairs, newWordTable(h))
		}
	}
	return k, nil
}

// intern writes the group of each of the len(out) rows of arrs to out.
func (k *keySet) intern(out []uint32, arrs []arrow.Array) error {
	if err := k.columns[0].intern(out, arrs[0], 0); err != nil {
		return err
	}
	k.ids, k.words = resize(k.ids, len(out)), resize(k.words, len(out))
	for i, pairs := range k.pairs {
		if err := k.columns[i+1].intern(k.ids, arrs[i+1], 0); err != nil {
			return err
		}
		words := k.words[:len(out)]
		for row, id := range k.ids[:len(out)] {
			words[row] = uint64(out[row])<<32 | uint64(id)
		}
		internWords(pairs, out, words)
	}
	return nil
}

func (k *keySet) size() int {
	if len(k.pairs) > 0 {
		return len(k.pairs[len(k.pairs)-1].keys)
	}
	return k.columns[0].size()
}

func (k *keySet) bytes() int64 {
	var n int64
	for _, c := range k.columns {
		n += c.bytes()
	}
	for _, p := range k.pairs {
		n += p.bytes()
	}
	return n
}

func (k *keySet) reset() {
	for _, c := range k.columns {
		c.reset()
	}
	for _, p := range k.pairs {
		p.reset()
	}
}

// arrays yields the key columns of the groups from (inclusive) to (exclusive).
func (k *keySet) arrays(mem memory.Allocator, from, to int) []arrow.Array {
	groups := make([]uint32, to-from)
	for i := range groups {
		groups[i] = uint32(from + i)
	}
	out := make([]arrow.Array, len(k.columns))
	right := make([]uint32, len(groups))
	for i := len(k.pairs) - 1; i >= 0; i-- {
		for row, g := range groups {
			pair := k.pairs[i].keys[g]
			groups[row], right[row] = uint32(pair>>32), uint32(pair)
		}
		out[i+1] = k.columns[i+1].array(mem, right)
	}
	out[0] = k.columns[0].array(mem, groups)
	return out
}
