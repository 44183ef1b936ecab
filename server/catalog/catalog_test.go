package catalog_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// fakeScanner answers Hello and nothing else.
type fakeScanner struct {
	flight.BaseFlightServer
	addr  string
	mu    sync.Mutex
	hello codec.Hello
	stall bool
	grpc  *grpc.Server
}

func (f *fakeScanner) DoAction(_ *flight.Action, out flight.FlightService_DoActionServer) error {
	f.mu.Lock()
	hello, stall := f.hello, f.stall
	f.mu.Unlock()
	if stall {
		<-out.Context().Done()
		return out.Context().Err()
	}
	body, err := codec.EncodeHello(&hello)
	if err != nil {
		return err
	}
	return out.Send(&flight.Result{Body: body})
}

func (f *fakeScanner) set(change func(*codec.Hello)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.hello)
}

// start listens, on the same address as before after a stop.
func (f *fakeScanner) start(t *testing.T) {
	t.Helper()
	addr := f.addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	lis, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	f.addr = lis.Addr().String()
	f.grpc = grpc.NewServer()
	flight.RegisterFlightServiceServer(f.grpc, f)
	go func(g *grpc.Server) { _ = g.Serve(lis) }(f.grpc)
	t.Cleanup(f.grpc.Stop)
}

var schema = arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)

func newScanner(t *testing.T, name string, partitions ...string) *fakeScanner {
	t.Helper()
	f := &fakeScanner{hello: codec.Hello{
		ProtocolMin: codec.ProtocolMin, ProtocolLatest: codec.ProtocolLatest, Name: name, Epoch: "1",
		Capabilities: pushdown.NewCapabilities("filter"),
	}}
	f.set(func(h *codec.Hello) { h.Tables = []codec.Table{tableOf(partitions...)} })
	f.start(t)
	return f
}

func tableOf(partitions ...string) codec.Table {
	t := codec.Table{Schema: "main", Name: "t", Arrow: schema}
	for _, id := range partitions {
		t.Partitions = append(t.Partitions, codec.Partition{ID: id, Rows: 1, Bytes: -1})
	}
	return t
}

func open(t *testing.T, cfg catalog.Config, scanners ...*fakeScanner) *catalog.Catalog {
	t.Helper()
	for _, s := range scanners {
		cfg.Scanners = append(cfg.Scanners, s.addr)
	}
	c := catalog.New(cfg)
	t.Cleanup(c.Close)
	return c
}

func refresh(t *testing.T, c *catalog.Catalog) *catalog.Snapshot {
	t.Helper()
	require.NoError(t, c.Refresh(t.Context()))
	return c.Snapshot()
}

func TestJoinLeaveReturn(t *testing.T) {
	t.Parallel()
	a, b := newScanner(t, "a", "0"), newScanner(t, "b", "1")
	b.grpc.Stop()
	c := open(t, catalog.Config{}, a, b)

	snap := c.Snapshot()
	require.False(t, snap.Ready())
	require.ErrorContains(t, snap.Usable(), a.addr)

	snap = refresh(t, c)
	require.Len(t, snap.Missing, 1)
	require.ErrorContains(t, snap.Usable(), b.addr)
	require.Equal(t, status.Unavailable, status.CodeOf(snap.Usable()))
	require.Equal(t, snap.Version, refresh(t, c).Version, "nothing changed")

	b.start(t)
	require.Eventually(t, func() bool { return refresh(t, c).Ready() }, 10*time.Second, 50*time.Millisecond)
	joined := c.Snapshot()
	require.Len(t, joined.Tables["main.t"].Partitions, 2)
	require.True(t, joined.Scanners["a"].Capabilities.Has("filter"))

	b.grpc.Stop()
	left := refresh(t, c)
	require.Greater(t, left.Version, joined.Version)
	require.True(t, left.Ready(), "its tables are known")
	require.Error(t, left.Scanners["b"].Err)
	require.Len(t, left.Tables["main.t"].Partitions, 2)
	require.Equal(t, status.Unavailable, status.CodeOf(left.Tables["main.t"].Partitions[1].Owners[0].Err))
	require.NoError(t, joined.Scanners["b"].Err, "a published snapshot never changes")

	b.set(func(h *codec.Hello) { h.Epoch = "2" })
	b.start(t)
	require.Eventually(t, func() bool { return refresh(t, c).Scanners["b"].Err == nil }, 10*time.Second, 50*time.Millisecond)
	require.Equal(t, "2", c.Snapshot().Scanners["b"].Epoch)
}

