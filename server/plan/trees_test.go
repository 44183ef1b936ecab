package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

// Trees built by hand, for shapes that DuckDB's own plans do not have.

func smallScan(t testing.TB) *Scan {
	table := testTable(t, "u", "a INTEGER, s VARCHAR, v DOUBLE", 1)
	return &Scan{Table: table, Output: []int{0, 1, 2}, Types: []Type{"INTEGER", "VARCHAR", "DOUBLE"}, Limit: pushdown.NoLimit}
}

func column(i int, t Type) *Ref { return &Ref{Index: i, RefType: t} }

func greater(e Expr, v int64) Expr { return &Comparison{Op: ">", Left: e, Right: integer(v)} }

func isX(e Expr) Expr {
	return &Comparison{Op: "=", Left: &Call{Name: "reverse", Args: []Expr{e}, Result: "VARCHAR"}, Right: &Const{SQL: "'X'", Value: "X", ConstType: "VARCHAR"}}
}

func volatile(t Type) Expr { return &Call{Name: "random", Result: t, Volatile: true} }

// requireApplied applies a rule twice and compares the first result.
func requireApplied(t *testing.T, r Rule, in Node, want ...string) {
	before := Print(in)
	out, changed, err := r.Apply(in)
	require.NoError(t, err)
	require.Equal(t, strings.Join(want, "\n")+"\n", Print(out))
	require.Equal(t, before != Print(out), changed)
	require.Equal(t, before, Print(in), "the input was modified")
	again, changed, err := r.Apply(out)
	require.NoError(t, err)
	require.False(t, changed)
	require.Equal(t, Print(out), Print(again))
}
