package exec_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// heeding is what scanners can do in these tests.
var heeding = pushdown.AllCapabilities().Union(pushdown.NewCapabilities(pushdown.CapDynamicFilter))

// newGroupedJoin joins the first table with the groups of the second one by v. The
// engine reads both at once; the first is too large to be waited for.
func newGroupedJoin(t *testing.T, cfg exec.Config, kind plan.JoinKind, quick, slow *node) *joined {
	j := newJoined(t, cfg, kind, quick, slow)
	j.sized(2000, 1_000_000)
	join := *j.plan.Root.(*plan.Join)
	join.Right = &plan.Aggregate{Input: join.Right, Keys: []plan.Expr{&plan.Ref{Index: 0, RefType: "BIGINT"}}}
	j.plan.Root = &join
	word := map[plan.JoinKind]string{plan.InnerJoin: "JOIN", plan.LeftJoin: "LEFT JOIN", plan.RightJoin: "RIGHT JOIN"}[kind]
	j.plan.Residual = "SELECT CAST(count(*) + 0 * coalesce(sum(t2.n), 0) AS BIGINT) AS n FROM remote('s1') t1 " + word + " (SELECT c0, count(DISTINCT c1) AS n FROM remote('s2') GROUP BY c0) t2 ON t1.c0 = t2.c0"
	return j
}

// sized makes the tables seem to have many rows.
func (j *joined) sized(rows ...int64) {
	for i, n := range rows {
		j.plan.Scans[i].Table.Partitions[0].Rows = n
	}
}

// slowly is ten batches of ten values from 0, after the first of which a filter is
// waited for.
func slowly(t *testing.T, caps pushdown.Capabilities, wait time.Duration) *node {
	var batches [][]row
	for at := range 10 {
		batches = append(batches, numbers(10*at, 10*at+10)...)
	}
	return newNode(t, "slow", behaviour{caps: caps, heed: wait}, map[string][][]row{"0": batches})
}

// TestARunningScanIsNarrowed by what another one yields that the engine reads
// beside it.
func TestARunningScanIsNarrowed(t *testing.T) {
	t.Parallel()
	keys := [][]row{{{"k", 5}, {"k", 55}, {"k", 57}}}
	for name, c := range map[string]struct {
		kind plan.JoinKind
		caps pushdown.Capabilities
		mode adapt.Mode
		off  string // disabled rules
		keys [][]row
		want string
		sent int64
	}{
		"a list":               {plan.InnerJoin, heeding, adapt.Late, "", keys, "3", 12},
		"a range":              {plan.InnerJoin, heeding, adapt.Late, "", numbers(50, 60), "10", 20},
		"the right side":       {plan.LeftJoin, heeding, adapt.Late, "", keys, "3", 12},
		"the side that stays":  {plan.RightJoin, heeding, adapt.Late, "", keys, "100", 100},
		"a scanner that won't": {plan.InnerJoin, everything, adapt.Late, "", keys, "3", 100},
		"disabled":             {plan.InnerJoin, heeding, adapt.Late, "late_filter", keys, "3", 100},
		"off":                  {plan.InnerJoin, heeding, adapt.Off, "", keys, "3", 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait := 5 * time.Second
			if c.sent == 100 {
				wait = 300 * time.Millisecond
			}
			slow := slowly(t, c.caps, wait)
			quick := behaviour{after: slow}
			if c.mode == adapt.Off {
				quick.after = nil // the engine may begin with either
			}
			j := newGroupedJoin(t, exec.Config{}, c.kind, tableNode(t, "quick", quick, c.keys), slow)
			j.plan.Options.Disabled = plan.Disable(c.off)
			stream := j.run(j.plan, exec.Options{Adaptive: c.mode})
			require.Equal(t, []string{c.want}, all(t, stream))
			require.NoError(t, stream.Close())
			require.Equal(t, c.sent, j.nodes[1].sent.Load())
			total := stream.Stats().Total()
			if c.sent == 100 {
				require.Zero(t, total.RowsDropped)
			} else {
				require.Equal(t, 100-c.sent, total.RowsDropped)
				require.EqualValues(t, 1, j.metric("adaptive_rules_total"))
				rounds := stream.Rounds()
				require.Len(t, rounds, 1)
				require.Equal(t, []string{"s2"}, rounds[0].Told)
			}
			j.idle()
		})
	}
}

// TestARunningScanIsStopped when there is nothing to join with.
func TestARunningScanIsStopped(t *testing.T) {
	t.Parallel()
	endless := newNode(t, "endless", behaviour{caps: heeding, endless: true}, map[string][][]row{"0": numbers(0, 10)})
	j := newGroupedJoin(t, exec.Config{}, plan.InnerJoin, tableNode(t, "empty", behaviour{after: endless}, nil), endless)
	stream := j.run(j.plan, exec.Options{Adaptive: adapt.Late})
	require.Equal(t, []string{"0"}, all(t, stream))
	require.NoError(t, stream.Close())
	require.Equal(t, []string{"s2"}, stream.Rounds()[0].Cancelled)
	j.idle()
}

