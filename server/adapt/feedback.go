package adapt

import (
	"container/list"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/tributary-db/tributary/server/plan"
)

// maxRemembered bounds what a Feedback remembers: scans, and shapes of filters.
const maxRemembered = 4096

// maxSeen is how many scans of a shape count; of more the older ones fade.
const maxSeen = 8

// Feedback remembers how many rows complete scans yielded, so that the next like
// them is expected right where statistics mislead. It decides what is waited
// for, and never what is read. What changes a table makes it forget: a scan is
// known by the versions of its table. It is safe for concurrent use.
type Feedback struct {
	bound int

	mu     sync.Mutex
	recent *list.List // of *yields, the latest used first
	known  map[memoryKey]*list.Element
}

// yields are what is known of one scan, or of all of a shape.
type yields struct {
	key  memoryKey
	rows int64 // that it yielded last
	// Of a shape: how far statistics were off, as the mean of the logarithms of
	// yield by estimate, and of how many scans.
	off  float64
	seen int
}

// NewFeedback returns one that knows nothing yet.
func NewFeedback() *Feedback { return newFeedback(maxRemembered) }

func newFeedback(bound int) *Feedback {
	return &Feedback{bound: bound, recent: list.New(), known: map[memoryKey]*list.Element{}}
}

// Learn notes what a complete scan yielded.
func (f *Feedback) Learn(s *plan.RemoteScan, rows int64) {
	if !learnable(s) {
		return
	}
	exact, shape := recalledBy(s)
	estimate := s.EstimatedRows()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.remember(exact).rows = rows
	m := f.remember(shape)
	m.rows = rows
	if estimate < 0 {
		return
	}
	m.seen = min(m.seen+1, maxSeen)
	m.off += (offBy(rows, estimate) - m.off) / float64(m.seen)
}

// offBy tells yields from estimates; both are taken for one row at least.
func offBy(rows, estimate int64) float64 {
	return math.Log(float64(max(rows, 1)) / float64(max(estimate, 1)))
}

// Expect is the number of rows that a scan will yield by what like it did before: the
// same scan, or else others that differ in constants. Those correct what
// statistics say of it, the more the more of them there were.
func (f *Feedback) Expect(s *plan.RemoteScan) (rows int64, ok bool) {
	if !comparable(s) {
		return 0, false
	}
	exact, shape := recalledBy(s)
	estimate := s.EstimatedRows()
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.recall(exact); m != nil {
		return m.rows, true
	}
	m := f.recall(shape)
	switch {
	case m == nil:
		return 0, false
	case estimate < 0:
		return m.rows, true
	case estimate == 0:
		return 0, true
	}
	sure := float64(m.seen) / float64(m.seen+1)
	return max(int64(math.Round(float64(estimate)*math.Exp(m.off*sure))), 1), true
}

// recall finds what is known and makes it the latest used.
func (f *Feedback) recall(k memoryKey) *yields {
	e := f.known[k]
	if e == nil {
		return nil
	}
	f.recent.MoveToFront(e)
	return e.Value.(*yields)
}

// remember is recall, or notes a new key, for which the one that was not
// used for longest goes.
func (f *Feedback) remember(k memoryKey) *yields {
	if m := f.recall(k); m != nil {
		return m
	}
	if len(f.known) >= f.bound {
		delete(f.known, f.recent.Remove(f.recent.Back()).(*yields).key)
	}
	m := &yields{key: k}
	f.known[k] = f.recent.PushFront(m)
	return m
}

// Text says for EXPLAIN what is expected of the scans of a plan by what was seen
// before, "" for nothing.
func (f *Feedback) Text(p *plan.Plan) string {
	var b strings.Builder
	for _, s := range p.Scans {
		if rows, ok := f.Expect(s); ok {
			fmt.Fprintf(&b, "%s: %d rows expected by earlier scans, %s by statistics\n", s.ID, rows, countText(s.EstimatedRows()))
		}
	}
	return b.String()
}

func countText(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return fmt.Sprint(n)
}
