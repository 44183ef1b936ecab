package pushdowntest

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
)

// anyCall draws a function of c, or c where its type has none. It may fail.
func anyCall(t *rapid.T, c pushdown.Column, dt arrow.DataType) pushdown.Expr {
	calls := callsOf(t, c, dt)
	if len(calls) == 0 {
		return c
	}
	return rapid.SampledFrom(calls).Draw(t, "function")
}

func callsOf(t *rapid.T, c pushdown.Column, dt arrow.DataType) []pushdown.Call {
	var out []pushdown.Call
	add := func(dt arrow.DataType, f pushdown.Func, rest ...pushdown.Expr) {
		e := pushdown.Call{Func: f, Args: append([]pushdown.Expr{c}, rest...), DataType: dt}
		if pushdown.Supported(e) == nil {
			out = append(out, e)
		}
	}
	position := func(least int64) pushdown.Expr {
		return pushdown.Literal{Value: scalar.NewInt64Scalar(rapid.Int64Range(least, least+4).Draw(t, "position"))}
	}
	for f := pushdown.FuncYear; f <= pushdown.FuncSecond; f++ {
		add(arrow.PrimitiveTypes.Int64, f)
	}
	for f := pushdown.FuncTruncYear; f <= pushdown.FuncTruncSecond; f++ {
		add(&arrow.TimestampType{Unit: arrow.Microsecond}, f)
	}
	add(arrow.PrimitiveTypes.Int64, pushdown.FuncLength)
	add(dt, pushdown.FuncAbs)
	switch family, _ := pushdown.FamilyOf(dt); family {
	case pushdown.FamilyString:
		add(dt, pushdown.FuncLower)
		add(dt, pushdown.FuncUpper)
		add(dt, pushdown.FuncSubstring, position(1), position(0))
		add(dt, pushdown.FuncSubstring, position(1))
		add(dt, pushdown.FuncLeft, position(0))
		add(dt, pushdown.FuncRight, position(0))
	case pushdown.FamilyInt, pushdown.FamilyFloat:
		divisor := pushdown.Literal{Value: Scalar(dt, Value(t, dt))}
		for _, f := range []pushdown.Func{pushdown.FuncModulo, pushdown.FuncIntegerDivide, pushdown.FuncDivide} {
			add(dt, f, divisor)
			add(dt, f, c)
		}
	}
	return out
}
