package duckdb

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
)

// serve serves a source as table main.t and returns a client.
func serve(t *testing.T, s scanner.Source) *codec.Client {
	t.Helper()
	node, err := scanner.New(scanner.Config{Name: "s1", Tables: []scanner.Table{{Name: "t", Source: s}}})
	require.NoError(t, err)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- node.Serve(ctx, lis) }()
	client, err := codec.Dial(lis.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, node.Close())
	})
	return client
}

func hello(t *testing.T, c *codec.Client) (codec.Table, uint64) {
	t.Helper()
	h, err := c.Hello(t.Context(), codec.HelloRequest{ProtocolMin: codec.ProtocolMin, ProtocolLatest: codec.ProtocolLatest})
	require.NoError(t, err)
	return h.Tables[0], h.Version
}

func TestServedFilesThatChange(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT i AS id, 'x' AS c FROM range(100) r(i)", dir, "a.parquet")
	c := serve(t, globSource(t, e, dir+"/*.parquet"))
	first, version := hello(t, c)
	require.Empty(t, first.Err)
	require.Len(t, first.Partitions, 1)
	require.EqualValues(t, 100, first.Partitions[0].Rows)

	write(t, e, "SELECT i AS id, 'x' AS c FROM range(7) r(i)", dir, "b.parquet")
	second, next := hello(t, c)
	require.Greater(t, next, version)
	require.Len(t, second.Partitions, 2)

	write(t, e, "SELECT i::VARCHAR AS id, 'x' AS c FROM range(7) r(i)", dir, "c.parquet")
	broken, last := hello(t, c)
	require.Greater(t, last, next)
	require.Contains(t, broken.Err, `column "id" is VARCHAR in partition "c"`)
	require.NoError(t, os.Remove(dir+"/c.parquet"))
	healed, _ := hello(t, c)
	require.Empty(t, healed.Err)
}

func TestServedAggregate(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT i % 3 AS g, i::DECIMAL(18,2) AS v FROM range(100000) r(i)", dir, "a.parquet")
	write(t, e, "SELECT i % 3 AS g, i::DECIMAL(18,2) AS v FROM range(200000) r(i)", dir, "b.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	all := tableSpec(t, s)
	spec := pushdown.Spec{Table: "main.t", Partitions: all.Partitions, Limit: pushdown.NoLimit,
		GroupBy:    []pushdown.NamedExpr{{Name: "g", Expr: col(all, "g")}},
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}, {Name: "s", Func: pushdown.Sum, Arg: col(all, "v")}}}
	scan, err := serve(t, s).Scan(t.Context(), codec.OpenRequest{ScanID: "x", Spec: spec}, memory.DefaultAllocator)
	require.NoError(t, err)
	defer scan.Close()
	opened, err := scan.Opened()
	require.NoError(t, err)
	require.Equal(t, codec.Partial, opened.Mode)
	var got [][]string
	for {
		b, err := scan.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got = append(got, texts(b.Record)...)
		b.Record.Release()
	}
	require.Equal(t, [][]string{{"0", "100001", "8333316666"}, {"1", "100000", "8333316667"}, {"2", "99999", "8333216667"}}, sortedRows(got))
	require.EqualValues(t, 300000, scan.End().RowsScanned)
}
