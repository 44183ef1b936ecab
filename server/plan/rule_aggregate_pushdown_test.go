package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAggregateEdges(t *testing.T) {
	t.Parallel()
	refused := map[string]*Aggregate{
		"neither keys nor functions": {Input: smallScan(t)},
		"it computes with":           {Input: smallScan(t), Aggregates: []Expr{integer(1)}},
		"volatile":                   {Input: &Project{Input: smallScan(t), Exprs: []Expr{volatile("DOUBLE")}}, Keys: []Expr{column(0, "DOUBLE")}},
		"GROUPING SETS":              {Input: smallScan(t), Keys: []Expr{column(0, "INTEGER"), column(0, "INTEGER")}, Sets: [][]int{{}, {0}}},
		"sum of VARCHAR":             {Input: smallScan(t), Aggregates: []Expr{&AggCall{Name: "sum", Args: []Expr{column(1, "VARCHAR")}, Result: "HUGEINT"}}},
		"avg of HUGEINT": {Input: smallScan(t), Aggregates: []Expr{&AggCall{Name: "avg", Result: "DOUBLE", Args: []Expr{
			&Cast{Arg: &Cast{Arg: column(0, "INTEGER"), Target: "DECIMAL(12,0)"}, Target: "HUGEINT"},
		}}}},
	}
	for why, a := range refused {
		out, changed, err := aggregatePushdown{}.Apply(a)
		require.NoError(t, err, why)
		require.False(t, changed, why)
		require.Contains(t, strings.Join(reasonsOf(out), "\n"), why)
	}
	twice := &AggCall{Name: "sum", Args: []Expr{&Cast{Arg: column(0, "INTEGER"), Target: "HUGEINT"}}, Result: "HUGEINT"}
	once := &AggCall{Name: "sum", Args: []Expr{column(0, "INTEGER")}, Result: "HUGEINT"}
	key := column(1, "VARCHAR")
	requireApplied(t, aggregatePushdown{}, &Aggregate{Input: smallScan(t), Keys: []Expr{key, key}, Aggregates: []Expr{once, twice}, Groupings: [][]int{{0}}},
		"Aggregate keys=[#0, #0] aggregates=[sum(#1), sum(#1)] groupings=[[0]]",
		"  Scan main.u partial keys=[s] aggregates=[sum(a)::HUGEINT]")
}

func TestSumOfAShiftedColumn(t *testing.T) {
	t.Parallel()
	plus := func(a, b Expr) Expr { return &Call{Name: "+", Args: []Expr{a, b}, Result: "INTEGER"} }
	sum := func(e Expr) Expr { return &AggCall{Name: "sum", Args: []Expr{e}, Result: "HUGEINT"} }
	a := column(0, "INTEGER")
	requireApplied(t, aggregatePushdown{}, &Aggregate{Input: smallScan(t), Aggregates: []Expr{sum(plus(a, integer(1))), sum(plus(integer(7), a)), sum(plus(a, a))}},
		"Aggregate keys=[] aggregates=[+(sum(#0), *(CAST(1 AS HUGEINT), sum(#1))), +(sum(#0), *(CAST(7 AS HUGEINT), sum(#1))), sum(#2)]",
		"  Scan main.u partial keys=[] aggregates=[sum(a)::HUGEINT, count(a)::BIGINT, sum(+(a, a))::HUGEINT]")
	requireApplied(t, aggregatePushdown{}, &Aggregate{Input: smallScan(t), Keys: []Expr{a}, Aggregates: []Expr{sum(plus(a, integer(1)))}},
		"Aggregate keys=[#0] aggregates=[sum(#1)]",
		"  Scan main.u partial keys=[a] aggregates=[sum(+(a, 1))::HUGEINT]")
}

func TestWidens(t *testing.T) {
	t.Parallel()
	yes := [][2]Type{{"TINYINT", "BIGINT"}, {"UBIGINT", "HUGEINT"}, {"UINTEGER", "BIGINT"}, {"UTINYINT", "UBIGINT"}, {"FLOAT", "DOUBLE"}}
	no := [][2]Type{{"BIGINT", "INTEGER"}, {"UINTEGER", "INTEGER"}, {"INTEGER", "UBIGINT"}, {"DOUBLE", "FLOAT"}, {"INTEGER", "DOUBLE"}, {"BOOLEAN", "INTEGER"}, {"VARCHAR", "BIGINT"}}
	for _, c := range yes {
		require.True(t, widens(c[0], c[1]), c)
	}
	for _, c := range no {
		require.False(t, widens(c[0], c[1]), c)
	}
}
