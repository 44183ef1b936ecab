package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/access"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/budget"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/flightsql"
	"github.com/tributary-db/tributary/server/query"
)

// Config configures a Coordinator.
type Config struct {
	// Scanners are the addresses (host:port) of the scanner nodes.
	Scanners []string
	// Own are addresses of nodes that belong to this coordinator and that Dial knows.
	// They are read like scanners, and count as none.
	Own []string
	// History keeps the queries; nil makes one.
	History *query.History
	// Dial connects to a scanner; nil uses codec.Dial.
	Dial func(addr string) (*codec.Client, error)
	// Refresh is how often the scanners are asked for changes; 0 is 2 s.
	Refresh time.Duration
	// Compression is what scanners may do to what they send, unless a session says
	// otherwise.
	Compression codec.Compression
	// MaxQueries, AdmissionTimeout and MaxMemory bound all queries together, see
	// budget.Config; zero is no bound. A query's memory in the engine is part of it.
	MaxQueries       int
	AdmissionTimeout time.Duration
	MaxMemory        int64
	// Engine configures the embedded DuckDB.
	Engine engine.Config
	// Key seals handles and tickets, TicketLife and PreparedLife bound their use;
	// see flightsql.Config.
	Key                      []byte
	TicketLife, PreparedLife time.Duration
	// Secret is shared with the scanners, see flightsql.Config.
	Secret *secure.Secret
	// SessionIdle bounds the rest of a session, see flightsql.Config.
	SessionIdle time.Duration
	// Access says what each user may read; nil lets everybody read everything.
	Access *secure.File[*access.Policy]
	// MaxUserQueries bounds the queries that a user runs at once; 0 is no limit.
	MaxUserQueries int
	// MaxUserMemory bounds what the queries of a user hold together; 0 is no limit.
	MaxUserMemory int64
	// Auth knows who makes a call; nil lets everybody in.
	Auth *auth.Authenticator
	// Version is reported to clients.
	Version string
	// Alloc allocates results; nil is the default allocator.
	Alloc memory.Allocator
	// Chaos is for tests, see exec.Config.
	Chaos *exec.Chaos
	// Registry receives the metrics; nil makes a private one.
	Registry prometheus.Registerer
	// Logger receives a line per query and per change of the federation.
	Logger zerolog.Logger
}

// Coordinator is a running coordinator.
type Coordinator struct {
	cfg     Config
	catalog *catalog.Catalog
	binder  *engine.Binder
	pool    *engine.Pool
	flight  *flightsql.Server
	service *query.Service
	access  *access.Control
}

