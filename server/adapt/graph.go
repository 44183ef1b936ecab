package adapt

import (
	"fmt"
	"slices"
	"time"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

// Graph is the stages of a running plan. It is for one goroutine.
type Graph struct {
	root       plan.Node
	mode       Mode
	sizes      []int64 // rows that the scans are expected to yield by themselves
	edges      []Edge
	facts      Facts
	candidates map[int]candidate
	rules      []Rule
	begun      time.Time
	rounds     []Round
	abandoned  bool
	streaming  bool // nothing is waited for any more, but facts still come
}

// Change is what a round asks of whoever runs the scans, by position.
type Change struct {
	// Stop are running scans that are not needed any more.
	Stop []int
	// Removed are scans that must not be started.
	Removed []int
	// Narrowed are scans that get more filters before they start.
	Narrowed []int
	// Told are running scans that get more filters.
	Told []int
}

// maxScans bounds the scans of a plan that is adapted: what each of them makes
// needless is asked of the whole plan.
const maxScans = 512

// New returns the graph of a plan, or nil when no scan is worth waiting for or
// listening to.
// estimates are the rows that the scans are expected to yield, -1 for unknown.
func New(p *plan.Plan, mode Mode, estimates []int64) *Graph {
	rules := enabled(p.Options.Disabled)
	if mode != On && mode != Always && mode != Late || p.Kind != plan.Residual || len(p.Scans) < 2 || len(p.Scans) > maxScans || rules == nil {
		return nil
	}
	scans := plan.Scans(p.Root)
	joins := JoinsOf(p)
	if len(scans) != len(p.Scans) || repeats(scans) {
		return nil
	}
	g := &Graph{root: p.Root, mode: mode, sizes: slices.Clone(estimates), edges: Edges(p.Root), rules: rules, begun: time.Now()}
	for i, s := range p.Scans {
		f := ScanFacts{ID: s.ID, State: Planned, Broadcast: joins[i], Keys: keysNeeded(i, scans[i], g.edges)}
		if mode == On {
			f.Size = max(estimates[i], 0)
		}
		g.facts = append(g.facts, f)
	}
	if g.choose(); len(g.candidates) == 0 && !g.listensToAny() {
		return nil
	}
	return g
}

// choose decides, by what is known now, which stages are worth waiting for.
func (g *Graph) choose() {
	scans := plan.Scans(g.root)
	c := chooser{mode: g.mode, root: g.root, scans: scans, facts: g.facts, edges: g.edges, before: g.candidates,
		estimates: g.expected()}
	if g.has(plan.BroadcastJoin) {
		c.broadcast = mayBroadcast(g.mode, g.facts, c.estimates)
	}
	g.candidates = c.choose()
}

func (g *Graph) expected() []int64 {
	return expected(g.sizes, g.edges, plan.Scans(g.root), g.facts)
}

// repeats reports whether one scan stands twice in a plan.
func repeats(scans []*plan.Scan) bool {
	seen := map[*plan.Scan]bool{}
	for _, s := range scans {
		seen[s] = true
	}
	return len(seen) < len(scans)
}

// keysNeeded are the columns of a scan from which edges begin, without values.
func keysNeeded(i int, s *plan.Scan, edges []Edge) map[int]*Keys {
	out := map[int]*Keys{}
	for _, e := range edges {
		if e.From == i && out[e.FromColumn] == nil {
			out[e.FromColumn] = NewKeys(yielded(source{scan: s, column: e.FromColumn}))
		}
	}
	return out
}

// Ready are the stages to start now: those that nothing can narrow any more.
func (g *Graph) Ready() []int {
	var out []int
	for i := range g.facts {
		c, ok := g.candidates[i]
		if ok && !g.abandoned && g.facts[i].State == Planned && !slices.ContainsFunc(c.after, g.pending) {
			out = append(out, i)
		}
	}
	return out
}

func (g *Graph) pending(i int) bool { return !g.facts[i].State.ended() }

// Done reports that nothing is worth waiting for any more.
func (g *Graph) Done() bool {
	if g.Broadcast() || g.streaming {
		return true
	}
	for i := range g.candidates {
		if g.pending(i) && !g.abandoned {
			return false
		}
	}
	return true
}

// Broadcast reports whether the plan's Broadcast is to be run, with the rows of the
// scans that its lookups take, which have finished.
func (g *Graph) Broadcast() bool {
	return !g.abandoned && slices.ContainsFunc(plan.Scans(g.root), func(s *plan.Scan) bool { return len(runtimeOf(s).Lookups) > 0 })
}

// Keys are the empty key sets that a stage fills while it runs, by column.
func (g *Graph) Keys(i int) map[int]*Keys { return g.facts[i].Keys }

// State is the state of a stage.
func (g *Graph) State(i int) State { return g.facts[i].State }

// Filters are the conditions that a scan has got, in order.
func (g *Graph) Filters(i int) []plan.RuntimeFilter {
	return runtimeOf(plan.Scans(g.root)[i]).Filters
}

// Rounds are the rounds so far.
func (g *Graph) Rounds() []Round { return slices.Clone(g.rounds) }

// Start notes that stages were started, those of them that had not been.
func (g *Graph) Start(stages []int) {
	if len(stages) == 0 {
		return
	}
	r := g.round("")
	now := g.expected()
	for _, i := range stages {
		if g.facts[i].State == Planned {
			g.sizes[i] = now[i] // with the filters that it starts with
			g.facts[i].State = Running
			r.Started = append(r.Started, g.facts[i].ID)
			r.Why = append(r.Why, g.facts[i].ID+" first: "+g.candidates[i].why)
		}
	}
	if len(r.Started) > 0 {
		g.rounds = append(g.rounds, r)
	}
}

// Finish notes that a stage has yielded all its rows and runs the rules. A stage
// that has ended is not listened to.
func (g *Graph) Finish(i int, rows, bytes int64) (Change, error) {
	if g.facts[i].State != Running || g.abandoned {
		return Change{}, nil
	}
	f := &g.facts[i]
	f.State, f.Rows, f.Bytes = Finished, rows, bytes
	r := g.round(factText(f))
	next, fired, err := apply(g.rules, g.root, g.facts)
	if err != nil {
		return Change{}, err
	}
	change, err := g.diff(next)
	if err != nil {
		return Change{}, err
	}
	r.After, r.Fired, r.Why = clip(plan.Print(next)), fired, g.weighed(i)
	g.root = next
	if g.streaming {
		if len(fired) > 0 { // else nobody waited for it
			g.record(r, change)
		}
		return change, nil
	}
	g.record(r, change)
	g.choose()
	return change, nil
}

// weighed is why something is broadcast or not, when stage i was waited for to know.
func (g *Graph) weighed(i int) []string {
	if !slices.ContainsFunc(g.facts, func(f ScanFacts) bool { return f.Broadcast != nil && slices.Contains(f.Broadcast.Small, i) }) {
		return nil
	}
	if !g.has(plan.BroadcastJoin) {
		return nil
	}
	if _, why := weigh(g.root, g.facts); why != "" {
		return []string{why}
	}
	return nil
}

func (g *Graph) has(rule string) bool {
	return slices.ContainsFunc(g.rules, func(r Rule) bool { return r.Name() == rule })
}

// Abandon notes that nothing is waited for any more. What runs goes on.
func (g *Graph) Abandon(why string) {
	if g.abandoned {
		return
	}
	g.abandoned = true
	r := g.round(why)
	r.Why = []string{why}
	g.rounds = append(g.rounds, r)
}

// diff moves the stages to what the next plan says.
func (g *Graph) diff(next plan.Node) (Change, error) {
	var c Change
	before, after := plan.Scans(g.root), plan.Scans(next)
	for i := range after {
		was, is := runtimeOf(before[i]), runtimeOf(after[i])
		state := &g.facts[i].State
		switch {
		case is.Removed && !was.Removed && *state == Running:
			*state = Cancelled
			c.Stop = append(c.Stop, i)
		case is.Removed && !was.Removed && *state == Planned:
			*state = Removed
			c.Removed = append(c.Removed, i)
		case is.Removed != was.Removed || len(is.Filters) != len(was.Filters) && *state != Planned:
			return Change{}, status.New(status.Internal, "a rule changed scan %s, which is %s", g.facts[i].ID, *state)
		case len(is.Lookups) != len(was.Lookups) && *state != Planned:
			return Change{}, status.New(status.Internal, "a rule broadcasts to scan %s, which is %s", g.facts[i].ID, *state)
		case len(is.Late) != len(was.Late) && *state != Running:
			return Change{}, status.New(status.Internal, "a rule tells scan %s, which is %s", g.facts[i].ID, *state)
		case len(is.Filters) != len(was.Filters):
			c.Narrowed = append(c.Narrowed, i)
		case len(is.Late) != len(was.Late):
			c.Told = append(c.Told, i)
		}
	}
	return c, nil
}

func factText(f *ScanFacts) string {
	text := fmt.Sprintf("%s finished: %d rows, %d bytes", f.ID, f.Rows, f.Bytes)
	for _, c := range sortedColumns(f.Keys) {
		text += fmt.Sprintf(", c%d %s", c, f.Keys[c].Text())
	}
	return text
}
