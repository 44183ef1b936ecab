package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
)

// coordinatorCmd is `tributary coordinator`.
type coordinatorCmd struct {
	common
	serverTLS
	scannerLink
	callers
	queryLimits
	Listen        string        `help:"Address for Flight SQL clients." default:"127.0.0.1:8815"`
	HTTP          string        `name:"http" help:"Address for /metrics, /healthz, /readyz and /queries; empty for none." default:"127.0.0.1:8080"`
	Scanner       []string      `help:"Address of a scanner; repeat for each." placeholder:"HOST:PORT"`
	Refresh       time.Duration `help:"How often scanners are asked for changes." default:"2s"`
	Threads       int           `help:"DuckDB threads a query; 0 is one a core." default:"0"`
	QueryMemory   byteSize      `help:"DuckDB memory a query; beyond it spills." default:"2GiB"`
	MaxQueries    int           `help:"Queries that run in DuckDB at once; others wait." default:"16"`
	TempDir       string        `help:"Where DuckDB spills; the default is the system's."`
	MaxSpillBytes byteSize      `help:"Largest spill of one query." default:"20GiB"`
	HandleKey     string        `help:"Secret that seals tickets, prepared statements and session cookies (16 characters or more); coordinators that share it serve each other's." placeholder:"SECRET"`
	TicketLife    time.Duration `help:"How long the result of a statement may be fetched after it was planned." default:"1h"`
	PreparedLife  time.Duration `help:"How long a prepared statement may be executed." default:"168h"`
	SessionIdle   time.Duration `help:"How long the session of a client that keeps cookies may rest." default:"8h"`
}

// queriesOf shows a user who says who he is his own queries.
func queriesOf(c *server.Coordinator) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		ctx, err := c.HTTP(r)
		if err != nil {
			return nil, err
		}
		return c.Queries(ctx), nil
	}
}

// Run serves until ctx is done.
func (c *coordinatorCmd) Run(ctx context.Context, out *console) (err error) {
	log := c.logger(out.stderr)
	registry := newRegistry()
	opts, err := c.options(log)
	if err != nil {
		return err
	}
	secret, err := readSecret(c.SecretFile, log)
	if err != nil {
		return err
	}
	dial, err := c.dialer(secret, log)
	if err != nil {
		return err
	}
	authenticator, err := c.authenticator(ctx, c.HandleKey, c.TLSClientCA != "", log)
	if err != nil {
		return err
	}
	policy, err := c.policy(log)
	if err != nil {
		return err
	}
	lis, err := listen(c.Listen)
	if err != nil {
		return err
	}
	cfg := server.Config{
		Scanners: c.Scanner, Dial: dial, Auth: authenticator, Access: policy, MaxUserQueries: c.MaxUserQueries, MaxUserMemory: int64(c.MaxUserMemory), Refresh: c.Refresh, Key: []byte(c.HandleKey), Secret: secret, TicketLife: c.TicketLife, PreparedLife: c.PreparedLife, SessionIdle: c.SessionIdle, Version: version, Registry: registry, Logger: log,
		Engine: engine.Config{
			Threads: c.Threads, MemoryLimit: int64(c.QueryMemory), TempDir: c.TempDir,
			MaxTempBytes: int64(c.MaxSpillBytes), Warm: 2, MaxOpen: c.MaxQueries,
		},
	}
	if err := c.apply(&cfg); err != nil {
		return errors.Join(err, lis.Close())
	}
	endSystem, err := serveSystem(&cfg)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer func() { err = errors.Join(err, endSystem()) }()
	limitHeap(c.MaxMemory)
	coordinator, err := server.New(ctx, cfg)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer func() { err = errors.Join(err, coordinator.Close()) }()
	warnHTTP(log, c.HTTP, authenticator.Required())
	warnOpen(log, c.Listen, c.on(), authenticator.Required())
	log.Info().Str("version", version).Strs("scanners", c.Scanner).Str("uri", c.uri(lis.Addr())).Msg("coordinator is up")
	return node{http: c.HTTP, registry: registry, ready: coordinator.Ready, queries: queriesOf(coordinator), log: log,
		serve: func(ctx context.Context, l net.Listener) error { return coordinator.Serve(ctx, l, opts...) }}.run(ctx, lis)
}
