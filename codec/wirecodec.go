package codec

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	gproto "google.golang.org/protobuf/proto"
)

// The field numbers of FlightData.
const (
	fieldDescriptor  protowire.Number = 1
	fieldHeader      protowire.Number = 2
	fieldAppMetadata protowire.Number = 3
	fieldBody        protowire.Number = 1000
)

// wireCodec is gRPC's protobuf encoding, with a path for frames that copies no
// body when it sends and copies it once when it receives.
type wireCodec struct{ base encoding.CodecV2 }

func newWireCodec() wireCodec { return wireCodec{encoding.GetCodecV2(proto.Name)} }

// Name is that of the protobuf encoding: the bytes are the same.
func (wireCodec) Name() string { return proto.Name }

// Marshal encodes v.
func (c wireCodec) Marshal(v any) (mem.BufferSlice, error) {
	if f, ok := v.(*frame); ok && f.parts != nil {
		return marshalFrame(f)
	}
	return c.base.Marshal(v)
}

// Unmarshal decodes data into v.
func (c wireCodec) Unmarshal(data mem.BufferSlice, v any) error {
	if f, ok := v.(*frame); ok {
		return unmarshalFrame(data, f)
	}
	return c.base.Unmarshal(data, v)
}

func marshalFrame(f *frame) (mem.BufferSlice, error) {
	var head []byte
	if f.data.FlightDescriptor != nil {
		descriptor, err := gproto.Marshal(f.data.FlightDescriptor)
		if err != nil {
			return nil, err
		}
		head = appendField(head, fieldDescriptor, descriptor)
	}
	head = appendField(head, fieldHeader, f.data.DataHeader)
	head = appendField(head, fieldAppMetadata, f.data.AppMetadata)
	head = protowire.AppendTag(head, fieldBody, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(f.bodyLen()))
	return bodyBuffers(f, head), nil
}

func appendField(b []byte, num protowire.Number, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendBytes(b, value)
}

// bodyBuffers is head followed by the body. Pieces below gRPC's pooling
// threshold are copied together: such buffers would not be given back.
func bodyBuffers(f *frame, head []byte) mem.BufferSlice {
	out := make(mem.BufferSlice, 0, 2*len(f.parts)+1)
	for _, p := range f.parts {
		if f.keep == nil || mem.IsBelowBufferPoolingThreshold(len(p)) {
			head = append(head, p...)
			continue
		}
		if len(head) > 0 {
			out = append(out, mem.SliceBuffer(head))
			head = nil
		}
		out = append(out, f.keep.buffer(p))
	}
	if len(head) > 0 {
		out = append(out, mem.SliceBuffer(head))
	}
	return out
}

// peekBytes is how much of a message is looked at in one step.
const peekBytes = 128 << 10

// errMalformed is a message that is not a FlightData.
var errMalformed = errors.New("malformed FlightData")

func unmarshalFrame(data mem.BufferSlice, f *frame) error {
	*f = frame{data: &flight.FlightData{}}
	r := data.Reader()
	defer func() { _ = r.Close() }() // it only drops references
	for r.Remaining() > 0 {
		if err := readField(r, f.data); err != nil {
			return errors.Join(errMalformed, err)
		}
	}
	return nil
}

func readField(r *mem.Reader, d *flight.FlightData) error {
	tag, err := binary.ReadUvarint(r)
	if err != nil {
		return err
	}
	num, typ := protowire.DecodeTag(tag)
	if typ != protowire.BytesType {
		return skipField(r, num, typ)
	}
	value, err := readBytes(r)
	if err != nil {
		return err
	}
	switch num {
	case fieldDescriptor:
		d.FlightDescriptor = &flight.FlightDescriptor{}
		return gproto.Unmarshal(value, d.FlightDescriptor)
	case fieldHeader:
		d.DataHeader = value
	case fieldAppMetadata:
		d.AppMetadata = value
	case fieldBody:
		d.DataBody = value
	}
	return nil
}

// readBytes reads a length-delimited value into memory of its own.
func readBytes(r *mem.Reader) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(r.Remaining()) {
		return nil, io.ErrUnexpectedEOF
	}
	return take(r, int(n))
}

// take reads n bytes into new memory. A builder's memory is not cleared before
// it is written, unlike that of make: it matters for bodies of a megabyte.
func take(r *mem.Reader, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	var (
		b      strings.Builder
		pieces [16][]byte
	)
	b.Grow(n)
	for n > 0 {
		step := min(n, peekBytes)
		peeked, err := r.Peek(step, pieces[:0])
		if err != nil {
			return nil, err
		}
		for _, p := range peeked {
			_, _ = b.Write(p) // cannot fail
		}
		if _, err := r.Discard(step); err != nil {
			return nil, err
		}
		n -= step
	}
	return unsafe.Slice(unsafe.StringData(b.String()), b.Len()), nil
}

// skipField skips a field that FlightData does not have.
func skipField(r *mem.Reader, num protowire.Number, typ protowire.Type) error {
	switch typ {
	case protowire.VarintType:
		_, err := binary.ReadUvarint(r)
		return err
	case protowire.Fixed32Type:
		_, err := r.Discard(4)
		return err
	case protowire.Fixed64Type:
		_, err := r.Discard(8)
		return err
	}
	return protowire.ParseError(protowire.ConsumeFieldValue(num, typ, nil))
}
