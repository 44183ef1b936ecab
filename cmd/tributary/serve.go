package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/pushdown/status"
	webconsole "github.com/tributary-db/tributary/server/console"
)

// logger writes structured lines to w.
func (c common) logger(w io.Writer) zerolog.Logger {
	if c.LogFormat == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	level, err := zerolog.ParseLevel(c.LogLevel)
	if err != nil { // the flag is an enum
		level = zerolog.InfoLevel
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// newRegistry returns a registry with the metrics of the Go process.
func newRegistry() *prometheus.Registry {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

func listen(addr string) (net.Listener, error) {
	lis, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, status.Wrap(status.FailedPrecondition, err, "cannot listen on %s: choose another address", addr)
	}
	return lis, nil
}

// node is what a server command serves.
type node struct {
	http     string
	registry *prometheus.Registry
	ready    func() error
	queries  func(*http.Request) (any, error) // nil for none
	serve    func(context.Context, net.Listener) error
	log      zerolog.Logger
}

// run serves lis and, unless http is empty, the console, until ctx is done.
func (n node) run(ctx context.Context, lis net.Listener) error {
	group, ctx := errgroup.WithContext(ctx)
	if n.http != "" {
		web, err := listen(n.http)
		if err != nil {
			return errors.Join(err, lis.Close())
		}
		n.log.Info().Str("metrics", "http://"+web.Addr().String()+"/metrics").Msg("HTTP is up")
		group.Go(func() error { return n.serveHTTP(ctx, web) })
	}
	group.Go(func() error { return n.serve(ctx, lis) })
	return group.Wait()
}

func (n node) serveHTTP(ctx context.Context, lis net.Listener) error {
	srv := webconsole.NewServer(webconsole.Config{Gatherer: n.registry, Ready: n.ready, Queries: n.queries})
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(lis); !errors.Is(err, http.ErrServerClosed) {
		return status.Wrap(status.Unavailable, err, "cannot serve HTTP on %s", lis.Addr())
	}
	return nil
}
