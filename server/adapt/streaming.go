package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// Bounds of what is listened to while the engine reads, in rows.
const (
	// MaxListened: to look at more rows costs more than their keys are worth. What is
	// expected to have more than maxRows yields no list, and is not looked at at all.
	MaxListened = 200_000
	// listenRatio: a scan has that many times more rows than one that narrows it.
	listenRatio = 4
)

// Stream notes that nothing is waited for any more and that the engine starts and
// reads what has not run, in its own order. What is known by then narrows scans
// before they start, and those that run.
func (g *Graph) Stream() {
	g.streaming = true
	g.rules = slices.DeleteFunc(slices.Clone(g.rules), func(r Rule) bool {
		return r.Name() == plan.BroadcastJoin // nobody holds rows for it any more
	})
}

// Open notes that a stage that nobody waited for is started.
func (g *Graph) Open(i int) {
	if g.facts[i].State == Planned {
		g.facts[i].State = Running
	}
}

// Late are the conditions that a scan has got since it started, in order.
func (g *Graph) Late(i int) []plan.RuntimeFilter { return runtimeOf(plan.Scans(g.root)[i]).Late }

// Heard notes that the engine has read a stage to its end, and what its keys were.
func (g *Graph) Heard(i int, keys map[int]*Keys, rows, bytes int64) (Change, error) {
	if !g.streaming || g.facts[i].State != Running {
		return Change{}, nil
	}
	g.facts[i].Keys = keys
	return g.Finish(i, rows, bytes)
}

// Listens reports whether the keys of a stage that the engine reads are worth
// looking at. A limit yields other rows each time that it is read.
func (g *Graph) Listens(i int) bool { return g.listens(i, g.expected()) }

func (g *Graph) listens(i int, sizes []int64) bool {
	if g.abandoned || g.facts[i].State.ended() || plan.Scans(g.root)[i].Limit != pushdown.NoLimit {
		return false
	}
	return slices.ContainsFunc(g.edges, func(e Edge) bool {
		return e.From == i && !g.facts[e.To].State.ended() && (g.mode != On || e.sharp() && outweighs(sizes[e.To], sizes[i]))
	})
}

// Ahead reports whether a stage is to be read beside the engine, which may take it
// up too late: it is known not to be large.
func (g *Graph) Ahead(i int) bool {
	return g.facts[i].State == Planned && (g.mode == Late || g.sizes[i] >= 0 && g.Listens(i))
}

func (g *Graph) listensToAny() bool {
	sizes := g.expected()
	for i := range g.facts {
		if g.listens(i, sizes) {
			return true
		}
	}
	return false
}

// outweighs: a scan has many more rows than another, as far as is known.
func outweighs(large, small int64) bool {
	return small <= maxRows && (large < 0 || large >= max(waitRows, listenRatio*small))
}
