package adapt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
)

// TestLateKeysNarrowWhatRuns, and what has not started yet.
func TestLateKeysNarrowWhatRuns(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{true, false} {
		g := streamed(t, `SELECT t.b, u.b FROM t JOIN u ON t.a = u.a`)
		require.Equal(t, adapt.Change{}, heardWith(t, g, 1, "1"), "never opened")
		g.Open(1)
		if running {
			g.Open(0)
		}
		c := heardWith(t, g, 1, "5", "7", "NULL")
		require.Equal(t, adapt.Change{}, heardWith(t, g, 1, "9"), "again")
		rounds := g.Rounds()
		require.Len(t, rounds, 1)
		if !running {
			require.Equal(t, adapt.Change{Narrowed: []int{0}}, c)
			require.Len(t, g.Filters(0), 1)
			require.Equal(t, []string{"semi_join_filter"}, rounds[0].Fired)
			continue
		}
		require.Equal(t, adapt.Change{Told: []int{0}}, c)
		require.Empty(t, g.Filters(0))
		require.Len(t, g.Late(0), 1)
		require.Equal(t, []string{"late_filter"}, rounds[0].Fired)
		text := adapt.Text(rounds)
		require.Contains(t, text, "narrowed while running: scan1")
		require.Contains(t, text, "late=a in 2 values of scan2.c")
	}
}

// TestLateEmptySideStopsWhatRuns.
func TestLateEmptySideStopsWhatRuns(t *testing.T) {
	t.Parallel()
	g := streamed(t, `SELECT t.b, u.b FROM t JOIN u ON t.a = u.a`)
	g.Open(0)
	g.Open(1)
	require.Equal(t, adapt.Change{Stop: []int{0}}, heardWith(t, g, 1))
	require.Equal(t, adapt.Cancelled, g.State(0))
	require.Equal(t, adapt.Change{}, heardWith(t, g, 0, "1"), "it was stopped")
}
