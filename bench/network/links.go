package main

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tributary-db/tributary/bench/netem"
	"github.com/tributary-db/tributary/bench/serialpull"
	"github.com/tributary-db/tributary/cmd/vqueue"
)

const (
	gigabit    = 125_000_000 // bytes per second
	seed       = "SELECT scope, COUNT(*) FROM " + vqueue.Table + " GROUP BY scope"
	everything = "SELECT * FROM " + vqueue.Table
	// pullTime is how long the serial pull may take before its rate is known.
	pullTime = 3 * time.Second
)

// bench is one link with everything behind it.
type bench struct {
	options
	name       string
	link       netem.Link
	scanner    *netem.Proxy // of Tributary's scanner
	pages      *netem.Proxy // of the serial pull, and of the bare DoGet
	flight     flight.Client
	full, off  *client
	raw, plain *client
	results    []result
	closing    []func()
}

// links measures over each link the same scanner, coordinator and peers.
func links(ctx context.Context, o options) ([]result, error) {
	memory, scanner, pages, err := o.startMemory()
	if err != nil {
		return nil, err
	}
	defer memory.stop()
	var all []result
	for _, l := range []struct {
		name string
		link netem.Link
	}{
		{"540 µs", netem.Link{Delay: 270 * time.Microsecond}},
		{"540 µs, 1 Gbit/s", netem.Link{Delay: 270 * time.Microsecond, BytesPerSecond: gigabit}},
		{"10 ms, 1 Gbit/s", netem.Link{Delay: 5 * time.Millisecond, BytesPerSecond: gigabit}},
	} {
		b := &bench{options: o, name: l.name, link: l.link}
		err := b.start(ctx, scanner, pages)
		if err == nil {
			err = b.measure(ctx)
		}
		b.close()
		all = append(all, b.results...)
		if err != nil {
			return all, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return all, nil
}

func (b *bench) close() {
	for i := len(b.closing) - 1; i >= 0; i-- {
		b.closing[i]()
	}
}

// start puts the link before the scanner and the peers, and connects.
func (b *bench) start(ctx context.Context, scanner, pages string) (err error) {
	if b.scanner, err = netem.Listen(scanner, b.link); err != nil {
		return err
	}
	b.closing = append(b.closing, func() { _ = b.scanner.Close() })
	if b.pages, err = netem.Listen(pages, b.link); err != nil {
		return err
	}
	b.closing = append(b.closing, func() { _ = b.pages.Close() })
	coordinator, err := b.startTributary("links", "coordinator", "--scanner", b.scanner.Addr())
	if err != nil {
		return err
	}
	b.closing = append(b.closing, coordinator.stop)
	if err := ready(ctx, coordinator.addr, "SELECT scope FROM "+vqueue.Table+" LIMIT 1"); err != nil {
		return err
	}
	for _, c := range []struct {
		to       **client
		settings []string
	}{
		{&b.full, nil}, {&b.off, []string{"pushdown", "off"}},
		{&b.raw, []string{"result_types", "raw"}}, {&b.plain, []string{"result_types", "raw", "compression", "none"}},
	} {
		if *c.to, err = connect(ctx, coordinator.addr, c.settings...); err != nil {
			return err
		}
		b.closing = append(b.closing, (*c.to).close)
	}
	b.flight, err = flight.NewClientWithMiddleware(b.pages.Addr(), nil, nil, dialOptions()...)
	b.closing = append(b.closing, func() { _ = b.flight.Close() })
	return err
}

func (b *bench) add(name string, value float64, unit string, ratio float64, of, target string) {
	b.results = append(b.results, result{Name: b.name + ": " + name, Value: value, Unit: unit, Ratio: ratio, Of: of, Target: target})
}

func (b *bench) measure(ctx context.Context) error {
	rate, err := b.serialRate(ctx)
	if err != nil {
		return err
	}
	serial := float64(b.rows) / rate
	b.add("serial pull, rows a second", rate/1000, "k/s", 0, "", "")
	b.add(fmt.Sprintf("serial pull, %d rows at that rate", b.rows), serial*1000, "ms", 0, "", "")
	for _, q := range []struct {
		name   string
		client *client
		target string
	}{{"seed query 1, pushdown", b.full, "≥ 100"}, {"seed query 1, pushdown = off", b.off, "≥ 20"}} {
		d, err := fastest(b.repeat, func() error {
			_, err := q.client.drain(ctx, seed)
			return err
		})
		if err != nil {
			return err
		}
		b.add(q.name, d.Seconds()*1000, "ms", serial/d.Seconds(), "times the serial pull", q.target)
	}
	return b.streams(ctx)
}

// serialRate pulls pages of the one column that the seed query needs.
func (b *bench) serialRate(ctx context.Context) (float64, error) {
	rows, begun := int64(0), time.Now()
	for n := int64(1 << 12); time.Since(begun) < pullTime; n *= 2 {
		begun = time.Now()
		var err error
		if rows, err = serialpull.Pull(ctx, b.flight, "scope", n, func(arrow.RecordBatch) {}); err != nil {
			return 0, err
		}
		if rows < n {
			break // that was all
		}
	}
	return float64(rows) / time.Since(begun).Seconds(), nil
}

// streams compares the export of all columns with a bare DoGet, and with the link.
func (b *bench) streams(ctx context.Context) error {
	bare, used, err := b.stream(b.pages, func() (int64, error) {
		return serialpull.Stream(ctx, b.flight, "", func(arrow.RecordBatch) {})
	})
	if err != nil {
		return err
	}
	b.add("export, bare DoGet", bare.Seconds()*1000, "ms", used, "of the link", "")
	for _, c := range []struct {
		name   string
		client *client
	}{{"uncompressed", b.plain}, {"compression = auto", b.raw}} {
		d, used, err := b.stream(b.scanner, func() (int64, error) { return c.client.drain(ctx, everything) })
		if err != nil {
			return err
		}
		b.add("export, "+c.name, d.Seconds()*1000, "ms", bare.Seconds()/d.Seconds(), "of a bare DoGet", "≥ 0.8")
		if b.link.BytesPerSecond > 0 {
			b.add("export, "+c.name, d.Seconds()*1000, "ms", used, "of the link", "≥ 0.85")
		}
	}
	return nil
}

// stream times a read of all rows, and says how much of the link's bandwidth it
// used; 0 for a link without a bound.
func (b *bench) stream(over *netem.Proxy, read func() (int64, error)) (least time.Duration, used float64, err error) {
	before := over.ToClient()
	least, err = fastest(b.repeat, func() error {
		rows, err := read()
		if err == nil && rows != int64(b.rows) {
			err = fmt.Errorf("%d rows instead of %d", rows, b.rows)
		}
		return err
	})
	if b.link.BytesPerSecond > 0 && err == nil {
		bytes := float64(over.ToClient()-before) / float64(b.repeat+1)
		used = bytes / least.Seconds() / float64(b.link.BytesPerSecond)
	}
	return least, used, err
}
