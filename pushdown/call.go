package pushdown

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

// Func is a scalar function. Numbers are on the wire and never reused.
type Func uint8

// The functions. The parts of a date32 or timestamp[us] without zone are int64
// and NULL for the infinities; the truncations yield timestamp[us] and keep the
// infinities. Lower, upper, length, substring, left and right work on Unicode
// code points; positions are int64 literals from 1, lengths from 0, to MaxInt32.
// Modulo and integer division round towards zero and are NULL where the divisor
// is 0; FuncDivide is of floats, as IEEE 754 has it.
const (
	FuncYear Func = iota + 1
	FuncQuarter
	FuncMonth
	FuncDay
	FuncHour
	FuncMinute
	FuncSecond
	FuncTruncYear
	FuncTruncQuarter
	FuncTruncMonth
	FuncTruncWeek
	FuncTruncDay
	FuncTruncHour
	FuncTruncMinute
	FuncTruncSecond
	FuncLower
	FuncUpper
	FuncLength
	FuncSubstring
	FuncLeft
	FuncRight
	FuncModulo
	FuncIntegerDivide
	FuncDivide
	FuncAbs
	lastFunc = FuncAbs
)

var funcText = [...]string{
	FuncYear: "year", FuncQuarter: "quarter", FuncMonth: "month", FuncDay: "day", FuncHour: "hour", FuncMinute: "minute", FuncSecond: "second",
	FuncTruncYear: "trunc_year", FuncTruncQuarter: "trunc_quarter", FuncTruncMonth: "trunc_month", FuncTruncWeek: "trunc_week",
	FuncTruncDay: "trunc_day", FuncTruncHour: "trunc_hour", FuncTruncMinute: "trunc_minute", FuncTruncSecond: "trunc_second",
	FuncLower: "lower", FuncUpper: "upper", FuncLength: "length", FuncSubstring: "substring", FuncLeft: "left", FuncRight: "right",
	FuncModulo: "modulo", FuncIntegerDivide: "integer_divide", FuncDivide: "divide", FuncAbs: "abs",
}

// String returns the function's name.
func (f Func) String() string { return named(funcText[:], int(f)) }

// Call applies a function. Validate says which types it takes.
type Call struct {
	Func     Func
	Args     []Expr
	DataType arrow.DataType
}

func (Call) isExpr() {}

// Type returns the declared result type.
func (e Call) Type() arrow.DataType { return e.DataType }

// IsPart reports that f yields a part of a date.
func (f Func) IsPart() bool { return f >= FuncYear && f <= FuncSecond }

// IsTrunc reports that f truncates a timestamp.
func (f Func) IsTrunc() bool { return f >= FuncTruncYear && f <= FuncTruncSecond }

func checkCall(e Call) error {
	if e.Func < FuncYear || e.Func > lastFunc {
		return unsupported("unknown function %d", e.Func)
	}
	if e.DataType == nil || len(e.Args) == 0 || !callTyped(e) {
		var types []string
		for _, a := range e.Args {
			types = append(types, typeText(a.Type()))
		}
		return unsupported("no function %s of %v giving %s", e.Func, types, typeText(e.DataType))
	}
	return nil
}

func callTyped(e Call) bool {
	arg := ValueType(e.Args[0].Type())
	family, _ := FamilyOf(arg)
	switch {
	case e.Func.IsPart():
		return len(e.Args) == 1 && isInstant(arg) && e.DataType.ID() == arrow.INT64
	case e.Func.IsTrunc():
		return len(e.Args) == 1 && isInstant(arg) && isMicros(e.DataType)
	case e.Func == FuncLength:
		return len(e.Args) == 1 && family == FamilyString && e.DataType.ID() == arrow.INT64
	case e.Func == FuncAbs:
		return len(e.Args) == 1 && absTyped(family) && arrow.TypeEqual(arg, e.DataType)
	case e.Func >= FuncModulo:
		return dividesTyped(e, family)
	}
	target, _ := FamilyOf(e.DataType)
	return family == FamilyString && target == FamilyString && !isDictionary(e.DataType) && positionsTyped(e)
}

// absTyped: a decimal that carries HUGEINT differs from a true one at its ends.
func absTyped(f Family) bool { return f == FamilyInt || f == FamilyFloat }

func dividesTyped(e Call, family Family) bool {
	want := FamilyInt
	if e.Func == FuncDivide {
		want = FamilyFloat
	}
	return len(e.Args) == 2 && family == want && arrow.TypeEqual(ValueType(e.Args[0].Type()), e.DataType) &&
		arrow.TypeEqual(ValueType(e.Args[1].Type()), e.DataType)
}

func positionsTyped(e Call) bool {
	positions := e.Args[1:]
	least := []int64{0}
	switch e.Func {
	case FuncLower, FuncUpper:
		return len(positions) == 0
	case FuncSubstring:
		least = []int64{1, 0}
		if len(positions) == 1 {
			least = least[:1]
		}
	}
	if len(positions) != len(least) {
		return false
	}
	for i, p := range positions {
		if n, ok := position(p); !ok || n < least[i] || n > math.MaxInt32 {
			return false
		}
	}
	return true
}

func position(e Expr) (int64, bool) {
	l, ok := e.(Literal)
	if !ok {
		return 0, false
	}
	n, ok := l.Value.(*scalar.Int64)
	if !ok || !n.Valid {
		return 0, false
	}
	return n.Value, true
}

// Positions are the start and the length that FuncSubstring, FuncLeft and
// FuncRight have as literals. Those of FuncLeft start at 1.
func (e Call) Positions() (start, length int64) {
	start, length = 1, math.MaxInt64
	for i, a := range e.Args[1:] {
		n, _ := position(a)
		if i == 0 && e.Func == FuncSubstring {
			start = n
		} else {
			length = n
		}
	}
	return start, length
}

func isInstant(t arrow.DataType) bool { return t.ID() == arrow.DATE32 || isMicros(t) }

func isMicros(t arrow.DataType) bool {
	ts, ok := t.(*arrow.TimestampType)
	return ok && ts != nil && ts.Unit == arrow.Microsecond && ts.TimeZone == ""
}

// callFits reports that the function itself never fails.
func callFits(e Call) bool {
	switch {
	case e.Func.IsTrunc():
		return false
	case e.Func == FuncModulo, e.Func == FuncIntegerDivide:
		return arrow.IsUnsignedInteger(e.DataType.ID()) || isOtherThanMinusOne(e.Args[1])
	case e.Func == FuncAbs:
		return arrow.IsUnsignedInteger(e.DataType.ID()) || arrow.IsFloating(e.DataType.ID())
	}
	return true
}

// isOtherThanMinusOne: only dividing by -1 overflows.
func isOtherThanMinusOne(e Expr) bool {
	l, ok := e.(Literal)
	return ok && (!l.Value.IsValid() || l.Value.String() != "-1")
}
