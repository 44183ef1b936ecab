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

// TestAListMustDropMoreThanItCosts: 400 of 1000 values leave 6000 of 10,000 rows
// out, and cost as much as 4000; of 5000 rows they would leave out 3000.
func TestAListMustDropMoreThanItCosts(t *testing.T) {
	t.Parallel()
	e := newEnv(t, bounded(table(t, "t", star, 1_000_000), "a", 1, 1000), table(t, "u", star, 400))
	p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a`)
	for size, filters := range map[int64]int{10_000: 1, 5_000: 0, 0: 1} {
		facts := factsOf(p)
		facts.finish(t, p, 1, 400)
		facts[0].Size = size
		once, _ := applyAll(t, p.Root, adapt.Facts(facts))
		if s := plan.Scans(once)[0]; filters == 0 {
			require.Nil(t, s.Runtime, "%d rows", size)
		} else {
			require.Len(t, s.Runtime.Filters, filters, "%d rows", size)
		}
		_, again := applyAll(t, once, adapt.Facts(facts))
		require.Empty(t, again)
	}
}

// TestAListForAScanThatNarrowsALargerOne: it is wanted as long as the scan has
// too many rows to have keys.
func TestAListForAScanThatNarrowsALargerOne(t *testing.T) {
	t.Parallel()
	e := newEnv(t, bounded(table(t, "t", star, 1_000_000), "a", 1, 10_000), table(t, "u", star, 8000), table(t, "v", star, 1_000_000))
	p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a JOIN v ON t.b = v.b`)
	at := map[string]int{}
	for i, s := range p.Scans {
		at[s.Table.Name] = i
	}
	for _, c := range []struct {
		size, larger int64
		filters      int
	}{{11_000, 12_000, 1}, {11_000, 11_000, 0}, {9000, 12_000, 0}} {
		facts := factsOf(p)
		facts.finish(t, p, at["u"], 7000)
		facts[at["t"]].Size, facts[at["v"]].Size = c.size, c.larger
		out, _ := applyAll(t, p.Root, adapt.Facts(facts))
		if s := plan.Scans(out)[at["t"]]; c.filters == 0 {
			require.Nil(t, s.Runtime, "%v", c)
		} else {
			require.Len(t, s.Runtime.Filters, c.filters, "%v", c)
		}
	}
}

// TestTheSecondListDropsOfWhatTheFirstLeaves: 20 of 1000 values of t.a leave
// 2000 of 100,000 rows, of which 400 of t.b's 1000 are not worth looking up,
// whichever of the two is known first; and neither is taken back.
func TestTheSecondListDropsOfWhatTheFirstLeaves(t *testing.T) {
	t.Parallel()
	big := bounded(table(t, "t", "a INTEGER, b INTEGER, s VARCHAR", 100_000), "a", 1, 1000)
	big.Partitions[0].Columns["b"] = big.Partitions[0].Columns["a"]
	e := newEnv(t, big, table(t, "u", "x INTEGER, s VARCHAR", 400), table(t, "v", "y INTEGER, s VARCHAR", 20))
	p := e.plan(t, `SELECT t.s FROM t JOIN v ON t.a = v.y JOIN u ON t.b = u.x`)
	at := map[string]int{}
	for i, s := range p.Scans {
		at[s.Table.Name] = i
	}
	facts := factsOf(p)
	facts[at["t"]].Size = 100_000
	facts.finish(t, p, at["v"], 20)
	once, _ := applyAll(t, p.Root, adapt.Facts(facts))
	facts.finish(t, p, at["u"], 400)
	twice, fired := applyAll(t, once, adapt.Facts(facts))
	require.Empty(t, fired)
	require.Len(t, plan.Scans(twice)[at["t"]].Runtime.Filters, 1)

	facts[at["v"]].State = adapt.Planned
	once, _ = applyAll(t, p.Root, adapt.Facts(facts))
	facts[at["v"]].State = adapt.Finished
	twice, _ = applyAll(t, once, adapt.Facts(facts))
	require.Len(t, plan.Scans(twice)[at["t"]].Runtime.Filters, 2)

	// Nor is it wanted when the first leaves nothing at all.
	none := factsOf(p)
	none[at["t"]].Size = 3000
	none.finish(t, p, at["u"], 400)
	none.finish(t, p, at["v"], 1)
	once, _ = applyAll(t, p.Root, adapt.Facts(none))
	require.Len(t, plan.Scans(once)[at["t"]].Runtime.Filters, 1)
	_, fired = applyAll(t, once, adapt.Facts(none))
	require.Empty(t, fired)
}

// TestARangeOfAllThereIsIsNoFilter: every row would be compared for nothing.
func TestARangeOfAllThereIsIsNoFilter(t *testing.T) {
	t.Parallel()
	for high, filters := range map[int32]int{10_500: 0, 50_000: 1} {
		e := newEnv(t, bounded(table(t, "t", star, 1_000_000), "a", 1, high), table(t, "u", star, 20_000))
		p := e.plan(t, `SELECT t.b FROM t JOIN u ON t.a = u.a`)
		facts := factsOf(p)
		facts.finish(t, p, 1, 10_100)
		facts[0].Size = 1_000_000
		out, _ := applyAll(t, p.Root, adapt.Facts(facts))
		if s := plan.Scans(out)[0]; filters == 0 {
			require.Nil(t, s.Runtime)
		} else {
			require.Len(t, s.Runtime.Filters, filters)
		}
	}
}
