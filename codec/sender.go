package codec

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/pushdown/status"
)

// RecordSender streams record batches as plain FlightData, as DoGet does. On a
// server with [ServerOptions] it copies no bodies. It is safe for concurrent use:
// while one batch is sent the next is encoded.
type RecordSender struct {
	encMu sync.Mutex
	enc   encoder

	// sendMu guards stream; it is taken before encMu is given up, so that batches
	// are sent in the order in which they were encoded.
	sendMu sync.Mutex
	stream grpc.ServerStream
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
	frames, err := s.encode(batch)
	if err != nil {
		return err
	}
	defer s.sendMu.Unlock()
	defer releaseFrames(frames)
	for _, f := range frames {
		if err := s.send(f); err != nil {
			return err
		}
	}
	return nil
}

// encode returns the frames of batch. When there is no error sendMu is held: they
// are the next to be sent.
func (s *RecordSender) encode(batch arrow.RecordBatch) ([]*frame, error) {
	s.encMu.Lock()
	defer s.encMu.Unlock()
	frames, err := s.enc.encode(batch)
	if err == nil {
		s.sendMu.Lock()
	}
	return frames, err
}

func (s *RecordSender) send(f *frame) error {
	return status.Wrap(status.Canceled, s.stream.SendMsg(f), "the client is gone")
}

// Close frees what the sender keeps; the stream ends when its handler returns.
func (s *RecordSender) Close() error {
	s.encMu.Lock()
	defer s.encMu.Unlock()
	return s.enc.close()
}
