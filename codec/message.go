package codec

import (
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// maxControlBytes bounds a control message before it is parsed.
const maxControlBytes = 16 << 20

// encodeMessage encodes a control message. Marshalling fails only for strings
// that are not UTF-8.
func encodeMessage(m proto.Message) ([]byte, error) {
	data, err := proto.Marshal(m)
	return data, status.Wrap(status.InvalidArgument, err, "cannot encode %s", m.ProtoReflect().Descriptor().Name())
}

// decodeMessage decodes a control message into m.
func decodeMessage(data []byte, m proto.Message) error {
	name := m.ProtoReflect().Descriptor().Name()
	if len(data) > maxControlBytes {
		return status.New(status.ResourceExhausted, "a %s of %d bytes exceeds the limit of %d bytes", name, len(data), maxControlBytes)
	}
	return status.Wrap(status.InvalidArgument, proto.Unmarshal(data, m), "malformed %s", name)
}

// encodeOpen is the first message of a scan.
func encodeOpen(r OpenRequest) ([]byte, error) {
	spec, err := SpecToProto(r.Spec)
	if err != nil {
		return nil, err
	}
	return encodeMessage(&pb.ClientMessage{Message: &pb.ClientMessage_Open{Open: &pb.Open{
		Protocol: ProtocolLatest, ScanId: r.ScanID, Spec: spec, Epoch: r.Epoch,
		InitialCredit: r.InitialCredit, BatchBytes: r.BatchBytes, TableVersion: r.TableVersion,
		PinVersion: r.PinVersion, SchemaVersion: r.SchemaVersion,
		Compression: r.Compression.toProto(),
	}}})
}

// decodeOpen reads the first message of a scan.
func decodeOpen(data []byte) (OpenRequest, error) {
	var m pb.ClientMessage
	if err := decodeMessage(data, &m); err != nil {
		return OpenRequest{}, err
	}
	open := m.GetOpen()
	if open == nil {
		return OpenRequest{}, status.New(status.InvalidArgument, "a scan must begin with Open")
	}
	if v := int(open.Protocol); v < ProtocolMin || v > ProtocolLatest {
		return OpenRequest{}, status.New(status.FailedPrecondition,
			"the coordinator speaks protocol %d, this scanner %d to %d: upgrade the older one", v, ProtocolMin, ProtocolLatest)
	}
	if open.InitialCredit < 0 || open.BatchBytes < 0 {
		return OpenRequest{}, status.New(status.InvalidArgument, "initial_credit and batch_bytes must not be negative")
	}
	spec, err := SpecFromProto(open.Spec)
	return OpenRequest{
		ScanID: open.ScanId, Spec: spec, Epoch: open.Epoch,
		InitialCredit: open.InitialCredit, BatchBytes: open.BatchBytes, TableVersion: open.TableVersion,
		PinVersion: open.PinVersion, SchemaVersion: open.SchemaVersion,
		Compression: compressionFromProto(open.Compression),
	}, err
}

func openedToProto(o Opened) *pb.ServerMessage {
	return &pb.ServerMessage{Message: &pb.ServerMessage_Opened{Opened: &pb.Opened{
		SpecHash: o.SpecHash, Mode: modeToProto(o.Mode), Epoch: o.Epoch, ScanId: o.ScanID, TableVersion: o.TableVersion,
	}}}
}

func openedFromProto(p *pb.Opened) (Opened, error) {
	mode, err := modeFromProto(p.GetMode())
	return Opened{
		SpecHash: p.GetSpecHash(), Mode: mode, Epoch: p.GetEpoch(), ScanID: p.GetScanId(), TableVersion: p.GetTableVersion(),
	}, err
}

func modeToProto(m Mode) pb.Mode { return pb.Mode(m) + pb.Mode_MODE_RAW }

// modeFromProto decodes a mode; an absent one is raw.
func modeFromProto(m pb.Mode) (Mode, error) {
	switch {
	case m == pb.Mode_MODE_UNSPECIFIED:
		return Raw, nil
	case m > pb.Mode_MODE_PARTIAL || m < 0:
		return Raw, status.New(status.Unimplemented, "rows of mode %d are unknown to this version", m)
	}
	return Mode(m - pb.Mode_MODE_RAW), nil
}
