package flightsql

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCacheKeepsTheNewest(t *testing.T) {
	t.Parallel()
	c := newCache[string](4, time.Hour)
	c.put("a", "A", 2)
	c.put("b", "old", 1)
	c.put("b", "B", 2)
	c.put("d", "D", 2)
	require.Empty(t, c.take("a"), "the oldest went")
	require.Equal(t, "B", c.get("b"))
	require.Equal(t, "B", c.take("b"))
	require.Empty(t, c.take("b"), "taken once")
	require.Equal(t, "D", c.take("d"))
	require.Zero(t, c.order.Len())
	require.Zero(t, c.weight)
	c.put("huge", "H", 9)
	require.Equal(t, "H", c.get("huge"), "the newest stays whatever it weighs")
}

func TestCacheForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCache[string](10, time.Minute)
		c.put("a", "A", 1)
		time.Sleep(59 * time.Second)
		require.Equal(t, "A", c.get("a"))
		time.Sleep(time.Second)
		require.Empty(t, c.get("a"))
		c.put("b", "B", 1)
		require.Equal(t, 1, c.order.Len(), "what is too old goes with the next put")
	})
}
