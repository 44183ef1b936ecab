package plan

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// known is what is known of a column in a partition.
type known struct {
	// lo and hi are bounds of the values, nil when unknown.
	lo, hi scalar.Scalar
	// set are all values that it may have, nil when unknown.
	set []scalar.Scalar
	// values and nulls: the column may have some.
	values, nulls bool
}

// isBound reports whether v is a value of an ordered type.
func isBound(v scalar.Scalar, t arrow.DataType) bool {
	return v != nil && v.IsValid() && ordered(t) && arrow.TypeEqual(v.DataType(), t)
}

// position says where the values of a column may lie relative to a constant.
type position struct{ below, at, above bool }

func (c known) where(v scalar.Scalar) position {
	p := position{true, true, true}
	if lo, ok := compareScalars(c.lo, v); ok {
		p.below = lo < 0
		p.at = lo <= 0
	}
	if hi, ok := compareScalars(c.hi, v); ok {
		p.above = hi > 0
		p.at = p.at && hi >= 0
	}
	if c.set != nil {
		s := whereOf(c.set, v)
		p = position{p.below && s.below, p.at && s.at, p.above && s.above}
	}
	return p
}

// truth is the comparison of the column's values with the constant.
func (p position) truth(op pushdown.CompareOp) truth {
	switch op {
	case pushdown.Equal, pushdown.NotDistinct:
		return sides(p.at, p.below || p.above)
	case pushdown.NotEqual, pushdown.Distinct:
		return sides(p.below || p.above, p.at)
	case pushdown.Less:
		return sides(p.below, p.at || p.above)
	case pushdown.LessEqual:
		return sides(p.below || p.at, p.above)
	case pushdown.Greater:
		return sides(p.above, p.at || p.below)
	case pushdown.GreaterEqual:
		return sides(p.above || p.at, p.below)
	}
	return anything
}

func sides(yes, no bool) truth {
	var out truth
	if yes {
		out |= mayTrue
	}
	if no {
		out |= mayFalse
	}
	return out
}

// mayBegin reports whether a value may begin with prefix.
func (c known) mayBegin(prefix string) bool {
	if c.set != nil {
		return slices.ContainsFunc(c.set, func(v scalar.Scalar) bool { return known{lo: v, hi: v}.mayBegin(prefix) })
	}
	lo, loOK := c.lo.(scalar.BinaryScalar)
	hi, hiOK := c.hi.(scalar.BinaryScalar)
	if loOK && bytes.Compare(lo.Data()[:min(len(prefix), len(lo.Data()))], []byte(prefix)) > 0 {
		return false
	}
	return !hiOK || bytes.Compare(hi.Data(), []byte(prefix)) >= 0
}

// compareScalars orders two values of one ordered type; not ok when they are
// missing or of different types.
func compareScalars(a, b scalar.Scalar) (order int, ok bool) {
	if a == nil || b == nil || !a.IsValid() || !b.IsValid() {
		return 0, false
	}
	if x, isText := a.(scalar.BinaryScalar); isText {
		y, both := b.(scalar.BinaryScalar)
		if !both || !ordered(a.DataType()) || !ordered(b.DataType()) {
			return 0, false
		}
		return bytes.Compare(x.Data(), y.Data()), true
	}
	if x, isDecimal := a.(*scalar.Decimal128); isDecimal {
		return compareDecimals(x, b)
	}
	if !arrow.TypeEqual(a.DataType(), b.DataType()) {
		return 0, false
	}
	if x, y, ok := pair[*scalar.Uint64](a, b); ok {
		return cmp.Compare(x.Value, y.Value), true
	}
	x, okA := intOf(a)
	y, okB := intOf(b)
	return cmp.Compare(x, y), okA && okB
}

func pair[T scalar.Scalar](a, b scalar.Scalar) (x, y T, ok bool) {
	x, okA := a.(T)
	y, okB := b.(T)
	return x, y, okA && okB
}

// compareDecimals needs equal scales; precisions only bound the values.
func compareDecimals(x *scalar.Decimal128, b scalar.Scalar) (int, bool) {
	y, ok := b.(*scalar.Decimal128)
	if !ok {
		return 0, false
	}
	s, okA := x.DataType().(*arrow.Decimal128Type)
	t, okB := y.DataType().(*arrow.Decimal128Type)
	if !okA || !okB || s.Scale != t.Scale {
		return 0, false
	}
	return x.Value.Cmp(y.Value), true
}

// intOf is the number inside a value that fits 64 bits.
func intOf(s scalar.Scalar) (int64, bool) {
	switch s := s.(type) {
	case *scalar.Int8:
		return int64(s.Value), true
	case *scalar.Int16:
		return int64(s.Value), true
	case *scalar.Int32:
		return int64(s.Value), true
	case *scalar.Int64:
		return s.Value, true
	case *scalar.Uint8:
		return int64(s.Value), true
	case *scalar.Uint16:
		return int64(s.Value), true
	case *scalar.Uint32:
		return int64(s.Value), true
	case *scalar.Date32:
		return int64(s.Value), true
	case *scalar.Time64:
		return int64(s.Value), true
	case *scalar.Timestamp:
		return int64(s.Value), true
	}
	return 0, false
}

func boolOf(s scalar.Scalar) (value, ok bool) {
	b, ok := s.(*scalar.Boolean)
	return ok && b.Value, ok
}
