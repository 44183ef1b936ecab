package exec

import (
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

// stats is a copy of the state of all scans.
func (q *query) stats() plan.Stats {
	var all plan.Stats
	for _, s := range q.scans {
		scan := plan.ScanStats{ID: s.plan.ID, Table: s.plan.Table.ID()}
		for _, t := range s.stats {
			scan.Targets = append(scan.Targets, t.snapshot())
		}
		all.Scans = append(all.Scans, scan)
	}
	return all
}

// scanned is the number of rows that scanners read for the scan.
func (s *remoteScan) scanned() int64 {
	sum := int64(0)
	for _, t := range s.stats {
		sum += t.snapshot().RowsScanned
	}
	return sum
}

// targetStats collects plan.TargetStats. A scan that is opened several times adds up.
type targetStats struct {
	width   int64 // estimated bytes of a source row
	mu      sync.Mutex
	stats   plan.TargetStats
	begun   time.Time
	running int
}

func newTargetStats(spec *pushdown.Spec, t *plan.Target) *targetStats {
	return &targetStats{
		width: rowWidth(spec),
		stats: plan.TargetStats{Scanner: t.Scanner.Name, Partitions: slices.Clone(t.Partitions)},
	}
}

func (t *targetStats) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running == 0 {
		t.begun = time.Now()
	}
	t.running++
}

func (t *targetStats) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if t.running == 0 {
		t.stats.Duration += time.Since(t.begun)
	}
}

func (t *targetStats) retried(other *catalog.Scanner) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Retries++
	t.stats.Scanner = other.Name
}

// arrived adds what came over the wire.
func (t *targetStats) arrived(mode string, c plan.Counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stats.FirstBatch == 0 && c.Batches > 0 {
		t.stats.FirstBatch = time.Since(t.begun)
	}
	if mode != "" {
		t.stats.Mode = mode
	}
	t.stats.Add(c)
}

func (t *targetStats) snapshot() plan.TargetStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	if t.running > 0 {
		s.Duration += time.Since(t.begun)
	}
	s.BytesSaved = saved(s.Counts, t.width)
	return s
}

// saved estimates what sending every scanned row would have cost beyond c.
func saved(c plan.Counts, width int64) int64 {
	return max(c.RowsScanned*width-c.BytesReceived, 0)
}

// streamStats measures one stream for its target and the metrics.
type streamStats struct {
	target  *targetStats
	metrics *metrics
	mode    string
	counts  plan.Counts
}

// batch counts an arrived batch of a scan of remote.
func (s *streamStats) batch(b codec.Batch, remote *pushdown.Spec) {
	s.mode = modeOf(b.Mode, remote)
	c := plan.Counts{RowsReceived: b.Record.NumRows(), BytesReceived: b.WireBytes, Batches: 1}
	s.add(c)
	progress := b.RowsScanned
	if b.Mode == codec.Raw {
		progress = max(progress, s.counts.RowsReceived)
	}
	s.scanned(progress)
}

// scanned notes the stream's progress in source rows.
func (s *streamStats) scanned(rows int64) {
	if more := rows - s.counts.RowsScanned; more > 0 {
		s.add(plan.Counts{RowsScanned: more})
	}
}

// dropped counts what a stream of plain rows, which has ended, did not send.
func (s *streamStats) dropped() {
	s.add(plan.Counts{RowsDropped: max(s.counts.RowsScanned-s.counts.RowsReceived, 0)})
}

func (s *streamStats) add(c plan.Counts) {
	s.counts.Add(c)
	s.target.arrived(s.mode, c)
	s.metrics.arrived(c)
}

// end reports the finished stream.
func (s *streamStats) end() {
	s.metrics.scanned(s.mode, saved(s.counts, s.target.width))
}

// rowWidth estimates the encoded size of the columns that s reads: fixed widths,
// and 16 bytes for anything else.
func rowWidth(s *pushdown.Spec) int64 {
	const variable = 16
	bits := int64(0)
	for _, c := range s.InputColumns() {
		if fixed, ok := c.DataType.(arrow.FixedWidthDataType); ok {
			bits += int64(fixed.BitWidth())
		} else {
			bits += variable * 8
		}
	}
	return (bits + 7) / 8
}

// modeOf names what a batch shows.
func modeOf(m codec.Mode, remote *pushdown.Spec) string {
	switch {
	case m == codec.Partial:
		return plan.ModeAggregate
	case m == codec.Raw || plain(remote):
		return plan.ModeRows
	}
	return plan.ModeFilter
}
