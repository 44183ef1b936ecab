package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/cmd/vqueue"
)

// What the clients of a soak ask beside small, heavy, seed and everything.
const (
	soakLimit = "SELECT * FROM " + vqueue.Table + " LIMIT 100"
	soakTop   = "SELECT id, created_at FROM " + vqueue.Table + " WHERE status = 'backing-off' ORDER BY created_at DESC, id LIMIT 20"
	soakJoin  = "SELECT l.scope, COUNT(*) FROM " + vqueue.Table + " l JOIN small s ON l.id = s.id WHERE s.num_inbox >= 3 GROUP BY l.scope"
)

// growthShare and growthBytes are what a server's memory may differ by between an
// early and a late quarter of a soak: less is how full its heap happens to be.
const (
	growthShare = 0.05
	growthBytes = 16 * mebibyte
)

// soakMemory is the coordinator's: up to two clients at once need the engine, which
// takes 256 MiB for each.
const soakMemory = 2 * budget

func mebibytes(n int64) string { return fmt.Sprintf("%dMiB", n/mebibyte) }

// soak lets a mix of clients ask for a long time and says whether the memory of the
// servers grows.
func soak(ctx context.Context, o options) ([]result, error) {
	c, err := o.startCluster(ctx, []string{"--memory", mebibytes(budget)}, []string{"--max-memory", mebibytes(soakMemory)})
	if err != nil {
		return nil, err
	}
	defer c.stop()
	all := append([]*process{c.coordinator}, c.scanners...)
	resident := make([][]int64, len(all))
	ctx, cancel := context.WithCancelCause(ctx) // not a deadline, of which the servers would know
	defer time.AfterFunc(o.soak, func() { cancel(errSoaked) }).Stop()
	group, ctx := errgroup.WithContext(ctx)
	asked := make([]atomic.Int64, len(soakClients))
	for i, client := range soakClients {
		group.Go(func() error { return unlessOver(ctx, client.run(ctx, c.coordinator.addr, &asked[i])) })
	}
	group.Go(func() error { return sample(ctx, all, resident) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var out []result
	for i, client := range soakClients {
		out = append(out, result{Name: "soak, " + client.name + ": statements", Value: float64(asked[i].Load()), Unit: "in all"})
	}
	for i := range all {
		name := "the coordinator"
		if i > 0 {
			name = fmt.Sprintf("scanner %d", i)
		}
		r, growErr := growth(resident[i])
		r.Name = "soak, resident memory of " + name + ", late against early"
		out = append(out, r)
		err = errors.Join(err, growErr)
	}
	return out, err
}

// errSoaked ends a soak.
var errSoaked = errors.New("the soak is over")

// unlessOver is err, or nil when the soak is over.
func unlessOver(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSoaked) {
		return nil
	}
	return err
}

// sample notes the resident memory of processes every second.
func sample(ctx context.Context, all []*process, into [][]int64) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for i, p := range all {
			rss, err := p.memory("VmRSS:")
			if err != nil {
				return err
			}
			into[i] = append(into[i], rss)
		}
	}
}

// growth compares the second quarter of samples with the last one: in the first
// the caches fill.
func growth(samples []int64) (result, error) {
	if len(samples) < 8 {
		return result{}, fmt.Errorf("%d samples are too few", len(samples))
	}
	n := len(samples)
	early, late := median(samples[n/4:n/2]), median(samples[n*3/4:])
	r := result{
		Value: float64(late-early) / mebibyte, Unit: "MiB", Ratio: float64(late) / float64(early), Of: "of the early",
		Target: fmt.Sprintf("≤ %.2f, or %d MiB", 1+growthShare, growthBytes/mebibyte), Verdict: "flat",
	}
	if most := max(growthShare*float64(early), growthBytes); float64(late-early) > most {
		r.Verdict = "grows"
		return r, fmt.Errorf("memory grew from %d to %d MiB", early/mebibyte, late/mebibyte)
	}
	return r, nil
}

func median(samples []int64) int64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}

// soakClient asks until ctx ends and counts its statements.
type soakClient struct {
	name string
	run  func(ctx context.Context, addr string, asked *atomic.Int64) error
}

var soakClients = []soakClient{
	{"small queries", repeat("", func(n int64) string { return fmt.Sprintf(small, n%1000) })},
	{"small queries, another client", repeat("", func(n int64) string { return fmt.Sprintf(small, n*7%1000) })},
	{"small queries, a connection each", reconnect},
	{"the large table grouped, its rows, a join", repeat("", func(n int64) string { return []string{seed, soakLimit, soakTop, soakJoin}[n%4] })},
	{"pushdown = off", repeat("off", func(int64) string { return heavy })},
	{"exports, every other one given up", abandon},
}

// repeat asks one statement after the other on one connection.
func repeat(pushdown string, sql func(n int64) string) func(context.Context, string, *atomic.Int64) error {
	var settings []string
	if pushdown != "" {
		settings = []string{"pushdown", pushdown}
	}
	return func(ctx context.Context, addr string, asked *atomic.Int64) error {
		c, err := connect(ctx, addr, settings...)
		if err != nil {
			return err
		}
		defer c.close()
		for ctx.Err() == nil {
			if _, err := c.drain(ctx, sql(asked.Load())); err != nil {
				return err
			}
			asked.Add(1)
		}
		return nil
	}
}

func reconnect(ctx context.Context, addr string, asked *atomic.Int64) error {
	for ctx.Err() == nil {
		if err := drainOnce(ctx, addr, fmt.Sprintf(small, asked.Load()%1000)); err != nil {
			return err
		}
		asked.Add(1)
	}
	return nil
}

// abandon reads everything, and every second time only the beginning.
func abandon(ctx context.Context, addr string, asked *atomic.Int64) error {
	c, err := connect(ctx, addr)
	if err != nil {
		return err
	}
	defer c.close()
	for ctx.Err() == nil {
		batches, most := 0, 0
		if asked.Load()%2 == 1 {
			most = 10
		}
		err := c.read(ctx, everything, func(arrow.RecordBatch) error {
			if batches++; batches == most {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		asked.Add(1)
	}
	return nil
}
