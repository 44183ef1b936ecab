package exec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/budget"
	"github.com/tributary-db/tributary/server/plan"
)

// query is one running plan. The first failure of any of its scans ends all of
// them.
type query struct {
	id     string
	exec   *Executor
	plan   *plan.Plan
	opts   Options
	ctx    context.Context
	cancel context.CancelCauseFunc
	scans  []*remoteScan
	window int64 // credit of one stream, at most
	budget *budget.Query
	parent context.Context
	begun  time.Time

	mu     sync.Mutex
	failed error // the first failure of a scan
	opened []*openScan
	closed bool
	// See ungrouped.go: rows may have been seen; the query is, or was, run in another
	// way, and how; what was decided.
	yielded   bool
	regrouped bool
	other     *plan.Plan
	rounds    []adapt.Round
}

func newQuery(ctx context.Context, e *Executor, id string, p *plan.Plan, opts Options) *query {
	q := &query{id: id, exec: e, plan: p, opts: opts, parent: ctx, begun: time.Now()}
	q.ctx, q.cancel = context.WithCancelCause(quiet{ctx})
	streams := 0
	for _, s := range p.Scans {
		q.scans = append(q.scans, newRemoteScan(q, s))
		streams += len(s.Targets)
	}
	q.sharedQuota()
	q.window = streamWindow(e.cfg, opts, streams)
	if p.Kind == plan.Original {
		e.metrics.fallback(fallbackOriginal)
	}
	return q
}

// quiet hides a context's deadline from gRPC, which would tell it to the scanner:
// were the scanner's clock first, the query would fail with the scanner's error
// in place of its own. The scanner learns of the end by the cancel.
type quiet struct{ context.Context }

// Deadline says that there is none.
func (quiet) Deadline() (at time.Time, ok bool) { return time.Time{}, false }

// compression is what the query's scanners may do to what they send.
func (q *query) compression() codec.Compression {
	if q.opts.Compression != nil {
		return *q.opts.Compression
	}
	return q.exec.cfg.Compression
}

// minWindow keeps a stream moving when a query has very many of them.
const minWindow = 256 << 10

// streamWindow shares the query's window out over its streams.
func streamWindow(cfg Config, opts Options, streams int) int64 {
	window := cfg.ScanWindowBytes
	if opts.WindowBytes > 0 {
		window = opts.WindowBytes
	}
	if share := cfg.QueryWindowBytes / int64(max(streams, 1)); share < window {
		window = max(share, minWindow)
	}
	return window
}

// fail ends the query with err; only the first failure counts.
func (q *query) fail(err error) {
	q.mu.Lock()
	if q.failed == nil && !q.closed {
		q.failed = err
	}
	q.mu.Unlock()
	q.cancel(err)
}

// explain replaces an error that merely follows from a scan's failure, or from
// the end of the query's context, by its reason.
func (q *query) explain(err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.failed != nil:
		return q.failed
	case q.ctx.Err() != nil:
		return q.stopped()
	}
	return err
}

// failure is the first failure of a scan, or nil.
func (q *query) failure() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failed
}

// stop makes every scan of the query end.
func (q *query) stop() { q.cancel(status.New(status.Canceled, "query %s is closed", q.id)) }

// stopped is the reason for which the context ended.
func (q *query) stopped() error {
	cause := context.Cause(q.ctx)
	if known := (*status.Error)(nil); errors.As(cause, &known) {
		return cause
	}
	return status.Wrap(status.Canceled, cause, "query %s was stopped", q.id)
}

// register keeps o so that close reaches it; it reports false when the query is
// closed already.
func (q *query) register(o *openScan) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.opened = append(q.opened, o)
	return true
}

// settle lets the scans of a complete result end by themselves.
func (q *query) settle() {
	q.mu.Lock()
	opened := slices.Clone(q.opened)
	q.mu.Unlock()
	for _, o := range opened {
		o.leave()
	}
	for _, o := range opened {
		o.close()
	}
}

// close stops every scan, waits for its goroutines, and gives back what the query
// was admitted with.
func (q *query) close() {
	q.end()
	q.budget.Close()
}

func (q *query) end() {
	q.mu.Lock()
	q.closed = true
	opened := q.opened
	q.opened = nil
	q.mu.Unlock()
	q.stop()
	for _, o := range opened {
		o.close()
	}
}
