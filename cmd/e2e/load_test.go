package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
)

// loadStatements and the only row each of them has, or "" for many.
var loadStatements = map[string]string{
	`SELECT count(*), sum(v) FROM t`:                                          "15000, 112507500",
	`SELECT k, sum(v) FROM t GROUP BY k`:                                      "",
	`SELECT * FROM t`:                                                         "",
	`SELECT v FROM t WHERE k = 3 ORDER BY v DESC LIMIT 5`:                     "",
	`SELECT count(*) FROM t a JOIN t b ON a.v = b.v JOIN t c ON b.v = c.v`:    "15000",
	`SELECT count(*) FROM t a JOIN t b ON a.k = b.k WHERE a.v < 100`:          "212143",
	`SELECT * FROM t LIMIT 1`:                                                 "",
	`SELECT count(*) FROM t a, t b, t c WHERE a.v + b.v + c.v = -1`:           "never",
	`SELECT a.v FROM t a, t b`:                                                "never",
	`SELECT max(v) FROM (SELECT v, row_number() OVER (ORDER BY k, v) FROM t)`: "15000",
}

// TestManyClients run mixed statements on shared connections, cancel some,
// leave some results half read and some plans unused. Answers stay right, and
// when all are gone nothing is left: no scan, goroutine or buffer.
func TestManyClients(t *testing.T) {
	d := newDuck(t)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	registry := prometheus.NewRegistry()
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	var nodes []node
	for i := range 3 {
		n := node{name: fmt.Sprint(i), tables: []scanner.Table{{Name: "t", Source: numberedSource(t, i, 3)}}}
		n.registry = prometheus.WrapRegistererWith(prometheus.Labels{"node": n.name}, registry)
		nodes = append(nodes, n)
	}
	c := startCluster(t, nodes, mem)
	addr := serve(t, c)
	settle(t, d, c, addr) // connections and instances that stay
	baseline := runtime.NumGoroutine()

	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() { misbehave(t, d, addr, newRand(uint64(i))) })
	}
	all.Wait()
	settle(t, d, c, addr)
	within(t, 5*time.Second, "scans end", func() bool { return openScans(t, registry) == 0 })
	within(t, 10*time.Second, "goroutines end", func() bool { return runtime.NumGoroutine() <= baseline+8 })
}

// settle asks something simple of every part.
func settle(t *testing.T, d *duck, c *server.Coordinator, addr string) {
	client := connect(t, addr)
	got, err := fetch(t.Context(), client, `SELECT count(*) FROM t`)
	require.NoError(t, err)
	require.Equal(t, "15000", one(t, d, got))
	got.release()
	require.NoError(t, client.Close())
	require.NoError(t, c.Ready())
}

func openScans(t *testing.T, registry *prometheus.Registry) float64 {
	n, err := testutil.GatherAndCount(registry, "tributary_scanner_open_scans")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	return openScansOf(t, registry)
}

func openScansOf(t *testing.T, registry *prometheus.Registry) float64 {
	families, err := registry.Gather()
	require.NoError(t, err)
	open := 0.0
	for _, f := range families {
		if f.GetName() == "tributary_scanner_open_scans" {
			for _, m := range f.GetMetric() {
				open += m.GetGauge().GetValue()
			}
		}
	}
	return open
}

// misbehave is one client: its statements run side by side on one connection.
func misbehave(t *testing.T, d *duck, addr string, r *rand.Rand) {
	client := connect(t, addr)
	defer client.Close()
	_, err := client.ExecuteUpdate(t.Context(), "SET pushdown = '"+pick(r, rungs)+"'")
	if err != nil {
		t.Error(err)
		return
	}
	for range 3 {
		var all sync.WaitGroup
		for sql, want := range loadStatements {
			if r.IntN(4) == 0 {
				own := newRand(r.Uint64())
				all.Go(func() {
					if err := askAtRandom(t, d, client, sql, want, own); err != nil {
						t.Errorf("%s: %v", sql, err)
					}
				})
			}
		}
		all.Wait()
	}
}

// askAtRandom runs one statement, or gives it up at some point.
func askAtRandom(t *testing.T, d *duck, client *flightsql.Client, sql, want string, r *rand.Rand) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	info, err := client.Execute(ctx, sql)
	if err != nil || r.IntN(8) == 0 {
		return err // the plan is not used
	}
	switch {
	case want == "never" || r.IntN(4) == 0:
		time.AfterFunc(time.Duration(r.IntN(50))*time.Millisecond, cancel)
		if got, err := fetchInfo(ctx, client, info); err == nil {
			got.release()
		}
		return nil
	case r.IntN(6) == 0: // one batch, and the reader is dropped
		reader, err := client.DoGet(ctx, info.Endpoint[0].Ticket)
		if err == nil {
			reader.Next()
			reader.Release()
		}
		return err
	}
	got, err := fetchInfo(ctx, client, info)
	if err != nil {
		return err
	}
	defer got.release()
	if want == "" {
		return nil
	}
	if rows := d.text(t, got); show(rows) != "("+want+")" {
		return fmt.Errorf("%s instead of %s", show(rows), want)
	}
	return nil
}
