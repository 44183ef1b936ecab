package codec

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Session is one scan as its scanner sees it. The handler that called [Accept]
// ends it with [Session.End] or [Session.Fail] and returns their result.
type Session struct{}

// Accept reads the Open of a DoExchange stream.
func Accept(stream flight.FlightService_DoExchangeServer, mem memory.Allocator) (*Session, error) {
	return nil, nil
}

// Request is what was asked for.
func (s *Session) Request() OpenRequest { return OpenRequest{} }

// Context ends when the coordinator cancels or is lost, and when the session
// ends.
func (s *Session) Context() context.Context { return nil }

// Open sends the echo and the schema of the batches to come. It must be called
// once, before the first Send.
func (s *Session) Open(o Opened, schema *arrow.Schema) error { return nil }

// Send sends a batch, split into pieces of bounded encoded size, and waits for
// credit. It does not consume the batch; the batch's memory is referenced until
// it was written. It is safe for concurrent use.
func (s *Session) Send(batch arrow.RecordBatch, mode Mode, rowsScanned int64) error { return nil }

// Heartbeat reports progress without rows. It never waits for credit.
func (s *Session) Heartbeat(rowsScanned int64) error { return nil }

// Remaining is the number of rows still wanted, or pushdown.NoLimit.
func (s *Session) Remaining() int64 { return 0 }

// Filters yields dynamic filters as they arrive and is closed with the stream.
// When nobody reads, older updates give way to newer ones.
func (s *Session) Filters() <-chan FilterUpdate { return nil }

// End completes the stream; the handler returns its result.
func (s *Session) End(rowsScanned int64) error { return nil }

// Fail ends the stream with err; the handler returns its result.
func (s *Session) Fail(err error) error { return nil }
