package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	mebibyte = 1 << 20
	// budget is what the servers are told to hold at most, and spare what a process
	// may take beyond.
	budget = 512 * mebibyte
	spare  = 150 * mebibyte
)

var errEnough = errors.New("enough")

// slowClient measures the memory of all processes behind a client that reads a batch
// a second, then behind a fast export and a query that streams all rows.
func slowClient(ctx context.Context, o options) ([]result, error) {
	limit := fmt.Sprintf("%dMiB", budget/mebibyte)
	c, err := o.startCluster(ctx, []string{"--memory", limit}, []string{"--max-memory", limit})
	if err != nil {
		return nil, err
	}
	defer c.stop()
	var out []result
	for _, w := range []struct {
		name string
		run  func() error
	}{
		{"a client that reads a batch a second", func() error { return o.readSlowly(ctx, c.coordinator.addr) }},
		{"then a full export", func() error { return drainOnce(ctx, c.coordinator.addr, everything) }},
		{"then a heavy query, pushdown = off", func() error { return drainOnce(ctx, c.coordinator.addr, heavy, "pushdown", "off") }},
	} {
		if err := w.run(); err != nil {
			return out, fmt.Errorf("%s: %w", w.name, err)
		}
		for i, p := range append([]*process{c.coordinator}, c.scanners...) {
			peak, err := p.peakRSS()
			if err != nil {
				return out, err
			}
			name := "coordinator"
			if i > 0 {
				name = fmt.Sprintf("scanner %d", i)
			}
			out = append(out, result{w.name + ": peak of the " + name, float64(peak) / mebibyte, "MiB", float64(peak) / (budget + spare), "of the budget", "≤ 1"})
		}
	}
	return out, nil
}

func drainOnce(ctx context.Context, addr, sql string, settings ...string) error {
	c, err := connect(ctx, addr, settings...)
	if err != nil {
		return err
	}
	defer c.close()
	_, err = c.drain(ctx, sql)
	return err
}

func (o options) readSlowly(ctx context.Context, addr string) error {
	c, err := connect(ctx, addr)
	if err != nil {
		return err
	}
	defer c.close()
	until := time.Now().Add(2 * o.load)
	err = c.read(ctx, everything, func(arrow.RecordBatch) error {
		time.Sleep(time.Second)
		if time.Now().After(until) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
