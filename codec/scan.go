package codec

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

// Scan is one stream as its receiver sees it. Opened and Next are for one
// goroutine; the rest may be called from any.
type Scan struct{}

// Opened waits for the scanner's echo. A peer that sends rows without an echo
// yields Mode Raw.
func (s *Scan) Opened() (Opened, error) { return Opened{}, nil }

// Schema is the schema of the batches to come; it is valid after Opened and
// changes when the mode of a batch does.
func (s *Scan) Schema() *arrow.Schema { return nil }

// Next returns the next batch, which the caller releases. It returns io.EOF
// only after an End that agrees with what was received.
func (s *Scan) Next() (Batch, error) { return Batch{}, nil }

// Grant allows the scanner to send that many bytes more.
func (s *Scan) Grant(bytes int64) error { return nil }

// Limit tells the scanner how many rows are still wanted.
func (s *Scan) Limit(remaining int64) error { return nil }

// UpdateFilter sends a dynamic filter.
func (s *Scan) UpdateFilter(slot int, generation uint64, e pushdown.Expr) error { return nil }

// RowsScanned is the scanner's latest progress.
func (s *Scan) RowsScanned() int64 { return 0 }

// End is the verified end of the stream; it is valid after io.EOF.
func (s *Scan) End() End { return End{} }

// Close ends the scan, cancelling it when it has not ended. It may be called
// more than once, and while Next waits.
func (s *Scan) Close() error { return nil }
