package agg

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// newExtreme returns the accumulator of MIN or MAX over dt, or nil.
func newExtreme(dt arrow.DataType, most bool) accumulator {
	switch dt.ID() {
	case arrow.BOOL:
		e := newFixedExtreme[uint8](dt, most)
		e.load = func(arr arrow.Array) []uint8 { e.scratch = unpackBools(e.scratch, arr); return e.scratch }
		e.store = func(mem memory.Allocator, vals []uint8, valid []bool) arrow.Array { return boolArray(mem, vals, valid) }
		return e
	case arrow.INT8:
		return newFixedExtreme[int8](dt, most)
	case arrow.INT16:
		return newFixedExtreme[int16](dt, most)
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return newFixedExtreme[int32](dt, most)
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP:
		return newFixedExtreme[int64](dt, most)
	case arrow.UINT8:
		return newFixedExtreme[uint8](dt, most)
	case arrow.UINT16:
		return newFixedExtreme[uint16](dt, most)
	case arrow.UINT32:
		return newFixedExtreme[uint32](dt, most)
	case arrow.UINT64:
		return newFixedExtreme[uint64](dt, most)
	case arrow.FLOAT32:
		return newFloat32Extreme(dt, most)
	case arrow.FLOAT64:
		return newFloat64Extreme(dt, most)
	case arrow.DECIMAL128:
		return &decimalExtreme{dt: dt, most: most}
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return &bytesExtreme{dt: dt, most: most}
	}
	return nil
}

// fixedExtreme keeps the least or greatest integer of each group. A maximum is
// the minimum of the complements: ^ reverses the order of integers.
type fixedExtreme[T integer] struct {
	dt      arrow.DataType
	flip    T
	best    []T
	seen    []bool
	scratch []T
	rows    present[T]
	// load reads the values of an array in order-preserving form; store is its
	// inverse.
	load  func(arrow.Array) []T
	store func(memory.Allocator, []T, []bool) arrow.Array
}

func newFixedExtreme[T integer](dt arrow.DataType, most bool) *fixedExtreme[T] {
	e := &fixedExtreme[T]{dt: dt, load: intValues[T]}
	if most {
		e.flip = T(0) - 1
	}
	e.store = func(mem memory.Allocator, vals []T, valid []bool) arrow.Array {
		return intArray(mem, dt, vals, valid)
	}
	return e
}

func newFloat32Extreme(dt arrow.DataType, most bool) accumulator {
	e := newFixedExtreme[uint32](dt, most)
	e.load = func(arr arrow.Array) []uint32 {
		e.scratch = resize(e.scratch, arr.Len())
		for i, f := range fixedValues[float32](arr) {
			e.scratch[i] = ordered32(canonical32(f))
		}
		return e.scratch
	}
	e.store = func(mem memory.Allocator, vals []uint32, valid []bool) arrow.Array {
		for i, o := range vals {
			vals[i] = unordered32(o)
		}
		return intArray(mem, dt, vals, valid)
	}
	return e
}

func newFloat64Extreme(dt arrow.DataType, most bool) accumulator {
	e := newFixedExtreme[uint64](dt, most)
	e.load = func(arr arrow.Array) []uint64 {
		e.scratch = resize(e.scratch, arr.Len())
		for i, f := range fixedValues[float64](arr) {
			e.scratch[i] = ordered64(canonical64(f))
		}
		return e.scratch
	}
	e.store = func(mem memory.Allocator, vals []uint64, valid []bool) arrow.Array {
		for i, o := range vals {
			vals[i] = unordered64(o)
		}
		return intArray(mem, dt, vals, valid)
	}
	return e
}

func (e *fixedExtreme[T]) grow(n int)   { e.best, e.seen = extend(e.best, n), extend(e.seen, n) }
func (e *fixedExtreme[T]) bytes() int64 { return int64(cap(e.best))*8 + int64(cap(e.seen)) }
func (e *fixedExtreme[T]) reset()       { e.best, e.seen = e.best[:0], e.seen[:0] }

func (e *fixedExtreme[T]) merge(groups []uint32, arr arrow.Array, n int) error {
	return e.add(groups, arr, n)
}

func (e *fixedExtreme[T]) add(groups []uint32, arr arrow.Array, _ int) error {
	groups, vals := e.rows.of(groups, e.load(arr), arr)
	if groups == nil {
		e.addAll(vals)
		return nil
	}
	best, seen, flip := e.best, e.seen, e.flip
	vals = vals[:len(groups)]
	for i, g := range groups {
		if v := vals[i] ^ flip; v < best[g] || !seen[g] {
			best[g], seen[g] = v, true
		}
	}
	return nil
}

func (e *fixedExtreme[T]) addAll(vals []T) {
	if len(vals) == 0 {
		return
	}
	best := vals[0] ^ e.flip
	for _, v := range vals {
		best = min(best, v^e.flip)
	}
	if e.seen[0] {
		best = min(best, e.best[0])
	}
	e.best[0], e.seen[0] = best, true
}

