package codec

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// The fields of a Literal that values of a list are written and read by without a
// message: its type, and a signed number.
const (
	literalType protowire.Number = 1
	literalInt  protowire.Number = 3
)

// encodeValues encodes the values of a list, each as a Literal. Integers and dates
// that follow one of their type take its encoded type.
func encodeValues(values []pushdown.Literal) ([][]byte, error) {
	out := make([][]byte, len(values))
	var block, prefix []byte // of the type of
	var of arrow.DataType
	for i, v := range values {
		if n, ok := signed(v.Value); ok && of != nil && v.Value.DataType() == of {
			if cap(block)-len(block) < len(prefix)+2*binary.MaxVarintLen64 {
				block = make([]byte, 0, 16<<10)
			}
			begun := len(block)
			block = append(block, prefix...)
			block = protowire.AppendTag(block, literalInt, protowire.VarintType)
			block = protowire.AppendVarint(block, protowire.EncodeZigZag(n))
			out[i] = block[begun:len(block):len(block)]
			continue
		}
		lit, err := literalToProto(v.Value)
		if err != nil {
			return nil, err
		}
		if out[i], err = proto.Marshal(lit); err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "cannot encode a value of a list")
		}
		of, prefix = v.Value.DataType(), typeField(out[i])
	}
	return out, nil
}

// signed is the value of an integer or a date as a Literal has it.
func signed(s scalar.Scalar) (n int64, ok bool) {
	switch s := s.(type) {
	case *scalar.Int8:
		return int64(s.Value), s.Valid
	case *scalar.Int16:
		return int64(s.Value), s.Valid
	case *scalar.Int32:
		return int64(s.Value), s.Valid
	case *scalar.Int64:
		return s.Value, s.Valid
	case *scalar.Date32:
		return int64(s.Value), s.Valid
	}
	return 0, false
}

// typeField is the type at the beginning of an encoded Literal, with its tag; nil
// when it does not begin with one.
func typeField(encoded []byte) []byte {
	n, t, tag := protowire.ConsumeTag(encoded)
	if tag < 0 || n != literalType || t != protowire.BytesType {
		return nil
	}
	_, size := protowire.ConsumeBytes(encoded[tag:])
	if size < 0 {
		return nil
	}
	return encoded[:tag+size]
}

// decodeValues decodes what encodeValues wrote, or any other encoding of Literals.
func decodeValues(values [][]byte) ([]pushdown.Literal, error) {
	if len(values) == 0 {
		return nil, nil
	}
	out := make([]pushdown.Literal, len(values))
	var prefix []byte // of the type of
	var of arrow.DataType
	for i, encoded := range values {
		if rest, same := bytes.CutPrefix(encoded, prefix); same && of != nil {
			if v := signedScalar(of, rest); v != nil {
				out[i] = pushdown.Literal{Value: v}
				continue
			}
		}
		var lit pb.Literal
		if err := proto.Unmarshal(encoded, &lit); err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "malformed value of a list")
		}
		v, err := literalFromProto(&lit)
		if err != nil {
			return nil, err
		}
		out[i] = pushdown.Literal{Value: v}
		of, prefix = v.DataType(), typeField(encoded)
		if prefix == nil {
			of = nil
		}
	}
	return out, nil
}

// signedScalar reads the number that is all of an encoded Literal but its type; nil
// when something else is there.
func signedScalar(dt arrow.DataType, encoded []byte) scalar.Scalar {
	n, t, tag := protowire.ConsumeTag(encoded)
	if tag < 0 || n != literalInt || t != protowire.VarintType {
		return nil
	}
	v, size := protowire.ConsumeVarint(encoded[tag:])
	if size < 0 || tag+size != len(encoded) {
		return nil
	}
	return intScalar(dt, protowire.DecodeZigZag(v))
}
