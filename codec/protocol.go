package codec

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

const (
	// ProtocolMin is the oldest protocol version that this build speaks.
	ProtocolMin = 1
	// ProtocolLatest is the newest protocol version that this build speaks.
	ProtocolLatest = 1
	// HelloAction is the DoAction type of the handshake.
	HelloAction = "tributary.Hello"
	// ScanDescriptor is the command of the descriptor that opens a scan.
	ScanDescriptor = "tributary.scan.v1"
)

const (
	// DefaultBatchBytes is the encoded size that batches grow to.
	DefaultBatchBytes = 1 << 20
	// FirstBatchBytes is the encoded size of the first batch of a stream; each
	// further one may be twice as large, up to the target.
	FirstBatchBytes = 64 << 10
	// DefaultCredit is the credit of a stream whose Open names none.
	DefaultCredit = 16 << 20
	// MaxBatchBytes bounds the encoded size of a batch, and so of a single row.
	MaxBatchBytes = 128 << 20
)

// Mode says what was done to the rows of a batch.
type Mode uint8

const (
	// Raw rows: the input columns of the spec, nothing applied.
	Raw Mode = iota
	// Filtered rows: the row scan that was asked for, fully applied.
	Filtered
	// Partial rows: partial aggregates, to be merged.
	Partial
)

// String returns the mode in lower case.
func (m Mode) String() string {
	switch m {
	case Raw:
		return "raw"
	case Filtered:
		return "filtered"
	case Partial:
		return "partial"
	}
	return "unknown"
}

// ModeOf is the mode of rows to which spec was fully applied.
func ModeOf(spec *pushdown.Spec) Mode {
	if spec.Grouped() {
		return Partial
	}
	return Filtered
}

// OpenRequest asks for one scan.
type OpenRequest struct {
	// ScanID is minted by the coordinator.
	ScanID string
	// Spec is what the scanner must run; it is within its capabilities.
	Spec pushdown.Spec
	// Epoch is the scanner's epoch as the coordinator knows it.
	Epoch string
	// InitialCredit is in bytes; 0 means DefaultCredit.
	InitialCredit int64
	// BatchBytes is the encoded size that batches grow to; 0 means
	// DefaultBatchBytes.
	BatchBytes int64
	// Compression is what the receiver allows.
	Compression Compression
	// TableVersion, when not empty, is the [Table.Version] whose statistics the
	// request relies on: the scan is Aborted unless the table still has it.
	TableVersion string
	// PinVersion asks that the table still has TableVersion after the last row.
	PinVersion bool
	// SchemaVersion, when not empty, is the [Table.SchemaVersion] that the spec was
	// made for: the scanner fails the scan when its schema is another now.
	SchemaVersion string
}

// Opened is the scanner's echo, the first message of every stream.
type Opened struct {
	// SpecHash is Spec.Hash of the spec that the scanner read.
	SpecHash uint64
	// Mode is the mode of the batches to come, unless a batch says otherwise.
	Mode Mode
	// Epoch is the scanner's epoch.
	Epoch string
	// ScanID is the request's ScanID.
	ScanID string
	// TableVersion is the request's, once the scanner has compared it with its
	// own.
	TableVersion string
}

// Batch is one record batch as received.
type Batch struct {
	// Record belongs to the receiver, who releases it.
	Record arrow.RecordBatch
	// Mode is what was done to the rows.
	Mode Mode
	// Sequence counts from 0 without gaps.
	Sequence uint64
	// WireBytes is what was sent for the batch.
	WireBytes int64
	// Cost is what the batch costs in credit and in memory: what would have been
	// sent without compression.
	Cost int64
	// Progress is the scanner's when it sent the batch.
	Progress
}

// Progress is how far a scan has come.
type Progress struct {
	// RowsScanned is the number of source rows that were read.
	RowsScanned int64
	// RowsPassed is how many of the partial rows sent are of one row each, because
	// grouping does not reduce the rows; scanners need not count them.
	RowsPassed int64
}

// End is the verified end of a stream.
type End struct {
	// Rows and Batches count what was sent.
	Rows, Batches int64
	// RowsScanned is the number of source rows that were read.
	RowsScanned int64
	// BytesSent is the sum of the batches' WireBytes.
	BytesSent int64
}

// FilterUpdate is a dynamic filter that arrived during a scan.
type FilterUpdate struct {
	// Slot names the filter; the newest Generation of a slot wins.
	Slot       int
	Generation uint64
	// Expr is a conjunct over the spec's input columns.
	Expr pushdown.Expr
}
