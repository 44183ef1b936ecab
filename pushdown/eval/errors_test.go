package eval

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// jsonBatch builds a batch from JSON rows.
func jsonBatch(t testing.TB, schema *arrow.Schema, rows string) arrow.RecordBatch {
	t.Helper()
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	require.NoError(t, err)
	return b
}

func schemaOf(fields ...arrow.Field) *arrow.Schema {
	for i := range fields {
		fields[i].Nullable = true
	}
	return arrow.NewSchema(fields, nil)
}

var (
	i8    = pushdown.Column{Name: "i8", DataType: arrow.PrimitiveTypes.Int8}
	i64   = pushdown.Column{Name: "i64", DataType: arrow.PrimitiveTypes.Int64}
	u64   = pushdown.Column{Name: "u64", DataType: arrow.PrimitiveTypes.Uint64}
	day   = pushdown.Column{Name: "day", DataType: arrow.FixedWidthTypes.Date32}
	ts    = pushdown.Column{Name: "ts", DataType: arrow.FixedWidthTypes.Timestamp_us}
	table = schemaOf(
		arrow.Field{Name: "i8", Type: i8.DataType}, arrow.Field{Name: "i64", Type: i64.DataType},
		arrow.Field{Name: "u64", Type: u64.DataType}, arrow.Field{Name: "day", Type: day.DataType},
		arrow.Field{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us},
	)
)

// extremes has one row with the greatest and one with small values, then NULLs.
func extremes(t testing.TB) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, table)
	defer b.Release()
	b.Field(0).(*array.Int8Builder).AppendValues([]int8{math.MaxInt8, 1, 0}, []bool{true, true, false})
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{math.MaxInt64, 1, 0}, []bool{true, true, false})
	b.Field(2).(*array.Uint64Builder).AppendValues([]uint64{math.MaxUint64, 1, 0}, []bool{true, true, false})
	b.Field(3).(*array.Date32Builder).AppendValues([]arrow.Date32{math.MaxInt32 - 1, 1, 0}, []bool{true, true, false})
	b.Field(4).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{math.MaxInt64 - 1, 1, 0}, []bool{true, true, false})
	return b.NewRecordBatch()
}

func arith(op pushdown.ArithOp, l, r pushdown.Expr) pushdown.Expr {
	return pushdown.Arith{Op: op, Left: l, Right: r, DataType: l.Type()}
}

func cast(e pushdown.Expr, t arrow.DataType) pushdown.Expr { return pushdown.Cast{Arg: e, DataType: t} }

func risky() map[string]pushdown.Expr {
	return map[string]pushdown.Expr{
		"overflow in addition of int64 (9223372036854775807 + 1)":                         arith(pushdown.Add, i64, lit(scalar.NewInt64Scalar(1))),
		"overflow in subtraction of int64 (-2 - 9223372036854775807)":                     arith(pushdown.Subtract, lit(scalar.NewInt64Scalar(-2)), i64),
		"overflow in multiplication of int64 (9223372036854775807 * 9223372036854775807)": arith(pushdown.Multiply, i64, i64),
		"overflow in addition of int8 (127 + 127)":                                        arith(pushdown.Add, i8, i8),
		"overflow in multiplication of int8 (127 * 127)":                                  arith(pushdown.Multiply, i8, i8),
		"overflow in addition of uint64 (18446744073709551615 + 18446744073709551615)":    arith(pushdown.Add, u64, u64),
		"overflow in subtraction of uint64 (1 - 18446744073709551615)":                    arith(pushdown.Subtract, lit(scalar.NewUint64Scalar(1)), u64),
		"the value 9223372036854775807 does not fit int32":                                cast(i64, arrow.PrimitiveTypes.Int32),
		"the value 18446744073709551615 does not fit int64":                               cast(u64, arrow.PrimitiveTypes.Int64),
		"the value 127 does not fit decimal(4, 2)":                                        cast(i8, &arrow.Decimal128Type{Precision: 4, Scale: 2}),
		"the value day 2147483646 since 1970-01-01 does not fit timestamp[us]":            cast(day, &arrow.TimestampType{Unit: arrow.Microsecond}),
		"the value timestamp 9223372036854775806 does not fit timestamp[ns, tz=UTC]":      cast(ts, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}),
	}
}

// TestErrors: the error names the value, NULL rows and rows that nobody asked
// for raise none.
func TestErrors(t *testing.T) {
	t.Parallel()
	batch := extremes(t)
	defer batch.Release()
	small := pushdown.Compare{Op: pushdown.Less, Left: i8, Right: lit(scalar.NewInt8Scalar(5))}
	for want, e := range risky() {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		require.False(t, pushdown.Infallible(e), want)
		p, err := Compile(e, table)
		require.NoError(t, err)
		_, err = p.Eval(batch, mem)
		require.ErrorContains(t, err, want)
		require.Equal(t, status.OutOfRange, status.CodeOf(err))
		got, err := p.EvalSelected(batch, []int32{1, 2}, mem)
		require.NoError(t, err)
		require.Equal(t, 1, got.NullN())
		got.Release()
		guarded := pushdown.Case{Whens: []pushdown.When{{Cond: small, Then: e}}, DataType: e.Type()}
		checkQuiet(t, batch, guarded, mem)
		checkQuiet(t, batch, pushdown.Coalesce{Args: []pushdown.Expr{guarded, pushdown.Case{
			Whens: []pushdown.When{{Cond: pushdown.IsNull{Arg: i8}, Then: e}}, DataType: e.Type(),
		}}, DataType: e.Type()}, mem)
		mem.AssertSize(t, 0)
	}
}

