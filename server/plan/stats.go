package plan

import "time"

// The values of TargetStats.Mode.
const (
	// ModeAggregate: partial aggregate rows arrived.
	ModeAggregate = "aggregate"
	// ModeFilter: rows arrived to which a filter or limit had been applied.
	ModeFilter = "filter"
	// ModeRows: plain rows arrived.
	ModeRows = "rows"
	// ModeStatistics: nothing had to arrive, statistics gave the answer.
	ModeStatistics = "statistics"
)

// Stats tell what the scans of a query did; the executor fills them.
type Stats struct{ Scans []ScanStats }

// ScanStats tell what one scan did.
type ScanStats struct {
	// ID is that of the plan's scan, Table "schema.name".
	ID, Table string
	// Targets in the order of the plan.
	Targets []TargetStats
}

// TargetStats tell what one scanner did for one scan.
type TargetStats struct {
	// Scanner is its name.
	Scanner string
	// Partitions are those it read.
	Partitions []string
	// Mode is what was seen on the wire: aggregate, filter, rows; statistics when
	// they gave the answer, or empty when nothing arrived.
	Mode string
	Counts
	// FirstBatch is the time to the first batch, 0 without one.
	FirstBatch time.Duration
	// Duration is the time that the streams were open.
	Duration time.Duration
	// Retries is the number of times that a replica took over.
	Retries int
}

// Counts add up what arrived.
type Counts struct {
	// RowsScanned is the number of source rows that scanners read.
	RowsScanned int64 `json:"rows_scanned"`
	// RowsReceived, BytesReceived and Batches count what they sent.
	RowsReceived  int64 `json:"rows_received"`
	BytesReceived int64 `json:"bytes_received"`
	Batches       int64 `json:"batches"`
	// RowsDropped are rows that scanners read and did not send because of filters
	// that reached them while they ran, as far as that is known.
	RowsDropped int64 `json:"rows_dropped,omitempty"`
	// BytesSaved estimates how much more would have come without pushdown.
	BytesSaved int64 `json:"bytes_saved"`
}

// Add adds o to c.
func (c *Counts) Add(o Counts) {
	c.RowsScanned += o.RowsScanned
	c.RowsReceived += o.RowsReceived
	c.BytesReceived += o.BytesReceived
	c.Batches += o.Batches
	c.RowsDropped += o.RowsDropped
	c.BytesSaved += o.BytesSaved
}

// Total adds up all scans.
func (s Stats) Total() Counts {
	var total Counts
	for _, scan := range s.Scans {
		total.Add(scan.total())
	}
	return total
}

func (s ScanStats) total() Counts {
	var total Counts
	for _, t := range s.Targets {
		total.Add(t.Counts)
	}
	return total
}
