package pushdown

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

func texts(exprs []Expr) []string {
	var out []string
	for _, e := range exprs {
		out = append(out, exactText(e))
	}
	slices.Sort(out)
	return out
}

// TestSplitProperties: for random specs and capabilities both halves are valid,
// the remote half is within the capabilities, and together they are the spec.
func TestSplitProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 9))
	for range 1500 {
		s, caps := randomSpec(r), randomCapabilities(r)
		s = s.WithCarrier(tableSchema())
		require.NoError(t, s.Validate(tableSchema()))
		out := Split(s, caps)
		require.NoError(t, out.Remote.Validate(tableSchema()), "%s", s.String())
		for _, c := range out.Remote.Required() {
			require.True(t, caps.Has(c), "%s needs %s", out.Remote.String(), c)
		}
		if out.Residual == nil {
			require.Equal(t, s, out.Remote)
			require.Empty(t, out.Reasons)
			continue
		}
		require.NotEmpty(t, out.Reasons)
		checkResidual(t, s, out)
	}
}

func checkResidual(t *testing.T, s Spec, out SplitResult) {
	t.Helper()
	require.False(t, out.Remote.Grouped())
	require.Equal(t, NoLimit, out.Remote.Limit)
	require.Equal(t, texts(s.Filter), texts(append(slices.Clone(out.Remote.Filter), out.Residual.Filter...)))
	rest := *out.Residual
	rest.Filter = s.Filter
	require.Equal(t, s, rest)
	require.NoError(t, out.Residual.Validate(out.Remote.OutputSchema()), "%s over %s", out.Residual.String(), out.Remote.String())
	lazy := slices.ContainsFunc(out.Remote.Filter, func(e Expr) bool { return !Infallible(e) })
	if lazy {
		require.False(t, slices.ContainsFunc(out.Residual.Filter, Infallible), "a conjunct that can fail runs before one that cannot")
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	count := base()
	count.Aggregates = []Aggregate{{Name: "n", Func: CountStar}}
	grouped := base()
	grouped.Filter = conjuncts()[:3]
	grouped.GroupBy = []NamedExpr{{"kind", kind}}
	grouped.Aggregates = []Aggregate{{Name: "s", Func: Sum, Arg: i64}}
	top := base()
	top.Columns, top.OrderBy, top.Limit = []Column{str}, []SortKey{{Column: f64}}, 5
	risky := base()
	risky.Columns, risky.Filter = []Column{str}, []Expr{conjuncts()[2], conjuncts()[8]}
	for name, c := range map[string]struct {
		spec             Spec
		without          []string
		remote, residual string
		reasons          []string
	}{
		"everything": {grouped, nil, `scan "main.t" ["0", "1"] where (i32 = 1) and str in ('a', 'b') and kind prefix 'x' group by (kind) aggregate (s = sum(i64))`, "", nil},
		"no aggregates": {grouped, []string{"agg"},
			`scan "main.t" ["0", "1"] columns (i64, kind) where (i32 = 1) and str in ('a', 'b') and kind prefix 'x'`,
			`scan "main.t" ["0", "1"] group by (kind) aggregate (s = sum(i64))`,
			[]string{"the aggregate stays: the source lacks group.string, agg.sum.int"}},
		"no like": {grouped, []string{"filter.like"},
			`scan "main.t" ["0", "1"] columns (i64, kind) where (i32 = 1) and str in ('a', 'b')`,
			`scan "main.t" ["0", "1"] where kind prefix 'x' group by (kind) aggregate (s = sum(i64))`,
			[]string{"filter kind prefix 'x' stays: the source lacks filter.like", "the aggregate stays: a part before it stays"}},
		"nothing": {count, []string{"all"}, `scan "main.t" ["0", "1"] columns (flag)`,
			`scan "main.t" ["0", "1"] columns (flag) aggregate (n = count(*))`,
			[]string{"the aggregate stays: the source lacks agg.count"}},
		"no top-N": {top, []string{"topn"}, `scan "main.t" ["0", "1"] columns (f64, str)`,
			`scan "main.t" ["0", "1"] columns (str) order by f64 limit 5`,
			[]string{"the top-N stays: the source lacks topn"}},
		"risky": {risky, []string{"filter.like"}, `scan "main.t" ["0", "1"] columns (i64, kind, str)`,
			`scan "main.t" ["0", "1"] columns (str) where kind prefix 'x' and (cast(i64 as int32) < 3)`,
			[]string{"filter kind prefix 'x' stays: the source lacks filter.like",
				"filter (cast(i64 as int32) < 3) stays: it can fail on rows that an earlier filter removes"}},
	} {
		spec := c.spec.WithCarrier(tableSchema())
		out := Split(spec, AllCapabilities().Without(c.without...))
		require.Equal(t, c.reasons, out.Reasons, name)
		if c.residual == "" {
			require.Nil(t, out.Residual, name)
		} else {
			require.Equal(t, c.residual, out.Residual.String(), name)
			require.Equal(t, c.remote, out.Remote.String(), name)
		}
	}
}

func TestWithCarrier(t *testing.T) {
	t.Parallel()
	s := base()
	s.Aggregates = []Aggregate{{Name: "n", Func: CountStar}}
	got := s.WithCarrier(tableSchema())
	require.Equal(t, []Column{flag}, got.Columns)
	require.Empty(t, s.Columns)
	require.Empty(t, got.InputColumns())
	twice := got.WithCarrier(tableSchema())
	require.Equal(t, got, twice)
	require.Equal(t, s.OutputSchema(), got.OutputSchema())
	text := arrow.NewSchema([]arrow.Field{{Name: "str", Type: str.DataType}}, nil)
	require.Equal(t, []Column{str}, func() Spec { return s.WithCarrier(text) }().Columns)
}