// checkQuiet evaluates e, whose risky part must not see the first row.
func checkQuiet(t testing.TB, batch arrow.RecordBatch, e pushdown.Expr, mem memory.Allocator) {
	t.Helper()
	p, err := Compile(e, table)
	require.NoError(t, err)
	got, err := p.Eval(batch, mem)
	require.NoError(t, err)
	defer got.Release()
	require.True(t, got.IsNull(0))
	require.True(t, got.IsValid(1))
	require.True(t, got.IsNull(2))
}

// TestRiskyLogic: what can fail runs only on the rows that are still open,
// wherever it is written.
func TestRiskyLogic(t *testing.T) {
	t.Parallel()
	batch := extremes(t)
	defer batch.Release()
	overflow := pushdown.Compare{Op: pushdown.Greater, Left: arith(pushdown.Add, i64, lit(scalar.NewInt64Scalar(1))), Right: lit(scalar.NewInt64Scalar(1))}
	small := pushdown.Compare{Op: pushdown.Less, Left: i8, Right: lit(scalar.NewInt8Scalar(5))}
	big := pushdown.Not{Arg: small}
	for name, c := range map[string]struct {
		filter []pushdown.Expr
		want   []int32
	}{
		"conjuncts":      {[]pushdown.Expr{overflow, small}, []int32{1}},
		"and":            {[]pushdown.Expr{pushdown.And{Args: []pushdown.Expr{overflow, small}}}, []int32{1}},
		"or":             {[]pushdown.Expr{pushdown.Or{Args: []pushdown.Expr{overflow, big}}}, []int32{0, 1}},
		"none":           {[]pushdown.Expr{overflow, lit(scalar.NewBooleanScalar(false))}, []int32{}},
		"nested in case": {[]pushdown.Expr{pushdown.Case{Whens: []pushdown.When{{Cond: big, Then: lit(scalar.NewBooleanScalar(false))}, {Cond: overflow, Then: overflow}}, DataType: arrow.FixedWidthTypes.Boolean}}, []int32{1}},
		"coalesce":       {[]pushdown.Expr{pushdown.Coalesce{Args: []pushdown.Expr{pushdown.Not{Arg: big}, overflow}, DataType: arrow.FixedWidthTypes.Boolean}}, []int32{1}},
	} {
		p, err := CompileFilter(c.filter, table)
		require.NoError(t, err, name)
		sel, all, err := p.Select(batch, nil)
		require.NoError(t, err, name)
		require.False(t, all, name)
		require.Equal(t, c.want, append([]int32{}, sel...), name)
	}
	p, err := CompileFilter([]pushdown.Expr{overflow}, table)
	require.NoError(t, err)
	_, _, err = p.Select(batch, nil)
	require.Equal(t, status.OutOfRange, status.CodeOf(err))
}

func TestCompileErrors(t *testing.T) {
	t.Parallel()
	list := schemaOf(arrow.Field{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)}, arrow.Field{Name: "i8", Type: arrow.PrimitiveTypes.Int16})
	l := pushdown.Column{Name: "l", DataType: arrow.ListOf(arrow.PrimitiveTypes.Int8)}
	for want, e := range map[string]pushdown.Expr{
		`0 columns named "x"`:                 pushdown.Column{Name: "x", DataType: arrow.PrimitiveTypes.Int8},
		`column "i8" of the input is int16`:   i8,
		"cannot compare":                      pushdown.Compare{Op: pushdown.Equal, Left: l, Right: l},
		"no exact cast from float64 to int64": cast(lit(scalar.NewFloat64Scalar(1)), arrow.PrimitiveTypes.Int64),
	} {
		_, err := Compile(e, list)
		require.ErrorContains(t, err, want)
	}
	_, err := CompileFilter([]pushdown.Expr{lit(scalar.NewInt8Scalar(1))}, list)
	require.ErrorContains(t, err, "is not boolean")
	p, err := Compile(pushdown.IsNull{Arg: l}, list)
	require.NoError(t, err)
	batch := jsonBatch(t, list, `[{"l":[1],"i8":1},{"l":null,"i8":2}]`)
	got, err := p.Eval(batch, memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, "[false true]", got.String())
	_, err = p.Eval(extremes(t), memory.DefaultAllocator)
	require.ErrorContains(t, err, "compiled for 2")
}
