package codec

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Scan is one stream as its receiver sees it. Every method may be called from
// any goroutine; batches come in order to whoever calls Next.
type Scan struct {
	stream flight.FlightService_DoExchangeClient
	cancel context.CancelFunc
	req    OpenRequest
	hash   uint64
	sendMu sync.Mutex
	// waited is the time spent waiting for messages since granted, the last credit.
	waited  atomic.Int64
	granted atomic.Int64
	// scanned is the latest progress.
	scanned atomic.Int64

	// mu guards everything below.
	mu     sync.Mutex
	dec    decoder
	opened Opened
	// ready says that the first schema has arrived, echoed that an echo has.
	ready, echoed bool
	tally         tally
	// before is tally.bytes after the previous batch, and cost what the batch that
	// is arriving costs so far.
	before, cost int64
	inflater     inflater
	// checked is the last schema that was compared with the spec, for its mode.
	checked     *arrow.Schema
	checkedMode Mode
	// err ends the scan; io.EOF after a verified End.
	err error
}

func newScan(stream flight.FlightService_DoExchangeClient, cancel context.CancelFunc, req OpenRequest, mem memory.Allocator) *Scan {
	return &Scan{
		stream: stream, cancel: cancel, req: req, hash: req.Spec.Hash(),
		dec: decoder{mem: mem}, tally: newTally(),
	}
}

// Opened waits for the scanner's echo. A peer that sends rows without an echo
// yields Mode Raw.
func (s *Scan) Opened() (Opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil && !s.ready {
		return Opened{}, s.err
	}
	if err := s.open(); err != nil {
		return Opened{}, s.finish(err)
	}
	return s.opened, nil
}

// Schema is the schema of the batches to come; it is valid after Opened and
// changes when the mode of a batch does.
func (s *Scan) Schema() *arrow.Schema {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dec.schema()
}

// Next returns the next batch, which the caller releases. It returns io.EOF
// only after an End that agrees with what was received.
func (s *Scan) Next() (Batch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return Batch{}, s.err
	}
	err := s.open()
	for err == nil {
		var b *Batch
		if b, err = s.step(); b != nil && err == nil {
			return *b, nil
		}
	}
	return Batch{}, s.finish(err)
}

// finish makes err the end of the scan and frees what the stream holds.
func (s *Scan) finish(err error) error {
	if s.err == nil {
		s.err = err
		s.cancel()
		s.dec.close()
		s.inflater.close()
	}
	return s.err
}

// open reads up to the first schema.
func (s *Scan) open() error {
	for !s.ready {
		f, err := s.recv()
		if err != nil {
			return err
		}
		if err := s.greet(f); err != nil {
			return err
		}
	}
	return nil
}

// greet handles a frame that comes before the first schema, or with it.
func (s *Scan) greet(f *frame) error {
	var m pb.ServerMessage
	if err := decodeMessage(f.data.AppMetadata, &m); err != nil {
		return err
	}
	if end := m.GetEnd(); end != nil {
		return s.damaged("it ended before its schema")
	}
	if err := s.echo(m.GetOpened()); err != nil || !f.isArrow() {
		return err
	}
	if !s.echoed && s.req.TableVersion != "" {
		return s.unversioned()
	}
	kind, err := s.dec.push(f)
	if err == nil && kind != ipc.MessageSchema {
		err = s.damaged("it does not begin with a schema")
	}
	s.ready = err == nil
	return err
}

// echo compares the scanner's echo with the request. Without one the scanner
// may have ignored the spec, and its rows are raw.
func (s *Scan) echo(p *pb.Opened) error {
	if p == nil {
		return nil
	}
	s.echoed = true
	o, err := openedFromProto(p)
	switch {
	case err != nil:
		return err
	case o.SpecHash != s.hash:
		return s.damaged("the scanner understood another specification (hash %016x, not %016x)", o.SpecHash, s.hash)
	case o.ScanID != s.req.ScanID:
		return s.damaged("the scanner answered scan %q", o.ScanID)
	case s.req.Epoch != "" && o.Epoch != s.req.Epoch:
		return status.New(status.Aborted, "scan %s: the scanner has restarted (epoch %q, not %q): repeat the query",
			s.req.ScanID, o.Epoch, s.req.Epoch)
	case o.TableVersion != s.req.TableVersion:
		return s.unversioned()
	}
	s.opened = o
	return nil
}

