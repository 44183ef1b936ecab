package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
)

// watched is a cluster of which a test sees what is left over.
type watched struct {
	*server.Coordinator
	addr     string
	mem      *memory.CheckedAllocator
	registry *prometheus.Registry
	slow     []*faulty
}

// newWatched serves t by three scanners, which can be made slow.
func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{mem: memory.NewCheckedAllocator(memory.DefaultAllocator), registry: prometheus.NewRegistry()}
	t.Cleanup(func() { w.mem.AssertSize(t, 0) })
	var nodes []node
	for i := range 3 {
		src := &faulty{Source: numberedSource(t, i, 3)}
		w.slow = append(w.slow, src)
		n := node{name: fmt.Sprint(i), tables: []scanner.Table{{Name: "t", Source: src}}}
		n.registry = prometheus.WrapRegistererWith(prometheus.Labels{"node": n.name}, w.registry)
		nodes = append(nodes, n)
	}
	w.Coordinator = startCluster(t, nodes, w.mem)
	w.addr = serve(t, w.Coordinator)
	return w
}

func (w *watched) delay(d time.Duration) {
	for _, s := range w.slow {
		s.broken.Store(&fault{delay: d, after: 1})
	}
}

func (w *watched) free(t *testing.T, patience time.Duration) {
	t.Helper()
	within(t, patience, "every scanner is free", func() bool { return openScans(t, w.registry) == 0 })
}

// TestCancelFreesTheScanners whichever way the client goes.
func TestCancelFreesTheScanners(t *testing.T) {
	w := newWatched(t)
	w.delay(time.Hour)
	for _, sql := range []string{"SELECT * FROM t", "SELECT k, sum(v) FROM t GROUP BY k", "SELECT count(*) FROM t a JOIN t b ON a.v = b.v"} {
		for name, leave := range map[string]func(ctx context.Context, cancel func(), info *flight.FlightInfo){
			"the stream is reset": func(_ context.Context, cancel func(), _ *flight.FlightInfo) { cancel() },
			"CancelFlightInfo": func(ctx context.Context, _ func(), info *flight.FlightInfo) {
				_, err := connect(t, w.addr).CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info})
				require.NoError(t, err)
			},
		} {
			client := connect(t, w.addr)
			info, err := client.Execute(t.Context(), sql)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				got, err := fetchInfo(ctx, client, info)
				if err == nil {
					got.release()
				}
				ended <- err
			}()
			within(t, 10*time.Second, "all scanners are busy", func() bool { return openScans(t, w.registry) >= 3 })
			leave(t.Context(), cancel, info)
			w.free(t, 2*time.Second)
			require.Error(t, <-ended, "%s: %s", name, sql)
			cancel()
		}
		client := connect(t, w.addr)
		info, err := client.Execute(t.Context(), sql)
		require.NoError(t, err)
		stream, err := client.Client.DoGet(t.Context(), info.Endpoint[0].Ticket)
		require.NoError(t, err)
		within(t, 10*time.Second, "all scanners are busy", func() bool { return openScans(t, w.registry) >= 3 })
		require.NoError(t, client.Close(), "the connection goes")
		w.free(t, 2*time.Second)
		for err == nil { // what had arrived before
			_, err = stream.Recv()
		}
	}
}

// TestAbandoned: streams that nobody reads, results that nobody fetches and
// statements that nobody closes leave nothing behind.
func TestAbandoned(t *testing.T) {
	d := newDuck(t)
	w := newWatched(t)
	settle(t, d, w.Coordinator, w.addr)
	baseline, bytes := runtime.NumGoroutine(), w.mem.CurrentAlloc()
	client := connect(t, w.addr)
	for i := range 200 {
		info, err := client.Execute(t.Context(), []string{"SELECT * FROM t", "SELECT v * 2 FROM t ORDER BY v"}[i%2])
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := client.Client.DoGet(ctx, info.Endpoint[0].Ticket)
		require.NoError(t, err)
		if i%3 == 0 {
			_, err = stream.Recv()
			require.NoError(t, err)
		}
		cancel()
		_, err = client.Execute(t.Context(), "SELECT v FROM t")
		require.NoError(t, err, "never fetched")
		_, err = client.Prepare(t.Context(), "SELECT v FROM t WHERE v = ?")
		require.NoError(t, err, "never closed")
	}
	w.free(t, 5*time.Second)
	require.NoError(t, client.Close())
	within(t, 10*time.Second, "buffers return", func() bool { return w.mem.CurrentAlloc() <= bytes })
	within(t, 10*time.Second, "goroutines end", func() bool { return runtime.NumGoroutine() <= baseline+8 })
}

// TestCancelDisturbsNobody: eight threads share a connection and cancel at
// random; every result that is not cancelled is right.
func TestCancelDisturbsNobody(t *testing.T) {
	d := newDuck(t)
	w := newWatched(t)
	client := connect(t, w.addr)
	statements := map[string]string{
		"SELECT sum(v) FROM t": "112507500", "SELECT max(v) FROM (SELECT v FROM t WHERE k = 3 LIMIT 3000)": "",
		"SELECT v FROM t WHERE v = 777": "777", "SELECT v, k FROM t WHERE v > 14998 AND k = 6": "15000, 6",
	}
	var threads sync.WaitGroup
	for i := range 8 {
		r := newRand(uint64(i))
		threads.Go(func() {
			for range 100 / len(statements) {
				for sql, want := range statements {
					if err := askOrCancel(t, d, client, sql, want, r); err != nil {
						t.Errorf("%s: %v", sql, err)
					}
				}
			}
		})
	}
	threads.Wait()
	w.free(t, 2*time.Second)
}

func askOrCancel(t *testing.T, d *duck, client *flightsql.Client, sql, want string, r *rand.Rand) error {
	info, err := client.Execute(t.Context(), sql)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cancelled := r.IntN(3) == 0
	if cancelled {
		time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
	}
	got, err := fetchInfo(ctx, client, info)
	if err != nil {
		if cancelled {
			return nil
		}
		return err
	}
	defer got.release()
	if rows := d.text(t, got); want != "" && show(rows) != "("+want+")" {
		return fmt.Errorf("%s instead of %s", show(rows), want)
	}
	return nil
}
