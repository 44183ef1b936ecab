package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/bench/netem"
	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query"
)

var bytesTotal = regexp.MustCompile(`total: .* and (\d+) bytes received`)

// overLink serves a table of about 24 MB, half of which is redundant, over a
// connection of that kind, or directly.
func overLink(t *testing.T, d *duck, link *netem.Link) (*server.Coordinator, *netem.Proxy) {
	rows, err := d.query("SELECT range AS id, 'number ' || range % 100 AS name FROM range(1200000)", nil)
	require.NoError(t, err)
	defer rows.release()
	src, err := memsource.New(rows.schema, []memsource.Partition{{ID: "0", Batches: rows.batches}})
	require.NoError(t, err)
	t.Cleanup(src.Release)
	addr := startScanner(t, node{name: "s", tables: []scanner.Table{{Name: "t", Source: src}}}, memory.DefaultAllocator)
	var proxy *netem.Proxy
	if link != nil {
		proxy, err = netem.Listen(addr, *link)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, proxy.Close()) })
		addr = proxy.Addr()
	}
	c, err := server.New(t.Context(), server.Config{Scanners: []string{addr}, Refresh: time.Minute, Logger: zerolog.Nop(),
		Engine: engine.Config{Warm: 1, Threads: 2}, Compression: codec.CompressAuto})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Catalog().WaitReady(t.Context()))
	return c, proxy
}

// TestCompression: the same rows in fewer bytes, and on its own only where the
// link is slow. What arrived is what EXPLAIN ANALYZE says.
func TestCompression(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	slow, proxy := overLink(t, d, &netem.Link{Delay: time.Millisecond, BytesPerSecond: 2 << 20})
	near, _ := overLink(t, d, nil)
	bytesOf := func(c *server.Coordinator, compression string) int64 {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("compression", compression))
		text := answer(t, d, c, set, "EXPLAIN ANALYZE SELECT id, name FROM t")
		m := bytesTotal.FindStringSubmatch(text)
		require.NotNil(t, m, text)
		n, err := strconv.ParseInt(m[1], 10, 64)
		require.NoError(t, err)
		set.Pushdown = "off"
		require.Equal(t, "1200000 719999400000 100", answer(t, d, c, set, "SELECT count(*), sum(id), count(DISTINCT name) FROM t"))
		return n
	}
	plain := bytesOf(near, "none")
	require.Greater(t, plain, int64(20<<20))
	require.Less(t, bytesOf(near, "lz4"), plain*3/4)
	require.Less(t, bytesOf(near, "zstd"), plain/2)
	automatic, sent := int64(0), int64(0)
	for range 3 { // on a busy machine the processor may be the bottleneck for once
		before := proxy.ToClient()
		automatic = bytesOf(slow, "default")
		if sent = proxy.ToClient() - before; automatic < plain*3/4 {
			break
		}
	}
	require.Less(t, automatic, plain*3/4, "the link is the bottleneck")
	require.Greater(t, sent, automatic)
	require.Less(t, sent, 2*plain, fmt.Sprint("two scans of ", plain))
}

// TestCutConnection: rows that a lost connection did not bring are an error.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	c, _ := overLink(t, d, &netem.Link{CutAfter: 512 << 10})
	for _, compression := range codec.Compressions() {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("compression", compression))
		set.Pushdown = "off"
		_, err := run(c, set, "SELECT id, name FROM t")
		require.Error(t, err)
		_, err = run(c, set, "SELECT sum(id), count(DISTINCT name) FROM t")
		require.Error(t, err)
	}
}
