package pushdowntest_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
)

func lit(dt arrow.DataType, v any) pushdown.Literal {
	if n, ok := v.(int); ok {
		v = big.NewInt(int64(n))
	}
	return pushdown.Literal{Value: pushdowntest.Scalar(dt, v)}
}

func TestReferenceExpressions(t *testing.T) {
	t.Parallel()
	i8, f64, text, boolean := arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean
	dec := func(p, s int32) *arrow.Decimal128Type { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	null, yes, no := lit(boolean, nil), lit(boolean, true), lit(boolean, false)
	compare := func(op pushdown.CompareOp, l, r pushdown.Expr) pushdown.Expr {
		return pushdown.Compare{Op: op, Left: l, Right: r}
	}
	like := func(s, pattern string) pushdown.Expr {
		return pushdown.Like{Arg: lit(text, s), Kind: pushdown.LikePattern, Pattern: pattern}
	}
	for _, c := range []struct {
		e    pushdown.Expr
		want string
	}{
		{pushdown.And{Args: []pushdown.Expr{null, no}}, "false"},
		{pushdown.And{Args: []pushdown.Expr{null, yes}}, "NULL"},
		{pushdown.Or{Args: []pushdown.Expr{null, yes}}, "true"},
		{pushdown.Not{Arg: null}, "NULL"},
		{compare(pushdown.Equal, lit(f64, math.NaN()), lit(f64, math.NaN())), "true"},
		{compare(pushdown.Greater, lit(f64, math.NaN()), lit(f64, math.Inf(1))), "true"},
		{compare(pushdown.Equal, lit(f64, math.Copysign(0, -1)), lit(f64, 0.0)), "true"},
		{compare(pushdown.Equal, lit(i8, nil), lit(i8, 1)), "NULL"},
		{compare(pushdown.NotDistinct, lit(i8, nil), lit(i8, nil)), "true"},
		{compare(pushdown.Less, lit(text, "B"), lit(text, "a")), "true"},
		{pushdown.In{Arg: lit(i8, 1), Values: []pushdown.Literal{lit(i8, 2), lit(i8, nil)}}, "NULL"},
		{pushdown.In{Arg: lit(i8, 2), Values: []pushdown.Literal{lit(i8, nil), lit(i8, 2)}, Negated: true}, "false"},
		{like("äb", "_b"), "true"},
		{like("abc", "%b"), "false"},
		{like("", "%"), "true"},
		{pushdown.Arith{Op: pushdown.Add, Left: lit(i8, 100), Right: lit(i8, 28), DataType: i8}, "128 is outside int8"},
		{pushdown.Cast{Arg: lit(dec(5, 2), -250), DataType: dec(5, 0)}, "-3"},
		{pushdown.Cast{Arg: lit(dec(5, 2), 249), DataType: dec(5, 0)}, "2"},
		{pushdown.Cast{Arg: lit(dec(5, 2), 125), DataType: f64}, "1.25"},
		{pushdown.Cast{Arg: lit(i8, 100), DataType: dec(2, 0)}, "100 is outside decimal(2, 0)"},
		{pushdown.Coalesce{Args: []pushdown.Expr{lit(i8, nil), lit(i8, 3)}, DataType: i8}, "3"},
		{pushdown.Case{Whens: []pushdown.When{{Cond: null, Then: lit(i8, 1)}}, DataType: i8}, "NULL"},
	} {
		v, err := pushdowntest.Eval(c.e, nil)
		got := pushdowntest.Text(v)
		if err != nil {
			got = err.Error()
		}
		require.Equal(t, c.want, got, pushdown.ExprString(c.e))
	}
}

// failing records whether a helper failed the test.
type failing struct{ message string }

func (*failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

func outcome(f func(pushdowntest.TB)) (message string) {
	tb := &failing{}
	defer func() {
		recover()
		message = tb.message
	}()
	f(tb)
	return
}

func TestRequireResultFindsFaults(t *testing.T) {
	t.Parallel()
	i64 := arrow.PrimitiveTypes.Int64
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: i64, Nullable: true}}, nil)
	k := pushdown.Column{Name: "k", DataType: i64}
	table := pushdowntest.Batch(memory.DefaultAllocator, schema, []any{1}, []any{2}, []any{2}, []any{nil})
	scan := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: []pushdown.Column{k}, Limit: pushdown.NoLimit}
	limited, ordered := scan, scan
	limited.Limit, ordered.Limit = 2, 2
	ordered.OrderBy = []pushdown.SortKey{{Column: k}}
	count := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: k}}, Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}}
	for _, c := range []struct {
		name string
		spec pushdown.Spec
		got  [][]any
		want string
	}{
		{"complete", scan, [][]any{{2}, {1}, {nil}, {2}}, ""},
		{"a row is missing", scan, [][]any{{2}, {1}, {nil}}, "3 rows, wanted 4"},
		{"a row is wrong", scan, [][]any{{2}, {1}, {1}, {2}}, "not in the expected rows"},
		{"any two", limited, [][]any{{2}, {nil}}, ""},
		{"too many", limited, [][]any{{2}, {nil}, {1}}, "3 rows, wanted 2"},
		{"best two", ordered, [][]any{{1}, {2}}, ""},
		{"not the best", ordered, [][]any{{2}, {2}}, "row 0 has sort key 2"},
		{"partial rows", count, [][]any{{2, 1}, {1, 1}, {nil, 1}, {2, 1}}, ""},
		{"a wrong count", count, [][]any{{2, 1}, {1, 1}, {nil, 1}}, "row differs"},
		{"a group is missing", count, [][]any{{2, 2}, {1, 1}}, "2 rows, wanted 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want, err := pushdowntest.Reference(c.spec, table)
			require.NoError(t, err)
			got := pushdowntest.Batch(memory.DefaultAllocator, c.spec.OutputSchema(), c.got...)
			message := outcome(func(tb pushdowntest.TB) { pushdowntest.RequireResult(tb, c.spec, want, got) })
			if c.want == "" {
				require.Empty(t, message)
			} else {
				require.Contains(t, message, c.want)
			}
		})
	}
}

// What the generators draw is valid, and values survive the way through Arrow.
func TestGeneratorsDrawValidThings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, mem, schema, 10)
		spec := pushdowntest.Spec(t, schema)
		require.NoError(t, spec.Validate(schema))
		for _, b := range batches {
			rows := pushdowntest.Rows(b)
			copied := pushdowntest.Batch(mem, schema, rows...)
			pushdowntest.RequireSameRows(t, rows, pushdowntest.Rows(copied))
			copied.Release()
		}
		pushdowntest.ReleaseAll(batches)
		mem.AssertSize(t, 0)
	})
}
