package adapt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tributary-db/tributary/server/plan"
)

// Mode says when scans are waited for.
type Mode string

// The modes.
const (
	// Off keeps the static plan; it is also the empty Mode.
	Off Mode = "off"
	// On waits for scans that promise to be small beside those they help.
	On Mode = "on"
	// Always waits whatever the sizes, which tests want.
	Always Mode = "always"
	// Late waits for nothing, but reads all scans at once and listens to them, which
	// tests want.
	Late Mode = "late"
)

// Bounds of what is worth waiting for, in rows.
const (
	// maxRows: beyond it there will be more keys than fit an IN list.
	maxRows = 2 * maxValues
	// waitRows stream in the time that a round of waiting takes, and keyRows in
	// the time that one more key takes to send and look up.
	waitRows, keyRows = 50_000, 5
	// A scan without any filter, whose keys may well be all there are, is waited
	// for only when it is tiny beside the one that it helps.
	plainRatio, plainRows = 100, 1000
)

// candidate is a stage that others wait for.
type candidate struct {
	why string
	// after are the candidates that may narrow this one.
	after []int
}

// chooser picks the candidates of a plan by what is known of it so far.
type chooser struct {
	mode      Mode
	root      plan.Node
	scans     []*plan.Scan
	facts     Facts
	estimates []int64 // rows, -1 for unknown
	edges     []Edge
	before    map[int]candidate
	chosen    map[int]candidate
	// broadcast are the scans that may be broadcast, and to which one.
	broadcast map[int]int
}

// choose goes from the smallest scan to the largest, so that each is after
// smaller ones only. What has ended stays as it was.
func (c *chooser) choose() map[int]candidate {
	c.chosen = map[int]candidate{}
	if c.mode == Late {
		return c.chosen
	}
	order := make([]int, len(c.scans))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		_, small := c.broadcast[a]
		_, other := c.broadcast[b]
		switch { // before the scans that they are broadcast to
		case small && !other:
			return -1
		case other && !small:
			return 1
		}
		return cmp.Compare(uint64(c.estimates[a]), uint64(c.estimates[b]))
	})
	for rank, i := range order {
		if c.facts[i].State.ended() {
			if was, ok := c.before[i]; ok {
				c.chosen[i] = was
			}
			continue
		}
		if _, ok := c.before[i]; !ok && c.facts[i].State == Running {
			continue // it streams
		}
		why := c.worth(i, c.helped(i, c.open(order[rank+1:])))
		if why == "" {
			continue
		}
		c.chosen[i] = candidate{why: why, after: c.first(i)}
	}
	return c.chosen
}

// open are those scans that may still be changed.
func (c *chooser) open(scans []int) []int {
	return slices.DeleteFunc(slices.Clone(scans), func(i int) bool { return c.facts[i].State.ended() })
}

// first are the candidates so far that may narrow scan i, or be broadcast to it.
func (c *chooser) first(i int) []int {
	out := c.narrowing(i)
	for small, large := range c.broadcast {
		if _, ok := c.chosen[small]; ok && large == i && !slices.Contains(out, small) {
			out = append(out, small)
		}
	}
	return out
}

// narrowing are the candidates so far with an edge to scan i.
func (c *chooser) narrowing(i int) []int {
	var out []int
	for _, e := range c.edges {
		if _, ok := c.chosen[e.From]; ok && e.To == i && c.promises(e) && !slices.Contains(out, e.From) {
			out = append(out, e.From)
		}
	}
	return out
}

// helped are those of the others that scan i can narrow or make needless. One value
// may leave so little of a scan that this one narrows others.
func (c *chooser) helped(i int, others []int) []int {
	var out []int
	needless := c.neededOnlyWith(i)
	for _, o := range others {
		narrows := func(e Edge) bool {
			return e.From == i && c.promises(e) && c.facts[e.To].State == Planned && (e.To == o || e.One && c.narrows(e.To, o))
		}
		if needless[o] || slices.ContainsFunc(c.edges, narrows) {
			out = append(out, o)
		}
	}
	return out
}

// narrows: scan i can narrow another one that has not started.
func (c *chooser) narrows(i, other int) bool {
	return c.facts[other].State == Planned && slices.ContainsFunc(c.edges, func(e Edge) bool { return e.From == i && e.To == other && c.promises(e) })
}

// promises: the edge is worth waiting for.
func (c *chooser) promises(e Edge) bool { return e.sharp() || c.mode == Always }

// neededOnlyWith are the scans that do not matter when scan i is empty.
func (c *chooser) neededOnlyWith(i int) map[int]bool {
	facts := slices.Clone(c.facts)
	facts[i].State, facts[i].Rows = Finished, 0
	return findNeedless(c.root, facts)
}

// worth says why to wait for scan i, "" for not.
func (c *chooser) worth(i int, helped []int) string {
	_, small := c.broadcast[i]
	if len(helped) == 0 && !small {
		return ""
	}
	if c.mode == Always {
		return "always"
	}
	n := c.estimates[i]
	if small {
		return fmt.Sprintf("about %d rows to broadcast", n)
	}
	if n < 0 || n > maxRows {
		return ""
	}
	plain := len(c.scans[i].Filter) == 0 && len(c.narrowing(i)) == 0
	if plain && n > plainRows {
		return ""
	}
	for _, o := range helped {
		size := c.estimates[o]
		if size >= waitRows+keyRows*n && (!plain || size >= plainRatio*max(n, 1)) {
			return fmt.Sprintf("about %d rows beside %d", n, size)
		}
	}
	return ""
}
