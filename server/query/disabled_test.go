package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

func TestDisabledRulesSetting(t *testing.T) {
	t.Parallel()
	s := DefaultSettings()
	for value, want := range map[string]plan.Disabled{
		" topn_pushdown,Semi_Join_Filter , topn_pushdown": "semi_join_filter, topn_pushdown",
		"column_pruning": "column_pruning", " , ": "", "": "",
	} {
		require.NoError(t, s.Set("disabled_rules", value))
		require.Equal(t, want, s.DisabledRules)
		got, err := s.Get("disabled_rules")
		require.NoError(t, err)
		require.EqualValues(t, want, got)
	}
	require.NoError(t, s.Reset("disabled_rules"))
	for value, text := range map[string]string{
		"limit_pushdown, check": `rule "check" cannot be disabled: it finds wrong plans`,
		"filter_lift":           `rule "filter_lift" cannot be disabled: pushdown = 'off' needs it`,
		"reasons":               `rule "reasons" cannot be disabled`,
		"magic":                 `there is no rule "magic"`,
	} {
		err := s.Set("disabled_rules", value)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err))
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "aggregate_pushdown, column_pruning")
		require.ErrorContains(t, err, "empty_propagation, late_filter, partial_aggregation, semi_join_filter")
	}
	require.Equal(t, plan.Disabled(""), s.DisabledRules, "what is refused changes nothing")
}
