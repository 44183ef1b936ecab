package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
)

// HelloRequest opens the conversation with a scanner.
type HelloRequest struct {
	// ProtocolMin and ProtocolLatest are the caller's window.
	ProtocolMin, ProtocolLatest int
	// Coordinator names the caller, for logs.
	Coordinator string
}

// Hello is what a scanner says about itself.
type Hello struct {
	// ProtocolMin and ProtocolLatest are the scanner's window.
	ProtocolMin, ProtocolLatest int
	// Name is the node's own name; Epoch changes whenever it restarts.
	Name, Epoch string
	// Capabilities are what the scanner may be asked to run.
	Capabilities pushdown.Capabilities
	// Limits are the scanner's limits.
	Limits Limits
	// Tables are the tables of which the scanner owns partitions.
	Tables []Table
	// Version rises when tables change.
	Version uint64
	// Advertise is the Flight location at which clients may read with tickets that
	// a coordinator sealed; empty when they must not.
	Advertise string
}

// Limits bound what a peer accepts; zero means unlimited or unknown.
type Limits struct {
	// MaxBatchBytes is the largest encoded batch that the scanner sends.
	MaxBatchBytes int64
	// MaxScans is the number of scans that may run at once.
	MaxScans int
}

// Table is one table as a scanner offers it.
type Table struct {
	// Schema and Name identify the table.
	Schema, Name string
	// Arrow is the table's schema; nil when Err is set and none is known.
	Arrow *arrow.Schema
	// Partitions are those that the scanner owns.
	Partitions []Partition
	// Err says why the table cannot be used; empty when it can.
	Err string
	// Version changes whenever the rows or the statistics of a partition do.
	// Empty: the scanner does not keep track, and statistics must not be used.
	Version string
	// Versioned: Version tells every change of rows, whatever the partition.
	Versioned bool
	// SchemaVersion changes whenever Arrow does; empty when the scanner does not
	// tell.
	SchemaVersion string
	// PromiseVersion changes whenever the partitions or their promises do; empty
	// when there are no promises.
	PromiseVersion string
}

// Partition is one physical partition.
type Partition struct {
	// ID is unique within the table.
	ID string
	// Rows and Bytes are exact, or -1 when unknown.
	Rows, Bytes int64
	// Columns are optional statistics by column name.
	Columns map[string]ColumnStats
	// Promise is what the owner promises of its rows.
	Promise partition.Promise
}

// ColumnStats describe the values of one column in one partition.
type ColumnStats struct {
	// Min and Max bound the values; nil when unknown.
	Min, Max scalar.Scalar
	// Nulls is the number of NULLs, or -1 when unknown.
	Nulls int64
	// Exact says that Min and Max occur in the data.
	Exact bool
	// Distinct is about how many values there are, 0 when unknown. Nothing but
	// estimates may depend on it.
	Distinct int64
	// Sketch is of those values, nil without one, see package sketch.
	Sketch []byte
}
