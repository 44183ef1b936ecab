package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// TestDisabledRules: what a rule would push stays, the answer stays too, and
// EXPLAIN and SHOW say so.
func TestDisabledRules(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	client := connect(t, serve(t, f.coordinator))
	explain := func(sql string) string {
		r, err := fetch(t.Context(), client, "EXPLAIN "+sql)
		require.NoError(t, err)
		defer r.release()
		var lines []string
		for _, row := range d.text(t, r) {
			lines = append(lines, *row[0])
		}
		return strings.Join(lines, "\n")
	}
	const groups, join = "SELECT name, count(*) FROM events GROUP BY name", "SELECT count(*) FROM events a JOIN events b ON a.id = b.id WHERE a.name = 'name 5'"
	require.Contains(t, explain(groups), "runs aggregate")
	_, err := client.ExecuteUpdate(t.Context(), "SET disabled_rules = 'semi_join_filter, aggregate_pushdown'")
	require.NoError(t, err)
	require.NotContains(t, explain(groups), "runs aggregate")
	require.Contains(t, explain(groups), "disabled rules: aggregate_pushdown, semi_join_filter\n")
	shown, err := fetch(t.Context(), client, "SHOW disabled_rules")
	require.NoError(t, err)
	require.Equal(t, "aggregate_pushdown, semi_join_filter", one(t, d, shown))
	shown.release()

	set := query.DefaultSettings()
	require.NoError(t, set.Set("adaptive", "always"))
	narrowed, text := rowsScanned(t, d, f.coordinator, set, join)
	require.Less(t, narrowed, 1600, text)
	require.NoError(t, set.Set("disabled_rules", "semi_join_filter"))
	all, text := rowsScanned(t, d, f.coordinator, set, join)
	require.Equal(t, 1600, all, text)

	_, err = client.ExecuteUpdate(t.Context(), "SET disabled_rules = 'magic'")
	require.ErrorContains(t, err, `there is no rule "magic"; those that can be disabled are aggregate_pushdown`)
	require.Equal(t, status.InvalidArgument, status.CodeOf(set.Set("disabled_rules", "check")))
	_, err = client.ExecuteUpdate(t.Context(), "SET disabled_rules = ''")
	require.NoError(t, err)
	require.Contains(t, explain(groups), "runs aggregate")
}
