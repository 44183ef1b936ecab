package scanner_test

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	schema = arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "g", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	id = pushdown.Column{Name: "id", DataType: arrow.PrimitiveTypes.Int64}
	g  = pushdown.Column{Name: "g", DataType: arrow.BinaryTypes.String}
)

// checked is an allocator whose memory must be given back by the test's end.
func checked(t testing.TB) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

// numbers are the rows from, from+1, … with g = "even", "odd", or NULL for
// multiples of ten.
func numbers(mem memory.Allocator, from, n int) arrow.RecordBatch {
	rows := make([][]any, n)
	for i := range rows {
		v := from + i
		rows[i] = []any{v, [...]string{"even", "odd"}[v%2]}
		if v%10 == 0 {
			rows[i][1] = nil
		}
	}
	return pushdowntest.Batch(mem, schema, rows...)
}

// memTable is a memory source whose partitions "0", "1", … hold sizes rows in
// batches of 100.
func memTable(t testing.TB, mem memory.Allocator, sizes ...int) *memsource.Source {
	t.Helper()
	source, err := memsource.New(schema, nil)
	require.NoError(t, err)
	t.Cleanup(source.Release)
	at := 0
	for p, n := range sizes {
		part := memsource.Partition{ID: string(rune('0' + p))}
		for left := n; left > 0; left -= 100 {
			b := numbers(mem, at, min(left, 100))
			defer b.Release()
			part.Batches = append(part.Batches, b)
			at += min(left, 100)
		}
		require.NoError(t, source.Put(part))
	}
	return source
}

// running is a scanner on an in-memory connection.
type running struct {
	*scanner.Scanner
	t    testing.TB
	mem  memory.Allocator
	dial func() []grpc.DialOption
}

func start(t testing.TB, mem memory.Allocator, cfg scanner.Config) *running {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "s1"
	}
	cfg.Alloc = mem
	s, err := scanner.New(cfg)
	require.NoError(t, err)
	lis := bufconn.Listen(1 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, s.Close())
		require.Zero(t, s.OpenScans())
	})
	return &running{Scanner: s, t: t, mem: mem, dial: func() []grpc.DialOption {
		return []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return lis.DialContext(ctx) })}
	}}
}

func (r *running) client() *codec.Client {
	r.t.Helper()
	c, err := codec.Dial("passthrough:///scanner", r.dial()...)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, c.Close()) })
	return c
}

func (r *running) flightClient() flight.Client {
	r.t.Helper()
	opts := append(r.dial(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	c, err := flight.NewClientWithMiddleware("passthrough:///scanner", nil, nil, opts...)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, c.Close()) })
	return c
}

func (r *running) open(ctx context.Context, spec pushdown.Spec) (*codec.Scan, error) {
	return r.client().Scan(ctx, codec.OpenRequest{ScanID: "scan-1", Spec: spec, Epoch: r.Epoch()}, r.mem)
}

// scan runs a spec and returns its rows.
func (r *running) scan(spec pushdown.Spec) ([][]any, codec.End, error) {
	r.t.Helper()
	s, err := r.open(r.t.Context(), spec)
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, s.Close()) }()
	if opened, err := s.Opened(); err != nil {
		return nil, codec.End{}, err
	} else {
		require.Equal(r.t, codec.Opened{SpecHash: spec.Hash(), Mode: codec.ModeOf(&spec), Epoch: r.Epoch(), ScanID: "scan-1"}, opened)
	}
	rows := [][]any{}
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return rows, s.End(), nil
		}
		if err != nil {
			return rows, codec.End{}, err
		}
		rows = append(rows, pushdowntest.Rows(b.Record)...)
		require.NoError(r.t, s.Grant(b.WireBytes))
		b.Record.Release()
	}
}

func rowsSpec(partitions ...string) pushdown.Spec {
	return pushdown.Spec{Table: "main.t", Partitions: partitions, Columns: []pushdown.Column{id, g}, Limit: pushdown.NoLimit}
}

func countSpec(partitions ...string) pushdown.Spec {
	return pushdown.Spec{Table: "main.t", Partitions: partitions, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "g", Expr: g}}, Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}}
}

func below(n int) pushdown.Expr {
	return pushdown.Compare{Op: pushdown.Less, Left: id, Right: pushdown.Literal{Value: scalar.NewInt64Scalar(int64(n))}}
}

func texts(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = strings.ReplaceAll(pushdowntest.RowText(r), `"`, "")
	}
	slices.Sort(out)
	return out
}

// eventually waits for a condition without sleeping long.
func eventually(t testing.TB, what func() bool) {
	t.Helper()
	require.Eventually(t, what, 3*time.Second, 5*time.Millisecond)
}

// fake is a source whose parts are functions.
type fake struct {
	schemaErr error
	caps      pushdown.Capabilities
	scan      func(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error)
}

func (f *fake) Schema(context.Context) (*arrow.Schema, error) { return schema, f.schemaErr }

func (f *fake) Partitions(context.Context) ([]scanner.Partition, error) {
	return []scanner.Partition{{ID: "0", Rows: -1, Bytes: -1}}, nil
}

func (f *fake) Capabilities() pushdown.Capabilities { return f.caps }

func (f *fake) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	return f.scan(ctx, spec)
}

// reader yields what next returns.
type reader struct {
	next   func(ctx context.Context) (arrow.RecordBatch, error)
	closed chan struct{}
	called chan struct{} // the first Next, when not nil
	once   sync.Once
	spec   pushdown.Spec
}

func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.called != nil {
		r.once.Do(func() { close(r.called) })
	}
	batch, err := r.next(ctx)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	var columns []arrow.Array
	for _, c := range r.spec.Columns {
		columns = append(columns, batch.Column(schema.FieldIndices(c.Name)[0]))
	}
	return array.NewRecordBatch(r.spec.OutputSchema(), columns, batch.NumRows()), nil
}

func (r *reader) RowsScanned() int64 { return 7 }

func (r *reader) Close() error {
	close(r.closed)
	return nil
}

// reading is a source with one reader.
func reading(next func(ctx context.Context) (arrow.RecordBatch, error)) (*fake, *reader) {
	r := &reader{next: next, closed: make(chan struct{}), called: make(chan struct{})}
	return &fake{scan: func(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
		r.spec = spec
		return r, nil
	}}, r
}

func table(source scanner.Source) scanner.Config {
	return scanner.Config{Tables: []scanner.Table{{Name: "t", Source: source}}}
}
