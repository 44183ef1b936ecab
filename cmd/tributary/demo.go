package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/cmd/vqueue"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/scanner/duckdb"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
)

// demoCmd is `tributary demo`.
type demoCmd struct {
	Dir    string `help:"Where the data is kept; the default is the user's cache directory." placeholder:"DIR"`
	Rows   int    `help:"Rows in all partitions." default:"6400000"`
	Listen string `help:"Address for Flight SQL clients." default:"127.0.0.1:8815"`
	HTTP   string `name:"http" help:"Address for /metrics; empty for none." default:"127.0.0.1:8080"`
	Serve  bool   `help:"Stay up after the comparison, until interrupted."`
}

// demoScanners is the number of scanner nodes.
const demoScanners = 3

const demoSQL = "SELECT scope, COUNT(*) AS queues FROM vqueue_meta GROUP BY scope ORDER BY queues DESC LIMIT 10"

// Run generates the data, starts three scanners and a coordinator, and compares
// pushdown with streaming rows.
func (c *demoCmd) Run(ctx context.Context, out *console) (err error) {
	layout, dir, err := c.data(out)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		err = errors.Join(err, group.Wait())
	}()
	addrs, err := startDemoScanners(ctx, group, layout, dir)
	if err != nil {
		return err
	}
	registry := newRegistry()
	lis, err := listen(c.Listen)
	if err != nil {
		return err
	}
	if err := c.startCoordinator(ctx, group, lis, registry, addrs, out); err != nil {
		return err
	}
	if err := c.compare(ctx, lis.Addr().String(), registry, out); err != nil {
		return err
	}
	out.printf("%s", connectText(lis.Addr().String(), c.HTTP, c.Serve))
	if c.Serve {
		<-ctx.Done()
	}
	return nil
}

func (o *console) printf(format string, args ...any) { _, _ = fmt.Fprintf(o.stdout, format, args...) }

// data writes the demo's files unless they are there.
func (c *demoCmd) data(out *console) (vqueue.Layout, string, error) {
	layout := vqueue.Default()
	if c.Rows < layout.Partitions {
		return layout, "", status.New(status.InvalidArgument, "--rows %d: at least %d, one a partition", c.Rows, layout.Partitions)
	}
	layout.Hot = int(int64(layout.Hot) * int64(c.Rows) / int64(layout.Rows))
	layout.Rows = c.Rows
	dir := c.Dir
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return layout, "", status.Wrap(status.FailedPrecondition, err, "no cache directory is known: choose one with --dir")
		}
		dir = filepath.Join(cache, "tributary", "demo")
	}
	dir = filepath.Join(dir, fmt.Sprintf("%s-%d", vqueue.Table, layout.Rows))
	out.printf("Data: %d rows in %d Parquet files (one of %d rows) under %s\n", layout.Rows, layout.Partitions, layout.Hot, dir)
	begun := time.Now()
	wrote, err := layout.Write(dir)
	if wrote {
		out.printf("      generated in %.1f s\n", time.Since(begun).Seconds())
	}
	return layout, dir, err
}