// TestTheEngineMayBeginWithEither: what is known not to be large is read beside it.
func TestTheEngineMayBeginWithEither(t *testing.T) {
	t.Parallel()
	j := newGroupedJoin(t, exec.Config{}, plan.LeftJoin, tableNode(t, "quick", behaviour{}, [][]row{{{"k", 5}, {"k", 57}}}), slowly(t, heeding, 5*time.Second))
	stream := j.run(j.plan, exec.Options{Adaptive: adapt.On})
	require.Equal(t, []string{"2"}, all(t, stream))
	require.NoError(t, stream.Close())
	require.Less(t, j.nodes[1].sent.Load(), int64(13))
	require.Len(t, stream.Rounds(), 1)
	j.idle()
}

// TestAScanThatStartsLaterIsNarrowed by what was read until then, beside the engine
// where sizes are known, else by the engine.
func TestAScanThatStartsLaterIsNarrowed(t *testing.T) {
	t.Parallel()
	for _, rows := range [][]int64{{1_000_000, 2000}, {-1, -1}} {
		j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "fact", behaviour{}, numbers(0, 1000)), tableNode(t, "dim", behaviour{}, [][]row{{{"k", 5}, {"k", 7}}}))
		j.sized(rows...)
		stream := j.run(j.plan, exec.Options{Adaptive: adapt.On})
		require.Equal(t, []string{"2"}, all(t, stream))
		require.NoError(t, stream.Close())
		rounds := stream.Rounds()
		require.Len(t, rounds, 1, adapt.Text(rounds))
		require.Len(t, rounds[0].Narrowed, 1)
		if rows[0] > 0 {
			require.Equal(t, []string{"s1"}, rounds[0].Narrowed)
			require.EqualValues(t, 2, j.nodes[0].sent.Load())
		}
		j.idle()
	}
}

// TestWhatIsReadAheadIsBounded: what is not held follows, to one reader.
func TestWhatIsReadAheadIsBounded(t *testing.T) {
	t.Parallel()
	for _, held := range []int64{1, 20_000, 1 << 20} {
		j := newJoined(t, exec.Config{HeldBytes: held}, plan.InnerJoin, tableNode(t, "fact", behaviour{}, numbers(0, 1000)), tableNode(t, "dim", behaviour{}, repeated(50, 100)))
		j.sized(1_000_000, 5000)
		j.plan.Residual = "SELECT CAST(count(*) AS BIGINT) AS n FROM remote('s1') a JOIN (SELECT c0 FROM remote('s2') UNION ALL SELECT c0 FROM remote('s2')) b ON a.c0 = b.c0"
		stream := j.run(j.plan, exec.Options{Adaptive: adapt.On})
		require.Equal(t, []string{"10000"}, all(t, stream))
		require.NoError(t, stream.Close())
		if held == 1<<20 {
			require.EqualValues(t, 100, j.nodes[0].sent.Load(), "narrowed")
		} else {
			require.Len(t, j.nodes[1].requests(), 2)
		}
		require.Zero(t, j.metric("inflight_bytes"))
		j.idle()
	}
}

// TestAFailureAhead fails the query.
func TestAFailureAhead(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "fact", behaviour{}, numbers(0, 1000)), tableNode(t, "bad", behaviour{failWith: errBroken, failAt: 3}, repeated(5, 10)))
	j.sized(1_000_000, 5000)
	stream := j.run(j.plan, exec.Options{Adaptive: adapt.On})
	_, err := collect(t.Context(), stream)
	require.ErrorContains(t, err, errBroken.Error())
	require.NoError(t, stream.Close())
	j.idle()
}

// TestChaosOfLateFilters: what is heard of scans may be late, in another order and
// repeated, also after the end.
func TestChaosOfLateFilters(t *testing.T) {
	t.Parallel()
	keys := [][]row{{{"k", 5}, {"k", 55}, {"k", 57}}}
	j := newGroupedJoin(t, exec.Config{Chaos: &exec.Chaos{Seed: 5, Delay: 3 * time.Millisecond, Repeats: 4}}, plan.InnerJoin,
		tableNode(t, "quick", behaviour{}, keys), slowly(t, heeding, 2*time.Millisecond))
	told := 0
	for i := range 60 {
		j.plan.SQL = fmt.Sprint(i) // of which the draws are made
		stream := j.run(j.plan, exec.Options{Adaptive: adapt.Late})
		require.Equal(t, []string{"3"}, all(t, stream))
		require.NoError(t, stream.Close())
		require.LessOrEqual(t, len(stream.Rounds()), 2)
		for _, r := range stream.Rounds() {
			told += len(r.Told)
		}
	}
	require.Positive(t, told)
	j.idle()
}
