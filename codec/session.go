package codec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/codec/ipc"
	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// filterBacklog is how many unread dynamic filters a session keeps.
const filterBacklog = 16

// Session is one scan as its scanner sees it. The handler that called [Accept]
// ends it with [Session.End] or [Session.Fail] and returns their result.
type Session struct {
	stream flight.FlightService_DoExchangeServer
	ctx    context.Context
	cancel context.CancelCauseFunc
	req    OpenRequest
	credit *credit
	// target is the encoded size that the next batch may have.
	target    atomic.Int64
	remaining atomic.Int64
	filters   chan FilterUpdate

	// batchMu orders batches: encoding, waiting for credit and sending.
	batchMu sync.Mutex
	enc     encoder
	tally   tally
	// fault is the first error of Send; it forbids End.
	fault error

	// sendMu guards the stream; it is taken after batchMu.
	sendMu sync.Mutex
	opened bool
	ended  bool
}

// Accept reads the Open of a DoExchange stream. Messages are encoded in memory
// that is left to the garbage collector, so mem is only for what a session may
// come to keep.
func Accept(stream flight.FlightService_DoExchangeServer, _ memory.Allocator) (*Session, error) {
	f := newFrame()
	if err := stream.RecvMsg(f); err != nil {
		return nil, status.Wrap(status.Unavailable, grpcstatus.FromGRPC(err), "the stream ended before Open")
	}
	if cmd := string(f.data.GetFlightDescriptor().GetCmd()); cmd != ScanDescriptor {
		return nil, status.New(status.InvalidArgument, "DoExchange serves %q only, not %q", ScanDescriptor, cmd)
	}
	req, err := decodeOpen(f.data.AppMetadata)
	if err != nil {
		return nil, err
	}
	return newSession(stream, req), nil
}

func newSession(stream flight.FlightService_DoExchangeServer, req OpenRequest) *Session {
	if req.InitialCredit == 0 {
		req.InitialCredit = DefaultCredit
	}
	if req.BatchBytes == 0 {
		req.BatchBytes = DefaultBatchBytes
	}
	req.BatchBytes = min(req.BatchBytes, MaxBatchBytes)
	s := &Session{
		stream: stream, req: req, credit: newCredit(req.InitialCredit),
		filters: make(chan FilterUpdate, filterBacklog), tally: newTally(),
	}
	s.ctx, s.cancel = context.WithCancelCause(stream.Context())
	s.target.Store(min(FirstBatchBytes, req.BatchBytes))
	s.remaining.Store(pushdown.NoLimit)
	go s.listen()
	return s
}

// Request is what was asked for.
func (s *Session) Request() OpenRequest { return s.req }

// Context ends when the coordinator cancels or is lost, and when the session
// ends.
func (s *Session) Context() context.Context { return s.ctx }

// Remaining is the number of rows still wanted, or pushdown.NoLimit.
func (s *Session) Remaining() int64 { return s.remaining.Load() }

// Filters yields dynamic filters as they arrive and is closed with the stream.
// When nobody reads, older updates give way to newer ones.
func (s *Session) Filters() <-chan FilterUpdate { return s.filters }

// Open sends the echo and the schema of the batches to come. It must be called
// once, before the first Send. SpecHash and ScanID may be left zero: they are
// those of the request.
func (s *Session) Open(o Opened, schema *arrow.Schema) error {
	if o.SpecHash == 0 {
		o.SpecHash = s.req.Spec.Hash()
	}
	if o.ScanID == "" {
		o.ScanID = s.req.ScanID
	}
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	if s.opened {
		return status.New(status.Internal, "scan %s was opened twice", s.req.ScanID)
	}
	f, err := s.enc.start(schema)
	if err != nil {
		return err
	}
	if f.data.AppMetadata, err = encodeMessage(openedToProto(o)); err != nil {
		return err
	}
	s.opened = true
	return s.send(f)
}

// Send sends a batch, split into pieces of bounded encoded size, and waits for
// credit. It does not consume the batch; the batch's memory is referenced until
// it was written. It is safe for concurrent use.
func (s *Session) Send(batch arrow.RecordBatch, mode Mode, rowsScanned int64) error {
	for piece, err := range ipc.SplitGrowing(batch, s.target.Load, MaxBatchBytes) {
		if err == nil {
			err = s.sendPiece(piece, mode, rowsScanned)
			piece.Release()
		}
		if err != nil {
			return s.failed(err)
		}
	}
	return nil
}

// failed remembers that rows were lost.
func (s *Session) failed(err error) error {
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	if s.fault == nil {
		s.fault = err
	}
	return err
}

