package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
)

// serve serves a coordinator on a loopback port until the test ends.
func serve(t testing.TB, c *server.Coordinator, opts ...grpc.ServerOption) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- c.Serve(ctx, lis, opts...) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return lis.Addr().String()
}

// connect opens a Flight SQL client with a session of its own.
func connect(t testing.TB, addr string, opts ...grpc.DialOption) *flightsql.Client {
	t.Helper()
	client, err := flightsql.NewClient(addr, nil, nil, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// fetch runs a statement and returns its schema, its batches as they were cut,
// and the error that ended it. The caller releases the result.
func fetch(ctx context.Context, client *flightsql.Client, sql string) (*result, error) {
	info, err := client.Execute(ctx, sql)
	if err != nil {
		return nil, err
	}
	return fetchInfo(ctx, client, info)
}

func fetchInfo(ctx context.Context, client *flightsql.Client, info *flight.FlightInfo) (*result, error) {
	if len(info.Endpoint) != 1 {
		return nil, fmt.Errorf("%d endpoints", len(info.Endpoint))
	}
	reader, err := client.DoGet(ctx, info.Endpoint[0].Ticket)
	if err != nil {
		return nil, err
	}
	defer reader.Release()
	r := &result{schema: reader.Schema()}
	for reader.Next() {
		b := reader.RecordBatch()
		b.Retain()
		r.batches = append(r.batches, b)
	}
	if err := reader.Err(); err != nil && err != io.EOF {
		r.release()
		return nil, err
	}
	return r, nil
}

func (r *result) rows() (n int64) {
	for _, b := range r.batches {
		n += b.NumRows()
	}
	return n
}

// numbered is a table t(v BIGINT, k BIGINT) with v from first to last.
func numbered(t *testing.T, first, last int64) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, numberedSchema)
	defer b.Release()
	for v := first; v <= last; v++ {
		b.Field(0).(*array.Int64Builder).Append(v)
		b.Field(1).(*array.Int64Builder).Append(v % 7)
	}
	return b.NewRecordBatch()
}

var numberedSchema = arrow.NewSchema([]arrow.Field{
	{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
}, nil)

// numberedSource has v = 1…15000 in partitions "0", "1", "2" of 5 batches,
// those whose index modulo n is i.
func numberedSource(t *testing.T, i, n int) *memsource.Source {
	t.Helper()
	var parts []memsource.Partition
	for p := i; p < 3; p += n {
		part := memsource.Partition{ID: fmt.Sprint(p)}
		for b := range int64(5) {
			from := int64(p)*5000 + b*1000
			part.Batches = append(part.Batches, numbered(t, from+1, from+1000))
		}
		parts = append(parts, part)
	}
	src, err := memsource.New(numberedSchema, parts)
	require.NoError(t, err)
	return src
}

// faulty is a source whose scans misbehave while broken says how.
type faulty struct {
	scanner.Source
	broken atomic.Pointer[fault]
	read   atomic.Int64
}

// fault happens after a number of batches.
type fault struct {
	after int
	err   error
	panic bool
	delay time.Duration
}

// Scan wraps the reader.
func (f *faulty) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	r, err := f.Source.Scan(ctx, spec)
	return &faultyReader{Reader: r, source: f}, err
}

type faultyReader struct {
	scanner.Reader
	source *faulty
	batch  int
}

// Next misbehaves when it is time.
func (r *faultyReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if f := r.source.broken.Load(); f != nil && r.batch >= f.after {
		select {
		case <-time.After(f.delay):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if f.panic {
			panic("a bug in a source")
		}
		if f.err != nil {
			return nil, f.err
		}
	}
	r.batch++
	b, err := r.Reader.Next(ctx)
	if err == nil {
		r.source.read.Add(b.NumRows())
	}
	return b, err
}

// within fails the test when cond does not hold soon.
func within(t *testing.T, d time.Duration, what string, cond func() bool) {
	t.Helper()
	require.Eventually(t, cond, d, 10*time.Millisecond, what)
}

// one is the only cell of a result.
func one(t *testing.T, d *duck, r *result) string {
	t.Helper()
	rows := d.text(t, r)
	require.Len(t, rows, 1)
	var cells []string
	for _, c := range rows[0] {
		require.NotNil(t, c)
		cells = append(cells, *c)
	}
	return strings.Join(cells, " ")
}

// schemasOf are the schemas that a client sees for a statement.
func schemasOf(t *testing.T, client *flightsql.Client, sql string) (out []*arrow.Schema) {
	t.Helper()
	add := func(raw []byte) {
		s, err := flight.DeserializeSchema(raw, memory.DefaultAllocator)
		require.NoError(t, err, sql)
		out = append(out, s)
	}
	info, err := client.Execute(t.Context(), sql)
	require.NoError(t, err, sql)
	add(info.Schema)
	promised, err := client.GetExecuteSchema(t.Context(), sql)
	require.NoError(t, err, sql)
	add(promised.GetSchema())
	got, err := fetchInfo(t.Context(), client, info)
	require.NoError(t, err, sql)
	out = append(out, got.schema)
	for _, b := range got.batches {
		out = append(out, b.Schema())
	}
	got.release()
	prepared, err := client.Prepare(t.Context(), sql)
	require.NoError(t, err, sql)
	out = append(out, prepared.DatasetSchema())
	again, err := prepared.Execute(t.Context())
	require.NoError(t, err, sql)
	add(again.Schema)
	rows, err := fetchInfo(t.Context(), client, again)
	require.NoError(t, err, sql)
	out = append(out, rows.schema)
	rows.release()
	require.NoError(t, prepared.Close(t.Context()))
	return out
}
