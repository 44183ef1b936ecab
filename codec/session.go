package codec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

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
	// enough is closed when no more rows are wanted.
	enough  chan struct{}
	filters chan FilterUpdate

	// encMu orders the encoding of batches, and batchMu, which is taken before encMu
	// is given up, their sending: while one batch is sent the next is encoded.
	encMu    sync.Mutex
	enc      encoder
	deflater deflater
	sequence uint64
	// compress is what the next batch is to be compressed with.
	compress atomic.Uint32
	// starved: the coordinator waits for rows, by its latest word.
	starved atomic.Bool

	batchMu sync.Mutex
	link    link
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
		enough: make(chan struct{}), filters: make(chan FilterUpdate, filterBacklog), tally: newTally(),
	}
	s.ctx, s.cancel = context.WithCancelCause(stream.Context())
	s.target.Store(min(FirstBatchBytes, req.BatchBytes))
	if req.Compression != CompressAuto {
		s.compress.Store(uint32(req.Compression))
	}
	s.remaining.Store(pushdown.NoLimit)
	go s.listen()
	return s
}

// Request is what was asked for.
func (s *Session) Request() OpenRequest { return s.req }

// Context ends when the coordinator cancels or is lost, and when the session
// ends.
func (s *Session) Context() context.Context { return s.ctx }

// ErrEnough is what Send returns when the coordinator wants no more rows. It is
// not a failure: the stream may still complete with End.
var ErrEnough = errors.New("the coordinator wants no more rows")

// Remaining is the number of rows still wanted, or pushdown.NoLimit. It counts
// rows of the spec's output: a scanner that sends raw rows may use nothing of it
// but 0.
func (s *Session) Remaining() int64 { return s.remaining.Load() }

// Enough is closed when no more rows are wanted.
func (s *Session) Enough() <-chan struct{} { return s.enough }

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
	s.encMu.Lock()
	defer s.encMu.Unlock()
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
func (s *Session) Send(batch arrow.RecordBatch, mode Mode, at Progress) error {
	for piece, err := range ipc.SplitGrowing(batch, s.target.Load, MaxBatchBytes) {
		if err == nil {
			err = s.sendPiece(piece, mode, at)
			piece.Release()
		}
		if errors.Is(err, ErrEnough) {
			return err
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

func (s *Session) sendPiece(piece arrow.RecordBatch, mode Mode, at Progress) error {
	p, err := s.pack(piece, mode, at)
	if p == nil {
		return err
	}
	defer releaseFrames(p.frames)
	defer s.batchMu.Unlock()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := s.credit.take(s.ctx, s.enough, p.cost); errors.Is(err, ErrEnough) {
		return err
	} else if err != nil {
		return s.gone(err)
	}
	granted := time.Now()
	if err := s.sendBatch(p.frames, piece.NumRows(), at.RowsScanned); err != nil {
		return err
	}
	if s.req.Compression == CompressAuto {
		now, waiting := time.Now(), granted.Sub(begun)
		if s.starved.Load() { // then it was the link that withheld the credit
			granted, waiting = begun, 0
		}
		s.link.batch(now, p.cost, p.bytes, now.Sub(granted), waiting)
		s.compress.Store(uint32(s.link.now))
	}
	return nil
}

// packed is an encoded batch.
type packed struct {
	frames      []*frame
	bytes, cost int64
}

// pack encodes and compresses a batch. When it returns one, batchMu is held: it
// is the next to be sent.
func (s *Session) pack(piece arrow.RecordBatch, mode Mode, at Progress) (*packed, error) {
	s.encMu.Lock()
	defer s.encMu.Unlock()
	p := &packed{}
	var err error
	if p.frames, err = s.frames(piece); err != nil {
		return nil, err
	}
	if err = s.label(p.frames[len(p.frames)-1], mode, at); err != nil {
		releaseFrames(p.frames)
		return nil, err
	}
	for _, f := range p.frames {
		p.bytes += f.wireBytes()
		p.cost += f.cost()
	}
	s.batchMu.Lock()
	if !s.opened || s.fault != nil {
		err = status.Wrap(status.Internal, s.sendFault(), "scan %s cannot send", s.req.ScanID)
	}
	return p, err
}

// label compresses the frame of a batch and says what it is.
func (s *Session) label(f *frame, mode Mode, at Progress) error {
	how := Compression(s.compress.Load())
	if s.req.Compression == CompressAuto && f.bodyLen() > maxAutoBlock {
		how = CompressNone
	}
	how, err := s.deflater.deflate(f, how)
	if err != nil {
		return err
	}
	f.data.AppMetadata, err = encodeMessage(&pb.ServerMessage{Message: &pb.ServerMessage_Batch{Batch: &pb.Batch{
		Mode: modeToProto(mode), Sequence: s.sequence, RowsScanned: at.RowsScanned, RowsPassed: at.RowsPassed,
		Compression: how.toProto(), BodyBytes: f.plain,
	}}})
	s.sequence++
	return err
}

func (s *Session) sendFault() error {
	if s.fault != nil {
		return s.fault
	}
	return status.New(status.Internal, "it was not opened")
}

// frames encodes a piece: a new schema when it changes, dictionaries, rows.
func (s *Session) frames(piece arrow.RecordBatch) ([]*frame, error) {
	if s.enc.w == nil {
		return nil, status.New(status.Internal, "scan %s cannot send: it was not opened, or has ended", s.req.ScanID)
	}
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
	return append(head, body...), nil
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
	s.encMu.Lock()
	defer s.encMu.Unlock()
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
