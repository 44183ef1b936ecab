package codec_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
)

// BenchmarkExchange measures one scan over the loopback interface.
func BenchmarkExchange(b *testing.B) {
	for _, size := range []int64{64 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) { benchmarkExchange(b, size) })
	}
}

func benchmarkExchange(b *testing.B, size int64) {
	spec := pushdown.Spec{
		Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit,
		Columns: []pushdown.Column{{Name: "a", DataType: arrow.PrimitiveTypes.Int64}, {Name: "b", DataType: arrow.PrimitiveTypes.Float64}},
	}
	build := array.NewRecordBuilder(memory.DefaultAllocator, spec.OutputSchema())
	for i := range size / 16 {
		build.Field(0).(*array.Int64Builder).Append(i)
		build.Field(1).(*array.Float64Builder).Append(float64(i))
	}
	batch := build.NewRecordBatch()
	defer batch.Release()
	const perScan = 256
	client := serveTCP(b, func(s *codec.Session) error {
		if err := s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()); err != nil {
			return s.Fail(err)
		}
		for range perScan {
			if err := s.Send(batch, codec.Filtered, codec.Progress{}); err != nil {
				return s.Fail(err)
			}
		}
		return s.End(0)
	})
	b.SetBytes(size * perScan)
	for b.Loop() {
		s := open(b, client, codec.OpenRequest{Spec: spec, BatchBytes: size + size/8})
		for {
			got, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(b, err)
			require.NoError(b, s.Grant(got.WireBytes))
			got.Record.Release()
		}
	}
}

func serveTCP(b *testing.B, handle scanHandler) *codec.Client {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	g := grpc.NewServer(codec.ServerOptions()...)
	flight.RegisterFlightServiceServer(g, &testScanner{handle: handle})
	go func() { _ = g.Serve(lis) }()
	client, err := codec.Dial(lis.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, client.Close())
		g.Stop()
	})
	return client
}

// BenchmarkSmallScan measures what a scan of one small batch costs.
func BenchmarkSmallScan(b *testing.B) {
	client := serveTCP(b, sendBatches(b, 1, nil))
	for b.Loop() {
		_, _, err := drain(open(b, client, codec.OpenRequest{}))
		require.NoError(b, err)
	}
}

// BenchmarkStrings measures batches whose offsets are rebuilt and checked.
func BenchmarkStrings(b *testing.B) {
	batch := rowsOf(b, memory.DefaultAllocator, 0, 2_000_000, "a text of some length")
	defer batch.Release()
	spec := testSpec()
	client := serveTCP(b, func(s *codec.Session) error {
		if err := s.Open(codec.Opened{Mode: codec.Filtered}, spec.OutputSchema()); err != nil {
			return s.Fail(err)
		}
		if err := s.Send(batch, codec.Filtered, codec.Progress{}); err != nil {
			return s.Fail(err)
		}
		return s.End(0)
	})
	for b.Loop() {
		s := open(b, client, codec.OpenRequest{})
		for {
			got, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(b, err)
			require.NoError(b, s.Grant(got.WireBytes))
			got.Record.Release()
		}
		b.SetBytes(s.End().BytesSent)
	}
}
