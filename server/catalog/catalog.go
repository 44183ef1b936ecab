package catalog

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Defaults of Config.
const (
	DefaultRefresh = 2 * time.Second
	DefaultTimeout = 3 * time.Second
)

// Config says which scanners make up the federation.
type Config struct {
	// Scanners are the addresses (host:port), in order of precedence.
	Scanners []string
	// Own are addresses of nodes of this process, which metrics do not count.
	Own []string
	// Refresh is the time between two greetings of a scanner.
	Refresh time.Duration
	// Timeout bounds one greeting; the first one, for which a scanner may have to
	// look at many files, may take ten times as long.
	Timeout time.Duration
	// Coordinator is this node's name, for the scanners' logs.
	Coordinator string
	// Dial connects to a scanner; nil is codec.Dial.
	Dial func(addr string) (*codec.Client, error)
	// Logger gets joins, leaves and changes.
	Logger zerolog.Logger
	// Registry gets the metrics; nil for none.
	Registry prometheus.Registerer
}

func (c Config) withDefaults() Config {
	if c.Refresh <= 0 {
		c.Refresh = DefaultRefresh
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Dial == nil {
		c.Dial = func(addr string) (*codec.Client, error) { return codec.Dial(addr) }
	}
	return c
}

// Catalog greets the scanners and publishes snapshots. It is safe for
// concurrent use.
type Catalog struct {
	cfg     Config
	peers   []*peer
	metrics *metrics
	current atomic.Pointer[Snapshot]

	mu      sync.Mutex // guards publishing
	states  string     // fingerprint of the published snapshot
	cancel  context.CancelFunc
	loops   sync.WaitGroup
	closed  bool
	changed chan struct{} // closed and replaced at every publication
}

// New returns a catalog in which every scanner is still missing; Start or
// Refresh fills it.
func New(cfg Config) *Catalog {
	cfg = cfg.withDefaults()
	c := &Catalog{cfg: cfg, metrics: newMetrics(cfg.Registry), changed: make(chan struct{})}
	seen := map[string]bool{}
	for _, addr := range slices.Concat(cfg.Scanners, cfg.Own) {
		if !seen[addr] {
			c.peers = append(c.peers, newPeer(addr))
		}
		seen[addr] = true
	}
	c.publish()
	return c
}

// Start greets every scanner now and then again every Config.Refresh, until ctx
// ends or Close.
func (c *Catalog) Start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.cancel != nil {
		return
	}
	ctx, c.cancel = context.WithCancel(ctx)
	for _, p := range c.peers {
		c.loops.Go(func() { c.loop(ctx, p) })
	}
}

func (c *Catalog) loop(ctx context.Context, p *peer) {
	ticker := time.NewTicker(c.cfg.Refresh)
	defer ticker.Stop()
	for {
		c.greet(ctx, p)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-p.kick:
		}
	}
}

// Refresh greets every scanner now and returns when all have answered or timed
// out; unreachable scanners are in the snapshot, not in the error. The error is
// that of ctx.
func (c *Catalog) Refresh(ctx context.Context) error {
	var group errgroup.Group
	for _, p := range c.peers {
		group.Go(func() error { c.greet(ctx, p); return nil })
	}
	_ = group.Wait()
	if err := ctx.Err(); err != nil {
		return status.Wrap(status.Canceled, err, "refresh of the catalog")
	}
	return nil
}

// MarkFailed reports that s did not serve a scan; it is greeted again at once,
// so that the next snapshot says whether it is gone or has restarted.
func (c *Catalog) MarkFailed(s *Scanner, cause error) {
	p := c.peer(s.Addr)
	if p == nil {
		return
	}
	c.cfg.Logger.Warn().Str("scanner", s.Name).Str("addr", s.Addr).Err(cause).Msg("scan failed, greeting the scanner again")
	select {
	case p.kick <- struct{}{}:
	default: // one is already pending
	}
}

// Snapshot returns the current snapshot; it never changes.
func (c *Catalog) Snapshot() *Snapshot { return c.current.Load() }

