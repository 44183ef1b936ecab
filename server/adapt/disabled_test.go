package adapt_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// TestEachRuleCanBeDisabled: what a disabled rule would find is not found; without
// any rule nothing is waited for.
func TestEachRuleCanBeDisabled(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"broadcast_join", "empty_propagation", "late_filter", "partial_aggregation", "semi_join_filter"}, adapt.OptionalRules())
	require.NotEmpty(t, adapt.NeededRule("check"))
	for _, c := range []struct {
		disabled []string
		keys     []string // that the first stage yields
		fired    []string
	}{
		{nil, []string{"1"}, []string{"semi_join_filter"}},
		{[]string{"semi_join_filter"}, []string{"1"}, nil},
		{nil, nil, []string{"semi_join_filter", "empty_propagation"}},
		{[]string{"semi_join_filter"}, nil, []string{"empty_propagation"}},
		{[]string{"empty_propagation"}, nil, []string{"semi_join_filter"}},
	} {
		g := disabledGraph(t, c.disabled...)
		require.NotNil(t, g, c)
		first := g.Ready()
		g.Start(first)
		finishWith(t, g, first[0], c.keys...)
		rounds := g.Rounds()
		require.Equal(t, c.fired, rounds[len(rounds)-1].Fired, c)
	}
	require.Nil(t, disabledGraph(t, adapt.OptionalRules()...))
}

func disabledGraph(t *testing.T, disabled ...string) *adapt.Graph {
	e := newEnv(t, smallTables(t)...)
	p, err := e.planner.Plan(t.Context(), `SELECT t.b FROM t JOIN u ON t.a = u.a JOIN v ON u.b = v.b`, e.snap, plan.Options{Disabled: plan.Disable(disabled...)})
	require.NoError(t, err)
	return adapt.New(p, adapt.Always, []int64{-1, -1, -1})
}

// TestPlansOfVeryManyScansAreNotAdapted: to look at them would take longer than to
// run them.
func TestPlansOfVeryManyScansAreNotAdapted(t *testing.T) {
	t.Parallel()
	e := newEnv(t, smallTables(t)...)
	for parts, adapted := range map[int]bool{3: true, 600: false} {
		sql := "SELECT u.b FROM u JOIN (SELECT a FROM t" + strings.Repeat(" UNION ALL SELECT a FROM t", parts-1) + ") x ON u.a = x.a"
		p, err := e.planner.Plan(t.Context(), sql, e.snap, plan.Options{})
		require.NoError(t, err)
		require.Len(t, p.Scans, parts+1)
		require.Equal(t, adapted, adapt.New(p, adapt.Always, slices.Repeat([]int64{-1}, parts+1)) != nil, parts)
	}
}
