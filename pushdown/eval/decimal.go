package eval

import (
	"fmt"
	"math/big"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/tributary-db/tributary/pushdown"
)

// powerOfTen is 10^n for n up to 38.
func powerOfTen(n int32) i128 { return fromNum(decimal128.GetScaleMultiplier(int(n))) }

func wide(v int64) i128 { return i128{lo: uint64(v), hi: v >> 63} }

func (a i128) isWord() bool { return a.hi == int64(a.lo)>>63 }

func (a i128) negate() i128 {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.hi), borrow)
	return i128{lo: lo, hi: int64(hi)}
}

// magnitude is |a| as an unsigned number, and whether a is negative.
func (a i128) magnitude() (hi, lo uint64, negative bool) {
	if a.hi < 0 {
		m := a.negate()
		return uint64(m.hi), m.lo, true
	}
	return uint64(a.hi), a.lo, false
}

func (a i128) add(b i128) (i128, bool) {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(uint64(a.hi), uint64(b.hi), carry)
	r := i128{lo: lo, hi: int64(hi)}
	return r, (a.hi^r.hi)&(b.hi^r.hi) >= 0
}

func (a i128) sub(b i128) (i128, bool) {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(uint64(a.hi), uint64(b.hi), borrow)
	r := i128{lo: lo, hi: int64(hi)}
	return r, (a.hi^b.hi)&(a.hi^r.hi) >= 0
}

func (a i128) mul(b i128) (i128, bool) {
	if a.isWord() && b.isWord() {
		hi, lo := mulSigned(int64(a.lo), int64(b.lo))
		return i128{lo: lo, hi: hi}, true
	}
	return a.mulWide(b)
}

func (a i128) mulWide(b i128) (i128, bool) {
	ah, al, an := a.magnitude()
	bh, bl, bn := b.magnitude()
	hi, lo := bits.Mul64(al, bl)
	over1, cross1 := bits.Mul64(ah, bl)
	over2, cross2 := bits.Mul64(al, bh)
	hi, carry1 := bits.Add64(hi, cross1, 0)
	hi, carry2 := bits.Add64(hi, cross2, 0)
	ok := over1|over2|carry1|carry2 == 0 && (ah == 0 || bh == 0) && hi>>63 == 0
	r := i128{lo: lo, hi: int64(hi)}
	if an != bn {
		r = r.negate()
	}
	return r, ok
}

// within reports -limit < a < limit.
func (a i128) within(limit i128) bool {
	return a.less(limit) == 1 && limit.negate().less(a) == 1
}

func (a i128) big() *big.Int { return decimal128.New(a.hi, a.lo).BigInt() }

// decimalArith checks every result against the precision of its type.
func decimalArith(op pushdown.ArithOp, t *arrow.Decimal128Type) arithmetic[i128] {
	one := i128.mul
	switch op {
	case pushdown.Add:
		one = i128.add
	case pushdown.Subtract:
		one = i128.sub
	}
	limit := powerOfTen(t.Precision)
	run := func(dst, a, b []i128) bool { return decimalLoop(dst, a, b, limit, one) }
	if op == pushdown.Multiply {
		run = func(dst, a, b []i128) bool { return decimalMul(dst, a, b, limit) }
	}
	wrong := func(a, b i128) bool {
		r, ok := one(a, b)
		return !ok || !r.within(limit)
	}
	describe := func(a, b i128) string {
		return fmt.Sprintf("%s of decimal(%d,%d) (%s %s %s unscaled)", operationText[op], t.Precision, t.Scale, a.big(), op, b.big())
	}
	return arithmetic[i128]{run: run, wrong: wrong, describe: describe}
}

func decimalLoop(dst, a, b []i128, limit i128, one func(a, b i128) (i128, bool)) (bad bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		r, ok := one(a[i], b[i])
		dst[i] = r
		if !ok || !r.within(limit) {
			bad = true
		}
	}
	return bad
}

func decimalMul(dst, a, b []i128, limit i128) (bad bool) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		r, ok := a[i].mul(b[i])
		dst[i] = r
		if !ok || !r.within(limit) {
			bad = true
		}
	}
	return bad
}

// divide is a / 10^n, rounded half away from zero.
func (a i128) divide(n int32) i128 {
	hi, lo, negative := a.magnitude()
	var remainder, divisor uint64
	for n > 0 {
		step := min(n, 19)
		n -= step
		divisor = powerOfTen(step).lo
		var qhi uint64
		qhi, remainder = bits.Div64(0, hi, divisor)
		lo, remainder = bits.Div64(remainder, lo, divisor)
		hi = qhi
	}
	if remainder >= divisor/2 {
		var carry uint64
		lo, carry = bits.Add64(lo, 1, 0)
		hi += carry
	}
	r := i128{lo: lo, hi: int64(hi)}
	if negative {
		return r.negate()
	}
	return r
}

// float converts the way DuckDB does, to the last bit: digits is the precision
// of a's type, which decides the integer that DuckDB keeps it in.
func (a i128) float(scale, digits int32) float64 {
	power := tenToThe[scale]
	if scale == 0 || a.isWord() && exactFloat(int64(a.lo)) {
		return a.toFloat(digits) / power
	}
	if digits <= 18 {
		v, ten := int64(a.lo), int64(powerOfTen(scale).lo)
		return float64(v/ten) + float64(v%ten)/power
	}
	q, r := a.quoRem(scale)
	return q.toFloat(digits) + r.toFloat(digits)/power
}

// quoRem divides by 10^n, truncating.
func (a i128) quoRem(n int32) (q, r i128) {
	if n > 19 {
		bq, br := new(big.Int).QuoRem(a.big(), powerOfTen(n).big(), new(big.Int))
		return fromNum(decimal128.FromBigInt(bq)), fromNum(decimal128.FromBigInt(br))
	}
	hi, lo, negative := a.magnitude()
	ten := powerOfTen(n).lo
	qhi, rest := bits.Div64(0, hi, ten)
	qlo, rest := bits.Div64(rest, lo, ten)
	q, r = i128{lo: qlo, hi: int64(qhi)}, i128{lo: rest}
	if negative {
		return q.negate(), r.negate()
	}
	return q, r
}

func exactFloat(v int64) bool { return -1<<53 <= v && v <= 1<<53 }

// toFloat converts an integer that DuckDB keeps in 64 or in 128 bits.
func (a i128) toFloat(digits int32) float64 {
	switch {
	case digits <= 18:
		return float64(int64(a.lo))
	case a.hi == -1:
		return -float64(^uint64(0)-a.lo) - 1
	}
	return float64(a.lo) + float64(a.hi)*float64(1<<64)
}

var tenToThe = [39]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38,
}
