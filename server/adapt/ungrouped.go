package adapt

import (
	"fmt"
	"time"

	"github.com/tributary-db/tributary/server/plan"
)

// Groups that are about as many as their rows cost more to make, to send and to merge
// than the rows. Scanners find that out while they group, see run.Runner; then the
// query is run again over rows, and the next one like it at once.

const (
	// leastPassed is how many rows must have been found to be groups of their own.
	leastPassed = 64 << 10
	// moreToCome is how many times as many rows must be expected in all, so that to
	// begin again pays.
	moreToCome = 2
	// leastRows is how many rows a complete scan must have read to be remembered.
	leastRows = 256 << 10
	// worthGrouping is the largest share of groups in the rows that saves something.
	worthGrouping = 0.5
)

// UngroupedSoFar reports whether the rows of a scan had better be read in place of its
// groups, of which so many arrived, some of them rows that grouping did not reduce.
func UngroupedSoFar(s *plan.RemoteScan, arrived, passed int64) bool {
	if passed < leastPassed || float64(passed) < worthGrouping*float64(arrived) {
		return false
	}
	expected := s.EstimatedRows()
	return expected < 0 || expected >= moreToCome*passed
}

// LearnUngrouped notes that grouping did not reduce the rows of a scan.
func (f *Feedback) LearnUngrouped(s *plan.RemoteScan) {
	key := ungroupedBy(s)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remember(key)
}

// LearnGroups notes how many rows a complete scan read for how many groups.
func (f *Feedback) LearnGroups(s *plan.RemoteScan, scanned, groups int64) {
	// rows that a filter removes are no rows of the groups
	if s.Reducible() && len(s.Spec.Filter) == 0 && scanned >= leastRows && float64(groups) > worthGrouping*float64(scanned) {
		f.LearnUngrouped(s)
	}
}

// Ungrouped are the scans of a plan of which is known that grouping does not reduce
// their rows.
func (f *Feedback) Ungrouped(p *plan.Plan) []int {
	var out []int
	for i, s := range p.Scans {
		if s.Reducible() && f.knows(ungroupedBy(s)) {
			out = append(out, i)
		}
	}
	return out
}

func (f *Feedback) knows(k memoryKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recall(k) != nil
}

func ungroupedBy(s *plan.RemoteScan) memoryKey {
	key := exactly(s)
	key.asked ^= 1 // another entry than that of its rows
	return key
}

// UngroupedRound is the round in which rows take the place of groups, of a query that
// began at a time. Fact says what is known.
func UngroupedRound(begun time.Time, before, after *plan.Plan, scan, fact string) Round {
	r := newRound(begun, before.Root, fact)
	r.After, r.Fired = clip(plan.Print(after.Root)), []string{plan.PartialAggregation}
	r.Why = []string{fmt.Sprintf("there is about a group per row of %s: the engine groups its rows", scan)}
	return r
}
