package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// errEnough ends the streams of a scan from which no more rows are wanted.
var errEnough = errors.New("no more rows are wanted")

// openScan is one opening of a remoteScan: its streams and their queue.
type openScan struct {
	scan    *remoteScan
	id      string
	columns []int // wanted columns, nil for all
	schema  *arrow.Schema
	ctx     context.Context // ends when nothing of the scan is wanted any more
	cancel  context.CancelCauseFunc
	// left is closed, and wanted ends, when nobody takes rows any more; reading ends
	// when the streams have had time enough to end after that, or after the quota
	// was used up.
	left    chan struct{}
	wanted  context.Context
	abandon context.CancelFunc
	reading context.Context
	cutOff  context.CancelFunc
	control *control
	slots   *slots
	told    int        // filters by tell
	bound   *threshold // nil without a top-N
	queue   *queue
	quota   *quota
	gate    *gate
	rows    atomic.Int64
	whole   atomic.Bool // all rows have been queued
	// complete are the targets that were read to their end.
	complete atomic.Int64
	// ungrouped are rows that scanners did not group, though they should.
	ungrouped atomic.Int64
	streams   sync.WaitGroup
	done      chan struct{} // closed when the streams have ended
	leaving   sync.Once
	closing   sync.Once
}

// open starts the streams of a scan. They end when ctx or the query ends.
func (s *remoteScan) open(ctx context.Context, columns []int) (*openScan, error) {
	q := s.query
	o := &openScan{
		scan: s, columns: columns, schema: s.output(columns),
		id:    fmt.Sprintf("%s.%s.%d", q.id, s.plan.ID, s.attempt()),
		queue: newQueue(q.queueBytes(len(s.plan.Targets)), q.exec.metrics.inflight),
		quota: newQuota(quotaOf(&s.plan.Spec)), control: newControl(), slots: newSlots(), left: make(chan struct{}),
		gate: newGate(s.plan.Targets),
		done: make(chan struct{}),
	}
	o.ctx, o.cancel = context.WithCancelCause(q.ctx)
	o.bound, o.slots.chaos = newThreshold(o), q.exec.cfg.Chaos
	o.wanted, o.abandon = context.WithCancel(o.ctx)
	o.reading, o.cutOff = context.WithCancel(o.ctx)
	o.quota.join(o)
	if s.shared != nil {
		s.shared.join(o)
	}
	if !q.register(o) {
		o.cancel(errEnough)
		close(o.done)
		return nil, q.explain(status.New(status.Canceled, "query %s is closed", q.id))
	}
	unlink := context.AfterFunc(ctx, func() { o.cancel(context.Cause(ctx)) })
	o.start()
	go o.finish(unlink)
	return o, nil
}

// start reads all targets at once; for a bare LIMIT one after the other, because
// the first one that has rows is enough.
func (o *openScan) start() {
	targets := o.scan.plan.Targets
	if s := &o.scan.plan.Spec; s.Limit != pushdown.NoLimit && len(s.Filter) == 0 && len(s.OrderBy) == 0 {
		o.streams.Go(func() {
			for i := 0; i < len(targets) && !o.unwanted(); i++ {
				o.run(i)
			}
		})
		return
	}
	for i := range targets {
		if !o.unwanted() {
			o.streams.Go(func() { o.run(i) })
		}
	}
}

// queueBytes bounds the queue of a scan with n streams: what their windows
// allow, so that it only holds back what kernels produced here.
func (q *query) queueBytes(n int) int64 { return q.window * int64(max(n, 1)) }

// finish waits for the streams and ends the queue.
func (o *openScan) finish(unlink func() bool) {
	defer close(o.done)
	o.streams.Wait()
	o.bound.release()
	o.learn()
	if !o.unwanted() && o.rows.Load() == 0 {
		if err := o.global(); err != nil && o.ctx.Err() == nil {
			o.scan.query.fail(err)
		}
	}
	unlink()
	o.whole.Store(!o.unwanted())
	close(o.queue.items)
	o.cancel(errEnough)
}