func (s *Session) sendPiece(piece arrow.RecordBatch, mode Mode, rowsScanned int64) error {
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	if !s.opened || s.fault != nil {
		return status.Wrap(status.Internal, s.sendFault(), "scan %s cannot send", s.req.ScanID)
	}
	frames, err := s.frames(piece, mode, rowsScanned)
	defer releaseFrames(frames)
	if err != nil {
		return err
	}
	var bytes int64
	for _, f := range frames {
		bytes += f.wireBytes()
	}
	if err := s.credit.take(s.ctx, bytes); err != nil {
		return s.gone(err)
	}
	return s.sendBatch(frames, piece.NumRows(), rowsScanned)
}

func (s *Session) sendFault() error {
	if s.fault != nil {
		return s.fault
	}
	return status.New(status.Internal, "it was not opened")
}

// frames encodes a piece: a new schema when it changes, dictionaries, rows.
func (s *Session) frames(piece arrow.RecordBatch, mode Mode, rowsScanned int64) ([]*frame, error) {
	var head []*frame
	if !piece.Schema().Equal(s.enc.schema) {
		f, err := s.enc.start(piece.Schema())
		if err != nil {
			return nil, err
		}
		head = append(head, f)
	}
	body, err := s.enc.encode(piece)
	if err != nil {
		return nil, err
	}
	for _, f := range body {
		if n := f.bodyLen(); n > maxMessageBytes {
			releaseFrames(body)
			return nil, status.New(status.ResourceExhausted,
				"a dictionary of %d bytes exceeds the limit of %d bytes for a message", n, maxMessageBytes)
		}
	}
	frames := append(head, body...)
	frames[len(frames)-1].data.AppMetadata, err = encodeMessage(&pb.ServerMessage{Message: &pb.ServerMessage_Batch{Batch: &pb.Batch{
		Mode: modeToProto(mode), Sequence: uint64(s.tally.batches), RowsScanned: rowsScanned,
	}}})
	return frames, err
}

func (s *Session) sendBatch(frames []*frame, rows, rowsScanned int64) error {
	for _, f := range frames {
		s.tally.frame(f) // before sending: afterwards the body may be gone
		if err := s.send(f); err != nil {
			return err
		}
	}
	s.tally.batch(rows, rowsScanned)
	if t := s.target.Load(); t < s.req.BatchBytes {
		s.target.Store(min(2*t, s.req.BatchBytes))
	}
	return nil
}

// send writes one frame.
func (s *Session) send(f *frame) error {
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	if s.ended {
		return status.New(status.Internal, "scan %s has ended", s.req.ScanID)
	}
	if err := s.stream.SendMsg(f); err != nil {
		return s.gone(grpcstatus.FromGRPC(err))
	}
	return nil
}

// gone is the error of a scan whose coordinator wants no more.
func (s *Session) gone(err error) error {
	return status.Wrap(status.Canceled, err, "scan %s was stopped by its coordinator", s.req.ScanID)
}

// Heartbeat reports progress without rows. It never waits for credit.
func (s *Session) Heartbeat(rowsScanned int64) error {
	data, err := encodeMessage(&pb.ServerMessage{Message: &pb.ServerMessage_Heartbeat{
		Heartbeat: &pb.Heartbeat{RowsScanned: rowsScanned},
	}})
	if err != nil {
		return err
	}
	return s.send(controlFrame(data))
}

// End completes the stream; the handler returns its result. After a failed Send
// it is Fail with that error: a stream that lost rows never looks complete.
func (s *Session) End(rowsScanned int64) error {
	s.batchMu.Lock()
	fault := s.fault
	if !s.opened {
		fault = s.sendFault()
	}
	s.tally.progress(rowsScanned)
	data, err := encodeMessage(s.tally.toProto())
	s.batchMu.Unlock()
	if fault == nil {
		fault = err
	}
	if fault == nil {
		fault = s.send(controlFrame(data))
	}
	return s.Fail(fault)
}

// Fail ends the stream with err; the handler returns its result. It stops
// batches that wait for credit.
func (s *Session) Fail(err error) error {
	cause := err
	if cause == nil {
		cause = context.Canceled
	}
	s.cancel(cause)
	s.batchMu.Lock()
	defer s.batchMu.Unlock()
	s.sendMu.Lock()
	s.ended = true
	s.sendMu.Unlock()
	if closeErr := s.enc.close(); err == nil {
		err = closeErr
	}
	return grpcstatus.ToGRPC(err)
}
