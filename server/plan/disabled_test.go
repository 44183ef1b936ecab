package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDisable(t *testing.T) {
	t.Parallel()
	d := Disable("topn_pushdown", "limit_pushdown", "topn_pushdown")
	require.Equal(t, Disabled("limit_pushdown, topn_pushdown"), d)
	require.True(t, d.Has("topn_pushdown"))
	require.False(t, d.Has("topn"))
	require.Equal(t, Disabled(""), Disable())
	require.False(t, Disable().Has("check"))
}

func TestOptionalRules(t *testing.T) {
	t.Parallel()
	optional := OptionalRules()
	require.True(t, slices.IsSorted(optional))
	for _, level := range levels() {
		for _, r := range rules(level) {
			require.NotEqual(t, slices.Contains(optional, r.Name()), NeededRule(r.Name()) != "", r.Name())
		}
	}
	require.Contains(t, optional, "aggregate_pushdown")
	require.NotContains(t, optional, "check")
}

// TestEachRuleCanBeDisabled: a rule that is disabled does not fire, the plans stay
// valid and the others idempotent; and for each rule some plan is another one without it.
func TestEachRuleCanBeDisabled(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	missed := map[string]int{}
	for _, sql := range goldenStatements(t) {
		p, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{})
		require.NoError(t, err, sql)
		for _, name := range p.Fired {
			if NeededRule(name) != "" {
				continue
			}
			without, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{Disabled: Disable(name)})
			require.NoError(t, err, "without %s: %s", name, sql)
			require.NotContains(t, without.Fired, name, sql)
			require.Equal(t, p.Schema, without.Schema)
			require.True(t, strings.Contains(without.Explain(), "disabled rules: "+name+"\n"))
			if without.Kind != Original && Print(p.Root) != Print(without.Root) {
				missed[name]++
			}
		}
	}
	for _, name := range OptionalRules() {
		require.Positive(t, missed[name], name)
	}
}