// global yields the one row of an aggregate without keys when no stream has
// sent it.
func (o *openScan) global() error {
	spec := o.scan.plan.Spec
	if !spec.Grouped() || len(spec.GroupBy) > 0 {
		return nil
	}
	if len(spec.Partitions) == 0 {
		spec.Partitions = []string{""} // a valid spec names one; it is not read
	}
	w := work{full: spec, remote: spec}
	if o.columns != nil && !identity(o.columns, o.scan.schema.NumFields()) {
		w.project = o.columns
	}
	p := newProcessor(w, o.schema, o.scan.query.exec.cfg.Alloc)
	defer p.release()
	batches, err := p.empty()
	if err != nil {
		return err
	}
	return o.deliver(batches, nil)
}

// deliver queues batches, which it takes over. Credit, if any, returns when the
// last one is consumed.
func (o *openScan) deliver(batches []arrow.RecordBatch, credit func()) error {
	if len(batches) == 0 && credit != nil {
		credit()
	}
	for i, b := range batches {
		b, enough := o.take(b)
		if b != nil {
			o.rows.Add(b.NumRows())
			it := item{batch: b, bytes: size(b)}
			if i == len(batches)-1 {
				it.taken = credit
			}
			if err := o.queue.push(o.wanted, it); err != nil {
				releaseAll(batches[i+1:])
				return err
			}
		}
		if enough {
			releaseAll(batches[i+1:])
			return nil
		}
	}
	return nil
}

// take consumes b and returns what the quotas leave of it, nil for nothing. The
// scans of a quota that is used up are told.
func (o *openScan) take(b arrow.RecordBatch) (kept arrow.RecordBatch, enough bool) {
	if b, enough = o.quota.take(b); enough {
		o.sate()
	}
	shared := o.scan.shared
	if shared == nil || b == nil {
		return b, enough
	}
	b, spent := shared.take(b)
	if spent {
		for _, other := range shared.members() {
			other.sate()
		}
	}
	return b, enough || spent
}

// sate tells the scanners that nothing more is wanted of them; rows that were
// taken already still reach the consumer.
func (o *openScan) sate() {
	if o.control.sate() {
		late := time.AfterFunc(grace, o.cutOff)
		context.AfterFunc(o.ctx, func() { late.Stop() })
	}
}

// unwanted reports that no more needs to be read, and that errors of the streams
// say nothing any more. A context is done a moment before those made from it, so
// that both are asked.
func (o *openScan) unwanted() bool {
	return o.ctx.Err() != nil || o.reading.Err() != nil || o.control.done()
}

func releaseAll(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}

// next returns the next batch or io.EOF. It may be called from several
// goroutines.
func (o *openScan) next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := o.broken(); err != nil {
		return nil, err
	}
	select {
	case it, ok := <-o.queue.items:
		if ok {
			return o.queue.pop(it), nil
		}
		// A queue that ended because of a failure must not look complete.
		if err := o.broken(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	case <-o.scan.query.ctx.Done():
		return nil, o.broken()
	case <-o.left:
		return nil, io.EOF // the result is complete without these rows
	case <-ctx.Done():
		return nil, status.Wrap(status.Canceled, context.Cause(ctx), "read of table %s", o.scan.plan.Table.ID())
	}
}

// broken is why the scan cannot go on, or nil.
func (o *openScan) broken() error {
	if o.scan.query.ctx.Err() != nil {
		return o.scan.query.explain(nil)
	}
	if o.ctx.Err() != nil && !errors.Is(context.Cause(o.ctx), errEnough) {
		return status.Wrap(status.Canceled, context.Cause(o.ctx), "read of table %s was stopped", o.scan.plan.Table.ID())
	}
	return nil
}

// leave tells the streams that nobody takes rows any more.
func (o *openScan) leave() {
	o.leaving.Do(func() {
		o.sate()
		close(o.left)
		o.abandon()
	})
}

// close stops the streams, waits for them and releases what is queued.
func (o *openScan) close() {
	o.closing.Do(func() {
		o.leave()
		select {
		case <-o.done:
		case <-o.reading.Done():
		}
		o.cancel(errEnough)
		<-o.done
		o.queue.drain()
	})
}
