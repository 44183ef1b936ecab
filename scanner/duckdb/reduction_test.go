package duckdb

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

func TestEstimateGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, groups int64
		want         float64
	}{
		{100, 1, 1},
		{100_000, 40, 40},
		{100_000, 63_212, 100_000},   // 1 - 1/e of them
		{100_000, 90_635, 500_000},   // 5 groups a row
		{100_000, 98_758, 4_000_000}, // seldom twice the same
	} {
		require.InEpsilon(t, 1+c.want, 1+estimateGroups(c.rows, c.groups), 0.01, "%+v", c)
	}
	require.True(t, math.IsInf(estimateGroups(100, 100), 1), "all different")
}

// TestAdvise: what has a group for nearly every row is left to the kernels.
func TestAdvise(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	path := filepath.Join(t.TempDir(), "a.parquet")
	require.NoError(t, e.exec(t.Context(), "COPY (SELECT i AS id, i % 40 AS few, 'x' || i AS name FROM range(100000) r(i)) TO "+quoteText(path)+" (ROW_GROUP_SIZE 2048)"))
	s, err := New(Config{Engine: e, Glob: []string{path}, SampleFrom: 50_000})
	require.NoError(t, err)
	all := tableSpec(t, s)
	by := func(keys ...pushdown.Expr) pushdown.Spec {
		spec := pushdown.Spec{Table: all.Table, Partitions: all.Partitions, Limit: pushdown.NoLimit, Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}}
		for _, k := range keys {
			spec.GroupBy = append(spec.GroupBy, pushdown.NamedExpr{Name: "k" + pushdown.ExprString(k), Expr: k})
		}
		return spec
	}
	risky := pushdown.Cast{Arg: col(all, "name"), DataType: arrow.PrimitiveTypes.Int64}
	reduced := by(col(all, "id"))
	reduced.Reduce = &pushdown.Reduction{}
	filtered := by(col(all, "id"))
	filtered.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Left: col(all, "id"), Right: pushdown.Literal{Value: scalar.NewInt64Scalar(10)}}}
	for name, c := range map[string]struct {
		spec   pushdown.Spec
		groups bool
	}{
		"unique":            {by(col(all, "id")), false},
		"unique text":       {by(col(all, "name")), false},
		"unique with other": {by(col(all, "few"), col(all, "id")), false},
		"filtered":          {filtered, false},
		"few":               {by(col(all, "few")), true},
		"no key":            {by(), true},
		"might fail":        {by(risky), true},
		"whole groups":      {reduced, true},
		"rows":              {all, true},
	} {
		for range 2 { // the second time from memory
			caps, err := s.Advise(t.Context(), c.spec)
			require.NoError(t, err, name)
			require.Equal(t, c.groups, caps.Has(pushdown.CapAggCount), name)
			require.True(t, caps.Has(pushdown.CapFilter), name)
		}
	}
	s.cfg.SampleFrom = 0
	caps, err := s.Advise(t.Context(), by(col(all, "id")))
	require.NoError(t, err)
	require.True(t, caps.Has(pushdown.CapAggCount), "too few rows for a sample")
}

// TestSampleIsFromSeveralPlaces: files and row groups all over the table.
func TestSampleIsFromSeveralPlaces(t *testing.T) {
	t.Parallel()
	groups := func(n int) *described {
		d := &described{rows: int64(n) * 1000}
		for i := range n {
			d.groups = append(d.groups, rowGroup{end: int64(i+1) * 1000, rows: 1000})
		}
		return d
	}
	heap, rows := sample([]*described{groups(40), groups(2), groups(58)})
	require.EqualValues(t, 4000, rows)
	var from []int64
	for _, x := range heap {
		from = append(from, x.from)
	}
	require.Equal(t, []int64{12_000, 37_000, 20_000, 45_000}, from)

	_, rows = sample([]*described{{rows: 5_000_000}})
	require.Zero(t, rows, "a row group that is all the table")
}
