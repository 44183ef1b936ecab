package eval

import (
	"math"
	"math/bits"
)

// shortList is the longest IN list that is compared value by value.
const shortList = 4

// members is the value list of an IN.
type members[T any] interface {
	// mark sets a bit of dst for every value of v that is in the list.
	mark(dst []uint64, v []T)
}

// inNode tests membership.
type inNode[T any] struct {
	arg     node
	set     members[T]
	hasNull bool
	negated bool
	out     truth
}

func (n *inNode[T]) eval(f *frame) (vec, error) {
	v, err := evalCol[T](n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.resize(f.n)
	n.set.mark(n.out.yes, v.vals)
	n.out.settle(v.valid, false)
	finishIn(&n.out, n.hasNull, n.negated)
	return &n.out, nil
}

// finishIn applies SQL's NULL rule: with a NULL in the list nothing is known
// to be outside it.
func finishIn(out *truth, hasNull, negated bool) {
	if hasNull {
		clear(out.no)
	}
	if negated {
		out.yes, out.no = out.no, out.yes
	}
}

// listed compares with each of a few values.
type listed[T any] struct {
	values []T
	eqLit  func(dst []uint64, v []T, lit T)
	part   []uint64
}

func (l *listed[T]) mark(dst []uint64, v []T) {
	clear(dst)
	l.part = resize(l.part, len(dst))
	for _, value := range l.values {
		l.eqLit(l.part, v, value)
		for i, w := range l.part {
			dst[i] |= w
		}
	}
}

// hashed looks values up by a key of up to 64 bits that equal values share.
type hashed[T any] struct {
	table []uint64
	shift int
	zero  bool
	key   func(T) uint64
}

func newHashed[T any](values []T, key func(T) uint64) *hashed[T] {
	size := max(3, bits.Len(uint(2*len(values))))
	h := &hashed[T]{table: make([]uint64, 1<<size), shift: 64 - size, key: key}
	for _, v := range values {
		h.insert(key(v))
	}
	return h
}

// slot spreads keys by Fibonacci hashing; 0 marks a free slot.
func (h *hashed[T]) slot(k uint64) int { return int(k * 0x9E3779B97F4A7C15 >> h.shift) }

func (h *hashed[T]) insert(k uint64) {
	if k == 0 {
		h.zero = true
		return
	}
	i := h.slot(k)
	for h.table[i] != 0 && h.table[i] != k {
		i = (i + 1) & (len(h.table) - 1)
	}
	h.table[i] = k
}

func (h *hashed[T]) has(k uint64) bool {
	if k == 0 {
		return h.zero
	}
	for i := h.slot(k); ; i = (i + 1) & (len(h.table) - 1) {
		if h.table[i] == k {
			return true
		}
		if h.table[i] == 0 {
			return false
		}
	}
}

func (h *hashed[T]) mark(dst []uint64, v []T) {
	clear(dst)
	for i, x := range v {
		dst[i>>6] |= b2u(h.has(h.key(x))) << (i & 63)
	}
}

// mapped looks values up in a Go map.
type mapped[T comparable] map[T]struct{}

func newMapped[T comparable](values []T) mapped[T] {
	m := make(mapped[T], len(values))
	for _, v := range values {
		m[v] = struct{}{}
	}
	return m
}

func (m mapped[T]) mark(dst []uint64, v []T) {
	clear(dst)
	for i, x := range v {
		_, ok := m[x]
		dst[i>>6] |= b2u(ok) << (i & 63)
	}
}

func integerKey[T integer](v T) uint64 { return uint64(v) }

// floatKey gives one key to all NaNs and to both zeros.
func floatKey[T float](v T) uint64 {
	switch {
	case v != v:
		return math.Float64bits(math.NaN())
	case v == 0:
		return 0
	}
	return math.Float64bits(float64(v))
}

// boolIn is IN over booleans.
type boolIn struct {
	arg               node
	hasTrue, hasFalse bool
	hasNull, negated  bool
	out               truth
}

func (n *boolIn) eval(f *frame) (vec, error) {
	b, err := evalTruth(n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.resize(f.n)
	for i := range n.out.yes {
		n.out.yes[i], n.out.no[i] = 0, 0
		n.split(b.yes[i], n.hasTrue, i)
		n.split(b.no[i], n.hasFalse, i)
	}
	finishIn(&n.out, n.hasNull, n.negated)
	return &n.out, nil
}

func (n *boolIn) split(rows uint64, listed bool, i int) {
	if listed {
		n.out.yes[i] |= rows
	} else {
		n.out.no[i] |= rows
	}
}
