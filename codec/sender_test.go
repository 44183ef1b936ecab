package codec

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
)

func int64Batches(mem memory.Allocator, batches, rows int) (all []arrow.RecordBatch) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for i := range batches {
		for n := range rows {
			b.Field(0).(*array.Int64Builder).Append(int64(i*rows + n))
			if n%3 == 0 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.StringBuilder).Append(strings.Repeat("x", n%50))
			}
		}
		all = append(all, b.NewRecordBatch())
	}
	return all
}

// sender serves DoGet with a RecordSender.
type sender struct {
	flight.BaseFlightServer
	batches []arrow.RecordBatch
}

func (s *sender) DoGet(_ *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	out, err := NewRecordSender(stream, s.batches[0].Schema())
	if err != nil {
		return err
	}
	for _, b := range s.batches {
		if err := out.Send(b); err != nil {
			return err
		}
	}
	return out.Close()
}

// download reads what a server sends; the server stops when the test ends.
func download(t *testing.T, server flight.FlightServer, opts ...grpc.ServerOption) *flight.Reader {
	lis := bufconn.Listen(1 << 20)
	g := grpc.NewServer(opts...)
	flight.RegisterFlightServiceServer(g, server)
	go func() { _ = g.Serve(lis) }()
	t.Cleanup(g.Stop)
	client, err := flight.NewClientWithMiddleware("passthrough:///x", nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return lis.Dial() }))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	stream, err := client.DoGet(context.Background(), &flight.Ticket{})
	require.NoError(t, err)
	r, err := flight.NewRecordReader(stream)
	require.NoError(t, err)
	return r
}

// TestRecordSenderIsPlainFlight: any Flight client reads what it sends, whatever
// options the server has.
func TestRecordSenderIsPlainFlight(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]grpc.ServerOption{"zero copy": ServerOptions(), "default": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
			want := int64Batches(mem, 3, 1000)
			t.Cleanup(func() { // after the server has stopped
				for _, b := range want {
					b.Release()
				}
				mem.AssertSize(t, 0)
			})
			r := download(t, &sender{batches: want}, opts...)
			defer r.Release()
			for _, b := range want {
				require.True(t, r.Next())
				require.True(t, array.RecordEqual(b, r.RecordBatch()))
			}
			require.False(t, r.Next())
			require.NoError(t, r.Err())
		})
	}
}

// crowd sends every batch by a goroutine of its own.
type crowd struct {
	flight.BaseFlightServer
	batches []arrow.RecordBatch
}

func (c *crowd) DoGet(_ *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	out, err := NewRecordSender(stream, c.batches[0].Schema())
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, b := range c.batches {
		group.Go(func() error { return out.Send(b) })
	}
	return errors.Join(group.Wait(), out.Close())
}

// TestRecordSenderIsConcurrent: each batch arrives once and whole.
func TestRecordSenderIsConcurrent(t *testing.T) {
	t.Parallel()
	want := int64Batches(memory.NewGoAllocator(), 50, 500)
	byFirst := map[int64]arrow.RecordBatch{}
	for _, b := range want {
		byFirst[b.Column(0).(*array.Int64).Value(0)] = b
	}
	r := download(t, &crowd{batches: want}, ServerOptions()...)
	defer r.Release()
	for range want {
		require.True(t, r.Next())
		first := r.RecordBatch().Column(0).(*array.Int64).Value(0)
		require.Contains(t, byFirst, first)
		require.True(t, array.RecordEqual(byFirst[first], r.RecordBatch()))
		delete(byFirst, first)
	}
	require.False(t, r.Next())
	require.NoError(t, r.Err())
}
