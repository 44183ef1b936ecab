package exec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/budget"
)

// grants adds up what a window gives.
type grants struct{ sum int64 }

func (g *grants) Grant(bytes int64) error {
	g.sum += bytes
	return nil
}

// TestWindowCoversBandwidthTimesRoundTrip runs a link with a clock of its own: a
// consumer that takes everything at once at a given rate.
func TestWindowCoversBandwidthTimesRoundTrip(t *testing.T) {
	t.Parallel()
	const first, most = 1 << 10, 1 << 20
	for name, tc := range map[string]struct {
		roundTrip time.Duration
		perSecond int64
		low, high int64
	}{
		"a slow link needs no more":       {time.Millisecond, 40 << 10, first, first},
		"bandwidth asks for more":         {time.Millisecond, 10 << 20, 128 << 10, 512 << 10},
		"and so does a long round trip":   {100 * time.Millisecond, 1 << 20, 256 << 10, 1 << 20},
		"but never for more than allowed": {100 * time.Millisecond, 1 << 30, most, most},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, got := time.Unix(0, 0), &grants{}
			c := newCredit((*budget.Query)(nil), first, most)
			c.now = func() time.Time { return clock }
			c.begin(got, tc.roundTrip)
			consumed := int64(0)
			for range 20_000 {
				const batch = 512
				clock = clock.Add(time.Duration(int64(time.Second) * batch / tc.perSecond))
				c.of(batch)()
				consumed += batch
				outstanding := first + got.sum - consumed
				require.LessOrEqual(t, outstanding, c.size, "credit beyond the window")
				require.GreaterOrEqual(t, outstanding, c.size-c.size/8, "the sender is not starved")
			}
			require.GreaterOrEqual(t, c.size, tc.low)
			require.LessOrEqual(t, c.size, tc.high)
		})
	}
}

// TestWindowOfAnIdleConsumer: what nobody consumes does not grow.
func TestWindowOfAnIdleConsumer(t *testing.T) {
	t.Parallel()
	clock, got := time.Unix(0, 0), &grants{}
	c := newCredit((*budget.Query)(nil), 1000, 8000)
	c.now = func() time.Time { return clock }
	c.begin(got, 0)
	for range 10 {
		clock = clock.Add(time.Minute)
		c.of(1000)()
	}
	require.EqualValues(t, 1000, c.size)
	require.EqualValues(t, 10_000, got.sum)
}

// TestCreditIsCharged: the window and what exceeds it come out of the query's
// memory, and all of it returns.
func TestCreditIsCharged(t *testing.T) {
	t.Parallel()
	b := budget.New(budget.Config{MaxMemory: 10_000})
	q, err := b.Admit(t.Context(), "", false)
	require.NoError(t, err)
	defer q.Close()
	free := func() (n int64) { // what another could have
		for n = 10_000; q.Reserve(n) != nil; n-- {
		}
		q.Release(n)
		return n
	}
	require.NoError(t, q.Reserve(1000))
	c := newCredit(q, 1000, 8000)
	c.begin(&grants{}, time.Hour)
	require.NoError(t, c.arrived(800))
	require.EqualValues(t, 9000, free(), "within the window")
	require.NoError(t, c.arrived(5200))
	require.EqualValues(t, 4000, free(), "a batch beyond it")
	require.Equal(t, status.ResourceExhausted, status.CodeOf(c.arrived(4001)))
	c.of(6000)()
	require.EqualValues(t, 8000, free(), "the window has grown")
	require.NoError(t, c.arrived(3000))
	c.close()
	require.EqualValues(t, 7000, free(), "what waits to be consumed")
	c.of(3000)()
	require.EqualValues(t, 10_000, free())
}

// TestWindowWithinMemory: without memory the window stays as it is.
func TestWindowWithinMemory(t *testing.T) {
	t.Parallel()
	q, err := budget.New(budget.Config{MaxMemory: 1500}).Admit(t.Context(), "", false)
	require.NoError(t, err)
	defer q.Close()
	require.NoError(t, q.Reserve(1000))
	got := &grants{}
	c := newCredit(q, 1000, 8000)
	c.begin(got, time.Hour)
	for range 5 {
		require.NoError(t, c.arrived(1000))
		c.of(1000)()
	}
	require.EqualValues(t, 1000, c.size)
	require.EqualValues(t, 5000, got.sum)
}
