package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/query"
)

var adaptiveFaults = flag.Int("adaptive.faults", 300, "queries of TestFaultsLeaveNothingBehind")

// adaptiveStatements are joins whose scans narrow each other or make each other
// needless, and their only row, or "" for many rows.
var adaptiveStatements = []struct{ sql, want string }{
	{`SELECT count(*), sum(b.v) FROM t a JOIN t b ON a.v = b.v WHERE a.k = 3 AND a.v < 2000`, "286 286143"},
	{`SELECT a.v, b.v FROM t a JOIN t b ON a.v = b.k`, ""},
	{`SELECT count(*) FROM t a WHERE a.v IN (SELECT b.k FROM t b WHERE b.v > 14000)`, "6"},
	{`SELECT count(*) FROM t a JOIN t b ON a.v = b.v JOIN t c ON b.k = c.v WHERE a.v < 0`, "0"},
	{`SELECT count(*), sum(b.n) FROM t a LEFT JOIN (SELECT k, count(*) AS n FROM t GROUP BY k) b ON a.v = b.k`, "15000 12858"},
	{`SELECT count(*) FROM t a JOIN t b ON a.v = b.v JOIN t c ON b.v = c.v WHERE c.k = 0`, "2142"},
	{`SELECT max(v), count(*) FROM (SELECT v FROM t ORDER BY k, v DESC LIMIT 7)`, "14994 7"},
	{`SELECT sum(a.v) FROM t a WHERE a.v > (SELECT max(b.v) - 3 FROM t b) AND NOT EXISTS (SELECT 1 FROM t c WHERE c.v = a.v AND c.k = 0)`, "44997"},
}

// spilling needs more memory than the engine has, and may well be refused.
const spilling = `SELECT a.v, b.v, repeat('x', 100) || a.v AS x FROM t a JOIN t b ON a.k = b.k WHERE a.v <= 150 ORDER BY x, b.v`

// troubled is a cluster of adaptive queries whose parts fail.
type troubled struct {
	*server.Coordinator
	duck     *duck
	mem      *memory.CheckedAllocator
	registry *prometheus.Registry
	spill    string
	nodes    []*restarting
	sources  []*faulty
	wires    []*wire
	answered atomic.Int64
	failed   atomic.Int64
}

func newTroubled(t *testing.T) *troubled {
	w := &troubled{duck: newDuck(t), mem: memory.NewCheckedAllocator(memory.DefaultAllocator), registry: prometheus.NewRegistry(), spill: t.TempDir()}
	t.Cleanup(func() { w.mem.AssertSize(t, 0) })
	cfg := server.Config{Alloc: w.mem, Chaos: &exec.Chaos{Delay: time.Millisecond, Repeats: 2},
		Engine: engine.Config{TempDir: w.spill, MemoryLimit: 32 << 20}}
	for i := range 3 {
		src := &faulty{Source: numberedSource(t, i, 3)}
		n := node{name: fmt.Sprint(i), tables: []scanner.Table{{Name: "t", Source: src}}}
		n.registry = prometheus.WrapRegistererWith(prometheus.Labels{"node": n.name}, w.registry)
		r := newRestarting(t, n, w.mem)
		link := newWire(t, r.addr)
		w.nodes, w.sources, w.wires = append(w.nodes, r), append(w.sources, src), append(w.wires, link)
		cfg.Scanners = append(cfg.Scanners, link.addr())
	}
	w.Coordinator = startCoordinator(t, cfg)
	return w
}

// TestFaultsLeaveNothingBehind: adaptive queries side by side, while sources fail,
// panic and stall, connections are cut, scanners restart, and clients cancel, time out or go. Those
// that are answered are answered right, and in the end nothing is left of any.
func TestFaultsLeaveNothingBehind(t *testing.T) {
	w := newTroubled(t)
	w.requireAllRight(t)
	goroutines, bytes, files := runtime.NumGoroutine(), w.mem.CurrentAlloc(), w.spilled(t)
	var left atomic.Int64
	left.Store(int64(*adaptiveFaults))
	var clients sync.WaitGroup
	for i := range 6 {
		r := newRand(uint64(i))
		clients.Go(func() {
			for left.Add(-1) >= 0 && !t.Failed() {
				w.trouble(t, r)
			}
		})
	}
	clients.Wait()
	restarts := int64(0)
	for _, n := range w.nodes {
		n.pending.Wait()
		restarts += n.times.Load()
	}
	for _, s := range w.sources {
		s.broken.Store(nil)
	}
	require.NoError(t, w.Catalog().WaitReady(t.Context()))
	within(t, 20*time.Second, "all scanners are back", func() bool { return w.Catalog().Refresh(t.Context()) == nil && w.healthy() })
	w.requireAllRight(t)
	t.Logf("%d queries answered, %d failed, %d restarts", w.answered.Load(), w.failed.Load(), restarts)
	require.Positive(t, restarts)
	require.Positive(t, w.answered.Load())
	require.Positive(t, w.failed.Load())
	within(t, 10*time.Second, "scans end", func() bool { return openScansOf(t, w.registry) == 0 })
	within(t, 10*time.Second, "buffers return", func() bool { return w.mem.CurrentAlloc() <= bytes })
	within(t, 10*time.Second, "temporary files go", func() bool { return w.spilled(t) <= files })
	within(t, 10*time.Second, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+8 })
}

