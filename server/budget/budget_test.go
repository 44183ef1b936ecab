package budget

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func admit(t *testing.T, b *Budget, engine bool) *Query {
	t.Helper()
	q, err := b.Admit(t.Context(), "", engine)
	require.NoError(t, err)
	return q
}

func TestReservations(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxMemory: 100})
	one, two := admit(t, b, false), admit(t, b, false)
	require.NoError(t, one.Reserve(70))
	err := two.Reserve(31)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	require.ErrorContains(t, err, "--max-memory")
	require.NoError(t, two.Reserve(30), "the other query is not harmed")
	one.Release(10)
	require.NoError(t, two.Reserve(10))
	one.Close()
	one.Close()
	one.Release(60)
	require.Equal(t, status.Canceled, status.CodeOf(one.Reserve(1)))
	require.Equal(t, state{running: 1, reserved: 40}, b.state())
	two.Close()
	require.Equal(t, state{}, b.state())
}

func TestQueriesWaitInTurn(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxQueries: 1})
	first := admit(t, b, false)
	order := make(chan int, 3)
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			q, err := b.Admit(context.Background(), "", false)
			require.NoError(t, err)
			order <- i
			q.Close()
		})
		require.Eventually(t, func() bool { return b.state().waiting == i+1 }, 5*time.Second, time.Millisecond)
	}
	first.Close()
	all.Wait()
	for i := range 3 {
		require.Equal(t, i, <-order)
	}
	require.Equal(t, state{}, b.state())
}

func TestAdmissionEnds(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	b := New(Config{MaxQueries: 1, Timeout: 20 * time.Millisecond, Registry: registry})
	held := admit(t, b, false)
	_, err := b.Admit(t.Context(), "", false)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	require.ErrorContains(t, err, "20ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.Admit(ctx, "", false)
	require.Equal(t, status.Canceled, status.CodeOf(err))
	require.Equal(t, state{running: 1}, b.state())
	require.InDelta(t, 1, testutil.ToFloat64(b.refused.WithLabelValues(refusedQueue)), 0)
	n, err := testutil.GatherAndCount(registry, "tributary_coordinator_admission_queue_length", "tributary_coordinator_admitted_queries", "tributary_coordinator_reserved_bytes")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	held.Close()
	admit(t, b, false).Close()
}

// TestEngineMemory: queries that need the engine wait for its memory.
func TestEngineMemory(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxMemory: 100, EngineMemory: 60, Timeout: 20 * time.Millisecond})
	first := admit(t, b, true)
	_, err := b.Admit(t.Context(), "", true)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	admit(t, b, false).Close()
	first.Close()
	admit(t, b, true).Close()
	_, err = New(Config{MaxMemory: 10, EngineMemory: 60}).Admit(t.Context(), "", true)
	require.ErrorContains(t, err, "--query-memory")
}

// TestEnginesLeaveRoom: engines of which none could read a row would wait for each other.
func TestEnginesLeaveRoom(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxMemory: 100, EngineMemory: 37, Timeout: 20 * time.Millisecond})
	first, second := admit(t, b, true), admit(t, b, true)
	_, err := b.Admit(t.Context(), "", true)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	require.NoError(t, first.Reserve(13))
	require.NoError(t, second.Reserve(13))
	second.Close()
	admit(t, b, true).Close()
	first.Close()

	b = New(Config{MaxMemory: 100, EngineMemory: 50, Timeout: 20 * time.Millisecond})
	first = admit(t, b, true)
	_, err = b.Admit(t.Context(), "", true)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	require.NoError(t, first.Reserve(50), "one on its own leaves room enough")
	first.Close()
	admit(t, b, true).Close()
}

