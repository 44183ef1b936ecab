package eval

import (
	"math/bits"
)

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}
type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}
type integer interface{ signed | unsigned }
type float interface{ ~float32 | ~float64 }
type number interface{ integer | float }

// ordering compares vectors of one storage in DuckDB's total order. Each
// function sets a bit of dst for every row.
type ordering[T any] struct {
	eqLit, ltLit, leLit func(dst []uint64, v []T, lit T)
	eq, lt              func(dst []uint64, a, b []T)
}

func integerOrdering[T integer]() ordering[T] {
	return ordering[T]{eqLit: eqLit[T], ltLit: ltLit[T], leLit: leLit[T], eq: eqCol[T], lt: ltCol[T]}
}

func floatOrdering[T float]() ordering[T] {
	return ordering[T]{eqLit: floatEqLit[T], ltLit: floatLtLit[T], leLit: floatLeLit[T], eq: floatEq[T], lt: floatLt[T]}
}

func textOrdering() ordering[string] {
	return ordering[string]{eqLit: eqLit[string], ltLit: ltLit[string], leLit: leLit[string], eq: eqCol[string], lt: ltCol[string]}
}

// b2u compiles to one instruction.
func b2u(b bool) uint64 {
	var u uint64
	if b {
		u = 1
	}
	return u
}

// block cuts the rows of the next word off v.
func block[T any](v []T) (head, tail []T) {
	n := min(64, len(v))
	return v[:n], v[n:]
}

func eqLit[T integer | string](dst []uint64, v []T, lit T) {
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u(x == lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func ltLit[T integer | string](dst []uint64, v []T, lit T) {
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u(x < lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func leLit[T integer | string](dst []uint64, v []T, lit T) {
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u(x <= lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func eqCol[T integer | string](dst []uint64, a, b []T) {
	for k := range dst {
		var x, y []T
		x, a = block(a)
		y, b = block(b)
		y = y[:len(x)]
		var w uint64
		for i := range x {
			w = w>>1 | b2u(x[i] == y[i])<<63
		}
		dst[k] = w >> (64 - len(x))
	}
}

func ltCol[T integer | string](dst []uint64, a, b []T) {
	for k := range dst {
		var x, y []T
		x, a = block(a)
		y, b = block(b)
		y = y[:len(x)]
		var w uint64
		for i := range x {
			w = w>>1 | b2u(x[i] < y[i])<<63
		}
		dst[k] = w >> (64 - len(x))
	}
}

// A NaN is above every literal that is not one, which is what the IEEE
// comparisons give: false for <, <= and =, and the rest are their negations.

func floatEqLit[T float](dst []uint64, v []T, lit T) {
	if lit != lit {
		nans(dst, v, false)
		return
	}
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u(x == lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func floatLtLit[T float](dst []uint64, v []T, lit T) {
	if lit != lit {
		nans(dst, v, true)
		return
	}
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u(x < lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func floatLeLit[T float](dst []uint64, v []T, lit T) {
	if lit != lit {
		fill(dst, 64*len(dst))
		return
	}
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u(x <= lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

// nans marks the NaNs, or everything else.
func nans[T float](dst []uint64, v []T, negated bool) {
	for k := range dst {
		var blk []T
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u((x != x) != negated)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func floatEq[T float](dst []uint64, a, b []T) {
	for k := range dst {
		var x, y []T
		x, a = block(a)
		y, b = block(b)
		y = y[:len(x)]
		var w uint64
		for i, p := range x {
			q := y[i]
			w = w>>1 | (b2u(p == q)|b2u(p != p)&b2u(q != q))<<63
		}
		dst[k] = w >> (64 - len(x))
	}
}

func floatLt[T float](dst []uint64, a, b []T) {
	for k := range dst {
		var x, y []T
		x, a = block(a)
		y, b = block(b)
		y = y[:len(x)]
		var w uint64
		for i, p := range x {
			q := y[i]
			w = w>>1 | (b2u(p < q)|b2u(p == p)&b2u(q != q))<<63
		}
		dst[k] = w >> (64 - len(x))
	}
}

// i128 is a decimal128 value as it lies in memory.
type i128 struct {
	lo uint64
	hi int64
}

// less is 1 when a < b.
func (a i128) less(b i128) uint64 {
	_, borrow := bits.Sub64(a.lo, b.lo, 0)
	_, borrow = bits.Sub64(uint64(a.hi)^1<<63, uint64(b.hi)^1<<63, borrow)
	return borrow
}

func wideOrdering() ordering[i128] {
	return ordering[i128]{eqLit: wideEqLit, ltLit: wideLtLit, leLit: wideLeLit, eq: wideEq, lt: wideLt}
}

func wideEqLit(dst []uint64, v []i128, lit i128) {
	for k := range dst {
		var blk []i128
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | b2u((x.lo^lit.lo)|uint64(x.hi^lit.hi) == 0)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func wideLtLit(dst []uint64, v []i128, lit i128) {
	for k := range dst {
		var blk []i128
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | x.less(lit)<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func wideLeLit(dst []uint64, v []i128, lit i128) {
	for k := range dst {
		var blk []i128
		blk, v = block(v)
		var w uint64
		for _, x := range blk {
			w = w>>1 | (1^lit.less(x))<<63
		}
		dst[k] = w >> (64 - len(blk))
	}
}

func wideEq(dst []uint64, a, b []i128) {
	for k := range dst {
		var x, y []i128
		x, a = block(a)
		y, b = block(b)
		y = y[:len(x)]
		var w uint64
		for i := range x {
			w = w>>1 | b2u(x[i] == y[i])<<63
		}
		dst[k] = w >> (64 - len(x))
	}
}

func wideLt(dst []uint64, a, b []i128) {
	for k := range dst {
		var x, y []i128
		x, a = block(a)
		y, b = block(b)
		y = y[:len(x)]
		var w uint64
		for i := range x {
			w = w>>1 | x[i].less(y[i])<<63
		}
		dst[k] = w >> (64 - len(x))
	}
}
