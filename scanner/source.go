package scanner

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
)

// Source is one table's data. Its methods may be called concurrently.
type Source interface {
	// Schema returns the table's schema. An error makes the table unusable, and
	// its text is shown to users.
	Schema(ctx context.Context) (*arrow.Schema, error)
	// Partitions lists the physical partitions. It is called for every
	// handshake, so it should be cheap, and it should notice changes.
	Partitions(ctx context.Context) ([]Partition, error)
	// Capabilities says what Scan can run, exactly as package pushdown defines
	// it. The zero value is a source that only yields rows.
	Capabilities() pushdown.Capabilities
	// Scan runs a spec that is within Capabilities. The reader yields rows of
	// spec.OutputSchema(), in any order; those of a partial aggregate may have
	// several rows for a group. When ctx ends the reader stops.
	Scan(ctx context.Context, spec pushdown.Spec) (Reader, error)
}

// Widener is a Source whose Scan takes specs that read columns wider than
// Schema has them, or that it lacks; package widen says what that means. Rows of
// other sources are widened by the scanner, which then runs the whole spec
// itself.
type Widener interface {
	Source
	// Widens reports whether a column can be read as type to, given that
	// widen.Holds says that it holds the values.
	Widens(to arrow.DataType) bool
}

// Splitter is a Source that can divide a scan of rows, so that several workers
// read one heavy partition at once.
type Splitter interface {
	Source
	// Split divides a spec that has no groups and no order into pieces, which
	// together yield its rows; each may apply the whole limit. It returns none
	// where that does not pay. There should be several pieces a worker: whoever is
	// done takes the next one, and a slow piece holds nobody up.
	Split(ctx context.Context, spec pushdown.Spec, workers int) ([]Piece, error)
}

// Keeper is a Source that may have rows in memory, which it yields faster than it
// runs a spec.
type Keeper interface {
	Source
	// Kept returns a source of the rows that a spec reads, of the same partitions
	// and columns; nil when they are not all in memory.
	Kept(ctx context.Context, spec pushdown.Spec) (Source, error)
}

// Adviser is a Source whose own way of running a spec does not always pay.
type Adviser interface {
	Source
	// Advise returns those of Capabilities that should be used for a spec.
	Advise(ctx context.Context, spec pushdown.Spec) (pushdown.Capabilities, error)
}

// Piece is a part of a scan, read by one worker.
type Piece struct {
	// Partition is where it lies, for errors; empty when that is several.
	Partition string
	// Scan begins to read. It is called once at most.
	Scan func(ctx context.Context) (Reader, error)
}

// Partition is one physical partition of a table.
type Partition struct {
	// ID is unique within the table on this scanner. The same id on two scanners
	// is a replica.
	ID string
	// Rows and Bytes are exact, or -1 when unknown.
	Rows, Bytes int64
	// Version changes whenever the rows or Columns do, within one life of the
	// scanner: a coordinator leaves partitions out because of Columns, and has
	// Version compared when it scans. Without Version, Columns are ignored.
	Version string
	// Columns are optional statistics by column name. Bounds must hold for every
	// value in the order of the coordinator, whose NaN is the greatest float.
	Columns map[string]codec.ColumnStats
	// Promise is what the owner of the partition promises of every row that it
	// ever has: coordinators rely on it without looking. A promise must not
	// depend on the rows that are there now.
	Promise partition.Promise
}

// Reader yields the rows of one scan. Next is called by one goroutine at a
// time.
type Reader interface {
	// Next returns a batch, which the caller releases, or io.EOF.
	Next(ctx context.Context) (arrow.RecordBatch, error)
	// RowsScanned is the number of table rows read so far. It may be called while
	// Next runs.
	RowsScanned() int64
	// Close stops the scan. It is called once Next has returned.
	Close() error
}

// Table is a table to serve.
type Table struct {
	// Schema defaults to "main".
	Schema string
	// Name is the table's name.
	Name string
	// Source is its data.
	Source Source
}
