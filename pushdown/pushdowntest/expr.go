package pushdowntest

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Row is one row of a table by column name.
type Row map[string]any

// Eval is the value of e for a row. The error is OutOfRange.
func Eval(e pushdown.Expr, row Row) (any, error) {
	switch e := e.(type) {
	case pushdown.Column:
		return row[e.Name], nil
	case pushdown.Literal:
		return literalValue(e), nil
	case pushdown.Case:
		return evalCase(e, row)
	}
	args, err := evalAll(pushdown.Children(e), row)
	if err != nil {
		return nil, err
	}
	switch e := e.(type) {
	case pushdown.Compare:
		return compareOp(e.Op, args[0], args[1]), nil
	case pushdown.And:
		return connect(args, false), nil
	case pushdown.Or:
		return connect(args, true), nil
	case pushdown.Not:
		return negate(args[0], true), nil
	case pushdown.IsNull:
		return (args[0] == nil) != e.Negated, nil
	case pushdown.In:
		return negate(member(args[0], e.Values), e.Negated), nil
	case pushdown.Like:
		if args[0] == nil {
			return nil, nil
		}
		return like(e, args[0].(string)) != e.Negated, nil
	case pushdown.Arith:
		return arith(e, args[0], args[1])
	case pushdown.Cast:
		return cast(args[0], pushdown.ValueType(e.Arg.Type()), e.DataType)
	case pushdown.Call:
		return call(e, args)
	}
	return firstValue(args), nil // Coalesce
}

