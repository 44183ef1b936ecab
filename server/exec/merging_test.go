package exec_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// merges tells which questions only merge partial groups.
var merges = map[string]bool{
	`SELECT k, count(*) FROM events GROUP BY k`:                                        true,
	`SELECT count(*) FROM events`:                                                      true,
	`SELECT count(*) FROM events WHERE k = 'no such key'`:                              true,
	`SELECT count(*), count(v), sum(v), min(k), max(day), sum(f), sum(d) FROM events`:  true,
	`SELECT max(v), e, k, count(i) FILTER (WHERE b), sum(i) FROM events GROUP BY k, e`: true,
	`SELECT DISTINCT e, b FROM events`:                                                 true,
	`SELECT f, bool_and(b), bool_or(b), min(ts), max(d) FROM events GROUP BY f`:        true,
	`SELECT date_trunc('month', day) AS m, sum(d) FROM events GROUP BY m`:              true,
	`SELECT k, e, sum(v), min(i), max(k) FROM events WHERE i > 1 GROUP BY e, k`:        true,
	`SELECT k, count(*) + 1 FROM events GROUP BY k`:                                    false,
	`SELECT k, avg(i) FROM events GROUP BY k`:                                          false,
	`SELECT count(DISTINCT i) FROM events`:                                             false,
	`SELECT k, count(*) FROM events GROUP BY k HAVING count(*) > 3`:                    false,
	`SELECT k, sum(i)::DOUBLE FROM events GROUP BY k`:                                  false,
	`SELECT k, max(k || 'x') FROM events GROUP BY k ORDER BY 1 LIMIT 2`:                false,
	`SELECT count(*) FROM (SELECT * FROM events LIMIT 100)`:                            false,
	`SELECT k, e, count(*) FROM events GROUP BY ROLLUP (k, e)`:                         false,
	`SELECT count(*) FROM events a JOIN events b ON a.i = b.i WHERE a.i < 3`:           false,
	`SELECT sum(i + 1) FROM events`:                                                    false,
}

// TestFewGroupsAreMerged: without the engine, with it from the first bytes on, and
// by it alone the rows are the same.
func TestFewGroupsAreMerged(t *testing.T) {
	t.Parallel()
	pool := newEngine(t)
	whole := events(rand.New(rand.NewPCG(3, 5)), 3000)
	for _, parts := range [][]int{{1, 1, 1}, {1, 0}} {
		for _, disable := range [][2]string{{}, {"", "all"}} {
			addrs := split(t, whole, disable, parts)
			none := newClusterWith(t, addrs, exec.Config{})
			few := newClusterWith(t, addrs, exec.Config{Engine: pool, MergeBytes: 100})
			never := newClusterWith(t, addrs, exec.Config{Engine: pool, MergeBytes: -1})
			for sql, want := range merges {
				p, err := never.planner.Plan(t.Context(), sql, never.catalog.Snapshot(), plan.Options{Pushdown: plan.PushdownFull})
				require.NoError(t, err)
				require.Equal(t, want, p.Merge != nil, "%s\n%s", sql, p.Explain())
				if !want {
					continue
				}
				rows, _ := never.ask(t, sql, plan.PushdownFull)
				merged, _ := none.ask(t, sql, plan.PushdownFull)
				require.Equal(t, rows, merged, sql)
				both, _ := few.ask(t, sql, plan.PushdownFull)
				require.Equal(t, rows, both, sql)
			}
		}
	}
}

// TestMergingNeedsItsScans: a failure of a scan is the query's.
func TestMergingNeedsItsScans(t *testing.T) {
	t.Parallel()
	whole := events(rand.New(rand.NewPCG(3, 5)), 100)
	c := newClusterWith(t, split(t, whole, [2]string{}, []int{1, 1}), exec.Config{})
	p, err := c.planner.Plan(t.Context(), `SELECT k, sum(v) FROM events GROUP BY k`, c.catalog.Snapshot(), plan.Options{Pushdown: plan.PushdownFull})
	require.NoError(t, err)
	p.Scans[0].Targets[1].Partitions[0] = "gone"
	p.Scans[0].Targets[1].Split.Remote.Partitions[0] = "gone"
	stream, err := c.fixture.exec.Run(t.Context(), "q", p, exec.Options{})
	require.NoError(t, err)
	_, err = collect(t.Context(), stream)
	require.ErrorContains(t, err, `"gone"`)
	require.NoError(t, stream.Close())

	stream, err = c.fixture.exec.Run(t.Context(), "q", p, exec.Options{})
	require.NoError(t, err)
	require.NoError(t, stream.Close(), "before the first row was asked for")
}
