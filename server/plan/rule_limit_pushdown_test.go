package plan

import (
	"math"
	"testing"

	"github.com/tributary-db/tributary/pushdown"
)

func TestLimitEdges(t *testing.T) {
	t.Parallel()
	requireApplied(t, limitPushdown{}, &Limit{Input: &Limit{Input: smallScan(t), Count: 3}, Count: 9}, "Limit 9", "  Limit 3", "    Scan main.u [a, s, v] limit=3")
	requireApplied(t, limitPushdown{}, &Limit{Input: smallScan(t), Count: math.MaxInt64, Offset: 1}, "Limit 9223372036854775807 offset=1", "  Scan main.u [a, s, v]")
	requireApplied(t, limitPushdown{}, &Limit{Input: smallScan(t), Count: 0}, "Limit 0", "  Scan main.u [a, s, v] limit=0")
	requireApplied(t, limitPushdown{}, &Limit{Input: smallScan(t), Count: pushdown.NoLimit, Offset: 2}, "Limit offset=2", "  Scan main.u [a, s, v]")
}