// healthy: every scanner answered when it was asked last.
func (w *troubled) healthy() bool {
	for _, s := range w.Catalog().Snapshot().Scanners {
		if s.Err != nil {
			return false
		}
	}
	return w.Ready() == nil
}

// trouble asks one statement and does something bad to it, or to all.
func (w *troubled) trouble(t *testing.T, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	set := query.DefaultSettings()
	set.Adaptive = adapt.Always
	batches := -1 // that the client takes
	src, soon := pick(r, w.sources), time.Duration(r.IntN(20_000))*time.Microsecond
	switch r.IntN(10) {
	case 0:
		src.broken.Store(&fault{after: r.IntN(5), err: status.New(status.DataLoss, "the file is broken")})
	case 1:
		src.broken.Store(&fault{after: r.IntN(5), panic: true})
	case 2:
		src.broken.Store(&fault{after: r.IntN(5), delay: soon})
	case 3:
		time.AfterFunc(soon, pick(r, w.wires).cut)
	case 4, 5:
		time.AfterFunc(soon, cancel)
	case 6:
		set.StatementTimeout = soon + 1
	case 7:
		batches = r.IntN(2)
	case 8:
		src.broken.Store(nil)
	}
	if r.IntN(25) == 0 {
		pick(r, w.nodes).restart(t, soon)
	}
	s := pick(r, adaptiveStatements)
	if r.IntN(50) == 0 {
		s.sql, s.want = spilling, ""
	}
	err := w.ask(ctx, t, set, s.sql, s.want, batches)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("%s does not end: %v", s.sql, err)
	}
	if err == nil {
		w.answered.Add(1)
		return
	}
	w.failed.Add(1)
	src.broken.Store(nil) // or nothing would be answered any more
	if status.CodeOf(err) != status.Unavailable {
		return
	}
	for range 20 { // or most queries would fail for want of a scanner
		if _ = w.Catalog().Refresh(ctx); w.healthy() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ask takes some batches of a result, -1 for all, and compares the only row wanted.
func (w *troubled) ask(ctx context.Context, t *testing.T, set query.Settings, sql, want string, batches int) error {
	st, err := w.Service().Prepare(ctx, sql, set)
	if err != nil {
		return err
	}
	stream, err := w.Service().Execute(ctx, st)
	if err != nil {
		return err
	}
	got := &result{schema: stream.Schema()}
	defer got.release()
	for batches < 0 || len(got.batches) < batches {
		b, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			if want != "" && got.text() != want {
				t.Errorf("%s: %s instead of %s", sql, got.text(), want)
			}
			break
		}
		if err != nil {
			return errors.Join(err, stream.Close())
		}
		got.batches = append(got.batches, b)
	}
	return stream.Close()
}

// text has the cells of a result of integers.
func (r *result) text() string {
	var cells []string
	for _, b := range r.batches {
		for row := range int(b.NumRows()) {
			for _, column := range b.Columns() {
				cells = append(cells, column.ValueStr(row))
			}
		}
	}
	return strings.Join(cells, " ")
}

// requireAllRight asks every statement without trouble.
func (w *troubled) requireAllRight(t *testing.T) {
	t.Helper()
	set := query.DefaultSettings()
	set.Adaptive = adapt.Always
	for _, s := range adaptiveStatements {
		require.NoError(t, w.ask(t.Context(), t, set, s.sql, s.want, -1), s.sql)
	}
}

// spilled counts the files in the engine's directory for temporary files.
func (w *troubled) spilled(t *testing.T) (n int) {
	t.Helper()
	_ = filepath.WalkDir(w.spill, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return nil // what goes away meanwhile is none
	})
	return n
}
