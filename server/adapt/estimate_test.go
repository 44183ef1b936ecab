package adapt_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

// bounded gives a table's column bounds.
func bounded(t *catalog.Table, column string, low, high int32) *catalog.Table {
	t.Partitions[0].Columns = map[string]codec.ColumnStats{column: {Min: scalar.NewInt32Scalar(low), Max: scalar.NewInt32Scalar(high), Nulls: -1}}
	return t
}

const star = "a INTEGER, b BIGINT, s VARCHAR"

// estimated is the graph of a plan whose tables are expected to yield so many
// rows, and where they are.
func estimated(p *plan.Plan, sizes map[string]int64) (*adapt.Graph, map[string]int) {
	var estimates []int64
	at := map[string]int{}
	for i, s := range p.Scans {
		estimates = append(estimates, sizes[s.Table.Name])
		at[s.Table.Name] = i
	}
	return adapt.New(p, adapt.On, estimates), at
}

// TestANarrowedScanIsWaitedFor: u is too large to wait for until v has shown that
// few of its rows matter.
func TestANarrowedScanIsWaitedFor(t *testing.T) {
	t.Parallel()
	e := newEnv(t, table(t, "t", star, 5_000_000), table(t, "u", star, 100_000), table(t, "v", star, 1000))
	p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a JOIN v ON u.b = v.b WHERE v.s = 'x'`)
	sizes := map[string]int64{"t": 5_000_000, "u": 100_000, "v": 200}
	g, at := estimated(p, sizes)
	require.Equal(t, []int{at["v"]}, g.Ready())
	g.Start(g.Ready())
	finishWith(t, g, at["v"], "1", "2", "3", "4", "5", "6", "7", "8", "9")
	require.Equal(t, []int{at["u"]}, g.Ready(), "about 900 rows of u are left")
	require.False(t, g.Done())
}

// TestANarrowedScanThatRunsIsStillWaitedFor: it is as small as it was when it
// started, whatever becomes known of others.
func TestANarrowedScanThatRunsIsStillWaitedFor(t *testing.T) {
	t.Parallel()
	e := newEnv(t, table(t, "t", star, 5_000_000), table(t, "u", star, 100_000), table(t, "v", star, 1000), table(t, "w", "x BIGINT, y VARCHAR", 2))
	p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a JOIN v ON u.b = v.b JOIN w ON t.b = w.x WHERE v.s = 'x' AND w.y = 'x'`)
	sizes := map[string]int64{"t": 5_000_000, "u": 100_000, "v": 200, "w": 2}
	var estimates []int64
	at := map[string]int{}
	for i, s := range p.Scans {
		estimates = append(estimates, sizes[s.Table.Name])
		at[s.Table.Name] = i
	}
	g := adapt.New(p, adapt.On, estimates)
	g.Start(g.Ready())
	finishWith(t, g, at["v"], "1", "2", "3", "4", "5", "6", "7", "8", "9")
	require.Equal(t, []int{at["u"]}, g.Ready())
	g.Start(g.Ready())
	finishWith(t, g, at["w"], "1", "2")
	require.Equal(t, adapt.Running, g.State(at["u"]))
	require.False(t, g.Done())
}

// TestAScanThatHelpsNoMoreIsNotWaitedFor: of two that run, the first leaves so
// little of the table that the second is not worth waiting for.
func TestAScanThatHelpsNoMoreIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	e := newEnv(t, bounded(table(t, "t", star, 1_000_000), "a", 1, 1000), table(t, "u", star, 70_000), table(t, "v", star, 1000))
	p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a JOIN v ON t.b = v.b WHERE v.s = 'x' AND u.s = 'x'`)
	sizes := map[string]int64{"t": 1_000_000, "u": 500, "v": 200}
	g, at := estimated(p, sizes)
	require.ElementsMatch(t, []int{at["u"], at["v"]}, g.Ready())
	g.Start(g.Ready())
	finishWith(t, g, at["u"], "1", "2", "5000", "6000")
	require.True(t, g.Done(), "2 of the 1000 values that t.a may have are left")
	require.Equal(t, adapt.Running, g.State(at["v"]))
	require.Len(t, g.Filters(at["t"]), 1)
}

// TestKeysThatAreAllThereIsAreNoFilter: it would cost and drop nothing.
func TestKeysThatAreAllThereIsAreNoFilter(t *testing.T) {
	t.Parallel()
	e := newEnv(t, bounded(table(t, "t", star, 1_000_000), "a", 1, 3), table(t, "u", star, 3))
	g := adapt.New(e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a`), adapt.Always, []int64{1_000_000, 3})
	g.Start(g.Ready())
	require.Empty(t, finishWith(t, g, 1, "1", "2", "3").Narrowed)

	g = adapt.New(e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a`), adapt.Always, []int64{1_000_000, 3})
	g.Start(g.Ready())
	require.Equal(t, []int{0}, finishWith(t, g, 1, "1", "7").Narrowed)
}
