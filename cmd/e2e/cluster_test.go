package e2e

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query"
)

// node is one scanner of a test cluster.
type node struct {
	name    string
	tables  []scanner.Table
	disable []string
	// registry gets the scanner's metrics, nil none.
	registry prometheus.Registerer
}

// startScanner serves a scanner on a loopback port until the test ends.
func startScanner(t *testing.T, n node, mem memory.Allocator) string {
	t.Helper()
	s, err := scanner.New(scanner.Config{Name: n.name, Tables: n.tables, Disable: n.disable, Alloc: mem, Logger: zerolog.Nop(), Registry: n.registry})
	require.NoError(t, err)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serveScanner(t, s, lis)
	return lis.Addr().String()
}

// serveScanner serves until the test ends.
func serveScanner(t *testing.T, s *scanner.Scanner, lis net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, s.Close())
	})
}

// startCluster serves the nodes and a coordinator over them, without a Flight
// SQL listener: tests use its Service.
func startCluster(t *testing.T, nodes []node, mem memory.Allocator) *server.Coordinator {
	t.Helper()
	return startWith(t, nodes, server.Config{Alloc: mem})
}

// startWith is startCluster with a coordinator of some configuration.
func startWith(t *testing.T, nodes []node, cfg server.Config) *server.Coordinator {
	t.Helper()
	for _, n := range nodes {
		cfg.Scanners = append(cfg.Scanners, startScanner(t, n, cfg.Alloc))
	}
	return startCoordinator(t, cfg)
}

// startCoordinator waits until all scanners are there.
func startCoordinator(t *testing.T, cfg server.Config) *server.Coordinator {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cfg.Refresh, cfg.Logger = time.Minute, zerolog.Nop()
	cfg.Engine.Warm, cfg.Engine.Threads = 1, 2
	c, err := server.New(ctx, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Catalog().WaitReady(ctx))
	return c
}

// result is all rows of a statement; the caller releases it.
type result struct {
	schema  *arrow.Schema
	batches []arrow.RecordBatch
}

func (r *result) release() {
	for _, b := range r.batches {
		b.Release()
	}
}

// run runs one statement to its end.
func run(c *server.Coordinator, set query.Settings, sql string) (*result, error) {
	return runBound(c, set, sql, nil)
}

// runBound runs one statement with the values of batch bound to it.
func runBound(c *server.Coordinator, set query.Settings, sql string, values []arrow.RecordBatch) (*result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	rows, err := c.Service().Values(ctx, sql, set, func() (arrow.RecordBatch, error) {
		if len(values) == 0 {
			return nil, io.EOF
		}
		next := values[0]
		values = values[1:]
		return next, nil
	})
	if err != nil {
		return nil, err
	}
	st, err := c.Service().PrepareBound(ctx, sql, rows, set)
	if err != nil {
		return nil, err
	}
	stream, err := c.Service().Execute(ctx, st)
	if err != nil {
		return nil, err
	}
	r := &result{schema: stream.Schema()}
	for {
		b, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r, stream.Close()
		}
		if err != nil {
			r.release()
			return nil, errors.Join(err, stream.Close())
		}
		r.batches = append(r.batches, b)
	}
}

// fixed is an engine input of batches in memory.
type fixed struct{ r *result }

func (f fixed) Schema() *arrow.Schema { return f.r.schema }

func (f fixed) Rows() (rows int64, exact bool) {
	for _, b := range f.r.batches {
		rows += b.NumRows()
	}
	return rows, true
}

func (f fixed) Open(_ context.Context, columns []int) (engine.Reader, error) {
	ch := make(chan arrow.RecordBatch, len(f.r.batches))
	for _, b := range f.r.batches {
		ch <- project(b, columns)
	}
	close(ch)
	return &fixedReader{ch}, nil
}

type fixedReader struct{ ch chan arrow.RecordBatch }

func (f *fixedReader) Next(context.Context) (arrow.RecordBatch, error) {
	b, ok := <-f.ch
	if !ok {
		return nil, io.EOF
	}
	return b, nil
}

func (f *fixedReader) Close() error {
	for b := range f.ch {
		b.Release()
	}
	return nil
}
