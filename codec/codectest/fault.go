package codectest

import (
	"hash/crc32"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
)

// Kind is what goes wrong.
type Kind uint8

// The faults. At counts the messages of one stream from 0, the echo with the
// schema; dictionaries, batches, heartbeats and End are messages.
const (
	// None passes everything.
	None Kind = iota
	// Cut ends the stream as if it were complete in place of message At.
	Cut
	// Lose fails the stream in place of message At, as a lost scanner does.
	Lose
	// Stall never sends message At nor anything after it.
	Stall
	// Skip leaves message At out.
	Skip
	// Duplicate sends message At twice.
	Duplicate
	// Truncate halves the body of the first message from At on that has one.
	Truncate
	// Corrupt flips a bit in the body of the first message from At on that has
	// one.
	Corrupt
	// WrongSchema announces another schema than that of the rows.
	WrongSchema
	// WrongHash echoes another specification.
	WrongHash
	// StaleEpoch echoes another epoch.
	StaleEpoch
	// Amnesia removes the echo and the labels of batches: the peer does not
	// know of them.
	Amnesia
	// WrongCounts claims one row more in End.
	WrongCounts
)

// Fault is one fault at one place of every stream.
type Fault struct {
	Kind Kind
	At   int
}

// Interceptor puts the fault into every DoExchange stream of a server.
func Interceptor(f Fault) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if info.FullMethod != "/arrow.flight.protocol.FlightService/DoExchange" {
			return handler(srv, stream)
		}
		s := &faultyStream{ServerStream: stream, fault: f}
		err := handler(srv, s)
		if s.err != nil || s.silent {
			return s.err // what the scanner thinks of it is not heard any more
		}
		return err
	}
}

// faultyStream is a stream with a fault in what the scanner sends.
type faultyStream struct {
	grpc.ServerStream
	fault Fault

	mu sync.Mutex
	// sent counts the messages that the scanner has sent.
	sent int
	// done says that a fault that occurs once has occurred.
	done bool
	// silent says that nothing may follow.
	silent bool
	err    error
	// sum and bytes are of an amnesiac's Arrow messages.
	sum   uint32
	bytes int64
}

// SendMsg sends m as the fault has it.
func (s *faultyStream) SendMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	message, ok := m.(proto.Message)
	if !ok || s.silent {
		return s.err
	}
	data, ok := message.ProtoReflect().Interface().(*flight.FlightData)
	if !ok {
		return s.ServerStream.SendMsg(m)
	}
	at := s.sent
	s.sent++
	if at == s.fault.At {
		if handled, err := s.stop(data); handled {
			return err
		}
	}
	if err := s.alter(data, at); err != nil {
		return err
	}
	return s.ServerStream.SendMsg(data)
}

// stop handles the faults in place of one message.
func (s *faultyStream) stop(data *flight.FlightData) (handled bool, err error) {
	switch s.fault.Kind {
	case Cut:
		s.silent = true
	case Lose:
		s.silent, s.err = true, status.Error(codes.Unavailable, "the scanner was lost")
		return true, s.err
	case Stall:
		<-s.Context().Done()
		return true, s.Context().Err()
	case Skip:
	case Duplicate:
		return false, s.ServerStream.SendMsg(data)
	default:
		return false, nil
	}
	return true, nil
}

// alter changes a message.
func (s *faultyStream) alter(data *flight.FlightData, at int) error {
	switch s.fault.Kind {
	case Truncate, Corrupt:
		if at >= s.fault.At && !s.done && len(data.DataBody) > 0 {
			s.done = true
			data.DataBody = damage(s.fault.Kind, data.DataBody)
		}
	case WrongSchema:
		if at == 0 {
			return otherSchema(data)
		}
	case WrongHash, StaleEpoch, WrongCounts:
		return relabel(data, s.lie)
	case Amnesia:
		return s.forget(data, at)
	}
	return nil
}

// forget removes the label of a message and makes End agree with what is left.
func (s *faultyStream) forget(data *flight.FlightData, at int) error {
	if len(data.DataHeader) == 0 {
		return relabel(data, func(_ *pb.Opened, end *pb.End) {
			if end != nil {
				end.Checksum, end.BytesSent = s.sum, s.bytes
			}
		})
	}
	data.AppMetadata = nil
	if at > 0 {
		table := crc32.MakeTable(crc32.Castagnoli)
		s.sum = crc32.Update(crc32.Update(s.sum, table, data.DataHeader), table, data.DataBody)
		s.bytes += int64(len(data.DataHeader) + len(data.DataBody))
	}
	return nil
}

func damage(kind Kind, body []byte) []byte {
	if kind == Truncate {
		return body[:len(body)/2]
	}
	out := append([]byte{}, body...)
	out[len(out)/2] ^= 1
	return out
}

// otherSchema replaces the schema by one with another first column.
func otherSchema(data *flight.FlightData) error {
	payload := ipc.GetSchemaPayload(arrow.NewSchema([]arrow.Field{
		{Name: "unexpected", Type: arrow.BinaryTypes.Binary, Nullable: true},
	}, nil), memory.DefaultAllocator)
	defer payload.Release()
	meta := payload.Meta()
	defer meta.Release()
	data.DataHeader = append([]byte{}, meta.Bytes()...)
	return nil
}

// relabel changes the scanner's message about itself; what the message is not is
// nil.
func relabel(data *flight.FlightData, change func(*pb.Opened, *pb.End)) error {
	var m pb.ServerMessage
	if err := proto.Unmarshal(data.AppMetadata, &m); err != nil {
		return err
	}
	if m.GetOpened() == nil && m.GetEnd() == nil {
		return nil
	}
	change(m.GetOpened(), m.GetEnd())
	out, err := proto.Marshal(&m)
	data.AppMetadata = out
	return err
}

func (s *faultyStream) lie(opened *pb.Opened, end *pb.End) {
	switch {
	case opened != nil && s.fault.Kind == WrongHash:
		opened.SpecHash++
	case opened != nil && s.fault.Kind == StaleEpoch:
		opened.Epoch += "-stale"
	case end != nil && s.fault.Kind == WrongCounts:
		end.Rows++
	}
}
