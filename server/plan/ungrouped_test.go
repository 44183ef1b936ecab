package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUngrouped: the rows of a scan are read in the place of its groups, and only of
// that scan.
func TestUngrouped(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	const sql = "SELECT a, count(*) FROM t GROUP BY a UNION ALL SELECT b, count(*) FROM t GROUP BY b"
	p, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{})
	require.NoError(t, err)
	require.Len(t, p.Scans, 2)
	for _, s := range p.Scans {
		require.True(t, s.Reducible())
	}
	out := p.Ungrouped([]int{1})
	require.NotNil(t, out)
	require.Equal(t, p.Schema, out.Schema)
	require.True(t, out.Scans[0].Spec.Grouped())
	require.False(t, out.Scans[1].Spec.Grouped())
	require.Equal(t, []string{"aggregate stays at the coordinator: there is about a group per row"}, out.Scans[1].Reasons)
	require.Equal(t, p.Fired, out.Fired)
	require.Contains(t, out.Residual, "count(*)")
	require.Nil(t, out.Ungrouped([]int{1}).Ungrouped(nil), "nothing is left to do")

	require.Nil(t, p.Ungrouped(nil))
	p.Options.Disabled = Disable(PartialAggregation)
	require.Nil(t, p.Ungrouped([]int{0}))
}