// New starts a coordinator; it begins to greet its scanners at once. The
// caller closes it.
func New(ctx context.Context, cfg Config) (*Coordinator, error) {
	if cfg.Alloc == nil {
		cfg.Alloc = memory.DefaultAllocator
	}
	if cfg.Registry == nil {
		cfg.Registry = prometheus.NewRegistry()
	}
	c := &Coordinator{cfg: cfg}
	if err := c.build(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.catalog.Start(ctx)
	return c, nil
}

func (c *Coordinator) build() (err error) {
	if c.binder, err = engine.NewBinder(); err != nil {
		return err
	}
	if most := c.cfg.MaxMemory * 3 / 8; most > 0 && (c.cfg.Engine.MemoryLimit == 0 || c.cfg.Engine.MemoryLimit > most) {
		c.cfg.Engine.MemoryLimit = most // for two at once, and a quarter for what scanners send
	}
	if most := c.cfg.MaxUserMemory / 2; most > 0 && (c.cfg.Engine.MemoryLimit == 0 || c.cfg.Engine.MemoryLimit > most) {
		c.cfg.Engine.MemoryLimit = most
	}
	if c.pool, err = engine.New(c.cfg.Engine); err != nil {
		return err
	}
	c.catalog = catalog.New(catalog.Config{
		Scanners: c.cfg.Scanners, Own: c.cfg.Own, Refresh: c.cfg.Refresh, Dial: c.cfg.Dial,
		Logger: c.cfg.Logger, Registry: c.cfg.Registry,
	})
	executor := exec.New(exec.Config{
		Budget: budget.New(budget.Config{
			MaxQueries: c.cfg.MaxQueries, Timeout: c.cfg.AdmissionTimeout, MaxMemory: c.cfg.MaxMemory, MaxUserMemory: c.cfg.MaxUserMemory,
			EngineMemory: c.cfg.Engine.MemoryLimit, Registry: c.cfg.Registry,
		}),
		Engine: c.pool, Local: c.binder, Catalog: c.catalog, Alloc: c.cfg.Alloc,
		Compression: c.cfg.Compression, Chaos: c.cfg.Chaos, Logger: c.cfg.Logger, Registry: c.cfg.Registry,
	})
	var scopes func(context.Context) (*query.Scope, error)
	if c.cfg.Access != nil {
		c.access = access.New(access.Config{Policy: c.cfg.Access, Snapshot: c.catalog.Snapshot, Binder: c.binder, Logger: c.cfg.Logger})
		scopes = c.access.Scope
	}
	c.service = query.New(query.Config{
		Scopes: scopes, History: c.cfg.History, MaxUserQueries: c.cfg.MaxUserQueries,
		Catalog: c.catalog, Binder: c.binder, Executor: executor,
		Alloc: c.cfg.Alloc, Registry: c.cfg.Registry, Logger: c.cfg.Logger,
	})
	c.flight, err = flightsql.New(flightsql.Config{
		Service: c.service, Auth: c.cfg.Auth, Version: c.cfg.Version, Alloc: c.cfg.Alloc, Logger: c.cfg.Logger,
		Key: c.cfg.Key, Secret: c.cfg.Secret, Ready: c.Ready, TicketLife: c.cfg.TicketLife, PreparedLife: c.cfg.PreparedLife, SessionIdle: c.cfg.SessionIdle,
	})
	return err
}

// Service runs statements without a network, for tools in the same process.
func (c *Coordinator) Service() *query.Service { return c.service }

// Catalog is the coordinator's catalog.
func (c *Coordinator) Catalog() *catalog.Catalog { return c.catalog }

// Ready returns why the coordinator cannot answer queries over all its tables
// now, or nil.
func (c *Coordinator) Ready() error {
	if len(c.cfg.Scanners) == 0 {
		return status.New(status.FailedPrecondition, "no scanner is configured: start with --scanner host:port")
	}
	return c.catalog.Snapshot().Usable()
}

// HTTP is the context of an HTTP request, with the user who makes it.
func (c *Coordinator) HTTP(r *http.Request) (context.Context, error) {
	if c.cfg.Auth == nil {
		return r.Context(), nil
	}
	return c.cfg.Auth.HTTP(r)
}

// Queries are the last queries of the user who asks, the last one first, as JSON
// shows them.
func (c *Coordinator) Queries(ctx context.Context) any {
	return c.service.History().RecordsOf(auth.UserOf(ctx).Name)
}

// grace is how long queries may go on after the server was asked to stop.
const grace = 5 * time.Second

// Serve serves Flight SQL on lis until ctx is done; then new calls are refused
// and running queries get a grace period before they are cancelled.
func (c *Coordinator) Serve(ctx context.Context, lis net.Listener, opts ...grpc.ServerOption) error {
	g := c.flight.GRPCServer(opts...)
	warm, cool := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { c.flight.KeepWarm(warm) })
	defer background.Wait()
	defer cool()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		timer := time.AfterFunc(grace, g.Stop)
		g.GracefulStop()
		timer.Stop()
	}()
	err := g.Serve(lis)
	if ctx.Err() != nil {
		<-stopped
		return nil
	}
	g.Stop()
	return status.Wrap(status.Unavailable, err, "cannot serve on %s", lis.Addr())
}

// Close ends the coordinator and everything it holds.
func (c *Coordinator) Close() error {
	if c.catalog != nil {
		c.catalog.Close()
	}
	var errs []error
	if c.pool != nil {
		errs = append(errs, c.pool.Close())
	}
	if c.access != nil {
		c.access.Close()
	}
	if c.binder != nil {
		errs = append(errs, c.binder.Close())
	}
	return errors.Join(errs...)
}
