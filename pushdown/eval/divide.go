package eval

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func absNode(arg node, t arrow.DataType) node {
	switch t.ID() {
	case arrow.INT8:
		return absInteger[int8](arg, t)
	case arrow.INT16:
		return absInteger[int16](arg, t)
	case arrow.INT32:
		return absInteger[int32](arg, t)
	case arrow.INT64:
		return absInteger[int64](arg, t)
	case arrow.FLOAT32:
		return &mapNode[float32, float32]{arg: arg, one: func(v float32) float32 { return float32(math.Abs(float64(v))) }}
	case arrow.FLOAT64:
		return &mapNode[float64, float64]{arg: arg, one: math.Abs}
	}
	return arg // unsigned
}

func absInteger[T integer](arg node, t arrow.DataType) node {
	one := func(v T) (T, uint64) {
		if v < 0 {
			v = -v
		}
		return v, b2u(v < 0)
	}
	return &castNode[T, T]{arg: arg, to: t, conv: checkedConversion(one, func(v T) string { return fmt.Sprintf("abs(%d)", v) })}
}

func divideNode(e pushdown.Call, l, r node) node {
	switch e.DataType.ID() {
	case arrow.INT8:
		return integerDivision[int8](e, l, r)
	case arrow.INT16:
		return integerDivision[int16](e, l, r)
	case arrow.INT32:
		return integerDivision[int32](e, l, r)
	case arrow.INT64:
		return integerDivision[int64](e, l, r)
	case arrow.UINT8:
		return integerDivision[uint8](e, l, r)
	case arrow.UINT16:
		return integerDivision[uint16](e, l, r)
	case arrow.UINT32:
		return integerDivision[uint32](e, l, r)
	case arrow.UINT64:
		return integerDivision[uint64](e, l, r)
	case arrow.FLOAT32:
		return &arithNode[float32]{left: l, right: r, op: arithmetic[float32]{run: floatDivide[float32]}}
	}
	return &arithNode[float64]{left: l, right: r, op: arithmetic[float64]{run: floatDivide[float64]}}
}

func floatDivide[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / b[i]
	}
	return false
}

// divisionNode divides integers; by 0 yields NULL.
type divisionNode[T integer] struct {
	left, right node
	modulo      bool
	valid       []uint64
	both        []uint64
	out         col[T]
}

func integerDivision[T integer](e pushdown.Call, l, r node) node {
	return &divisionNode[T]{left: l, right: r, modulo: e.Func == pushdown.FuncModulo}
}

func (n *divisionNode[T]) eval(f *frame) (vec, error) {
	l, err := evalCol[T](n.left, f)
	if err != nil {
		return nil, err
	}
	r, err := evalCol[T](n.right, f)
	if err != nil {
		return nil, err
	}
	n.out.vals = resize(n.out.vals, f.n)
	both := andValid(n.both, l.valid, r.valid)
	if l.valid != nil && r.valid != nil {
		n.both = both
	}
	n.valid = ownValid(n.valid, both, f.n)
	n.out.valid = n.valid
	for i := range n.out.vals {
		if !bit(n.valid, i) {
			continue
		}
		a, b := l.vals[i], r.vals[i]
		switch {
		case b == 0:
			n.valid[i>>6] &^= 1 << (i & 63)
		case overflows(a, b):
			return nil, status.New(status.OutOfRange, "overflow in division of %d / %d", a, b)
		case n.modulo:
			n.out.vals[i] = a % b
		default:
			n.out.vals[i] = a / b
		}
	}
	return &n.out, nil
}

// overflows: the least value divided by -1.
func overflows[T integer](a, b T) bool { return a != 0 && a == -a && b == ^T(0) && b < 0 }
