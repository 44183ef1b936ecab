package run_test

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

// passing says which rows of batch a condition lets through.
func passing(t require.TestingT, e pushdown.Expr, batch arrow.RecordBatch) []bool {
	out := make([]bool, batch.NumRows())
	p, err := eval.CompileFilter([]pushdown.Expr{e}, batch.Schema())
	require.NoError(t, err)
	sel, all, err := p.Select(batch, memory.DefaultAllocator)
	require.NoError(t, err)
	for i := range out {
		out[i] = all
	}
	for _, row := range sel {
		out[row] = true
	}
	return out
}

// worse says whether value a comes after b, which do not tie, in the order of k.
func worse(k pushdown.SortKey, a, b any) bool {
	switch {
	case a == nil || b == nil:
		return (a == nil) != k.NullsFirst && (b != nil || k.NullsFirst) && !(a == nil && b == nil)
	case k.Descending:
		return pushdowntest.Compare(a, b) < 0
	}
	return pushdowntest.Compare(a, b) > 0
}

// TestBoundIsExact: over every type and order, the bound lets pass what may still
// enter the result, ties too, and nothing else.
func TestBoundIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := pushdowntest.Schema(t)
		column := func(i int) pushdown.Column {
			return pushdown.Column{Name: schema.Field(i).Name, DataType: schema.Field(i).Type}
		}
		spec := rowScan(rapid.Int64Range(1, 8).Draw(t, "limit"), column(0), column(1))
		for i := range 2 {
			spec.OrderBy = append(spec.OrderBy, pushdown.SortKey{
				Column: column(i), Descending: rapid.Bool().Draw(t, "descending"), NullsFirst: rapid.Bool().Draw(t, "nulls first"),
			})
		}
		if err := spec.Validate(schema); err != nil {
			t.Skip(err)
		}
		runner, err := run.New(spec, schema, run.Options{})
		require.NoError(t, err)
		defer runner.Release()
		batch := pushdowntest.RandomBatch(t, memory.DefaultAllocator, schema, rapid.IntRange(1, 40).Draw(t, "rows"))
		defer batch.Release()
		_, err = runner.Push(batch)
		require.NoError(t, err)
		bound := runner.Bound()
		out, err := runner.Finish()
		require.NoError(t, err)
		defer pushdowntest.ReleaseAll(out)
		best := pushdowntest.Rows(out...)
		if int64(len(best)) < spec.Limit {
			require.Nil(t, bound.Expr, "not all rows are there yet")
			return
		}
		last := best[len(best)-1][0]
		if bound.Expr == nil {
			require.Nil(t, last)
			require.False(t, spec.OrderBy[0].NullsFirst)
			return
		}
		for i, pass := range passing(t, bound.Expr, batch) {
			v := pushdowntest.ValueAt(batch.Column(0), i)
			require.Equal(t, !worse(spec.OrderBy[0], v, last), pass, "%v against %v: %s", v, last, pushdown.ExprString(bound.Expr))
		}
	})
}

// TestBoundValues are those that random tables hardly have.
func TestBoundValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dt     arrow.DataType
		values []any
	}{
		{arrow.BinaryTypes.String, []any{"", "\x00", "a", "a\x00", "a\x00b", "a\xff", "ab", "\U0010ffff"}},
		{arrow.PrimitiveTypes.Float64, []any{math.Inf(-1), -1.5, 0.0, math.SmallestNonzeroFloat64, 2.5, math.Inf(1), math.NaN()}},
		{arrow.PrimitiveTypes.Int64, []any{math.MinInt64, -1, 0, math.MaxInt64}},
	} {
		for _, descending := range []bool{false, true} {
			schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: c.dt, Nullable: true}}, nil)
			key := pushdown.Column{Name: "k", DataType: c.dt}
			var rows [][]any
			for _, v := range c.values {
				rows = append(rows, []any{v})
			}
			batch := pushdowntest.Batch(memory.DefaultAllocator, schema, rows...)
			defer batch.Release()
			for limit := 1; limit <= len(rows); limit++ {
				spec := rowScan(int64(limit), key)
				spec.OrderBy = []pushdown.SortKey{{Column: key, Descending: descending}}
				r := newRunner(t, spec, schema, run.Options{})
				_, err := r.Push(batch)
				require.NoError(t, err)
				passed := 0
				for _, ok := range passing(t, r.Bound().Expr, batch) {
					if ok {
						passed++
					}
				}
				require.Equal(t, limit, passed, pushdown.ExprString(r.Bound().Expr))
			}
		}
	}
}

func TestBoundsThatAreNotKnown(t *testing.T) {
	t.Parallel()
	long := pushdowntest.Batch(memory.DefaultAllocator, topNSchema, []any{1, strings.Repeat("x", 5000), "v"})
	defer long.Release()
	spec := rowScan(1, topNColumn(0))
	spec.OrderBy = []pushdown.SortKey{{Column: topNColumn(1)}}
	r := newRunner(t, spec, topNSchema, run.Options{})
	require.Nil(t, r.Bound().Expr, "no row yet")
	_, err := r.Push(long)
	require.NoError(t, err)
	require.Nil(t, r.Bound().Expr, "too long to be sent around")
	require.Nil(t, newRunner(t, rowScan(1, topNColumn(0)), topNSchema, run.Options{}).Bound().Expr, "no order")
}

func TestTighterBounds(t *testing.T) {
	t.Parallel()
	spec := rowScan(1, topNColumn(0))
	spec.OrderBy = []pushdown.SortKey{{Column: topNColumn(0), Descending: true}}
	bound := func(v int) run.Bound {
		r := newRunner(t, spec, topNSchema, run.Options{})
		b := pushdowntest.Batch(memory.DefaultAllocator, topNSchema, []any{v, "s", "d"})
		defer b.Release()
		_, err := r.Push(b)
		require.NoError(t, err)
		return r.Bound()
	}
	require.True(t, bound(5).Tighter(bound(4)))
	require.False(t, bound(4).Tighter(bound(5)))
	require.False(t, bound(4).Tighter(bound(4)))
	require.True(t, bound(4).Tighter(run.Bound{}))
	require.False(t, run.Bound{}.Tighter(run.Bound{}))
}

// TestNarrow: further conjuncts take the place of the last ones.
func TestNarrow(t *testing.T) {
	t.Parallel()
	spec := rowScan(pushdown.NoLimit, topNColumn(0))
	spec.Filter = []pushdown.Expr{pushdown.IsNull{Arg: topNColumn(0), Negated: true}}
	r := newRunner(t, spec, topNSchema, run.Options{})
	batch := pushdowntest.Batch(memory.DefaultAllocator, topNSchema, []any{1, "s", "d"}, []any{2, nil, "d"}, []any{nil, "s", "d"})
	defer batch.Release()
	count := func() (n int) {
		out, err := r.Push(batch)
		require.NoError(t, err)
		for _, b := range out {
			n += int(b.NumRows())
			b.Release()
		}
		return n
	}
	require.Equal(t, 2, count())
	require.NoError(t, r.Narrow([]pushdown.Expr{pushdown.IsNull{Arg: topNColumn(1)}}))
	require.Equal(t, 1, count())
	require.NoError(t, r.Narrow([]pushdown.Expr{pushdown.IsNull{Arg: topNColumn(2)}}))
	require.Equal(t, 0, count())
	require.Error(t, r.Narrow([]pushdown.Expr{pushdown.IsNull{Arg: pushdown.Column{Name: "no", DataType: arrow.BinaryTypes.String}}}))
	require.NoError(t, r.Narrow(nil))
	require.Equal(t, 2, count())
}
