package codectest

import (
	"maps"
	"net"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Scanner is a scanner over one table in memory.
type Scanner struct {
	flight.BaseFlightServer
	// Name and Epoch are the node's; Table is "schema.name" in two parts.
	Name, Epoch string
	Table       [2]string
	// Schema is the table's schema and Partitions its batches by partition id.
	Schema     *arrow.Schema
	Partitions map[string][]arrow.RecordBatch
	// Capabilities are announced; the scanner runs everything.
	Capabilities pushdown.Capabilities
}

// Serve runs the scanner with a fault on a loopback port until the test ends and
// returns its address.
func (s *Scanner) Serve(t testing.TB, f Fault) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(append(codec.ServerOptions(), grpc.StreamInterceptor(Interceptor(f)))...)
	flight.RegisterFlightServiceServer(server, s)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(lis) }() // ends with Stop
	t.Cleanup(func() {
		server.Stop()
		<-done
	})
	return lis.Addr().String()
}

// DoAction answers Hello.
func (s *Scanner) DoAction(action *flight.Action, stream flight.FlightService_DoActionServer) error {
	if action.Type != codec.HelloAction {
		return grpcstatus.ToGRPC(status.New(status.Unimplemented, "unknown action %q", action.Type))
	}
	body, err := codec.EncodeHello(s.hello())
	if err != nil {
		return grpcstatus.ToGRPC(err)
	}
	return stream.Send(&flight.Result{Body: body})
}

func (s *Scanner) hello() *codec.Hello {
	table := codec.Table{Schema: s.Table[0], Name: s.Table[1], Arrow: s.Schema}
	for _, id := range slices.Sorted(maps.Keys(s.Partitions)) {
		p := codec.Partition{ID: id, Bytes: -1}
		for _, b := range s.Partitions[id] {
			p.Rows += b.NumRows()
		}
		table.Partitions = append(table.Partitions, p)
	}
	return &codec.Hello{
		ProtocolMin: codec.ProtocolMin, ProtocolLatest: codec.ProtocolLatest,
		Name: s.Name, Epoch: s.Epoch, Capabilities: s.Capabilities, Version: 1, Tables: []codec.Table{table},
	}
}

// DoExchange runs one scan.
func (s *Scanner) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	session, err := codec.Accept(stream, memory.DefaultAllocator)
	if err != nil {
		return grpcstatus.ToGRPC(err)
	}
	rows, err := s.scan(session)
	if err != nil {
		return session.Fail(err)
	}
	return session.End(rows)
}

func (s *Scanner) scan(session *codec.Session) (rows int64, err error) {
	spec := session.Request().Spec
	runner, err := run.New(spec, s.Schema, run.Options{})
	if err != nil {
		return 0, err
	}
	defer runner.Release()
	if err := session.Open(codec.Opened{Mode: codec.ModeOf(&spec), Epoch: s.Epoch}, spec.OutputSchema()); err != nil {
		return 0, err
	}
	for _, id := range spec.Partitions {
		for _, b := range s.Partitions[id] {
			rows += b.NumRows()
			out, err := runner.Push(b)
			if err := send(session, out, rows, err); err != nil {
				return rows, err
			}
		}
	}
	out, err := runner.Finish()
	return rows, send(session, out, rows, err)
}

// send sends and releases batches that came with err.
func send(session *codec.Session, batches []arrow.RecordBatch, rows int64, err error) error {
	spec := session.Request().Spec
	for _, b := range batches {
		if err == nil {
			err = session.Send(b, codec.ModeOf(&spec), codec.Progress{RowsScanned: rows})
		}
		b.Release()
	}
	return err
}
