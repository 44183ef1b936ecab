package eval

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

// literalNode yields one value for all rows.
type literalNode[T any] struct {
	value T
	valid bool
	// single: the only reader looks at the first value alone.
	single bool
	vals   []T
	none   []uint64
	out    col[T]
}

func (l *literalNode[T]) eval(f *frame) (vec, error) {
	if l.vals == nil {
		l.vals = make([]T, l.size())
		for i := range l.vals {
			l.vals[i] = l.value
		}
	}
	l.out = col[T]{vals: l.vals[:min(f.n, l.size())], konst: true}
	if !l.valid {
		l.none = resize(l.none, wordsFor(f.n))
		clear(l.none)
		l.out.valid = l.none
	}
	return &l.out, nil
}

func (l *literalNode[T]) size() int {
	if l.single {
		return 1
	}
	return chunkRows
}

// markSingle keeps the literal of a comparison short: a filter may have
// thousands.
func markSingle[T any](l, r node) {
	if right, ok := r.(*literalNode[T]); ok {
		right.single = true
	} else if left, ok := l.(*literalNode[T]); ok {
		left.single = true
	}
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
