package duckdb

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

// TestDistinctUnderOr: NULLs differ from a constant, whatever the bounds of the
// other values.
func TestDistinctUnderOr(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"table", "file"} {
		for values, want := range map[string]int{"(NULL), (NULL), (NULL)": 3, "(1), (1), (NULL), (NULL)": 2, "(1)": 0, "(1), (7)": 1} {
			s := valuesSource(t, form, "INTEGER", values)
			all := tableSpec(t, s)
			a, one := col(all, "a"), lit(int32(1))
			greater := pushdown.Compare{Op: pushdown.Greater, Left: a, Right: lit(int32(5))}
			for _, other := range []pushdown.Expr{
				pushdown.Compare{Op: pushdown.Distinct, Left: a, Right: one},
				pushdown.Compare{Op: pushdown.Distinct, Left: one, Right: a},
				pushdown.Not{Arg: pushdown.Compare{Op: pushdown.NotDistinct, Left: a, Right: one}},
			} {
				all.Filter = []pushdown.Expr{pushdown.Or{Args: []pushdown.Expr{greater, other}}}
				require.Len(t, rows(t, s, all), want, "%s of %s, %s", form, values, all.String())
			}
		}
	}
}

// TestZeros: the zeros are equal, whichever a file has and whichever is asked for.
func TestZeros(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"FLOAT", "DOUBLE"} {
		for _, stored := range []string{"0.0", "-0.0"} {
			s := valuesSource(t, "file", typ, fmt.Sprintf("(%s::%s), (%[1]s), (NULL)", stored, typ))
			all := tableSpec(t, s)
			a := col(all, "a")
			for _, v := range []float64{0, math.Copysign(0, -1)} {
				zero, other := lit(v), lit(2.0)
				if typ == "FLOAT" {
					zero, other = lit(float32(v)), lit(float32(2))
				}
				for _, c := range []struct {
					filter pushdown.Expr
					want   int
				}{
					{pushdown.Compare{Op: pushdown.Equal, Left: a, Right: zero}, 2},
					{pushdown.Compare{Op: pushdown.Equal, Left: zero, Right: a}, 2},
					{pushdown.Compare{Op: pushdown.NotDistinct, Left: a, Right: zero}, 2},
					{pushdown.Compare{Op: pushdown.NotEqual, Left: a, Right: zero}, 0},
					{pushdown.Compare{Op: pushdown.Distinct, Left: a, Right: zero}, 1},
					{pushdown.Not{Arg: pushdown.Compare{Op: pushdown.NotEqual, Left: a, Right: zero}}, 2},
					{pushdown.Compare{Op: pushdown.LessEqual, Left: a, Right: zero}, 2},
					{pushdown.Compare{Op: pushdown.GreaterEqual, Left: a, Right: zero}, 2},
					{pushdown.Compare{Op: pushdown.Less, Left: a, Right: zero}, 0},
					{pushdown.Compare{Op: pushdown.Greater, Left: a, Right: zero}, 0},
					{pushdown.In{Arg: a, Values: []pushdown.Literal{zero}}, 2},
					{pushdown.In{Arg: a, Values: []pushdown.Literal{other, zero}}, 2},
					{pushdown.In{Arg: a, Values: []pushdown.Literal{zero}, Negated: true}, 0},
					{pushdown.In{Arg: a, Values: []pushdown.Literal{other}, Negated: true}, 2},
					{pushdown.In{Arg: a, Values: []pushdown.Literal{null(zero.Type()), zero, other}}, 2},
				} {
					all.Filter = []pushdown.Expr{c.filter}
					require.Len(t, rows(t, s, all), c.want, "%s of %s, %s", stored, typ, all.String())
				}
			}
		}
	}
}

// TestBytes: a Parquet file's Bloom filter does not hide bytes that are no text.
func TestBytes(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	query := `SELECT x::BLOB AS a FROM (VALUES (''), ('a'), ('\x00'), ('\xFF'), ('a\x00b'), (NULL)) v(x), range(60)`
	s := globSource(t, e, write(t, e, query, dir, "a.parquet"))
	all := tableSpec(t, s)
	a := col(all, "a")
	for value, want := range map[string]int{"": 60, "a": 60, "\x00": 60, "\xff": 60, "a\x00b": 60, "\xfe": 0} {
		l := lit([]byte(value))
		for _, c := range []struct {
			filter pushdown.Expr
			want   int
		}{
			{pushdown.Compare{Op: pushdown.Equal, Left: a, Right: l}, want},
			{pushdown.Compare{Op: pushdown.Equal, Left: l, Right: a}, want},
			{pushdown.Compare{Op: pushdown.NotDistinct, Left: a, Right: l}, want},
			{pushdown.Compare{Op: pushdown.NotEqual, Left: a, Right: l}, 300 - want},
			{pushdown.Compare{Op: pushdown.Distinct, Left: a, Right: l}, 360 - want},
			{pushdown.In{Arg: a, Values: []pushdown.Literal{l}}, want},
			{pushdown.In{Arg: a, Values: []pushdown.Literal{null(l.Type()), l}}, want},
			{pushdown.In{Arg: a, Values: []pushdown.Literal{l}, Negated: true}, 300 - want},
			{pushdown.Not{Arg: pushdown.Compare{Op: pushdown.NotEqual, Left: a, Right: l}}, want},
		} {
			all.Filter = []pushdown.Expr{c.filter}
			require.Len(t, rows(t, s, all), c.want, "%q, %s", value, all.String())
		}
	}
}

// valuesSource has one partition with a column a.
func valuesSource(t *testing.T, form, typ, values string) *Source {
	e, dir := newEngine(t), t.TempDir()
	e.warm = 1
	query := "SELECT a::" + typ + " AS a FROM (VALUES " + values + ") v(a)"
	if form == "file" {
		return globSource(t, e, write(t, e, query, dir, "a.parquet"))
	}
	path := filepath.Join(dir, "a.duckdb")
	for _, sql := range []string{"ATTACH " + quoteText(path) + " AS w", "CREATE TABLE w.rows AS " + query, "DETACH w"} {
		require.NoError(t, e.exec(t.Context(), sql))
	}
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{{ID: "0", Database: path, Table: "rows"}}})
	require.NoError(t, err)
	return s
}