// startDemoScanners starts the scanner nodes, each with every third partition.
func startDemoScanners(ctx context.Context, group *errgroup.Group, layout vqueue.Layout, dir string) ([]string, error) {
	var addrs []string
	for i := range demoScanners {
		lis, err := listen("127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		var parts []duckdb.PartitionConfig
		for p := i; p < layout.Partitions; p += demoScanners {
			parts = append(parts, duckdb.PartitionConfig{ID: fmt.Sprintf("%02d", p), Files: []string{filepath.Join(dir, vqueue.FileName(p))}})
		}
		name := fmt.Sprintf("s%d", i+1)
		group.Go(func() error { return serveDemoScanner(ctx, lis, name, parts) })
		addrs = append(addrs, lis.Addr().String())
	}
	return addrs, nil
}

func serveDemoScanner(ctx context.Context, lis net.Listener, name string, parts []duckdb.PartitionConfig) (err error) {
	db, err := duckdb.NewEngine(duckdb.EngineConfig{})
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	source, err := duckdb.New(duckdb.Config{Engine: db, Partitions: parts})
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	s, err := scanner.New(scanner.Config{Name: name, Tables: []scanner.Table{{Schema: "main", Name: vqueue.Table, Source: source}}, Logger: zerolog.Nop()})
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Serve(ctx, lis)
}

func (c *demoCmd) startCoordinator(ctx context.Context, group *errgroup.Group, lis net.Listener, registry *prometheus.Registry, scanners []string, out *console) error {
	cfg := server.Config{
		Scanners: scanners, Version: version, Registry: registry, Logger: zerolog.New(out.stderr).Level(zerolog.WarnLevel).With().Timestamp().Logger(),
		Engine: engine.Config{Warm: 2},
	}
	endSystem, err := serveSystem(&cfg)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	coordinator, err := server.New(ctx, cfg)
	if err != nil {
		return errors.Join(err, endSystem(), lis.Close())
	}
	waitCtx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := coordinator.Catalog().WaitReady(waitCtx); err != nil {
		if ctx.Err() != nil {
			err = status.New(status.Canceled, "interrupted while the demo was starting")
		}
		return errors.Join(err, coordinator.Close(), endSystem(), lis.Close())
	}
	group.Go(func() (err error) {
		defer func() { err = errors.Join(err, coordinator.Close(), endSystem()) }()
		return node{http: c.HTTP, registry: registry, ready: coordinator.Ready, queries: queriesOf(coordinator), log: zerolog.Nop(),
			serve: func(ctx context.Context, l net.Listener) error { return coordinator.Serve(ctx, l) }}.run(ctx, lis)
	})
	return nil
}

// measured is one run of the demo's statement.
type measured struct {
	elapsed     time.Duration
	rows, bytes float64
}

// compare runs the statement at both ends of the ladder, each twice: the first
// run reads the files into the page cache.
func (c *demoCmd) compare(ctx context.Context, addr string, registry *prometheus.Registry, out *console) error {
	out.printf("\n%s\n\n", demoSQL)
	var runs []measured
	for _, level := range []string{"off", "full"} {
		q := &queryCmd{Server: "grpc://" + addr, Format: "table", Set: map[string]string{"pushdown": level}, SQL: demoSQL}
		quiet := *out
		quiet.stdout = &strings.Builder{}
		if err := q.Run(ctx, &quiet); err != nil {
			return err
		}
		if level == "full" {
			quiet.stdout = out.stdout
		}
		before := gather(registry)
		begun := time.Now()
		if err := q.Run(ctx, &quiet); err != nil {
			return err
		}
		after := gather(registry)
		runs = append(runs, measured{time.Since(begun), after.rows - before.rows, after.bytes - before.bytes})
	}
	out.printf("\n%-28s %10s %14s %14s\n", "", "time", "rows moved", "bytes moved")
	for i, name := range []string{"streaming rows (off)", "with pushdown (full)"} {
		out.printf("%-28s %7.1f ms %14.0f %14.0f\n", name, float64(runs[i].elapsed.Microseconds())/1000, runs[i].rows, runs[i].bytes)
	}
	out.printf("%-28s %8.1f x\n\n", "faster by", float64(runs[0].elapsed)/float64(runs[1].elapsed))
	explain := &queryCmd{Server: "grpc://" + addr, Format: "table", SQL: "EXPLAIN ANALYZE " + demoSQL}
	return explain.Run(ctx, out)
}

// gather reads what the coordinator has received so far.
func gather(registry *prometheus.Registry) (m measured) {
	families, err := registry.Gather()
	if err != nil {
		return m
	}
	for _, f := range families {
		switch f.GetName() {
		case "tributary_coordinator_rows_received_total":
			m.rows = f.GetMetric()[0].GetCounter().GetValue()
		case "tributary_coordinator_bytes_received_total":
			m.bytes = f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return m
}

func connectText(addr, http string, serving bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
Connect from Python (pip install adbc-driver-flightsql pyarrow):

    import adbc_driver_flightsql.dbapi as flightsql
    with flightsql.connect("grpc://%s") as conn, conn.cursor() as cur:
        cur.execute("SELECT status, COUNT(*) FROM vqueue_meta GROUP BY status")
        print(cur.fetchallarrow())

From the shell:  tributary query --server grpc://%s 'SELECT COUNT(*) FROM vqueue_meta'
`, addr, addr)
	if http != "" {
		fmt.Fprintf(&b, "Metrics:         http://%s/metrics\n", http)
	}
	if serving {
		b.WriteString("\nServing until interrupted (Ctrl-C).\n")
	} else {
		b.WriteString("\nThe demo has ended; keep it up with: tributary demo --serve\n")
	}
	return b.String()
}
