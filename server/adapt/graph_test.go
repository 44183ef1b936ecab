package adapt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
)

// TestChoice: which scans are waited for depends on how many rows they promise.
func TestChoice(t *testing.T) {
	t.Parallel()
	e := newEnv(t, smallTables(t)...)
	const plain = `SELECT t.b, u.b FROM t JOIN u ON t.a = u.a`
	const filtered = `SELECT t.b, u.b FROM t JOIN u ON t.a = u.a WHERE u.b > 7`
	for name, c := range map[string]struct {
		sql       string
		mode      adapt.Mode
		estimates []int64
		first     []int // nil for none
	}{
		"off":                          {filtered, adapt.Off, []int64{1_000_000, 10}, nil},
		"small and filtered":           {filtered, adapt.On, []int64{1_000_000, 10}, []int{1}},
		"not much smaller":             {filtered, adapt.On, []int64{50_000, 10_000}, nil},
		"too large for a list":         {filtered, adapt.On, []int64{10_000_000, 30_000}, nil},
		"of unknown size":              {filtered, adapt.On, []int64{10_000_000, -1}, nil},
		"beside an unknown size":       {filtered, adapt.On, []int64{-1, 10}, nil},
		"the helped one is over soon":  {filtered, adapt.On, []int64{10_000, 10}, nil},
		"tiny without a filter":        {plain, adapt.On, []int64{1_000_000, 100}, []int{1}},
		"small without a filter":       {plain, adapt.On, []int64{100_000_000, 5000}, nil},
		"always":                       {plain, adapt.Always, []int64{10, 10}, []int{0}},
		"always, sizes unknown":        {plain, adapt.Always, []int64{-1, -1}, []int{0}},
		"always, but nothing to learn": {`SELECT t.b FROM t FULL JOIN u ON t.a = u.a`, adapt.Always, []int64{1, 2}, nil},
		"one scan":                     {`SELECT b, count(*) FROM t GROUP BY b`, adapt.Always, []int64{1}, nil},
	} {
		g := adapt.New(e.plan(t, c.sql), c.mode, c.estimates)
		if c.first == nil {
			require.True(t, g == nil || g.Ready() == nil && g.Done(), name)
			continue
		}
		require.NotNil(t, g, name)
		require.Equal(t, c.first, g.Ready(), name)
	}
}

// chain has v (s3) before u (s2) before t (s1).
func chain(t *testing.T) *adapt.Graph {
	e := newEnv(t, smallTables(t)...)
	p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a JOIN v ON u.b = v.b WHERE v.s = 'x'`)
	estimates := map[string]int64{"t": 1_000_000, "u": 1000, "v": 10}
	var sizes []int64
	for _, s := range p.Scans {
		sizes = append(sizes, estimates[s.Table.Name])
	}
	g := adapt.New(p, adapt.On, sizes)
	require.NotNil(t, g)
	return g
}

// finishWith ends a stage with some integers as keys.
func finishWith(t *testing.T, g *adapt.Graph, i int, values ...string) adapt.Change {
	for _, k := range g.Keys(i) {
		arr := arrayOf(t, k.Type, values...)
		k.Add(arr)
		arr.Release()
	}
	c, err := g.Finish(i, int64(len(values)), 100)
	require.NoError(t, err)
	return c
}

func position(t *testing.T, g *adapt.Graph, state adapt.State) int {
	for i := range 3 {
		if g.State(i) == state {
			return i
		}
	}
	t.Fatalf("no stage is %s", state)
	return -1
}

// TestOneAfterTheOther: a scan that another one can narrow waits for it.
func TestOneAfterTheOther(t *testing.T) {
	t.Parallel()
	g := chain(t)
	first := g.Ready()
	require.Len(t, first, 1)
	g.Start(first)
	require.Empty(t, g.Ready(), "u waits for v")
	c := finishWith(t, g, first[0], "1", "2")
	require.Len(t, c.Narrowed, 1)
	second := g.Ready()
	require.Equal(t, c.Narrowed, second)
	require.Len(t, g.Filters(second[0]), 1)
	require.False(t, g.Done())
	g.Start(second)
	c = finishWith(t, g, second[0], "5", "NULL")
	require.Len(t, c.Narrowed, 1)
	require.True(t, g.Done())
	rounds := g.Rounds()
	require.Len(t, rounds, 4)
	require.Equal(t, []string{"semi_join_filter"}, rounds[1].Fired)
	require.NotEqual(t, rounds[1].Before, rounds[1].After)
	text := adapt.Text(rounds)
	require.Contains(t, text, "2 rows, 100 bytes, c0 2 consecutive values")
	require.Contains(t, text, "first: about 10 rows beside")
}

// TestAnEmptyStageEndsAll: what joins with nothing is not started.
func TestAnEmptyStageEndsAll(t *testing.T) {
	t.Parallel()
	g := chain(t)
	first := g.Ready()
	g.Start(first)
	c := finishWith(t, g, first[0])
	require.Len(t, c.Removed, 2)
	require.Empty(t, c.Stop)
	require.True(t, g.Done())
	require.Empty(t, g.Ready())
	rounds := g.Rounds()
	for _, i := range c.Removed { // whatever is still said about them
		g.Start([]int{i})
		require.Equal(t, adapt.Change{}, finishWith(t, g, i, "1"))
		require.Equal(t, adapt.Removed, g.State(i))
		require.Empty(t, g.Filters(i))
	}
	require.Equal(t, adapt.Change{}, finishWith(t, g, first[0], "1"), "again, and another one")
	require.Empty(t, g.Ready())
	require.Equal(t, rounds, g.Rounds())
}

// TestLateAndRepeatedEventsChangeNothing: a stage that has ended, was never
// started, or that nobody waits for any more is not listened to.
func TestLateAndRepeatedEventsChangeNothing(t *testing.T) {
	t.Parallel()
	g := chain(t)
	first := g.Ready()
	unchanged := func(i int) {
		t.Helper()
		rounds := len(g.Rounds())
		require.Equal(t, adapt.Change{}, finishWith(t, g, i))
		require.Len(t, g.Rounds(), rounds)
	}
	unchanged(first[0])
	g.Start(first)
	finishWith(t, g, first[0], "1")
	unchanged(first[0])
	second := g.Ready()
	g.Start(second)
	g.Start(second)
	g.Abandon("too much")
	g.Abandon("too much")
	require.True(t, g.Done())
	unchanged(second[0])
	require.Equal(t, adapt.Running, g.State(second[0]), "it goes on")
	require.Empty(t, g.Filters(position(t, g, adapt.Planned)))
}

// TestARunningStageIsCancelled: both sides of a condition that gives no keys run
// at once; when one is empty the other stops.
func TestARunningStageIsCancelled(t *testing.T) {
	t.Parallel()
	e := newEnv(t, smallTables(t)...)
	p := e.plan(t, `SELECT count(*) FROM t JOIN u ON t.f = u.f JOIN v ON u.f = v.f`)
	g := adapt.New(p, adapt.Always, []int64{1, 2, 3})
	ready := g.Ready()
	require.Len(t, ready, 2, "the largest helps none that is larger")
	g.Start(ready)
	c := finishWith(t, g, ready[0])
	require.Equal(t, ready[1:], c.Stop)
	require.Len(t, c.Removed, 1)
	require.Equal(t, adapt.Cancelled, g.State(ready[1]))
	require.Equal(t, adapt.Change{}, finishWith(t, g, ready[1], "1"))
	require.True(t, g.Done())
	require.Equal(t, []string{"empty_propagation"}, g.Rounds()[1].Fired)
}
