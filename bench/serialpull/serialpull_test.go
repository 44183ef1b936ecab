package serialpull_test

import (
	"math"
	"net"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tributary-db/tributary/bench/serialpull"
)

// TestPages: both ways yield the same rows, one of them at most 128 at a time.
func TestPages(t *testing.T) {
	t.Parallel()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "b", Type: arrow.PrimitiveTypes.Int64},
	}, nil))
	var batches []arrow.RecordBatch
	for range 3 {
		for i := range 300 {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			b.Field(1).(*array.Int64Builder).Append(1)
		}
		batches = append(batches, b.NewRecordBatch())
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := grpc.NewServer(serialpull.ServerOptions()...)
	flight.RegisterFlightServiceServer(g, serialpull.NewServer(batches[0].Schema(), batches))
	go func() { _ = g.Serve(lis) }()
	t.Cleanup(g.Stop)
	c, err := flight.NewClientWithMiddleware(lis.Addr().String(), nil, nil, append(serialpull.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })

	var largest, sum int64
	use := func(b arrow.RecordBatch) {
		require.Equal(t, int64(1), b.NumCols())
		largest = max(largest, b.NumRows())
		for _, v := range b.Column(0).(*array.Int64).Int64Values() {
			sum += v
		}
	}
	rows, err := serialpull.Pull(t.Context(), c, "a", math.MaxInt64, use)
	require.NoError(t, err)
	require.Equal(t, []int64{900, 128, 3 * 299 * 150}, []int64{rows, largest, sum})
	sum = 0
	rows, err = serialpull.Stream(t.Context(), c, "a", use)
	require.NoError(t, err)
	require.Equal(t, []int64{900, 300, 3 * 299 * 150}, []int64{rows, largest, sum})
	rows, err = serialpull.Pull(t.Context(), c, "b", 200, func(arrow.RecordBatch) {})
	require.NoError(t, err)
	require.Equal(t, int64(256), rows)
	_, err = serialpull.Stream(t.Context(), c, "c", use)
	require.ErrorContains(t, err, "none of the columns")
}
