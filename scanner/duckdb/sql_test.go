package duckdb

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// querySource is a table of one Parquet file with the rows of a query.
func querySource(t testing.TB, query string) *Source {
	t.Helper()
	e := newEngine(t)
	return globSource(t, e, write(t, e, query, t.TempDir(), "p.parquet"))
}

func TestStatements(t *testing.T) {
	t.Parallel()
	c := pushdown.Column{Name: `odd "name"`, DataType: arrow.PrimitiveTypes.Int64}
	safe := pushdown.Compare{Op: pushdown.Less, Left: c, Right: i64(5)}
	risky := pushdown.Compare{Op: pushdown.Equal, Right: i64(1),
		Left: pushdown.Arith{Op: pushdown.Add, Left: c, Right: i64(1), DataType: arrow.PrimitiveTypes.Int64}}
	for want, spec := range map[string]pushdown.Spec{
		`SELECT t."odd ""name""" FROM x AS t LIMIT 0`: {Columns: []pushdown.Column{c}},
		`SELECT t."odd ""name""" FROM x AS t ORDER BY t."odd ""name""" DESC NULLS LAST LIMIT 3`: {
			Columns: []pushdown.Column{c}, OrderBy: []pushdown.SortKey{{Column: c, Descending: true}}, Limit: 3},
		`SELECT CAST(t."odd ""name""" AS BIGINT), CAST(count(*) AS BIGINT) FROM x AS t` +
			` WHERE ((t."odd ""name""" < CAST('5' AS BIGINT))) AND (CASE WHEN ((t."odd ""name""" < CAST('5' AS BIGINT)))` +
			` THEN ((CAST((t."odd ""name""" + CAST('1' AS BIGINT)) AS BIGINT) = CAST('1' AS BIGINT))) ELSE FALSE END) GROUP BY 1`: {
			Filter: []pushdown.Expr{risky, safe}, GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: c}},
			Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}, Limit: pushdown.NoLimit},
		`SELECT CAST(sum(t."odd ""name""") FILTER (WHERE (t."odd ""name""" < CAST('5' AS BIGINT))) AS DECIMAL(38,0)) FROM x AS t`: {
			Aggregates: []pushdown.Aggregate{{Name: "s", Func: pushdown.Sum, Arg: c, Filter: safe}}, Limit: pushdown.NoLimit},
	} {
		got, err := statement(&spec, "x")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestConjunctsThatRaiseSeeOnlySurvivors(t *testing.T) {
	t.Parallel()
	s := querySource(t, "SELECT CASE WHEN i % 2 = 0 THEN i ELSE 9223372036854775807 END AS v, i % 2 = 0 AS even FROM range(10000) r(i)")
	spec := tableSpec(t, s)
	v := col(spec, "v")
	next := pushdown.Arith{Op: pushdown.Add, Left: v, Right: i64(1), DataType: v.DataType}
	spec.Filter = []pushdown.Expr{
		pushdown.Compare{Op: pushdown.Less, Left: next, Right: i64(100)},
		pushdown.Compare{Op: pushdown.Equal, Left: col(spec, "even"), Right: lit(true)},
	}
	require.Len(t, rows(t, s, spec), 50)
	// DuckDB may simplify a comparison so that it cannot overflow; not this one.
	spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Right: i64(100),
		Left: pushdown.Arith{Op: pushdown.Add, Left: v, Right: v, DataType: v.DataType}}}
	_, err := tryRows(t.Context(), s, spec)
	require.ErrorIs(t, err, &status.Error{Code: status.OutOfRange})

	agg := pushdown.Spec{Partitions: spec.Partitions, Limit: pushdown.NoLimit, Aggregates: []pushdown.Aggregate{{
		Name: "m", Func: pushdown.Max, Arg: next,
		Filter: pushdown.Compare{Op: pushdown.Equal, Left: col(spec, "even"), Right: lit(true)},
	}}}
	require.Equal(t, [][]string{{"9999"}}, rows(t, s, agg))
}

func TestAggregates(t *testing.T) {
	t.Parallel()
	s := querySource(t, `SELECT * FROM (VALUES
		('a', 9223372036854775807, 1.5::DOUBLE, 99999999999999999999999999999999999999::DECIMAL(38,0), 200::UTINYINT, 0.0::FLOAT),
		('a', 9223372036854775807, 'nan', NULL, 200, -0.0), (NULL, NULL, NULL, NULL, NULL, 'nan'), ('b', -5, -1, 1, 1, 'nan')
	) v(g, i, f, d, u, z)`)
	all := tableSpec(t, s)
	agg := func(f pushdown.AggFunc, c string) pushdown.Aggregate {
		return pushdown.Aggregate{Name: c + string(rune('0'+f)), Func: f, Arg: col(all, c)}
	}
	spec := pushdown.Spec{Table: "t", Partitions: all.Partitions, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "g", Expr: col(all, "g")}},
		Aggregates: []pushdown.Aggregate{
			{Name: "n", Func: pushdown.CountStar}, agg(pushdown.Count, "f"), agg(pushdown.Sum, "i"), agg(pushdown.Sum, "f"),
			agg(pushdown.Sum, "d"), agg(pushdown.Sum, "u"), agg(pushdown.Min, "f"), agg(pushdown.Max, "f"),
		}}
	require.Equal(t, [][]string{
		{"(null)", "1", "0", "(null)", "(null)", "(null)", "(null)", "(null)", "(null)"},
		{"a", "2", "2", "18446744073709551614", "NaN", "99999999999999999999999999999999999999", "400", "1.5", "NaN"},
		{"b", "1", "1", "-5", "-1", "1", "1", "-1", "-1"},
	}, sortedRows(rows(t, s, spec)))

	distinct := pushdown.Spec{Partitions: all.Partitions, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "z", Expr: col(all, "z")}}}
	require.Equal(t, [][]string{{"0"}, {"NaN"}}, sortedRows(rows(t, s, distinct)))

	over := pushdown.Spec{Partitions: all.Partitions, Limit: pushdown.NoLimit, Aggregates: []pushdown.Aggregate{agg(pushdown.Sum, "d")}}
	_, err := tryRows(t.Context(), s, over)
	require.ErrorIs(t, err, &status.Error{Code: status.OutOfRange})
}

func TestTopNByAColumnThatIsNotShown(t *testing.T) {
	t.Parallel()
	s := querySource(t, "SELECT i AS id, CASE WHEN i = 3 THEN NULL ELSE -i END AS k FROM range(100000) r(i)")
	spec := tableSpec(t, s)
	spec.OrderBy = []pushdown.SortKey{{Column: col(spec, "k"), NullsFirst: true}, {Column: col(spec, "id")}}
	spec.Columns, spec.Limit = spec.Columns[:1], 3
	require.Equal(t, [][]string{{"3"}, {"99999"}, {"99998"}}, rows(t, s, spec))
}

func TestCanonicalFloats(t *testing.T) {
	t.Parallel()
	require.Equal(t, uint64(0), math.Float64bits(canonicalFloat(math.Copysign(0, -1))))
	require.Equal(t, math.Float64bits(math.NaN()), math.Float64bits(canonicalFloat(math.Float64frombits(0xfff8000000000001))))
	require.Equal(t, 1.5, canonicalFloat(1.5))
}
