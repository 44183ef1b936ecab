package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown/status"
)

// queryCmd is `tributary query`.
type queryCmd struct {
	login
	Server  string            `help:"The coordinator: grpc://host:port, or grpc+tls://host:port." default:"grpc://127.0.0.1:8815"`
	Format  string            `help:"How rows are printed: table, csv, json (one object a line), arrow (IPC stream), parquet." default:"table" enum:"table,csv,json,arrow,parquet"`
	Set     map[string]string `help:"Session settings, such as pushdown=off." placeholder:"NAME=VALUE"`
	Timeout time.Duration     `help:"Give up after this time; 0 is never." default:"0"`
	SQL     string            `arg:"" optional:"" help:"The statement; without it a shell reads statements that end with a semicolon."`
}

// maxMessage is the largest message that is received: a single huge row
// travels alone.
const maxMessage = 512 << 20

// Run runs the statement, or the shell.
func (c *queryCmd) Run(ctx context.Context, out *console) (err error) {
	client, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if err := c.applySettings(ctx, client); err != nil {
		return err
	}
	if c.SQL != "" {
		return c.runOne(ctx, client, c.SQL, out)
	}
	return c.shell(ctx, client, out)
}

func (c *queryCmd) applySettings(ctx context.Context, client *flightsql.Client) error {
	for name, value := range c.Set {
		if _, err := client.Execute(ctx, fmt.Sprintf("SET %s = '%s'", name, strings.ReplaceAll(value, "'", "''"))); err != nil {
			return c.explain(err)
		}
	}
	return nil
}

// explain names the server in errors of the transport. What the coordinator says
// of its scanners has more before the transport's words.
func (c *queryCmd) explain(err error) error {
	err = grpcstatus.FromGRPC(err)
	if status.CodeOf(err) == status.Unavailable && strings.HasPrefix(err.Error(), "connection error") {
		return status.Wrap(status.Unavailable, err, "cannot reach the coordinator at %s: is it running?", c.Server)
	}
	return err
}

// runOne runs one statement and prints its rows.
func (c *queryCmd) runOne(ctx context.Context, client *flightsql.Client, sql string, out *console) error {
	if c.Timeout <= 0 {
		return c.stream(ctx, client, sql, out)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	err := c.stream(ctx, client, sql, out)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return status.Wrap(status.DeadlineExceeded, err, "gave up after --timeout %s", c.Timeout)
	}
	return err
}

// stream prints the rows of a statement as they arrive.
func (c *queryCmd) stream(ctx context.Context, client *flightsql.Client, sql string, out *console) error {
	p := startProgress(out.stderr)
	defer p.stop()
	info, err := client.Execute(ctx, sql)
	if err != nil {
		return c.explain(err)
	}
	w := newRowWriter(c.Format, out.stdout)
	for _, endpoint := range info.Endpoint {
		if err := c.printEndpoint(ctx, client, endpoint.Ticket, w, p); err != nil {
			return c.explain(err)
		}
	}
	p.stop()
	return w.end()
}

func (c *queryCmd) printEndpoint(ctx context.Context, client *flightsql.Client, ticket *flight.Ticket, w rowWriter, p *progress) error {
	reader, err := client.DoGet(ctx, ticket)
	if err != nil {
		return err
	}
	defer reader.Release()
	if err := w.begin(reader.Schema()); err != nil {
		return err
	}
	for reader.Next() {
		batch := reader.RecordBatch()
		p.add(batch.NumRows())
		p.clear()
		if err := w.write(batch); err != nil {
			return err
		}
	}
	return reader.Err()
}

// shell reads statements until the end of input. An interrupt cancels the
// running statement, or ends the shell when there is none.
func (c *queryCmd) shell(ctx context.Context, client *flightsql.Client, out *console) error {
	if out.interactive {
		_, _ = fmt.Fprintf(out.stderr, "tributary %s on %s. End a statement with a semicolon; \\q quits.\n", version, c.Server)
	}
	failed := false
	for sql := range statements(out) {
		if sql == `\q` {
			return nil
		}
		if err := c.shellOne(ctx, client, sql, out); err != nil {
			failed = true
			_, _ = fmt.Fprintln(out.stderr, "error:", err)
		}
		if ctx.Err() != nil && !out.interactive {
			return ctx.Err()
		}
	}
	if failed && !out.interactive {
		return status.New(status.Unknown, "a statement failed")
	}
	return nil
}

func (c *queryCmd) shellOne(ctx context.Context, client *flightsql.Client, sql string, out *console) error {
	if out.interactive {
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
		defer stop()
	}
	return c.runOne(ctx, client, sql, out)
}

// statements yields the statements of the input, without their semicolons.
func statements(out *console) func(func(string) bool) {
	return func(yield func(string) bool) {
		in := newStatementReader(out.stdin)
		for {
			if out.interactive {
				_, _ = io.WriteString(out.stderr, in.prompt())
			}
			sql, err := in.next()
			if sql != "" && !yield(sql) || err != nil {
				return
			}
		}
	}
}