// unversioned is a scan of which nobody knows whether the statistics that it
// relies on are still those of the table.
func (s *Scan) unversioned() error {
	return status.New(status.Aborted, "scan %s: the scanner did not confirm version %q of the table: repeat the query",
		s.req.ScanID, s.req.TableVersion)
}

// step handles one frame; the batch is nil when it was not one.
func (s *Scan) step() (*Batch, error) {
	f, err := s.recv()
	if err != nil {
		return nil, err
	}
	var m pb.ServerMessage
	if err := decodeMessage(f.data.AppMetadata, &m); err != nil {
		return nil, err
	}
	if f.isArrow() {
		return s.arrow(f, m.GetBatch())
	}
	switch m := m.Message.(type) {
	case *pb.ServerMessage_Heartbeat:
		s.progress(m.Heartbeat.GetRowsScanned())
		return nil, nil
	case *pb.ServerMessage_End:
		return nil, s.end(m.End)
	}
	return nil, s.damaged("a message of unexpected kind %T arrived", m.Message)
}

// arrow handles a frame with an Arrow message.
func (s *Scan) arrow(f *frame, p *pb.Batch) (*Batch, error) {
	s.tally.frame(f)
	if err := s.inflate(f, p); err != nil {
		return nil, err
	}
	s.cost += f.cost()
	kind, err := s.dec.push(f)
	if err != nil || kind != ipc.MessageRecordBatch {
		return nil, err
	}
	b, err := s.batchOf(p)
	if err != nil {
		return nil, err
	}
	if b.Record, err = s.dec.batch(); err != nil {
		return nil, err
	}
	if err := s.checkSchema(b.Record.Schema(), b.Mode); err != nil {
		b.Record.Release()
		return nil, err
	}
	s.tally.batch(b.Record.NumRows(), b.RowsScanned)
	s.progress(b.RowsScanned)
	return b, nil
}

// inflate undoes the compression of a body that was allowed to be compressed.
func (s *Scan) inflate(f *frame, p *pb.Batch) error {
	how := p.GetCompression()
	if how <= pb.Compression_COMPRESSION_NONE {
		return nil
	}
	if s.req.Compression == CompressNone {
		return s.damaged("the scanner compressed what it was not asked to compress")
	}
	return status.Wrap(status.DataLoss, s.inflater.inflate(f, how, p.GetBodyBytes()), "scan %s", s.req.ScanID)
}

// batchOf is the batch's label; a peer that sends none sends raw rows.
func (s *Scan) batchOf(p *pb.Batch) (*Batch, error) {
	b := &Batch{Sequence: uint64(s.tally.batches), WireBytes: s.tally.bytes - s.before, Cost: s.cost}
	s.before, s.cost = s.tally.bytes, 0
	if p == nil {
		return b, nil
	}
	if p.GetSequence() != b.Sequence {
		return nil, s.damaged("batch %d arrived in place of batch %d", p.GetSequence(), b.Sequence)
	}
	b.Progress = Progress{RowsScanned: p.GetRowsScanned(), RowsPassed: p.GetRowsPassed()}
	var err error
	b.Mode, err = modeFromProto(p.GetMode())
	return b, err
}

// end verifies the End, after which nothing may follow.
func (s *Scan) end(p *pb.End) error {
	if err := s.tally.verify(p); err != nil {
		return status.Wrap(status.DataLoss, err, "scan %s", s.req.ScanID)
	}
	s.progress(p.GetRowsScanned())
	err := s.stream.RecvMsg(newFrame())
	if err == nil {
		return s.damaged("a message arrived after End")
	}
	if !errors.Is(err, io.EOF) {
		return s.failed(err)
	}
	return io.EOF
}

