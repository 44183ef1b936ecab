package plan

import (
	"testing"
)

func TestColumnPruningEdges(t *testing.T) {
	t.Parallel()
	window := &Window{Input: smallScan(t), Exprs: []Expr{&WindowCall{Name: "count_star", Frame: "", Result: "BIGINT"}}}
	requireApplied(t, columnPruning{}, &Project{Input: window, Exprs: []Expr{column(1, "VARCHAR")}}, "Project [#0]", "  Scan main.u [s]")

	sorted := &Sort{Input: smallScan(t), Keys: []SortKey{{Expr: column(0, "INTEGER")}}, Projection: []int{2, 1}}
	requireApplied(t, columnPruning{}, &Project{Input: sorted, Exprs: []Expr{column(1, "VARCHAR")}},
		"Project [#0]", "  Sort [#0 ASC NULLS LAST] columns=[1]", "    Scan main.u [a, s]")

	unused := &CTE{ID: 7, Definition: smallScan(t), Body: &Project{Input: smallScan(t), Exprs: []Expr{integer(1)}}}
	requireApplied(t, columnPruning{}, unused, "CTE 7", "  Scan main.u [a]", "  Project [1]", "    Scan main.u [a]")

	count := &Aggregate{Input: smallScan(t), Aggregates: []Expr{&AggCall{Name: "max", Args: []Expr{column(0, "INTEGER")}, Result: "INTEGER"}, &AggCall{Name: "min", Args: []Expr{column(2, "DOUBLE")}, Result: "DOUBLE"}}}
	requireApplied(t, columnPruning{}, &Project{Input: count, Exprs: []Expr{integer(1)}}, "Project [1]", "  Aggregate keys=[] aggregates=[max(#0)]", "    Scan main.u [a]")

	delim := &Join{
		Kind: LeftJoin, Left: &DelimGet{ID: 3, Types: []Type{"VARCHAR"}}, Right: smallScan(t),
		Conditions: []JoinCondition{{Op: "=", Left: column(0, "VARCHAR"), Right: column(1, "VARCHAR")}},
		Delim:      &Delim{ID: 3, Columns: []Expr{column(1, "VARCHAR")}, Flipped: true},
	}
	requireApplied(t, columnPruning{}, &Project{Input: delim, Exprs: []Expr{column(3, "DOUBLE")}},
		"Project [#2]", "  Join LEFT delim=3[#0] flipped on (#0 = #1)", "    DelimGet 3", "    Scan main.u [s, v]")

	values := &Values{Rows: [][]Expr{{integer(1), integer(2)}}, Types: []Type{"INTEGER", "INTEGER"}}
	requireApplied(t, columnPruning{}, &Project{Input: values, Exprs: []Expr{column(1, "INTEGER")}}, "Project [#1]", "  Values [(1, 2)]")
}
