package main

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tributary-db/tributary/bench/serialpull"
)

func dialOptions() []grpc.DialOption {
	return append(serialpull.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// client is a connection with its session.
type client struct{ sql *flightsql.Client }

// connect opens a connection and changes settings: name, value, name, value, …
func connect(ctx context.Context, addr string, settings ...string) (*client, error) {
	sql, err := flightsql.NewClient(addr, nil, nil, dialOptions()...)
	if err != nil {
		return nil, err
	}
	c := &client{sql}
	for i := 0; i < len(settings); i += 2 {
		if _, err := c.drain(ctx, fmt.Sprintf("SET %s = '%s'", settings[i], settings[i+1])); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *client) close() { _ = c.sql.Close() }

// drain reads all rows of a statement.
func (c *client) drain(ctx context.Context, sql string) (rows int64, err error) {
	err = c.read(ctx, sql, func(b arrow.RecordBatch) error {
		rows += b.NumRows()
		return nil
	})
	return rows, err
}

func (c *client) read(ctx context.Context, sql string, use func(arrow.RecordBatch) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	info, err := c.sql.Execute(ctx, sql)
	if err != nil {
		return err
	}
	for _, e := range info.Endpoint {
		r, err := c.sql.DoGet(ctx, e.Ticket)
		if err != nil {
			return err
		}
		if err := each(r, use); err != nil {
			return err
		}
	}
	return nil
}

func each(r *flight.Reader, use func(arrow.RecordBatch) error) error {
	defer r.Release()
	for r.Next() {
		if err := use(r.RecordBatch()); err != nil {
			return err
		}
	}
	return r.Err()
}

// ready waits until a statement has an answer.
func ready(ctx context.Context, addr, sql string) error {
	c, err := connect(ctx, addr)
	if err != nil {
		return err
	}
	defer c.close()
	for range 100 {
		if _, err = c.drain(ctx, sql); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// fastest runs something once to warm up, and returns the least time of n more runs.
func fastest(n int, run func() error) (time.Duration, error) {
	if err := run(); err != nil {
		return 0, err
	}
	least := time.Duration(1<<63 - 1)
	for range n {
		begun := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		least = min(least, time.Since(begun))
	}
	return least, nil
}