// recv reads one frame; the end of the stream is an error here.
func (s *Scan) recv() (*frame, error) {
	f := newFrame()
	begun := time.Now()
	err := s.stream.RecvMsg(f)
	s.waited.Add(int64(time.Since(begun)))
	if errors.Is(err, io.EOF) {
		return nil, s.damaged("the stream ended without End")
	}
	if err != nil {
		return nil, s.failed(err)
	}
	return f, nil
}

func (s *Scan) failed(err error) error {
	return status.Wrap(status.Unavailable, grpcstatus.FromGRPC(err), "scan %s", s.req.ScanID)
}

// damaged is a stream that must not be believed.
func (s *Scan) damaged(format string, args ...any) error {
	return status.Wrap(status.DataLoss, status.New(status.DataLoss, format, args...), "scan %s", s.req.ScanID)
}

// progress never goes back.
func (s *Scan) progress(scanned int64) {
	if scanned > s.scanned.Load() {
		s.scanned.Store(scanned)
	}
}

// checkSchema compares a schema with what the spec promises.
func (s *Scan) checkSchema(schema *arrow.Schema, mode Mode) error {
	if schema == s.checked && mode == s.checkedMode {
		return nil
	}
	if err := checkRows(&s.req.Spec, schema, mode); err != nil {
		return status.Wrap(status.DataLoss, err, "scan %s", s.req.ScanID)
	}
	s.checked, s.checkedMode = schema, mode
	return nil
}

// Grant allows the scanner to send that many bytes more.
func (s *Scan) Grant(bytes int64) error {
	return s.say(&pb.ClientMessage{Message: &pb.ClientMessage_Credit{Credit: &pb.Credit{Bytes: bytes, Starved: s.starved()}}})
}

// starved reports whether most of the time since it was asked last was spent
// waiting for the scanner. Only a scanner that may choose a compression is told.
func (s *Scan) starved() bool {
	if s.req.Compression != CompressAuto {
		return false
	}
	now := time.Now().UnixNano()
	took := now - s.granted.Swap(now)
	return s.waited.Swap(0)*2 > took
}

// Limit tells the scanner how many rows are still wanted.
func (s *Scan) Limit(remaining int64) error {
	return s.say(&pb.ClientMessage{Message: &pb.ClientMessage_Limit{Limit: &pb.Limit{Remaining: remaining}}})
}

// UpdateFilter sends a dynamic filter.
func (s *Scan) UpdateFilter(slot int, generation uint64, e pushdown.Expr) error {
	expr, err := exprToProto(e)
	if err != nil {
		return err
	}
	return s.say(&pb.ClientMessage{Message: &pb.ClientMessage_Filter{
		Filter: &pb.Filter{Slot: uint32(slot), Generation: generation, Expr: expr},
	}})
}

func (s *Scan) say(m *pb.ClientMessage) error {
	data, err := encodeMessage(m)
	if err != nil {
		return err
	}
	return s.send(controlFrame(data))
}

// send writes one frame. A stream that has ended takes it silently: why it
// ended is for Next to say.
func (s *Scan) send(f *frame) error {
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	if err := s.stream.SendMsg(f); err != nil && !errors.Is(err, io.EOF) && s.stream.Context().Err() == nil {
		return s.failed(err)
	}
	return nil
}

// RowsScanned is the scanner's latest progress.
func (s *Scan) RowsScanned() int64 { return s.scanned.Load() }

// End is the verified end of the stream; it is valid after io.EOF.
func (s *Scan) End() End {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally.end()
}

// Close ends the scan, cancelling it when it has not ended. It may be called
// more than once, and while Next waits.
func (s *Scan) Close() error {
	s.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.finish(status.New(status.Canceled, "scan %s was closed", s.req.ScanID)) // an earlier end stays
	return nil
}
