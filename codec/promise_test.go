package codec

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/partition"
)

func promisingHello() *Hello {
	h := fullHello()
	h.Tables[0].PromiseVersion = "p1"
	h.Tables[0].Partitions[0].Promise = partition.Promise{
		Values:  map[string][]scalar.Scalar{"a": {scalar.NewInt64Scalar(7), scalar.MakeNullScalar(arrow.Null)}, "e": nil},
		Buckets: &partition.Buckets{Hash: partition.Hash{Columns: []string{"a", "e"}, Of: 16}, Holds: []int{0, 9}},
	}
	return h
}

// TestGoldenPromises: they travel, and what this version does not know of them
// is no promise.
func TestGoldenPromises(t *testing.T) {
	t.Parallel()
	data, err := EncodeHello(promisingHello())
	require.NoError(t, err)
	requireGolden(t, "hello_promise", data)
	h, err := DecodeHello(data)
	require.NoError(t, err)
	requireHello(t, promisingHello(), h)

	var p pb.Hello
	require.NoError(t, decodeMessage(data, &p))
	part := p.Tables[0].Partitions[0]
	part.Buckets.Function = "another/1"
	part.Values[0].Values[0] = &pb.Literal{Type: &pb.DataType{Kind: 9999}}
	data, err = proto.Marshal(&p)
	require.NoError(t, err)
	h, err = DecodeHello(data)
	require.NoError(t, err)
	require.Equal(t, partition.Promise{Values: map[string][]scalar.Scalar{"e": nil}}, h.Tables[0].Partitions[0].Promise)
}
