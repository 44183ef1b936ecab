package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

// encoder turns record batches into frames: an IPC writer whose messages are
// collected instead of written.
type encoder struct {
	w      *ipc.Writer
	schema *arrow.Schema
	// frames are the messages of the batch being encoded.
	frames []*frame
	keep   *hold
	// muted drops the writer's own schema message.
	muted bool
}

// scratch is the memory of rebuilt bitmaps and offsets: it must outlive its
// release, until gRPC has written it, so it is left to the garbage collector.
func scratch() memory.Allocator { return memory.NewGoAllocator() }

// start begins a stream of schema and returns the frame that announces it.
func (e *encoder) start(schema *arrow.Schema) (*frame, error) {
	if err := e.close(); err != nil {
		return nil, err
	}
	e.schema = schema
	e.w = ipc.NewWriterWithPayloadWriter(payloads{e}, ipc.WithSchema(schema), ipc.WithAllocator(scratch()))
	e.muted = true
	payload := ipc.GetSchemaPayload(schema, scratch())
	defer payload.Release()
	return frameOf(payload, nil)
}

// encode returns the frames of batch: changed dictionaries, then the rows.
func (e *encoder) encode(batch arrow.RecordBatch) ([]*frame, error) {
	e.keep = newHold(batch)
	defer e.keep.release()
	e.frames = nil
	if err := e.w.Write(batch); err != nil {
		e.discard()
		return nil, status.Wrap(status.Internal, err, "cannot encode a batch of %d rows", batch.NumRows())
	}
	return e.frames, nil
}

// discard gives up the frames that were not sent.
func (e *encoder) discard() {
	releaseFrames(e.frames)
	e.frames = nil
}

func releaseFrames(frames []*frame) {
	for _, f := range frames {
		if f.keep != nil {
			f.keep.release()
		}
	}
}

// close releases the dictionaries that the writer remembers.
func (e *encoder) close() error {
	if e.w == nil {
		return nil
	}
	e.muted = true
	w := e.w
	e.w = nil
	return status.Wrap(status.Internal, w.Close(), "cannot end an Arrow stream")
}

// payloads collects what the IPC writer writes.
type payloads struct{ e *encoder }

func (payloads) Start() error { return nil }
func (payloads) Close() error { return nil }

// WritePayload collects one message.
func (p payloads) WritePayload(payload ipc.Payload) error {
	if p.e.muted {
		p.e.muted = false
		return nil
	}
	f, err := frameOf(payload, p.e.keep)
	if err != nil {
		return err
	}
	p.e.frames = append(p.e.frames, f)
	return nil
}

// frameOf is the frame of an IPC message; keep holds the memory of its body.
func frameOf(payload ipc.Payload, keep *hold) (*frame, error) {
	f := newFrame()
	meta := payload.Meta()
	f.data.DataHeader = meta.Bytes()
	meta.Release() // it is scratch memory, see there
	f.parts = [][]byte{}
	if err := payload.SerializeBody(bodyParts{f}); err != nil {
		return nil, err
	}
	if keep != nil {
		keep.retain()
		f.keep = keep
	}
	return f, nil
}

// bodyParts collects body buffers without copying them.
type bodyParts struct{ f *frame }

// Write keeps b.
func (p bodyParts) Write(b []byte) (int, error) {
	p.f.parts = append(p.f.parts, b)
	return len(b), nil
}
