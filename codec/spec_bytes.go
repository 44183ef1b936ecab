package codec

import (
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// MarshalSpec writes a specification for a ticket.
func MarshalSpec(s pushdown.Spec) ([]byte, error) {
	p, err := SpecToProto(s)
	if err != nil {
		return nil, err
	}
	out, err := proto.Marshal(p)
	return out, status.Wrap(status.Internal, err, "cannot encode a specification")
}

// UnmarshalSpec reads what MarshalSpec wrote.
func UnmarshalSpec(raw []byte) (pushdown.Spec, error) {
	var p pb.Spec
	if err := proto.Unmarshal(raw, &p); err != nil {
		return pushdown.Spec{}, status.Wrap(status.InvalidArgument, err, "the ticket's specification")
	}
	return SpecFromProto(&p)
}
