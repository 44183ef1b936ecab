package codec

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// frame is one FlightData. The body of an outgoing frame stays in the pieces
// that Arrow made of it, so that [wireCodec] can send them without a copy. It is
// a protobuf message too: under any other encoding it travels as a FlightData.
type frame struct {
	data *flight.FlightData
	// parts are the body of an outgoing frame; nil once it was joined.
	parts [][]byte
	// keep holds the memory of parts; nil when nothing needs holding.
	keep *hold
	// plain is the length of a compressed body before that; 0 for others.
	plain int64
}

func newFrame() *frame { return &frame{data: &flight.FlightData{}} }

// controlFrame is a frame without an Arrow message.
func controlFrame(appMetadata []byte) *frame {
	return &frame{data: &flight.FlightData{AppMetadata: appMetadata}}
}

// ProtoReflect makes a frame a protobuf message: the FlightData with its body.
func (f *frame) ProtoReflect() protoreflect.Message {
	if f.parts != nil {
		body := make([]byte, 0, f.bodyLen())
		for _, p := range f.parts {
			body = append(body, p...)
		}
		f.data.DataBody, f.parts = body, nil
	}
	return f.data.ProtoReflect()
}

// isArrow reports whether the frame carries an Arrow message.
func (f *frame) isArrow() bool { return len(f.data.DataHeader) > 0 }

func (f *frame) bodyLen() int64 {
	n := int64(len(f.data.DataBody))
	for _, p := range f.parts {
		n += int64(len(p))
	}
	return n
}

// wireBytes is the length of what is sent.
func (f *frame) wireBytes() int64 {
	return int64(len(f.data.DataHeader)) + int64(len(f.data.AppMetadata)) + f.bodyLen()
}

// cost is what the frame costs in credit: its length when nothing is compressed,
// because that is what its receiver needs memory for.
func (f *frame) cost() int64 {
	if f.plain == 0 {
		return f.wireBytes()
	}
	return f.wireBytes() - f.bodyLen() + f.plain
}

// hold keeps a batch while gRPC writes its buffers.
type hold struct {
	refs  atomic.Int32
	batch arrow.RecordBatch
}

func newHold(batch arrow.RecordBatch) *hold {
	batch.Retain()
	h := &hold{batch: batch}
	h.refs.Store(1)
	return h
}

func (h *hold) retain() { h.refs.Add(1) }

func (h *hold) release() {
	if h.refs.Add(-1) == 0 {
		h.batch.Release()
	}
}

// buffer is b as a gRPC buffer that holds h until it was written.
func (h *hold) buffer(b []byte) mem.Buffer {
	h.retain()
	return mem.NewBuffer(&b, holdPool{h})
}

// holdPool is told by gRPC when a buffer was written.
type holdPool struct{ h *hold }

// Get is never used: nothing is taken from this pool.
func (holdPool) Get(length int) *[]byte { b := make([]byte, length); return &b }

// Put ends the use of one buffer.
func (p holdPool) Put(*[]byte) { p.h.release() }
