package codec_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// scanHandler serves one accepted scan.
type scanHandler func(*codec.Session) error

type testScanner struct {
	flight.BaseFlightServer
	handle scanHandler
}

func (s *testScanner) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	session, err := codec.Accept(stream, memory.DefaultAllocator)
	if err != nil {
		return grpcstatus.ToGRPC(err)
	}
	return s.handle(session)
}

// serve runs a scanner over an in-memory connection and returns a client.
func serve(t testing.TB, handle scanHandler, opts ...grpc.ServerOption) *codec.Client {
	t.Helper()
	return dialBuf(t, &testScanner{handle: handle}, append(codec.ServerOptions(), opts...)...)
}

func dialBuf(t testing.TB, srv flight.FlightServer, opts ...grpc.ServerOption) *codec.Client {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	g := grpc.NewServer(opts...)
	flight.RegisterFlightServiceServer(g, srv)
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(lis) }()
	client, err := codec.Dial("passthrough:///scanner", grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return lis.DialContext(ctx)
	}))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		g.Stop()
		<-done
	})
	return client
}

// rawConn is a connection to srv with none of this package's options, on either
// side.
func rawConn(t testing.TB, srv flight.FlightServer) *grpc.ClientConn {
	t.Helper()
	lis := bufconn.Listen(1 << 20)
	g := grpc.NewServer()
	flight.RegisterFlightServiceServer(g, srv)
	done := make(chan struct{})
	go func() { defer close(done); _ = g.Serve(lis) }()
	conn, err := grpc.NewClient("passthrough:///scanner", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) }))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, conn.Close())
		g.Stop()
		<-done
	})
	return conn
}

func testSpec() pushdown.Spec {
	return pushdown.Spec{
		Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit,
		Columns: []pushdown.Column{{Name: "a", DataType: arrow.PrimitiveTypes.Int64}, {Name: "s", DataType: arrow.BinaryTypes.String}},
	}
}

func open(t testing.TB, c *codec.Client, req codec.OpenRequest) *codec.Scan {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	if req.ScanID == "" {
		req.ScanID = "scan-1"
	}
	if req.Spec.Table == "" {
		req.Spec = testSpec()
	}
	s, err := c.Scan(ctx, req, memory.DefaultAllocator)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// rowsOf builds a batch of testSpec's output.
func rowsOf(t testing.TB, mem memory.Allocator, from, n int64, text string) arrow.RecordBatch {
	t.Helper()
	spec := testSpec()
	b := array.NewRecordBuilder(mem, spec.OutputSchema())
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(from + i)
		if i%3 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(text)
		}
	}
	return b.NewRecordBatch()
}

// drain reads to the end and returns the rows of column a.
func drain(s *codec.Scan) (rows []int64, batches int, err error) {
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return rows, batches, nil
		}
		if err != nil {
			return rows, batches, err
		}
		rows = append(rows, b.Record.Column(0).(*array.Int64).Int64Values()...)
		batches++
		err = s.Grant(b.WireBytes)
		b.Record.Release()
		if err != nil {
			return rows, batches, err
		}
	}
}

func requireCount(t *testing.T, rows []int64, n int) {
	t.Helper()
	require.Len(t, rows, n)
	for i, v := range rows {
		require.EqualValues(t, i, v)
	}
}

func requireCode(t *testing.T, err error, code status.Code) {
	t.Helper()
	var own *status.Error
	require.ErrorAs(t, err, &own)
	require.Equal(t, code, own.Code, "%v", err)
}

func TestExchange(t *testing.T) {
	t.Parallel()
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { alloc.AssertSize(t, 0) })
	client := serve(t, func(s *codec.Session) error {
		batch := rowsOf(t, alloc, 0, 100_000, "some text that is longer")
		defer batch.Release()
		spec := s.Request().Spec
		if err := s.Open(codec.Opened{Mode: codec.Filtered, Epoch: "e1"}, spec.OutputSchema()); err != nil {
			return s.Fail(err)
		}
		if err := s.Heartbeat(7); err != nil {
			return s.Fail(err)
		}
		if err := s.Send(batch, codec.Filtered, codec.Progress{RowsScanned: 100_000}); err != nil {
			return s.Fail(err)
		}
		return s.End(123_456)
	})
	s := open(t, client, codec.OpenRequest{Epoch: "e1", InitialCredit: 100_000})
	o, err := s.Opened()
	require.NoError(t, err)
	spec := testSpec()
	require.Equal(t, codec.Opened{SpecHash: spec.Hash(), Mode: codec.Filtered, Epoch: "e1", ScanID: "scan-1"}, o)
	rows, batches, err := drain(s)
	require.NoError(t, err)
	requireCount(t, rows, 100_000)
	require.Greater(t, batches, 3)
	require.EqualValues(t, 123_456, s.End().RowsScanned)
	require.EqualValues(t, 100_000, s.End().Rows)
	require.EqualValues(t, batches, s.End().Batches)
	_, err = s.Next()
	require.ErrorIs(t, err, io.EOF)
}
