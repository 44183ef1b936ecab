package duckdb

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func lit(v any) pushdown.Literal { return pushdown.Literal{Value: scalar.MakeScalar(v)} }

func i64(v int64) pushdown.Literal { return lit(v) }

func dec(v int64, p, s int32) pushdown.Literal {
	t := &arrow.Decimal128Type{Precision: p, Scale: s}
	return pushdown.Literal{Value: scalar.NewDecimal128Scalar(decimal128.FromI64(v), t)}
}

func null(t arrow.DataType) pushdown.Literal {
	return pushdown.Literal{Value: scalar.MakeNullScalar(t)}
}

func stamped(v int64, unit arrow.TimeUnit, zone string) pushdown.Literal {
	return pushdown.Literal{Value: scalar.NewTimestampScalar(arrow.Timestamp(v), &arrow.TimestampType{Unit: unit, TimeZone: zone})}
}

// evaluate runs an expression of constants in DuckDB.
func evaluate(t *testing.T, e *Engine, x pushdown.Expr) (string, error) {
	t.Helper()
	sql, err := render(x)
	if err != nil {
		return "", err
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: pushdown.ValueType(x.Type()), Nullable: true}}, nil)
	r, err := e.query(t.Context(), "SELECT "+sql, schema)
	if err != nil {
		return "", err
	}
	defer r.Close()
	batch, err := r.Next(t.Context())
	if err != nil {
		return "", err
	}
	defer batch.Release()
	return texts(batch)[0][0], nil
}

func TestLiterals(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	us, ms, s, ns := arrow.Microsecond, arrow.Millisecond, arrow.Second, arrow.Nanosecond
	for _, c := range []struct {
		lit  pushdown.Literal
		want string
	}{
		{lit(true), "true"}, {lit(int8(-128)), "-128"}, {lit(uint8(255)), "255"},
		{i64(math.MinInt64), "-9223372036854775808"}, {lit(uint64(math.MaxUint64)), "18446744073709551615"},
		{lit(float32(0.1)), "0.1"}, {lit(0.1), "0.1"}, {lit(math.MaxFloat64), "1.7976931348623157e+308"},
		{lit(5e-324), "5e-324"}, {lit(math.NaN()), "NaN"}, {lit(math.Inf(1)), "+Inf"}, {lit(math.Inf(-1)), "-Inf"},
		{dec(-12345, 10, 3), "-12.345"}, {dec(0, 38, 0), "0"},
		{lit("it's"), "it's"}, {lit("a\x00b\x00"), "a\x00b\x00"}, {lit(""), ""}, {lit(`\x00 % -- ;`), `\x00 % -- ;`},
		{lit([]byte{0, 39, 255}), "ACf/"}, {lit([]byte{}), ""},
		{lit(arrow.Date32(-1)), "1969-12-31"}, {lit(arrow.Date32(18321)), "2020-02-29"},
		{pushdown.Literal{Value: scalar.NewTime64Scalar(45296789001, arrow.FixedWidthTypes.Time64us)}, "12:34:56.789001"},
		{stamped(1, us, ""), "1970-01-01T00:00:00.000001"}, {stamped(-1, ms, ""), "1969-12-31T23:59:59.999"},
		{stamped(-1, s, ""), "1969-12-31T23:59:59"}, {stamped(1, ns, ""), "1970-01-01T00:00:00.000000001"},
		{stamped(1, us, "UTC"), "1970-01-01T00:00:00.000001Z"},
		{null(arrow.PrimitiveTypes.Int8), "(null)"}, {null(arrow.BinaryTypes.String), "(null)"},
	} {
		got, err := evaluate(t, e, c.lit)
		require.NoError(t, err, c.want)
		require.Equal(t, c.want, got)
	}
}

func TestLiteralsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lit  pushdown.Literal
		code status.Code
	}{
		{lit("\xff"), status.InvalidArgument},
		{stamped(math.MaxInt64/1000, arrow.Second, ""), status.OutOfRange},
		{stamped(1, arrow.Second, "UTC"), status.Unimplemented},
		{null(arrow.ListOf(arrow.PrimitiveTypes.Int8)), status.Unimplemented},
	} {
		_, err := render(c.lit)
		require.Equal(t, c.code, status.CodeOf(err), err)
	}
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	yes, unknown := lit(true), null(arrow.FixedWidthTypes.Boolean)
	i32 := arrow.PrimitiveTypes.Int32
	text := null(arrow.BinaryTypes.String)
	for _, c := range []struct {
		expr pushdown.Expr
		want string
	}{
		{pushdown.Compare{Op: pushdown.Equal, Left: lit(math.NaN()), Right: lit(math.NaN())}, "true"},
		{pushdown.Compare{Op: pushdown.Greater, Left: lit(math.NaN()), Right: lit(math.Inf(1))}, "true"},
		{pushdown.Compare{Op: pushdown.Less, Left: lit(math.Copysign(0, -1)), Right: lit(0.0)}, "false"},
		{pushdown.Compare{Op: pushdown.NotEqual, Left: unknown, Right: yes}, "(null)"},
		{pushdown.Compare{Op: pushdown.Distinct, Left: unknown, Right: yes}, "true"},
		{pushdown.Compare{Op: pushdown.NotDistinct, Left: unknown, Right: unknown}, "true"},
		{pushdown.Compare{Op: pushdown.Less, Left: lit("Z"), Right: lit("a")}, "true"},
		{pushdown.And{Args: []pushdown.Expr{yes, unknown}}, "(null)"},
		{pushdown.Or{Args: []pushdown.Expr{yes, unknown}}, "true"},
		{pushdown.Not{Arg: unknown}, "(null)"},
		{pushdown.IsNull{Arg: unknown}, "true"}, {pushdown.IsNull{Arg: yes, Negated: true}, "true"},
		{pushdown.In{Arg: i64(1), Values: []pushdown.Literal{i64(2), null(arrow.PrimitiveTypes.Int64)}}, "(null)"},
		{pushdown.In{Arg: i64(1), Values: []pushdown.Literal{i64(1), null(arrow.PrimitiveTypes.Int64)}, Negated: true}, "false"},
		{pushdown.In{Arg: i64(1)}, "false"}, {pushdown.In{Arg: null(i32), Negated: true}, "true"},
		{pushdown.Like{Arg: lit("a_b%"), Kind: pushdown.LikePattern, Pattern: `a_b%`}, "true"},
		{pushdown.Like{Arg: lit("éa"), Kind: pushdown.LikePattern, Pattern: `_a`}, "true"},
		{pushdown.Like{Arg: lit(`a\b`), Kind: pushdown.LikePattern, Pattern: `a\%`}, "true"},
		{pushdown.Like{Arg: lit("a%b"), Kind: pushdown.LikePrefix, Pattern: `a%`}, "true"},
		{pushdown.Like{Arg: lit("axb"), Kind: pushdown.LikePrefix, Pattern: `a_`}, "false"},
		{pushdown.Like{Arg: lit("x%'"), Kind: pushdown.LikeSuffix, Pattern: `%'`}, "true"},
		{pushdown.Like{Arg: lit("a\x00b"), Kind: pushdown.LikeContains, Pattern: "\x00b"}, "true"},
		{pushdown.Like{Arg: lit("abc"), Kind: pushdown.LikeContains, Pattern: "", Negated: true}, "false"},
		{pushdown.Like{Arg: text, Kind: pushdown.LikeContains, Pattern: "x", Negated: true}, "(null)"},
		{pushdown.Arith{Op: pushdown.Add, Left: lit(int32(1)), Right: lit(int32(2)), DataType: i32}, "3"},
		{pushdown.Arith{Op: pushdown.Subtract, Left: dec(100, 4, 2), Right: dec(1, 4, 2), DataType: dec(0, 5, 2).Type()}, "0.99"},
		{pushdown.Arith{Op: pushdown.Multiply, Left: dec(150, 4, 2), Right: dec(15, 4, 1), DataType: dec(0, 8, 3).Type()}, "2.25"},
		{pushdown.Cast{Arg: lit(int32(7)), DataType: dec(0, 9, 2).Type()}, "7"},
		{pushdown.Case{Whens: []pushdown.When{{Cond: unknown, Then: i64(1)}}, DataType: arrow.PrimitiveTypes.Int64}, "(null)"},
		{pushdown.Case{Whens: []pushdown.When{{Cond: yes, Then: i64(1)}}, Else: i64(2), DataType: arrow.PrimitiveTypes.Int64}, "1"},
		{pushdown.Coalesce{Args: []pushdown.Expr{text, lit("x")}, DataType: arrow.BinaryTypes.String}, "x"},
	} {
		got, err := evaluate(t, e, c.expr)
		require.NoError(t, err)
		require.Equal(t, c.want, got, pushdown.ExprString(c.expr))
	}
}

func TestExpressionsThatRaise(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	i64t, i32 := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32
	nines := scalar.NewDecimal128Scalar(decimal128.GetMaxValue(38), &arrow.Decimal128Type{Precision: 38})
	for _, x := range []pushdown.Expr{
		pushdown.Arith{Op: pushdown.Add, Left: i64(math.MaxInt64), Right: i64(1), DataType: i64t},
		pushdown.Arith{Op: pushdown.Multiply, Left: lit(int32(1 << 20)), Right: lit(int32(1 << 20)), DataType: i32},
		pushdown.Arith{Op: pushdown.Subtract, Left: lit(uint8(1)), Right: lit(uint8(2)), DataType: arrow.PrimitiveTypes.Uint8},
		pushdown.Arith{Op: pushdown.Add, Left: dec(9999, 4, 2), Right: dec(1, 4, 2), DataType: dec(0, 4, 2).Type()},
		pushdown.Arith{Op: pushdown.Add, Left: pushdown.Literal{Value: nines}, Right: pushdown.Literal{Value: nines}, DataType: nines.DataType()},
		pushdown.Cast{Arg: i64(1 << 40), DataType: i32},
		pushdown.Cast{Arg: i64(100), DataType: dec(0, 4, 2).Type()},
	} {
		_, err := evaluate(t, e, x)
		require.Equal(t, status.OutOfRange, status.CodeOf(err), "%s: %v", pushdown.ExprString(x), err)
	}
}
