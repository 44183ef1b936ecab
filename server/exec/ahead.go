package exec

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
)

// ahead is a scan that is read beside the engine, since what it yields may narrow
// what the engine reads first: its threads stay with a scan to the end.
type ahead struct {
	stage *stage
	taken atomic.Bool // somebody reads it who began before all was held

	mu    sync.Mutex
	more  chan struct{} // closed when there is more, or the end
	ended bool          // nothing more is held
	whole bool          // what is held is all
}

// fetch begins to read the scans that are worth it.
func (l *streaming) fetch() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var room atomic.Int64
	room.Store(l.query.exec.cfg.HeldBytes)
	for i, s := range l.stages {
		room.Add(-s.bytes)
		if s.state != adapt.Planned || !l.graph.Ahead(i) {
			continue
		}
		keys := l.keysOf(i, nil)
		o, err := l.start(l.query.ctx, i, nil)
		if err != nil {
			return err
		}
		s.open = o
		a := &ahead{stage: s, more: make(chan struct{})}
		l.ahead[i] = a
		l.running.Go(func() { l.pull(a, heard{at: i, keys: keys}, &room) })
	}
	return nil
}

// pull holds what the scan yields. At its end what was heard is reported before
// anybody can have read it all.
func (l *streaming) pull(a *ahead, h heard, room *atomic.Int64) {
	for {
		batch, err := a.stage.open.next(l.query.ctx)
		if err != nil {
			whole := errors.Is(err, io.EOF) && a.stage.open.exhausted()
			if whole && (h.keys != nil || h.rows == 0) {
				l.report(h)
			}
			a.end(whole)
			return
		}
		h.add(batch, nil)
		fits := room.Add(-size(batch)) >= 0 && h.rows <= adapt.MaxListened
		if a.hold(batch) != nil || !fits {
			a.end(false) // whoever reads it takes the rest
			return
		}
	}
}

func (a *ahead) hold(batch arrow.RecordBatch) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.stage.hold(batch)
	close(a.more)
	a.more = make(chan struct{})
	return err
}

func (a *ahead) end(whole bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended, a.whole = true, whole
	close(a.more)
}

// free reports whether one more reader can read from the start. Only one can go on
// with what is not held.
func (a *ahead) free() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.whole || !a.taken.Swap(true)
}

// at returns the held batch of a number; nil at the end of what is held, and a
// channel to wait for before that.
func (a *ahead) at(n int) (batch arrow.RecordBatch, wait chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case n < len(a.stage.held):
		return a.stage.held[n], nil
	case !a.ended:
		return nil, a.more
	}
	return nil, nil
}

// aheadReader yields what is held, and then the rest.
type aheadReader struct {
	ahead   *ahead
	schema  *arrow.Schema
	columns []int
	next    atomic.Int64
}

// Next returns the next batch or io.EOF.
func (r *aheadReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	o := r.ahead.stage.open
	for n := int(r.next.Add(1)) - 1; ; {
		batch, wait := r.ahead.at(n)
		switch {
		case batch != nil:
			return selected(batch, r.schema, r.columns), nil
		case wait == nil:
			return r.rest(ctx)
		}
		select {
		case <-wait:
		case <-o.left:
			return nil, io.EOF
		case <-o.scan.query.ctx.Done():
			return nil, o.broken()
		case <-ctx.Done():
			return nil, status.Wrap(status.Canceled, context.Cause(ctx), "read of table %s", o.scan.plan.Table.ID())
		}
	}
}

// rest goes on with what is not held; of a scan that is, that is its end.
func (r *aheadReader) rest(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := r.ahead.stage.open.next(ctx)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return selected(batch, r.schema, r.columns), nil
}

// Close leaves what is held to others who read it.
func (r *aheadReader) Close() error { return nil }