func (e *fixedExtreme[T]) array(mem memory.Allocator, from, to int) (arrow.Array, error) {
	vals := make([]T, to-from)
	for i, v := range e.best[from:to] {
		vals[i] = v ^ e.flip
	}
	return e.store(mem, vals, e.seen[from:to]), nil
}

// intArray copies raw integers into an array of any type of their width.
func intArray[T integer](mem memory.Allocator, dt arrow.DataType, vals []T, valid []bool) arrow.Array {
	body := newBuffer(mem, len(vals)*dt.(arrow.FixedWidthDataType).Bytes())
	copy(arrow.GetData[T](body.Bytes()), vals)
	return bufferArray(mem, dt, len(vals), valid, body)
}

// decimalExtreme keeps the least or greatest decimal of each group.
type decimalExtreme struct {
	dt   arrow.DataType
	most bool
	best []decimal128.Num
	seen []bool
	rows present[decimal128.Num]
}

func (e *decimalExtreme) grow(n int)   { e.best, e.seen = extend(e.best, n), extend(e.seen, n) }
func (e *decimalExtreme) bytes() int64 { return int64(cap(e.best))*16 + int64(cap(e.seen)) }
func (e *decimalExtreme) reset()       { e.best, e.seen = e.best[:0], e.seen[:0] }

func (e *decimalExtreme) merge(groups []uint32, arr arrow.Array, n int) error {
	return e.add(groups, arr, n)
}

func (e *decimalExtreme) add(groups []uint32, arr arrow.Array, _ int) error {
	groups, vals := e.rows.of(groups, fixedValues[decimal128.Num](arr), arr)
	for i, v := range vals {
		g := groupAt(groups, i)
		if !e.seen[g] || e.most && v.Greater(e.best[g]) || !e.most && v.Less(e.best[g]) {
			e.best[g], e.seen[g] = v, true
		}
	}
	return nil
}

func (e *decimalExtreme) array(mem memory.Allocator, from, to int) (arrow.Array, error) {
	return fixedArray(mem, e.dt, e.best[from:to], e.seen[from:to]), nil
}

// bytesExtreme keeps the least or greatest string of each group in an arena. A
// better string overwrites the old one where it fits.
type bytesExtreme struct {
	dt      arrow.DataType
	most    bool
	best    []span
	seen    []bool
	arena   []byte
	garbage int
}

// span is a string in the arena and the room it has there.
type span struct{ start, len, room int }

func (e *bytesExtreme) grow(n int) { e.best, e.seen = extend(e.best, n), extend(e.seen, n) }

func (e *bytesExtreme) bytes() int64 {
	return int64(cap(e.best))*24 + int64(cap(e.seen)) + int64(cap(e.arena))
}

func (e *bytesExtreme) reset() {
	e.best, e.seen, e.arena, e.garbage = e.best[:0], e.seen[:0], e.arena[:0], 0
}

func (e *bytesExtreme) merge(groups []uint32, arr arrow.Array, n int) error {
	return e.add(groups, arr, n)
}

func (e *bytesExtreme) add(groups []uint32, arr arrow.Array, n int) error {
	src := byteValues(arr)
	nulls := nullCount(arr) > 0
	for i := range n {
		if nulls && nullAt(arr, i) {
			continue
		}
		g, v := groupAt(groups, i), src.at(i)
		if !e.seen[g] || e.better(v, e.at(int(g))) {
			e.put(int(g), v)
		}
	}
	return nil
}

func (e *bytesExtreme) better(v, best []byte) bool {
	if e.most {
		return bytes.Compare(v, best) > 0
	}
	return bytes.Compare(v, best) < 0
}

func (e *bytesExtreme) at(g int) []byte {
	s := e.best[g]
	return e.arena[s.start : s.start+s.len]
}

func (e *bytesExtreme) put(g int, v []byte) {
	s := &e.best[g]
	e.seen[g] = true
	if s.room < len(v) {
		e.garbage += s.room
		*s = span{start: len(e.arena), room: len(v)}
		e.arena = append(e.arena, v...)
	}
	s.len = copy(e.arena[s.start:], v)
	if e.garbage > 1<<20 && e.garbage > len(e.arena)/2 {
		e.compact()
	}
}

// compact copies the strings in use to a new arena.
func (e *bytesExtreme) compact() {
	old := e.arena
	e.arena, e.garbage = make([]byte, 0, len(old)/2), 0
	for g := range e.best {
		s := &e.best[g]
		start := len(e.arena)
		e.arena = append(e.arena, old[s.start:s.start+s.len]...)
		*s = span{start: start, len: s.len, room: s.len}
	}
}

func (e *bytesExtreme) array(mem memory.Allocator, from, to int) (arrow.Array, error) {
	return bytesArray(mem, e.dt, to-from, e.seen[from:to], func(i int) []byte { return e.at(from + i) }), nil
}
