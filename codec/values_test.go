package codec

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// mixedValues are lists of all kinds of values, also where their type changes.
func mixedValues() (out []pushdown.Literal) {
	add := func(s ...scalar.Scalar) {
		for _, v := range s {
			out = append(out, pushdown.Literal{Value: v})
		}
	}
	for _, n := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 300} {
		add(scalar.NewInt64Scalar(n))
	}
	add(scalar.NewInt8Scalar(-128), scalar.NewInt8Scalar(127), scalar.NewInt16Scalar(-5), scalar.NewInt16Scalar(7),
		scalar.NewInt32Scalar(math.MinInt32), scalar.NewInt32Scalar(9), scalar.MakeNullScalar(arrow.PrimitiveTypes.Int32), scalar.NewInt32Scalar(3),
		scalar.NewDate32Scalar(-1), scalar.NewDate32Scalar(20000), scalar.NewUint64Scalar(math.MaxUint64), scalar.NewUint64Scalar(2),
		scalar.NewStringScalar("a"), scalar.NewStringScalar(""), scalar.NewFloat64Scalar(0.5), scalar.NewFloat64Scalar(1))
	for _, v := range everyLiteral() {
		add(v, v)
	}
	return out
}

// TestValuesOfLists: each value is encoded as a Literal, byte by byte, and comes back.
func TestValuesOfLists(t *testing.T) {
	t.Parallel()
	values := mixedValues()
	encoded, err := encodeValues(values)
	require.NoError(t, err)
	for i, v := range values {
		lit, err := literalToProto(v.Value)
		require.NoError(t, err)
		var got pb.Literal
		require.NoError(t, proto.Unmarshal(encoded[i], &got))
		require.True(t, proto.Equal(lit, &got), "%d: %s", i, v.Value)
	}
	decoded, err := decodeValues(encoded)
	require.NoError(t, err)
	require.Len(t, decoded, len(values))
	for i, v := range values {
		require.True(t, scalar.Equals(v.Value, decoded[i].Value), "%d: %s became %s", i, v.Value, decoded[i].Value)
		require.True(t, arrow.TypeEqual(v.Value.DataType(), decoded[i].Value.DataType()))
	}
}

// TestValuesOfOtherEncodings: fields may come in any order, twice, or with others.
func TestValuesOfOtherEncodings(t *testing.T) {
	t.Parallel()
	encoded, err := encodeValues([]pushdown.Literal{{Value: scalar.NewInt32Scalar(7)}})
	require.NoError(t, err)
	first := encoded[0]
	prefix := typeField(first)
	value := first[len(prefix):]
	require.NotEmpty(t, value)
	join := func(parts ...[]byte) (out []byte) {
		for _, p := range parts {
			out = append(out, p...)
		}
		return out
	}
	unknown := []byte{0xf8, 0x01, 0x05} // field 31
	got, err := decodeValues([][]byte{join(value, prefix), first, join(prefix, value, value), join(prefix, value, unknown), join(prefix, prefix, value), first})
	require.NoError(t, err)
	for i, v := range got {
		require.True(t, scalar.Equals(scalar.NewInt32Scalar(7), v.Value), "%d", i)
	}
	for name, bad := range map[string][]byte{
		"nothing": {}, "no type": value, "cut": first[:len(first)-1], "cut type": prefix[:len(prefix)-1], "garbage": {0xff, 0xff},
		"too large": join(prefix, []byte{0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}),
	} {
		_, err := decodeValues([][]byte{first, bad})
		require.Error(t, err, name)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), name)
	}
}
