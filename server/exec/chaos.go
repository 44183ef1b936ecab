package exec

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Chaos is for tests: what the stages of an adaptive query report comes late, in
// another order, and again, also as a failure of a stage that has ended; so do the
// filters that running scans are told. No answer may depend on it.
type Chaos struct {
	// Seed is that of all draws; statements are disturbed alike each time.
	Seed uint64
	// Delay bounds how late a report comes.
	Delay time.Duration
	// Repeats bounds how often it comes again.
	Repeats int
}

// errLate is what a repeated report may say.
var errLate = errors.New("a failure that comes after the end")

// report tells the loop of e until ctx ends. A nil Chaos just tells it.
func (c *Chaos) report(ctx context.Context, sql string, e event, events chan<- event) {
	tell := func(e event) {
		select {
		case events <- e:
		case <-ctx.Done():
		}
	}
	if c == nil {
		tell(e)
		return
	}
	r := c.draw(sql, e.stage)
	c.wait(ctx, r)
	tell(e)
	for range r.IntN(c.Repeats + 1) {
		c.wait(ctx, r)
		if r.IntN(2) == 0 {
			e.err = errLate
		}
		tell(e)
	}
}

// filter sends the n-th message of a scan. The next one does not wait for it.
func (c *Chaos) filter(ctx context.Context, n int, send func()) {
	if c == nil {
		send()
		return
	}
	r := c.draw("filter", n)
	for range 1 + r.IntN(c.Repeats+1) {
		late := time.Duration(r.Int64N(int64(c.Delay) + 1))
		time.AfterFunc(late, func() {
			if ctx.Err() == nil {
				send()
			}
		})
	}
}

func (c *Chaos) draw(sql string, stage int) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(sql)) // never fails
	return rand.New(rand.NewPCG(c.Seed+uint64(stage), h.Sum64()))
}

func (c *Chaos) wait(ctx context.Context, r *rand.Rand) {
	select {
	case <-time.After(time.Duration(r.Int64N(int64(c.Delay) + 1))):
	case <-ctx.Done():
	}
}