func TestChanges(t *testing.T) {
	t.Parallel()
	a := newScanner(t, "a", "0")
	c := open(t, catalog.Config{}, a)
	version := refresh(t, c).Version
	for _, step := range []struct {
		name   string
		change func(*codec.Hello)
	}{
		{"partitions", func(h *codec.Hello) { h.Tables = []codec.Table{tableOf("0", "1")} }},
		{"rows", func(h *codec.Hello) { h.Tables[0].Partitions[0].Rows = 7 }},
		{"table version", func(h *codec.Hello) { h.Tables[0].Version = "v2" }},
		{"tables", func(h *codec.Hello) { h.Tables = nil }},
		{"capabilities", func(h *codec.Hello) { h.Capabilities = pushdown.NewCapabilities("filter", "limit") }},
		{"epoch", func(h *codec.Hello) { h.Epoch = "2" }},
		{"name", func(h *codec.Hello) { h.Name = "z" }},
	} {
		a.set(step.change)
		next := refresh(t, c).Version
		require.Equal(t, version+1, next, step.name)
		version = next
	}
	require.Len(t, c.Snapshot().Scanners, 1)
	require.Contains(t, c.Snapshot().Scanners, "z")
}

func TestProtocolWindow(t *testing.T) {
	t.Parallel()
	a := newScanner(t, "a", "0")
	a.set(func(h *codec.Hello) { h.ProtocolMin, h.ProtocolLatest = codec.ProtocolLatest+1, codec.ProtocolLatest+2 })
	c := open(t, catalog.Config{}, a)
	snap := refresh(t, c)
	require.Len(t, snap.Missing, 1)
	require.Equal(t, status.FailedPrecondition, status.CodeOf(snap.Missing[0].Err))
	require.ErrorContains(t, snap.Usable(), "upgrade")
}

func TestStalledScannerTimesOut(t *testing.T) {
	t.Parallel()
	a, b := newScanner(t, "a", "0"), newScanner(t, "b", "1")
	c := open(t, catalog.Config{Timeout: 200 * time.Millisecond}, a, b)
	require.Eventually(t, func() bool { return refresh(t, c).Ready() }, 10*time.Second, 10*time.Millisecond)
	b.mu.Lock()
	b.stall = true
	b.mu.Unlock()
	snap := refresh(t, c)
	require.Error(t, snap.Scanners["b"].Err)
	require.NotNil(t, snap.Scanners["a"])
}

func TestStartAndMarkFailed(t *testing.T) {
	t.Parallel()
	a := newScanner(t, "a", "0")
	registry := prometheus.NewRegistry()
	c := open(t, catalog.Config{Refresh: time.Hour, Registry: registry}, a)
	c.Start(t.Context())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, c.WaitReady(ctx))
	require.True(t, c.Ready())
	require.Equal(t, map[string]float64{"up": 1, "unreachable": 0, "missing": 0}, states(t, registry))

	scanner := c.Snapshot().Scanners["a"]
	client, err := c.Client(scanner)
	require.NoError(t, err)
	again, err := c.Client(scanner)
	require.NoError(t, err)
	require.Same(t, client, again)

	a.grpc.Stop()
	c.MarkFailed(scanner, status.New(status.Unavailable, "the stream broke"))
	require.Eventually(t, func() bool { return c.Snapshot().Scanners["a"].Err != nil }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, map[string]float64{"up": 0, "unreachable": 1, "missing": 0}, states(t, registry))

	stranger := &catalog.Scanner{Name: "x", Addr: "x:1"}
	c.MarkFailed(stranger, nil)
	_, err = c.Client(stranger)
	require.Equal(t, status.NotFound, status.CodeOf(err))
}

func TestWaitReadyNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := open(t, catalog.Config{Scanners: []string{"127.0.0.1:1", "127.0.0.1:1"}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, c.WaitReady(ctx), "127.0.0.1:1")
	require.Len(t, c.Snapshot().Missing, 1, "an address counts once")
	require.True(t, open(t, catalog.Config{}).Ready(), "nothing to wait for")
}

func states(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "tributary_coordinator_scanners" {
			continue
		}
		for _, m := range f.GetMetric() {
			got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
		}
	}
	return got
}
