package query

import (
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// maxHistory bounds the queries that a History keeps.
const maxHistory = 200

// Running is the outcome of a query that has not ended.
const Running = "running"

// Record is what is kept of a query: all of one that has ended, in whatever way,
// and who asked what of one that runs.
type Record struct {
	ID      string        `json:"id"`
	User    string        `json:"user,omitempty"`
	SQL     string        `json:"sql"`
	Begun   time.Time     `json:"begun"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Outcome is Running, ok, canceled, or the code of Error.
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
	// Scans are what scanners did for it.
	Scans []ScanRecord `json:"scans,omitempty"`
}

// ScanRecord is what one scanner did for one scan of a query.
type ScanRecord struct {
	Scan    string `json:"scan"`
	Table   string `json:"table"`
	Scanner string `json:"scanner"`
	// Partitions is how many were read.
	Partitions int `json:"partitions"`
	// Mode is what arrived, see plan.TargetStats.
	Mode string `json:"mode,omitempty"`
	plan.Counts
	Retries    int           `json:"retries,omitempty"`
	FirstBatch time.Duration `json:"first_batch_ns,omitempty"`
	Elapsed    time.Duration `json:"elapsed_ns"`
}

// scanRecords copies what a history keeps of statistics.
func scanRecords(stats plan.Stats) (out []ScanRecord) {
	for _, s := range stats.Scans {
		for _, t := range s.Targets {
			out = append(out, ScanRecord{
				Scan: s.ID, Table: s.Table, Scanner: t.Scanner, Partitions: len(t.Partitions), Mode: t.Mode,
				Counts: t.Counts, Retries: t.Retries, FirstBatch: t.FirstBatch, Elapsed: t.Duration,
			})
		}
	}
	return out
}

// History keeps the last queries. It is safe for concurrent use.
type History struct {
	mu      sync.Mutex
	running []Record // by time
	ring    []Record
	next    int
}

// begin keeps a query that is Running until add has what became of it.
func (h *History) begin(r Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = append(h.running, r)
}

func (h *History) add(r Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = slices.DeleteFunc(h.running, func(o Record) bool { return o.ID == r.ID })
	if len(h.ring) < maxHistory {
		h.ring = append(h.ring, r)
		return
	}
	h.ring[h.next] = r
	h.next = (h.next + 1) % maxHistory
}

// RecordsOf are the Records of a user. Those of others are not shown: their text
// has values that this one may not read.
func (h *History) RecordsOf(user string) []Record {
	return slices.DeleteFunc(h.Records(), func(r Record) bool { return r.User != user })
}

// Records are the queries that run and those that are kept, the last one first
// of each.
func (h *History) Records() []Record {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Concat(h.ring[h.next:], h.ring[:h.next], h.running)
	slices.Reverse(out)
	for i := range h.running {
		out[i].Elapsed = time.Since(out[i].Begun)
	}
	return out
}
