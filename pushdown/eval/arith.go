package eval

import (
	"fmt"
	"math/bits"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// arithmetic is one operator over one storage.
type arithmetic[T any] struct {
	// run sets dst to the results and reports whether any may be wrong.
	run func(dst, a, b []T) (bad bool)
	// wrong reports whether the result of one row is wrong; nil if never.
	wrong func(a, b T) bool
	// describe names a failed operation.
	describe func(a, b T) string
}

// arithNode adds, subtracts or multiplies.
type arithNode[T any] struct {
	left, right node
	op          arithmetic[T]
	valid       []uint64
	out         col[T]
}

func (n *arithNode[T]) eval(f *frame) (vec, error) {
	l, err := evalCol[T](n.left, f)
	if err != nil {
		return nil, err
	}
	r, err := evalCol[T](n.right, f)
	if err != nil {
		return nil, err
	}
	n.out.vals = resize(n.out.vals, f.n)
	bad := n.op.run(n.out.vals, l.vals, r.vals)
	n.out.valid = andValid(n.valid, l.valid, r.valid)
	if l.valid != nil && r.valid != nil {
		n.valid = n.out.valid
	}
	if bad {
		return &n.out, n.firstError(l.vals, r.vals)
	}
	return &n.out, nil
}

// firstError looks for a row that failed and is not NULL.
func (n *arithNode[T]) firstError(l, r []T) error {
	for i := range l {
		if (n.out.valid == nil || bit(n.out.valid, i)) && n.op.wrong(l[i], r[i]) {
			return status.New(status.OutOfRange, "overflow in %s", n.op.describe(l[i], r[i]))
		}
	}
	return nil
}

var operationText = [...]string{
	pushdown.Add: "addition", pushdown.Subtract: "subtraction", pushdown.Multiply: "multiplication",
}

func describeNumbers[T integer](op pushdown.ArithOp) func(a, b T) string {
	return func(a, b T) string { return fmt.Sprintf("%s of %T (%d %s %d)", operationText[op], a, a, op, b) }
}

// narrowArith works on up to 32 bits: the 64-bit result shows the overflow.
func narrowArith[T integer](op pushdown.ArithOp) arithmetic[T] {
	var one func(a, b int64) int64
	run := narrowAdd[T]
	switch op {
	case pushdown.Add:
		one = func(a, b int64) int64 { return a + b }
	case pushdown.Subtract:
		one, run = func(a, b int64) int64 { return a - b }, narrowSub[T]
	default:
		one, run = func(a, b int64) int64 { return a * b }, narrowMul[T]
	}
	wrong := func(a, b T) bool {
		r := one(int64(a), int64(b))
		return int64(T(r)) != r
	}
	return arithmetic[T]{run: run, wrong: wrong, describe: describeNumbers[T](op)}
}

func narrowAdd[T integer](dst, a, b []T) bool {
	var bad int64
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		r := int64(a[i]) + int64(b[i])
		dst[i] = T(r)
		bad |= r ^ int64(T(r))
	}
	return bad != 0
}

func narrowSub[T integer](dst, a, b []T) bool {
	var bad int64
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		r := int64(a[i]) - int64(b[i])
		dst[i] = T(r)
		bad |= r ^ int64(T(r))
	}
	return bad != 0
}

func narrowMul[T integer](dst, a, b []T) bool {
	var bad int64
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		r := int64(a[i]) * int64(b[i])
		dst[i] = T(r)
		bad |= r ^ int64(T(r))
	}
	return bad != 0
}

// wordArith is arithmetic of 64 bits, where one yields the result and not zero
// when it overflowed.
func wordArith[T integer](op pushdown.ArithOp, one func(a, b T) (T, uint64)) arithmetic[T] {
	run := func(dst, a, b []T) bool {
		var bad uint64
		a, b = a[:len(dst)], b[:len(dst)]
		for i := range dst {
			r, over := one(a[i], b[i])
			dst[i] = r
			bad |= over
		}
		return bad != 0
	}
	wrong := func(a, b T) bool {
		_, over := one(a, b)
		return over != 0
	}
	return arithmetic[T]{run: run, wrong: wrong, describe: describeNumbers[T](op)}
}

func int64Arith(op pushdown.ArithOp) arithmetic[int64] {
	switch op {
	case pushdown.Add:
		return wordArith(op, addInt64)
	case pushdown.Subtract:
		return wordArith(op, subInt64)
	}
	return wordArith(op, mulInt64)
}

func addInt64(a, b int64) (int64, uint64) {
	r := a + b
	return r, uint64((a^r)&(b^r)) >> 63
}

func subInt64(a, b int64) (int64, uint64) {
	r := a - b
	return r, uint64((a^b)&(a^r)) >> 63
}

func mulInt64(a, b int64) (int64, uint64) {
	hi, lo := mulSigned(a, b)
	return int64(lo), uint64(hi ^ int64(lo)>>63)
}

// mulSigned is the 128-bit product.
func mulSigned(a, b int64) (hi int64, lo uint64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	return int64(h) - (a >> 63 & b) - (b >> 63 & a), l
}

func uint64Arith(op pushdown.ArithOp) arithmetic[uint64] {
	switch op {
	case pushdown.Add:
		return wordArith(op, func(a, b uint64) (uint64, uint64) { return bits.Add64(a, b, 0) })
	case pushdown.Subtract:
		return wordArith(op, func(a, b uint64) (uint64, uint64) { return bits.Sub64(a, b, 0) })
	}
	return wordArith(op, func(a, b uint64) (uint64, uint64) {
		hi, lo := bits.Mul64(a, b)
		return lo, hi
	})
}

func floatArith[T float](op pushdown.ArithOp) arithmetic[T] {
	switch op {
	case pushdown.Add:
		return arithmetic[T]{run: floatAdd[T]}
	case pushdown.Subtract:
		return arithmetic[T]{run: floatSub[T]}
	}
	return arithmetic[T]{run: floatMul[T]}
}

func floatAdd[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
	return false
}

func floatSub[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
	return false
}

func floatMul[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] * b[i]
	}
	return false
}
