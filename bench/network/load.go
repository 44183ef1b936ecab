package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/cmd/vqueue"
)

const (
	small = "SELECT status, COUNT(*), MAX(created_at) FROM small WHERE num_inbox >= %d GROUP BY status"
	heavy = "SELECT status, service_name, COUNT(*), SUM(num_inbox), MAX(created_at) FROM " + vqueue.Table + " GROUP BY status, service_name"
	// besides is the number of clients beside a heavy query.
	besides = 4
)

// load measures small queries at growing numbers of clients, and beside heavy ones.
func load(ctx context.Context, o options) ([]result, error) {
	c, err := o.startCluster(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	defer c.stop()
	var out []result
	best, beside := 0.0, time.Duration(0)
	for _, n := range []int{1, 4, 16, 64} {
		l, err := o.press(ctx, c.coordinator.addr, n)
		if err != nil {
			return out, err
		}
		best = max(best, l.rate)
		if n == besides {
			beside = l.at(99)
		}
		name := fmt.Sprintf("small queries, %d clients", n)
		r := result{Name: name + ", a second", Value: l.rate, Unit: "/s"}
		aims := [2]string{}
		switch n {
		case 1:
			aims = [2]string{"≤ 3 ms", "≤ 10 ms"}
		case 64:
			r.Ratio, r.Of, r.Target = l.rate/best, "of the best", "≥ 0.9"
		}
		out = append(out, r, l.line(name, 50, aims[0]), l.line(name, 99, aims[1]))
	}
	l, err := o.pressBeside(ctx, c.coordinator.addr)
	if err != nil {
		return out, err
	}
	r := l.line(fmt.Sprintf("small queries, %d clients beside a heavy one", besides), 99, "≤ 5")
	r.Ratio, r.Of = l.at(99).Seconds()/beside.Seconds(), "times that without"
	return append(out, l.line(r.Name[:len(r.Name)-len(", p99")], 50, ""), r), nil
}

// pressure is what clients measured.
type pressure struct {
	rate  float64
	times []time.Duration // sorted
}

func (p *pressure) at(percent int) time.Duration { return p.times[(len(p.times)-1)*percent/100] }

func (p *pressure) line(name string, percent int, aim string) result {
	return result{Name: fmt.Sprintf("%s, p%d", name, percent), Value: p.at(percent).Seconds() * 1000, Unit: "ms", Target: aim}
}

// press lets n clients ask as fast as they are answered.
func (o options) press(ctx context.Context, addr string, n int) (*pressure, error) {
	var asked atomic.Int64
	times := make([][]time.Duration, n)
	group, ctx := errgroup.WithContext(ctx)
	warm := time.Now().Add(o.load / 5)
	end := warm.Add(o.load)
	for i := range n {
		group.Go(func() error {
			c, err := connect(ctx, addr)
			if err != nil {
				return err
			}
			defer c.close()
			for time.Now().Before(end) {
				begun := time.Now()
				if _, err := c.drain(ctx, fmt.Sprintf(small, asked.Add(1)%1000)); err != nil {
					return err
				}
				if begun.After(warm) {
					times[i] = append(times[i], time.Since(begun))
				}
			}
			return nil
		})
	}
	err := group.Wait()
	p := &pressure{times: slices.Concat(times...)}
	slices.Sort(p.times)
	p.rate = float64(len(p.times)) / o.load.Seconds()
	if err == nil && len(p.times) == 0 {
		err = fmt.Errorf("no query of %d clients ended", n)
	}
	return p, err
}

// pressBeside does so while another client runs a heavy query again and again, all
// of it in the coordinator.
func (o options) pressBeside(ctx context.Context, addr string) (*pressure, error) {
	c, err := connect(ctx, addr, "pushdown", "off")
	if err != nil {
		return nil, err
	}
	defer c.close()
	busy, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		for busy.Err() == nil {
			if _, err := c.drain(busy, heavy); err != nil && busy.Err() == nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	p, err := o.press(ctx, addr, besides)
	stop()
	if heavyErr := <-failed; err == nil {
		err = heavyErr
	}
	return p, err
}
