package pushdown

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
)

func TestCalls(t *testing.T) {
	t.Parallel()
	s := Column{Name: "s", DataType: arrow.BinaryTypes.String}
	i := Column{Name: "i", DataType: arrow.PrimitiveTypes.Int32}
	d := Column{Name: "d", DataType: arrow.FixedWidthTypes.Date32}
	us := &arrow.TimestampType{Unit: arrow.Microsecond}
	zoned := Column{Name: "z", DataType: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}}
	n := func(v int64) Expr { return Literal{Value: scalar.NewInt64Scalar(v)} }
	minus := Literal{Value: scalar.NewInt32Scalar(-1)}
	three := Literal{Value: scalar.NewInt32Scalar(3)}
	call := func(f Func, dt arrow.DataType, args ...Expr) Call { return Call{Func: f, Args: args, DataType: dt} }
	for _, c := range []struct {
		call       Call
		text       string
		infallible bool
	}{
		{call(FuncYear, n(0).Type(), d), "year(d)", true},
		{call(FuncTruncWeek, us, d), "trunc_week(d)", false},
		{call(FuncLower, s.DataType, s), "lower(s)", true},
		{call(FuncSubstring, s.DataType, s, n(2), n(0)), "substring(s, 2, 0)", true},
		{call(FuncLeft, s.DataType, s, n(0)), "left(s, 0)", true},
		{call(FuncModulo, i.DataType, i, three), "modulo(i, 3)", true},
		{call(FuncModulo, i.DataType, i, minus), "modulo(i, -1)", false},
		{call(FuncIntegerDivide, i.DataType, three, i), "integer_divide(3, i)", false},
		{call(FuncAbs, i.DataType, i), "abs(i)", false},
	} {
		require.NoError(t, Supported(c.call), c.text)
		require.Equal(t, c.text, ExprString(c.call))
		require.Equal(t, c.infallible, Infallible(c.call), c.text)
		require.Equal(t, []Capability{CapExprCall}, requiredByExpr(c.call))
	}
	for _, bad := range []Call{
		{}, call(0, i.DataType, i), call(lastFunc+1, i.DataType, i), call(FuncAbs, nil, i), call(FuncAbs, i.DataType),
		call(FuncAbs, s.DataType, s), call(FuncYear, i.DataType, d), call(FuncYear, n(0).Type(), zoned), call(FuncTruncDay, zoned.DataType, zoned),
		call(FuncLower, s.DataType, i), call(FuncLower, i.DataType, s), call(FuncSubstring, s.DataType, s), call(FuncSubstring, s.DataType, s, n(0), n(1)),
		call(FuncSubstring, s.DataType, s, n(1), n(-1)), call(FuncLeft, s.DataType, s, n(-1)), call(FuncLeft, s.DataType, s, n(1<<31)), call(FuncRight, s.DataType, s, three),
		call(FuncLeft, s.DataType, s, Literal{Value: scalar.MakeNullScalar(n(0).Type())}), call(FuncDivide, i.DataType, i, three),
		call(FuncModulo, i.DataType, i, n(1)), call(FuncLength, s.DataType, s), call(FuncLength, n(0).Type(), s, n(1)),
	} {
		require.Error(t, Supported(bad), ExprString(bad))
	}
	require.NotEqual(t, exactText(call(FuncLeft, s.DataType, s, n(1))), exactText(call(FuncRight, s.DataType, s, n(1))))
}

func TestSubstring(t *testing.T) {
	t.Parallel()
	const s = "aé日x"
	require.Equal(t, "é日", Substring(s, 2, 2))
	require.Equal(t, "", Substring(s, 9, 2))
	require.Equal(t, "", Substring(s, math.MaxInt64, math.MaxInt64))
	require.Equal(t, s, Substring(s, 1, math.MaxInt64))
	require.Equal(t, "日x", Right(s, 2))
	require.Equal(t, s, Right(s, math.MaxInt64))
	require.Equal(t, "", Right(s, 0))
	require.Equal(t, 4, Length(s))
}
