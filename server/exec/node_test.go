package exec_test

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/codectest"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// row of the test table.
type row struct {
	k string
	v int64
}

// tableSchema is the test table; k is a dictionary, so that decoding shows.
var tableSchema = arrow.NewSchema([]arrow.Field{
	{Name: "k", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
	{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
}, nil)

func column(name string) pushdown.Column {
	f, _ := tableSchema.FieldsByName(name)
	return pushdown.Column{Name: name, DataType: f[0].Type}
}

// behaviour of a node beyond running what it is asked for.
type behaviour struct {
	caps      pushdown.Capabilities
	raw       func(batch int) bool // which batches are sent raw
	failAt    int                  // fail with failWith before this batch (from 1)
	failWith  error
	failAfter time.Duration // wait before failing at once
	endless   bool          // repeat the data for ever
	openEpoch string        // epoch to echo instead of the own one
	heed      time.Duration // wait so long for a filter after the first batch, and apply it
	after     *node         // send nothing before that one has sent something
	stall     bool          // never send anything after the echo
	fault     codectest.Fault
}

// node is a small scanner under the control of a test.
type node struct {
	flight.BaseFlightServer
	t       *testing.T
	name    string
	addr    string
	parts   map[string][][]row // partition: batches
	does    behaviour
	active  atomic.Int64
	sent    atomic.Int64 // rows
	mu      sync.Mutex
	opened  []codec.OpenRequest
	server  *grpc.Server
	scanner *catalog.Scanner
}

func newNode(t *testing.T, name string, does behaviour, parts map[string][][]row) *node {
	t.Helper()
	n := &node{t: t, name: name, does: does, parts: parts}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n.addr = lis.Addr().String()
	n.server = grpc.NewServer(append(codec.ServerOptions(), grpc.StreamInterceptor(codectest.Interceptor(does.fault)))...)
	flight.RegisterFlightServiceServer(n.server, n)
	go func() { _ = n.server.Serve(lis) }()
	t.Cleanup(n.server.Stop)
	n.scanner = &catalog.Scanner{Name: name, Addr: n.addr, Epoch: "epoch-" + name, Capabilities: does.caps}
	return n
}

func (n *node) requests() []codec.OpenRequest {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.opened)
}

// DoExchange serves one scan.
func (n *node) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	n.active.Add(1)
	defer n.active.Add(-1)
	session, err := codec.Accept(stream, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	request := session.Request()
	n.mu.Lock()
	n.opened = append(n.opened, request)
	n.mu.Unlock()
	if n.does.failWith != nil && n.does.failAt == 0 {
		time.Sleep(n.does.failAfter)
		return session.Fail(n.does.failWith)
	}
	rows, err := n.serve(session, &request.Spec)
	if err != nil {
		return session.Fail(err)
	}
	return session.End(rows)
}

func (n *node) serve(session *codec.Session, spec *pushdown.Spec) (rows int64, err error) {
	epoch := n.scanner.Epoch
	if n.does.openEpoch != "" {
		epoch = n.does.openEpoch
	}
	echo := codec.Opened{SpecHash: spec.Hash(), Mode: codec.ModeOf(spec), Epoch: epoch, ScanID: session.Request().ScanID, TableVersion: session.Request().TableVersion}
	if err := session.Open(echo, spec.OutputSchema()); err != nil {
		return 0, err
	}
	if n.does.stall {
		<-session.Context().Done()
		return 0, session.Context().Err()
	}
	for other := n.does.after; other != nil && other.sent.Load() == 0 && session.Context().Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	runner, err := run.New(*spec, tableSchema, run.Options{Alloc: memory.DefaultAllocator})
	if err != nil {
		return 0, err
	}
	defer runner.Release()
	s := &serving{node: n, session: session, spec: spec, runner: runner}
	if err := s.partitions(); err != nil {
		return 0, err
	}
	if n.does.fault.Kind == codectest.Amnesia {
		return s.rows, nil // it has only sent raw rows
	}
	out, err := runner.Finish()
	if err != nil {
		return 0, err
	}
	return s.rows, s.send(out, codec.ModeOf(spec))
}

// serving is one scan of a node.
type serving struct {
	node    *node
	session *codec.Session
	spec    *pushdown.Spec
	runner  *run.Runner
	rows    int64
	batch   int
}

func (s *serving) partitions() error {
	for {
		for _, id := range s.spec.Partitions {
			for _, rows := range s.node.parts[id] {
				if err := s.one(rows); err != nil {
					return err
				}
			}
		}
		if !s.node.does.endless || s.runner.Done() {
			return nil
		}
	}
}

// one processes one source batch.
func (s *serving) one(rows []row) error {
	if err := s.session.Context().Err(); err != nil {
		return err
	}
	s.batch++
	if s.batch == s.node.does.failAt {
		return s.node.does.failWith
	}
	if s.batch == 2 && s.node.does.heed > 0 {
		if err := s.heed(); err != nil {
			return err
		}
	}
	s.rows += int64(len(rows))
	rec := record(memory.DefaultAllocator, rows)
	defer rec.Release()
	if s.node.does.raw != nil && s.node.does.raw(s.batch) {
		return s.send([]arrow.RecordBatch{pick(rec, s.spec.InputColumns())}, codec.Raw)
	}
	out, err := s.runner.Push(rec)
	if err != nil {
		return err
	}
	return s.send(out, codec.ModeOf(s.spec))
}

// heed applies the filter that comes next.
func (s *serving) heed() error {
	select {
	case u := <-s.session.Filters():
		return s.runner.Narrow([]pushdown.Expr{u.Expr})
	case <-time.After(s.node.does.heed):
		return nil
	case <-s.session.Context().Done():
		return s.session.Context().Err()
	}
}

func (s *serving) send(batches []arrow.RecordBatch, mode codec.Mode) error {
	var failed error
	for _, b := range batches {
		if failed == nil {
			failed = s.session.Send(b, mode, codec.Progress{RowsScanned: s.rows})
			s.node.sent.Add(b.NumRows())
		}
		b.Release()
	}
	return failed
}

func record(mem memory.Allocator, rows []row) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, tableSchema)
	defer b.Release()
	for _, r := range rows {
		_ = b.Field(0).(*array.BinaryDictionaryBuilder).AppendString(r.k)
		b.Field(1).(*array.Int64Builder).Append(r.v)
	}
	return b.NewRecordBatch()
}

func pick(rec arrow.RecordBatch, columns []pushdown.Column) arrow.RecordBatch {
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range columns {
		at := rec.Schema().FieldIndices(c.Name)[0]
		fields, arrays = append(fields, rec.Schema().Field(at)), append(arrays, rec.Column(at))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, rec.NumRows())
}

// connections is a catalog of test nodes.
type connections struct {
	mu      sync.Mutex
	clients map[string]*codec.Client
	failed  []string
}

func newConnections(t *testing.T) *connections {
	c := &connections{clients: map[string]*codec.Client{}}
	t.Cleanup(func() {
		for _, client := range c.clients {
			_ = client.Close()
		}
	})
	return c
}

func (c *connections) Client(s *catalog.Scanner) (*codec.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clients[s.Addr] == nil {
		client, err := codec.Dial(s.Addr)
		if err != nil {
			return nil, err
		}
		c.clients[s.Addr] = client
	}
	return c.clients[s.Addr], nil
}

func (c *connections) MarkFailed(s *catalog.Scanner, _ error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, s.Name)
}

func (c *connections) marked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.failed)
}

var errBroken = status.New(status.DataLoss, "the file is broken")

var errGone = status.New(status.Unavailable, "the disk is gone")
