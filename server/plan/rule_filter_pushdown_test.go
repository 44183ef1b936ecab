package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilterPushdownMergesFilters(t *testing.T) {
	t.Parallel()
	inner := &Filter{Input: smallScan(t), Conjuncts: []Expr{isX(column(1, "VARCHAR"))}, Projection: []int{2, 0}}
	outer := &Filter{Input: inner, Conjuncts: []Expr{greater(column(1, "INTEGER"), 3)}, Projection: []int{0}}
	requireApplied(t, filterPushdown{}, outer,
		"Filter (reverse(#1) = 'X') columns=[2]",
		"  Scan main.u [a, s, v] filter=(a > 3)")
	requireApplied(t, filterLift{}, outer,
		"Filter (reverse(#1) = 'X') AND (#0 > 3) columns=[2]",
		"  Scan main.u [a, s, v]")
}

func TestFilterPushdownThroughProjections(t *testing.T) {
	t.Parallel()
	project := &Project{Input: smallScan(t), Exprs: []Expr{column(1, "VARCHAR"), column(0, "INTEGER"), volatile("DOUBLE")}}
	requireApplied(t, filterPushdown{}, &Filter{Input: project, Conjuncts: []Expr{greater(column(1, "INTEGER"), 3)}, Projection: []int{2}},
		"Filter  columns=[2]",
		"  Project [#1, #0, random()]",
		"    Scan main.u [a, s, v] filter=(a > 3)")
	requireApplied(t, filterPushdown{}, &Filter{Input: project, Conjuncts: []Expr{
		greater(column(1, "INTEGER"), 3), &Comparison{Op: ">", Left: column(2, "DOUBLE"), Right: column(2, "DOUBLE")},
	}},
		"Filter (#1 > 3) AND (#2 > #2)",
		"  Project [#1, #0, random()]",
		"    Scan main.u [a, s, v]")
}

func TestFilterStaysAboveReducedScans(t *testing.T) {
	t.Parallel()
	limited, grouped := smallScan(t), smallScan(t)
	limited.Limit = 5
	grouped.Partial, grouped.Output, grouped.Types = &Partial{Keys: []Expr{column(0, "INTEGER")}}, nil, nil
	filter := []Expr{greater(column(0, "INTEGER"), 3)}
	requireApplied(t, filterPushdown{}, &Filter{Input: limited, Conjuncts: filter}, "Filter (#0 > 3)", "  Scan main.u [a, s, v] limit=5")
	requireApplied(t, filterPushdown{}, &Filter{Input: grouped, Conjuncts: filter}, "Filter (#0 > 3)", "  Scan main.u partial keys=[a] aggregates=[]")
	sum, err := splitAggregate(&Aggregate{Input: limited, Aggregates: []Expr{&AggCall{Name: "count_star", Result: "BIGINT"}}}, nil)
	require.Nil(t, sum)
	require.ErrorContains(t, err, "LIMIT")
}
