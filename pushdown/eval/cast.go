package eval

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// conversion turns values of one storage into another.
type conversion[S, D any] struct {
	// run sets dst and reports whether any value may not fit.
	run func(dst []D, src []S) (bad bool)
	// wrong reports whether one value does not fit.
	wrong func(v S) bool
	// describe names a value.
	describe func(v S) string
}

// castNode converts between storages.
type castNode[S, D any] struct {
	arg  node
	conv conversion[S, D]
	to   arrow.DataType
	out  col[D]
}

func (n *castNode[S, D]) eval(f *frame) (vec, error) {
	v, err := evalCol[S](n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.vals = resize(n.out.vals, f.n)
	n.out.valid = v.valid
	if n.conv.run(n.out.vals, v.vals) {
		return &n.out, n.firstError(v)
	}
	return &n.out, nil
}

func (n *castNode[S, D]) firstError(v *col[S]) error {
	for i, x := range v.vals {
		if (v.valid == nil || bit(v.valid, i)) && n.conv.wrong(x) {
			return status.New(status.OutOfRange, "the value %s does not fit %s", n.conv.describe(x), n.to)
		}
	}
	return nil
}

func describePlain[T any](v T) string { return fmt.Sprint(v) }

func toInteger[S, D integer]() conversion[S, D] {
	fits := func(v S) bool { return S(D(v)) == v && (D(v) < 0) == (v < 0) }
	return conversion[S, D]{
		run: func(dst []D, src []S) bool {
			var bad uint64
			for i, v := range src {
				d := D(v)
				dst[i] = d
				bad |= b2u(S(d) != v) | b2u(d < 0) ^ b2u(v < 0)
			}
			return bad != 0
		},
		wrong:    func(v S) bool { return !fits(v) },
		describe: describePlain[S],
	}
}

func numberToFloat[S number]() conversion[S, float64] {
	return conversion[S, float64]{run: func(dst []float64, src []S) bool {
		for i, v := range src {
			dst[i] = float64(v)
		}
		return false
	}}
}

func widen[T integer](v T) i128 {
	if v >= 0 {
		return i128{lo: uint64(v)}
	}
	return wide(int64(v))
}

func integerToDecimal[S integer](t *arrow.Decimal128Type) conversion[S, i128] {
	factor, limit := powerOfTen(t.Scale), powerOfTen(t.Precision)
	return conversion[S, i128]{
		run: func(dst []i128, src []S) (bad bool) {
			for i, v := range src {
				r, ok := widen(v).mul(factor)
				dst[i] = r
				if !ok || !r.within(limit) {
					bad = true
				}
			}
			return bad
		},
		wrong: func(v S) bool {
			r, ok := widen(v).mul(factor)
			return !ok || !r.within(limit)
		},
		describe: describePlain[S],
	}
}

func rescale(from, to *arrow.Decimal128Type) conversion[i128, i128] {
	limit := powerOfTen(to.Precision)
	one := func(v i128) (i128, bool) { return v, true }
	switch down := from.Scale - to.Scale; {
	case down > 0:
		one = func(v i128) (i128, bool) { return v.divide(down), true }
	case down < 0:
		factor := powerOfTen(-down)
		one = func(v i128) (i128, bool) { return v.mul(factor) }
	}
	wrong := func(v i128) bool {
		r, ok := one(v)
		return !ok || !r.within(limit)
	}
	return conversion[i128, i128]{
		run: func(dst, src []i128) (bad bool) {
			for i, v := range src {
				r, ok := one(v)
				dst[i] = r
				if !ok || !r.within(limit) {
					bad = true
				}
			}
			return bad
		},
		wrong:    wrong,
		describe: func(v i128) string { return decimalString(v, from) },
	}
}

func decimalString(v i128, t *arrow.Decimal128Type) string {
	return fmt.Sprintf("%s (unscaled %s)", t, v.big())
}

func decimalToFloat(t *arrow.Decimal128Type) conversion[i128, float64] {
	return conversion[i128, float64]{run: func(dst []float64, src []i128) bool {
		for i, v := range src {
			dst[i] = v.float(t.Scale, t.Precision)
		}
		return false
	}}
}

const microsPerDay = 86_400_000_000

// The largest values stand for infinity, their negations for minus infinity.
func infinite[T int32 | int64](v, limit T) bool { return v == limit || v == -limit }

func dateToTimestamp() conversion[int32, int64] {
	one := func(v int32) (int64, uint64) {
		if infinite(v, math.MaxInt32) {
			return int64(v) / math.MaxInt32 * math.MaxInt64, 0
		}
		return mulInt64(int64(v), microsPerDay)
	}
	return checkedConversion(one, func(v int32) string { return fmt.Sprintf("day %d since 1970-01-01", v) })
}

func scaleTimestamp(factor int64) conversion[int64, int64] {
	one := func(v int64) (int64, uint64) {
		if infinite(v, math.MaxInt64) {
			return v, 0
		}
		return mulInt64(v, factor)
	}
	return checkedConversion(one, func(v int64) string { return fmt.Sprintf("timestamp %d", v) })
}

func checkedConversion[S, D any](one func(S) (D, uint64), describe func(S) string) conversion[S, D] {
	return conversion[S, D]{
		run: func(dst []D, src []S) bool {
			var bad uint64
			for i, v := range src {
				r, over := one(v)
				dst[i] = r
				bad |= over
			}
			return bad != 0
		},
		wrong: func(v S) bool {
			_, over := one(v)
			return over != 0
		},
		describe: describe,
	}
}