// Ready reports whether every configured scanner has contributed its tables.
func (c *Catalog) Ready() bool { return c.Snapshot().Ready() }

// WaitReady waits until Ready; its error names what is missing.
func (c *Catalog) WaitReady(ctx context.Context) error {
	for {
		changed := c.Changed()
		snap := c.Snapshot()
		if snap.Ready() {
			return nil
		}
		select {
		case <-ctx.Done():
			return snap.Usable()
		case <-changed:
		}
	}
}

// Changed is closed when the next snapshot is published.
func (c *Catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Client returns the connection to s, shared by greetings and scans. The
// catalog closes it.
func (c *Catalog) Client(s *Scanner) (*codec.Client, error) {
	p := c.peer(s.Addr)
	if p == nil {
		return nil, status.New(status.NotFound, "scanner %q at %s is not configured", s.Name, s.Addr)
	}
	return p.connect(c.cfg.Dial)
}

// Close stops the greetings and closes the connections.
func (c *Catalog) Close() {
	c.mu.Lock()
	c.closed = true
	if c.cancel != nil {
		c.cancel()
	}
	c.mu.Unlock()
	c.loops.Wait()
	for _, p := range c.peers {
		p.close()
	}
}

func (c *Catalog) peer(addr string) *peer {
	for _, p := range c.peers {
		if p.addr == addr {
			return p
		}
	}
	return nil
}

// greet asks p for its tables and publishes what changed.
func (c *Catalog) greet(ctx context.Context, p *peer) {
	p.greeting.Lock()
	defer p.greeting.Unlock()
	hello, err := c.hello(ctx, p)
	if ctx.Err() != nil {
		return // the greeting was given up, which says nothing about p
	}
	if event := p.learn(hello, err); event != "" {
		c.log(p, event, err)
	}
	c.publish()
}

func (c *Catalog) hello(ctx context.Context, p *peer) (*codec.Hello, error) {
	client, err := p.connect(c.cfg.Dial)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.patience(c.cfg.Timeout))
	defer cancel()
	begun := time.Now()
	hello, err := client.Hello(ctx, codec.HelloRequest{
		ProtocolMin: codec.ProtocolMin, ProtocolLatest: codec.ProtocolLatest, Coordinator: c.cfg.Coordinator,
	})
	if err != nil {
		return nil, status.Wrap(status.Unavailable, err, "scanner at %s does not answer", p.addr)
	}
	p.took(time.Since(begun))
	return hello, nil
}

func (c *Catalog) log(p *peer, event string, err error) {
	line := c.cfg.Logger.Info()
	if err != nil {
		line = c.cfg.Logger.Warn().Err(err)
	}
	line.Str("scanner", p.name()).Str("addr", p.addr).Msg(event)
}

// publish builds a snapshot from what is known and swaps it in when it differs
// from the current one.
func (c *Catalog) publish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	views := make([]view, len(c.peers))
	states := ""
	for i, p := range c.peers {
		views[i] = p.view()
		states += views[i].fingerprint + "\n"
	}
	old := c.current.Load()
	if old != nil && states == c.states {
		return
	}
	next := merge(views)
	next.Version = 1
	if old != nil {
		next.Version = old.Version + 1
		c.logTables(old, next)
	}
	c.states = states
	c.current.Store(next)
	c.metrics.observe(next, c.cfg.Own)
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *Catalog) logTables(old, next *Snapshot) {
	for id, t := range next.Tables {
		was := old.Tables[id]
		if t.Err != nil && (was == nil || was.Err == nil || was.Err.Error() != t.Err.Error()) {
			c.cfg.Logger.Warn().Str("table", id).Err(t.Err).Msg("table is not usable")
		}
		if was == nil {
			c.cfg.Logger.Info().Str("table", id).Int("partitions", len(t.Partitions)).Msg("table added")
		}
	}
	for id := range old.Tables {
		if next.Tables[id] == nil {
			c.cfg.Logger.Info().Str("table", id).Msg("table removed")
		}
	}
}
