package adapt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
)

// TestListening: what is read without having been waited for is listened to where
// it may narrow something much larger.
func TestListening(t *testing.T) {
	t.Parallel()
	e := newEnv(t, smallTables(t)...)
	const join = `SELECT t.b, u.b FROM t JOIN u ON t.a = u.a`
	for name, c := range map[string]struct {
		sql       string
		mode      adapt.Mode
		estimates []int64
		listens   []bool // nil for no graph
	}{
		"off":                       {join, adapt.Off, []int64{1_000_000, 10_000}, nil},
		"no keys":                   {`SELECT t.b FROM t FULL JOIN u ON t.a = u.a`, adapt.On, []int64{-1, -1}, nil},
		"much smaller":              {join, adapt.On, []int64{80_000, 20_000}, []bool{false, true}},
		"not much smaller":          {join, adapt.On, []int64{79_999, 20_000}, nil},
		"the other one ends soon":   {join, adapt.On, []int64{49_999, 5000}, nil},
		"too many rows to look at":  {join, adapt.On, []int64{100_000_000, 20_001}, nil},
		"nothing is known":          {join, adapt.On, []int64{-1, -1}, []bool{true, true}},
		"always":                    {join, adapt.Always, []int64{1000, 1000}, []bool{true, true}},
		"a limit has no fixed rows": {`SELECT t.b, x.b FROM t JOIN (SELECT * FROM u LIMIT 5) x ON t.a = x.a`, adapt.On, []int64{-1, -1}, nil},
	} {
		g := adapt.New(e.plan(t, c.sql), c.mode, c.estimates)
		require.Equal(t, c.listens == nil, g == nil, name)
		for i, want := range c.listens {
			require.Equal(t, want, g.Listens(i), "%s %d", name, i)
		}
	}
}

// streamed is a graph of t and u, of which nothing was waited for.
func streamed(t *testing.T, sql string) *adapt.Graph {
	g := adapt.New(newEnv(t, smallTables(t)...).plan(t, sql), adapt.On, []int64{-1, -1})
	require.NotNil(t, g)
	require.True(t, g.Done())
	g.Stream()
	return g
}

// heardWith is what a stage has yielded that the engine has read.
func heardWith(t *testing.T, g *adapt.Graph, i int, values ...string) adapt.Change {
	keys := map[int]*adapt.Keys{}
	for column, k := range g.Keys(i) {
		keys[column] = adapt.NewKeys(k.Type)
		arr := arrayOf(t, k.Type, values...)
		keys[column].Add(arr)
		arr.Release()
	}
	c, err := g.Heard(i, keys, int64(len(values)), 100)
	require.NoError(t, err)
	return c
}

// TestLateKeysThatAreUnknown narrow nothing, and leave no round.
func TestLateKeysThatAreUnknown(t *testing.T) {
	t.Parallel()
	g := streamed(t, `SELECT t.b, u.b FROM t JOIN u ON t.a = u.a`)
	g.Open(0)
	g.Open(1)
	keys := map[int]*adapt.Keys{}
	for column, k := range g.Keys(1) {
		keys[column] = adapt.NewKeys(k.Type)
		keys[column].Forget()
	}
	c, err := g.Heard(1, keys, 10, 100)
	require.NoError(t, err)
	require.Equal(t, adapt.Change{}, c)
	require.Empty(t, g.Rounds())
}

// TestNothingIsBroadcastLate: nobody holds the rows any more.
func TestNothingIsBroadcastLate(t *testing.T) {
	t.Parallel()
	g := streamed(t, `SELECT u.s, sum(t.b) FROM t JOIN u ON t.a = u.a GROUP BY u.s`)
	g.Open(0)
	g.Open(1)
	heardWith(t, g, 1, "1")
	require.False(t, g.Broadcast())
}
