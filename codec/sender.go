package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/pushdown/status"
)

// RecordSender streams record batches as plain FlightData, as DoGet does. On a
// server with [ServerOptions] it copies no bodies.
type RecordSender struct {
	stream grpc.ServerStream
	enc    encoder
}

// NewRecordSender announces schema on stream.
func NewRecordSender(stream grpc.ServerStream, schema *arrow.Schema) (*RecordSender, error) {
	s := &RecordSender{stream: stream}
	head, err := s.enc.start(schema)
	if err != nil {
		return nil, err
	}
	return s, s.send(head)
}

// Send sends one batch, which it does not consume: its memory is referenced
// until it was written.
func (s *RecordSender) Send(batch arrow.RecordBatch) error {
	frames, err := s.enc.encode(batch)
	if err != nil {
		return err
	}
	defer releaseFrames(frames)
	for _, f := range frames {
		if err := s.send(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *RecordSender) send(f *frame) error {
	return status.Wrap(status.Canceled, s.stream.SendMsg(f), "the client is gone")
}

// Close frees what the sender keeps; the stream ends when its handler returns.
func (s *RecordSender) Close() error { return s.enc.close() }