func evalAll(exprs []pushdown.Expr, row Row) ([]any, error) {
	out := make([]any, len(exprs))
	for i, e := range exprs {
		v, err := Eval(e, row)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func literalValue(e pushdown.Literal) any {
	arr, err := scalar.MakeArrayFromScalar(e.Value, 1, memory.DefaultAllocator)
	if err != nil {
		panic(err)
	}
	defer arr.Release()
	return ValueAt(arr, 0)
}

func evalCase(e pushdown.Case, row Row) (any, error) {
	for _, w := range e.Whens {
		cond, err := Eval(w.Cond, row)
		if err != nil {
			return nil, err
		}
		if cond == true {
			return Eval(w.Then, row)
		}
	}
	if e.Else == nil {
		return nil, nil
	}
	return Eval(e.Else, row)
}

func compareOp(op pushdown.CompareOp, a, b any) any {
	switch op {
	case pushdown.Distinct:
		return !same(a, b)
	case pushdown.NotDistinct:
		return same(a, b)
	}
	if a == nil || b == nil {
		return nil
	}
	c := Compare(a, b)
	switch op {
	case pushdown.Equal:
		return c == 0
	case pushdown.NotEqual:
		return c != 0
	case pushdown.Less:
		return c < 0
	case pushdown.LessEqual:
		return c <= 0
	case pushdown.Greater:
		return c > 0
	}
	return c >= 0
}

func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return Compare(a, b) == 0
}

// connect is OR when decisive is true, AND when it is false.
func connect(args []any, decisive bool) any {
	unknown := false
	for _, a := range args {
		if a == decisive {
			return decisive
		}
		unknown = unknown || a == nil
	}
	if unknown {
		return nil
	}
	return !decisive
}

func negate(v any, do bool) any {
	if v == nil || !do {
		return v
	}
	return !v.(bool)
}

func member(v any, list []pushdown.Literal) any {
	if v == nil {
		return nil
	}
	var miss any = false
	for _, l := range list {
		x := literalValue(l)
		if x == nil {
			miss = nil
		} else if Compare(v, x) == 0 {
			return true
		}
	}
	return miss
}

func like(e pushdown.Like, s string) bool {
	switch e.Kind {
	case pushdown.LikePrefix:
		return strings.HasPrefix(s, e.Pattern)
	case pushdown.LikeSuffix:
		return strings.HasSuffix(s, e.Pattern)
	case pushdown.LikeContains:
		return strings.Contains(s, e.Pattern)
	}
	return match(e.Pattern, s)
}

func match(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	switch pattern[0] {
	case '%':
		for i := 0; i <= len(s); i++ {
			if match(pattern[1:], s[i:]) {
				return true
			}
		}
		return false
	case '_':
		_, n := utf8.DecodeRuneInString(s)
		return s != "" && match(pattern[1:], s[n:])
	}
	return s != "" && s[0] == pattern[0] && match(pattern[1:], s[1:])
}

func firstValue(args []any) any {
	for _, a := range args {
		if a != nil {
			return a
		}
	}
	return nil
}

func arith(e pushdown.Arith, a, b any) (any, error) {
	if a == nil || b == nil {
		return nil, nil
	}
	if x, ok := a.(float64); ok {
		return floatArith(e, x, b.(float64)), nil
	}
	x, y, z := a.(*big.Int), b.(*big.Int), new(big.Int)
	switch e.Op {
	case pushdown.Add:
		z.Add(x, y)
	case pushdown.Subtract:
		z.Sub(x, y)
	default:
		z.Mul(x, y)
	}
	return inRange(z, e.DataType)
}

func floatArith(e pushdown.Arith, x, y float64) float64 {
	var z float64
	switch e.Op {
	case pushdown.Add:
		z = x + y
	case pushdown.Subtract:
		z = x - y
	default:
		z = x * y
	}
	if e.DataType.ID() == arrow.FLOAT32 {
		return float64(float32(z)) // one rounding suffices: 53 >= 2*24+2
	}
	return z
}

// inRange returns v when it is a value of dt.
func inRange(v *big.Int, dt arrow.DataType) (any, error) {
	lo, hi := Range(dt)
	if v.Cmp(lo) < 0 || v.Cmp(hi) > 0 {
		return nil, status.New(status.OutOfRange, "%s is outside %s", v, dt)
	}
	return v, nil
}

// Range is the least and the greatest value of an integer-like or decimal type.
func Range(dt arrow.DataType) (lo, hi *big.Int) {
	one := big.NewInt(1)
	if d, ok := dt.(*arrow.Decimal128Type); ok {
		hi = pow10(d.Precision)
		hi.Sub(hi, one)
		return new(big.Int).Neg(hi), hi
	}
	bits := uint(dt.(arrow.FixedWidthDataType).BitWidth())
	if arrow.IsUnsignedInteger(dt.ID()) {
		hi = new(big.Int).Lsh(one, bits)
		return new(big.Int), hi.Sub(hi, one)
	}
	hi = new(big.Int).Lsh(one, bits-1)
	lo = new(big.Int).Neg(hi)
	return lo, hi.Sub(hi, one)
}

func pow10(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func cast(v any, from, to arrow.DataType) (any, error) {
	x, integral := v.(*big.Int)
	if !integral { // NULL, strings, booleans and floats keep their value
		return v, nil
	}
	fromScale := int32(0)
	if d, ok := from.(*arrow.Decimal128Type); ok {
		fromScale = d.Scale
	}
	switch t := to.(type) {
	case *arrow.Float64Type:
		f, _ := new(big.Rat).SetFrac(x, pow10(fromScale)).Float64()
		return f, nil
	case *arrow.Decimal128Type:
		return castDecimal(x, from, fromScale, t)
	case *arrow.TimestampType:
		return castTimestamp(x, from, t)
	}
	return inRange(x, to)
}

func castDecimal(x *big.Int, from arrow.DataType, scale int32, to *arrow.Decimal128Type) (any, error) {
	if d, ok := from.(*arrow.Decimal128Type); ok && d.Scale == to.Scale && d.Precision <= to.Precision {
		return x, nil // HUGEINT may exceed the digits
	}
	if to.Scale >= scale {
		return inRange(new(big.Int).Mul(x, pow10(to.Scale-scale)), to)
	}
	div := pow10(scale - to.Scale)
	q, r := new(big.Int).QuoRem(x, div, new(big.Int))
	if r.Abs(r).Lsh(r, 1).Cmp(div) >= 0 { // half away from zero
		q.Add(q, big.NewInt(int64(x.Sign())))
	}
	return inRange(q, to)
}

// castTimestamp keeps the infinities, which are the greatest value of a type and
// its negation.
func castTimestamp(x *big.Int, from arrow.DataType, to *arrow.TimestampType) (any, error) {
	_, limit := Range(from)
	if x.CmpAbs(limit) == 0 {
		_, limit = Range(to)
		return new(big.Int).Mul(limit, big.NewInt(int64(x.Sign()))), nil
	}
	factor := int64(86_400_000_000)
	if t, ok := from.(*arrow.TimestampType); ok {
		factor = int64(t.Unit.Multiplier() / to.Unit.Multiplier())
	}
	return inRange(new(big.Int).Mul(x, big.NewInt(factor)), to)
}
