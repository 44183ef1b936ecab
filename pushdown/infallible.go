package pushdown

import "github.com/apache/arrow-go/v18/arrow"

// Infallible reports that evaluating e can never raise an error, whatever the
// rows hold. An infallible expression may run on rows that do not need it.
func Infallible(e Expr) bool {
	switch e := e.(type) {
	case Arith:
		if !arithFits(e) {
			return false
		}
	case Cast:
		if !castFits(e.Arg.Type(), e.DataType) {
			return false
		}
	case Call:
		if !callFits(e) {
			return false
		}
	}
	for _, c := range Children(e) {
		if !Infallible(c) {
			return false
		}
	}
	return true
}

// arithFits reports that the result type holds every result: always for floats,
// never for integers.
func arithFits(e Arith) bool {
	if f, _ := FamilyOf(e.DataType); f == FamilyFloat {
		return true
	}
	l, okL := ValueType(e.Left.Type()).(*arrow.Decimal128Type)
	r, okR := ValueType(e.Right.Type()).(*arrow.Decimal128Type)
	t, okT := e.DataType.(*arrow.Decimal128Type)
	if !okL || !okR || !okT {
		return false
	}
	if e.Op == Multiply {
		return l.Precision+r.Precision <= t.Precision
	}
	return max(l.Precision, r.Precision) < t.Precision
}

// castFits reports that every value of from has a value in to.
func castFits(from, to arrow.DataType) bool {
	from = ValueType(from)
	if sameValues(from, to) {
		return true
	}
	switch to := to.(type) {
	case *arrow.Decimal128Type:
		if d, ok := from.(*arrow.Decimal128Type); ok {
			return rescaleFits(d, to)
		}
		return integerDigits(from.ID()) <= to.Precision-to.Scale
	case *arrow.TimestampType:
		return false
	}
	if to.ID() == arrow.FLOAT64 {
		return true
	}
	return integerFits(from.ID(), to.ID())
}

// rescaleFits: rounding away digits may carry into one more integer digit.
func rescaleFits(from, to *arrow.Decimal128Type) bool {
	have, want := from.Precision-from.Scale, to.Precision-to.Scale
	if to.Scale < from.Scale {
		return have < want
	}
	return have <= want
}

func integerDigits(id arrow.Type) int32 {
	switch id {
	case arrow.INT8, arrow.UINT8:
		return 3
	case arrow.INT16, arrow.UINT16:
		return 5
	case arrow.INT32, arrow.UINT32:
		return 10
	case arrow.INT64:
		return 19
	}
	return 20
}

func integerFits(from, to arrow.Type) bool {
	if !arrow.IsInteger(from) || !arrow.IsInteger(to) {
		return false
	}
	unsignedFrom, unsignedTo := arrow.IsUnsignedInteger(from), arrow.IsUnsignedInteger(to)
	if unsignedFrom == unsignedTo {
		return integerDigits(from) <= integerDigits(to)
	}
	return unsignedFrom && integerDigits(from) < integerDigits(to)
}
