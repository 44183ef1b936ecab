package query

import (
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/server/adapt"
)

// maxHistory bounds the queries that a History keeps.
const maxHistory = 200

// Record is what is kept of a query that has ended, in whatever way.
type Record struct {
	ID      string        `json:"id"`
	User    string        `json:"user"`
	SQL     string        `json:"sql"`
	Begun   time.Time     `json:"begun"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Outcome is ok, canceled, or the code of Error.
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`
	// Mode is the kind of the plan; empty when the query never started.
	Mode string `json:"mode,omitempty"`
	// Rows are those of the result.
	Rows          int64 `json:"rows"`
	RowsScanned   int64 `json:"rows_scanned"`
	BytesReceived int64 `json:"bytes_received"`
	// Rounds are the decisions that were taken while it ran.
	Rounds []adapt.Round `json:"rounds,omitempty"`
}

// History keeps the last queries. It is safe for concurrent use.
type History struct {
	mu   sync.Mutex
	ring []Record
	next int
}

func (h *History) add(r Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ring) < maxHistory {
		h.ring = append(h.ring, r)
		return
	}
	h.ring[h.next] = r
	h.next = (h.next + 1) % maxHistory
}

// Records are the queries of a user that are kept, the last one first. Those of
// others are not shown: their text has values that this one may not read.
func (h *History) Records(user string) []Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Concat(h.ring[h.next:], h.ring[:h.next])
	out = slices.DeleteFunc(out, func(r Record) bool { return r.User != user })
	slices.Reverse(out)
	return out
}
