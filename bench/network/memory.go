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

// memoryUse measures the memory of all processes behind a client that reads a batch
// a second, a fast export, a query that streams all rows, and rows of 64 MB.
func memoryUse(ctx context.Context, o options) ([]result, error) {
	huge, err := o.hugeRows()
	if err != nil {
		return nil, err
	}
	limit := fmt.Sprintf("%dMiB", budget/mebibyte)
	c, err := o.startCluster(ctx, []string{"--memory", limit, "--table", "huge=" + huge}, []string{"--max-memory", limit})
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
		{"a full export", func() error { return drainOnce(ctx, c.coordinator.addr, everything) }},
		{"a heavy query, pushdown = off", func() error { return drainOnce(ctx, c.coordinator.addr, heavy, "pushdown", "off") }},
		{"rows of 64 MB", func() error { return drainOnce(ctx, c.coordinator.addr, "SELECT * FROM huge") }},
	} {
		peaks, err := c.peaks(w.run)
		if err != nil {
			return out, fmt.Errorf("%s: %w", w.name, err)
		}
		for i, who := range []string{"the coordinator", "the largest scanner"} {
			out = append(out, result{
				Name: w.name + ": " + who, Value: float64(peaks[i]) / mebibyte, Unit: "MiB",
				Ratio: float64(peaks[i]) / (budget + spare), Of: "of the budget", Target: "≤ 1",
			})
		}
	}
	return out, nil
}

// peaks is the most memory that the coordinator and any scanner had while run ran.
func (c *cluster) peaks(run func() error) (peaks [2]int64, err error) {
	all := append([]*process{c.coordinator}, c.scanners...)
	for _, p := range all {
		if err := p.resetPeakRSS(); err != nil {
			return peaks, err
		}
	}
	if err := run(); err != nil {
		return peaks, err
	}
	for i, p := range all {
		peak, err := p.peakRSS()
		if err != nil {
			return peaks, err
		}
		peaks[min(i, 1)] = max(peaks[min(i, 1)], peak)
	}
	return peaks, nil
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
