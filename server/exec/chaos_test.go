package exec_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// TestChaosChangesNothing: reports that come late, in another order or again, also
// as failures, give the same answer, and each stage is started once.
func TestChaosChangesNothing(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{Chaos: &exec.Chaos{Seed: 3, Delay: time.Millisecond, Repeats: 5}}, plan.InnerJoin,
		tableNode(t, "a", behaviour{}, numbers(5, 8)), tableNode(t, "b", behaviour{}, numbers(6, 30)),
		tableNode(t, "c", behaviour{}, numbers(0, 100)), tableNode(t, "d", behaviour{}, numbers(0, 1000)))
	for i := range 50 {
		j.plan.SQL = fmt.Sprint(i) // of which the draws are made
		stream := j.run(j.plan, exec.Options{Adaptive: adapt.Always})
		require.Equal(t, []string{"2"}, all(t, stream))
		require.NoError(t, stream.Close())
		for _, n := range j.nodes {
			require.Len(t, n.requests(), i+1, n.name)
		}
		finished := map[string]int{}
		for _, r := range stream.Rounds() {
			if r.Fact != "" {
				finished[r.Fact[:2]]++
			}
		}
		require.Len(t, finished, 3) // which ones depends on what is remembered
		for stage, times := range finished {
			require.Equal(t, 1, times, stage)
		}
	}
	j.idle()
}

// TestChaosOfFailures: a failure that comes late still fails the query.
func TestChaosOfFailures(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{Chaos: &exec.Chaos{Delay: time.Millisecond, Repeats: 5}}, plan.InnerJoin,
		tableNode(t, "bad", behaviour{failWith: errBroken, failAt: 2}, repeated(3, 10)), tableNode(t, "fact", behaviour{}, numbers(0, 10)))
	stream := j.run(j.plan, j.always())
	_, err := stream.Next(t.Context())
	require.ErrorContains(t, err, errBroken.Error())
	require.NoError(t, stream.Close())
	j.idle()
}
