package plan

import (
	"math"
	"testing"
)

func TestTopNEdges(t *testing.T) {
	t.Parallel()
	keys := []SortKey{{Expr: column(0, "INTEGER")}}
	requireApplied(t, topNPushdown{}, &TopN{Input: smallScan(t), Keys: keys, Limit: math.MaxInt64, Offset: 1},
		"TopN [#0 ASC NULLS LAST] 9223372036854775807 offset=1", "  Scan main.u [a, s, v]")
	requireApplied(t, topNPushdown{}, &TopN{Input: &Filter{Input: smallScan(t), Projection: []int{2, 0}}, Keys: []SortKey{{Expr: column(1, "INTEGER"), Descending: true}}, Limit: 2},
		"TopN [#1 DESC NULLS LAST] 2", "  Filter  columns=[2 0]", "    Scan main.u [a, s, v] order=[a DESC NULLS LAST] limit=2")
	requireApplied(t, topNPushdown{}, &TopN{Input: &Project{Input: smallScan(t), Exprs: []Expr{volatile("DOUBLE")}}, Keys: []SortKey{{Expr: column(0, "DOUBLE")}}, Limit: 2},
		"TopN [#0 ASC NULLS LAST] 2", "  Project [random()]", "    Scan main.u [a, s, v]")
}