// TestEngineLater: a query that is in asks for the engine's memory before those that are not.
func TestEngineLater(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxQueries: 2, MaxMemory: 100, EngineMemory: 50, Timeout: 20 * time.Millisecond})
	one, two := admit(t, b, false), admit(t, b, false)
	require.NoError(t, one.Engine(t.Context()))
	require.Equal(t, state{running: 2, reserved: 50}, b.state())
	require.Equal(t, status.ResourceExhausted, status.CodeOf(two.Engine(t.Context())), "the other has it")
	require.Equal(t, state{running: 2, reserved: 50}, b.state())

	b.cfg.Timeout = 0
	outside := make(chan *Query, 1)
	go func() {
		q, err := b.Admit(context.Background(), "", true)
		if err == nil {
			outside <- q
		}
		close(outside)
	}()
	require.Eventually(t, func() bool { return b.state().waiting == 1 }, 5*time.Second, time.Millisecond)
	inside := make(chan error, 1)
	go func() { inside <- two.Engine(context.Background()) }()
	require.Eventually(t, func() bool { return b.state().waiting == 2 }, 5*time.Second, time.Millisecond)
	one.Close()
	require.NoError(t, <-inside)
	require.Equal(t, 1, b.state().waiting)
	two.Close()
	(<-outside).Close()
	require.Equal(t, state{}, b.state())

	gone := admit(t, b, false)
	gone.Close()
	require.Equal(t, status.Canceled, status.CodeOf(gone.Engine(t.Context())))
	require.Equal(t, state{}, b.state())
}

// TestConcurrent use never exceeds the bounds and leaves nothing.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxQueries: 3, MaxMemory: 100, EngineMemory: 20})
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*time.Millisecond)
			defer cancel()
			q, err := b.Admit(ctx, "", i%2 == 0)
			if err != nil {
				return
			}
			defer q.Close()
			for range 10 {
				if q.Reserve(15) == nil {
					s := b.state()
					require.LessOrEqual(t, s.reserved, int64(100))
					require.LessOrEqual(t, s.running, 3)
					q.Release(15)
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, state{}, b.state())
}

func TestNoBudget(t *testing.T) {
	t.Parallel()
	var b *Budget
	q := admit(t, b, true)
	require.NoError(t, q.Reserve(1<<60))
	q.Release(1)
	q.Close()
	free := New(Config{})
	q = admit(t, free, true)
	require.NoError(t, q.Reserve(1<<60))
	q.Close()
}

// TestAUserRunsOutOfMemory: one user's queries share a limit, and another's are
// not harmed.
func TestAUserRunsOutOfMemory(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxUserMemory: 100, EngineMemory: 40})
	of := func(user string) *Query {
		q, err := b.Admit(t.Context(), user, true)
		require.NoError(t, err)
		return q
	}
	one, two, other := of("ann"), of("ann"), of("bob")
	require.NoError(t, one.Reserve(20))
	err := two.Reserve(1)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
	require.ErrorContains(t, err, "user ann is out of memory")
	require.ErrorContains(t, err, "--max-user-memory")
	_, err = b.Admit(t.Context(), "ann", true)
	require.Equal(t, status.ResourceExhausted, status.CodeOf(err), "at once")
	require.NoError(t, other.Reserve(60))
	one.Release(15)
	require.NoError(t, two.Reserve(15))
	one.Close()
	require.NoError(t, two.Reserve(45))
	two.Close()
	other.Close()
	require.Empty(t, b.users)
	require.EqualValues(t, 2, testutil.ToFloat64(b.refused.WithLabelValues(refusedUser)))
}

// TestAWaitingQueryHoldsItsUsersMemory: and gives it back when it gives up.
func TestAWaitingQueryHoldsItsUsersMemory(t *testing.T) {
	t.Parallel()
	b := New(Config{MaxQueries: 1, MaxUserMemory: 100, EngineMemory: 60, Timeout: 20 * time.Millisecond})
	first, err := b.Admit(t.Context(), "bob", true)
	require.NoError(t, err)
	_, err = b.Admit(t.Context(), "ann", true)
	require.ErrorContains(t, err, "not admitted")
	require.Equal(t, map[string]int64{"bob": 60}, b.users)
	first.Close()
	require.Empty(t, b.users)
}
