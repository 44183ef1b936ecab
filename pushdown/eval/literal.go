package eval

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

// literalNode yields one value for all rows.
type literalNode[T any] struct {
	out  col[T]
	view col[T]
}

func newLiteral[T any](value T, valid bool) *literalNode[T] {
	c := col[T]{vals: make([]T, chunkRows), konst: true}
	for i := range c.vals {
		c.vals[i] = value
	}
	if !valid {
		c.valid = make([]uint64, chunkWords)
	}
	return &literalNode[T]{out: c}
}

func (l *literalNode[T]) eval(f *frame) (vec, error) {
	l.view = l.out
	l.view.vals = l.out.vals[:f.n]
	if l.out.valid != nil {
		l.view.valid = l.out.valid[:wordsFor(f.n)]
	}
	return &l.view, nil
}

// boolLiteral is a literalNode of a boolean.
type boolLiteral struct {
	value scalar.Scalar
	out   truth
}

func (l *boolLiteral) eval(f *frame) (vec, error) {
	l.out.resize(f.n)
	clear(l.out.yes)
	clear(l.out.no)
	if b, ok := l.value.(*scalar.Boolean); ok && b.Valid {
		if b.Value {
			fill(l.out.yes, f.n)
		} else {
			fill(l.out.no, f.n)
		}
	}
	return &l.out, nil
}

// scalarValue is the Go value of a valid scalar; T is its storage.
func scalarValue[T any](s scalar.Scalar) T {
	var v T
	switch p := any(&v).(type) {
	case *string:
		*p = string(s.(scalar.BinaryScalar).Data())
	case *i128:
		*p = fromNum(s.(*scalar.Decimal128).Value)
	default:
		data := s.(scalar.PrimitiveScalar).Data()
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)), data)
	}
	return v
}

func fromNum(n decimal128.Num) i128 { return i128{lo: n.LowBits(), hi: n.HighBits()} }
