package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/server/plan"
)

// State is what has become of a stage.
type State string

// The states. A stage ends in one of the last three, or goes on Running when
// nobody waits for it any more.
const (
	// Planned: it has not started.
	Planned State = "planned"
	// Running: its scan is read.
	Running State = "running"
	// Finished: all that it yields is known.
	Finished State = "finished"
	// Cancelled: it was running when it became needless.
	Cancelled State = "cancelled"
	// Removed: it became needless before it started.
	Removed State = "removed"
)

// ended: nothing that is still said about the stage matters.
func (s State) ended() bool { return s == Finished || s == Cancelled || s == Removed }

// Facts are what is known about the scans of a plan, by their position among
// plan.Scans.
type Facts []ScanFacts

// ScanFacts are what is known about one scan.
type ScanFacts struct {
	// ID names the scan as the plan does.
	ID string
	// State is that of its stage.
	State State
	// Size is the number of rows that it was expected to yield by itself; 0 for
	// unknown, or when filters are wanted whatever they cost.
	Size int64
	// Rows and Bytes are what a finished scan yielded.
	Rows, Bytes int64
	// Broadcast is what is known of this scan in the plan's Broadcast, nil if it has
	// no lookups there.
	Broadcast *Joins
	// Keys are the values of some of its columns, once it has finished.
	Keys map[int]*Keys
}

// runtimeOf is what a plan says about a scan so far.
func runtimeOf(s *plan.Scan) plan.Runtime {
	if s.Runtime == nil {
		return plan.Runtime{}
	}
	return *s.Runtime
}

// amend changes the Runtime of scans: f gets the position of a scan and what is
// known, and returns what is known now. Scans that f leaves alone keep their
// identity.
func amend(root plan.Node, f func(i int, s *plan.Scan, r plan.Runtime) plan.Runtime) (plan.Node, bool) {
	at := map[*plan.Scan]int{}
	for i, s := range plan.Scans(root) {
		at[s] = i
	}
	changed := false
	out := plan.Transform(root, func(n plan.Node) plan.Node {
		s, ok := n.(*plan.Scan)
		if !ok {
			return n
		}
		before := runtimeOf(s)
		after := f(at[s], s, plan.Runtime{Removed: before.Removed, Filters: slices.Clip(before.Filters), Late: slices.Clip(before.Late), Lookups: before.Lookups})
		if after.Removed == before.Removed && len(after.Filters) == len(before.Filters) && len(after.Late) == len(before.Late) && len(after.Lookups) == len(before.Lookups) {
			return n
		}
		changed = true
		c := *s
		c.Runtime = &after
		return &c
	})
	return out, changed
}
