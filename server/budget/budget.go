package budget

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Config sizes a Budget; zero is no bound.
type Config struct {
	// MaxQueries is how many queries run at once.
	MaxQueries int
	// Timeout is how long a query waits to be admitted.
	Timeout time.Duration
	// MaxMemory is what all queries may reserve, in bytes.
	MaxMemory int64
	// MaxUserMemory is what the queries of one user may reserve.
	MaxUserMemory int64
	// EngineMemory is reserved for a query that needs the embedded engine: its
	// memory limit.
	EngineMemory int64
	// Registry gets the metrics; nil for none.
	Registry prometheus.Registerer
}

// Budget is shared by all queries. A nil Budget bounds nothing.
type Budget struct {
	cfg Config

	mu       sync.Mutex
	running  int
	reserved int64
	engines  int64            // of that, for engines
	users    map[string]int64 // what the queries of each user have reserved
	waiting  list.List        // of *waiter, the first in turn at the front
	refused  *prometheus.CounterVec
}

// waiter is a query that is not admitted yet.
type waiter struct {
	user  string
	bytes int64
	// admitted: it runs already, and waits for memory only.
	admitted bool
	ready    chan struct{} // closed when there is room for it
}

// count is how many queries start when it is let in.
func (w *waiter) count() int {
	if w.admitted {
		return 0
	}
	return 1
}

// New returns a Budget.
func New(cfg Config) *Budget {
	b := &Budget{cfg: cfg, users: map[string]int64{}, refused: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tributary_coordinator_refusals_total",
		Help: "Queries that were not admitted in time, and memory that could not be reserved.",
	}, []string{"reason"})}
	for _, reason := range []string{refusedQueue, refusedMemory, refusedUser} {
		b.refused.WithLabelValues(reason)
	}
	if cfg.Registry != nil {
		cfg.Registry.MustRegister(b.refused,
			gauge("admission_queue_length", "Queries that wait to be admitted.", func() float64 { return float64(b.state().waiting) }),
			gauge("admitted_queries", "Queries that are admitted and not closed.", func() float64 { return float64(b.state().running) }),
			gauge("reserved_bytes", "Memory that queries have reserved.", func() float64 { return float64(b.state().reserved) }))
	}
	return b
}

const (
	refusedQueue  = "admission_timeout"
	refusedMemory = "memory"
	refusedUser   = "user_memory"
)

func gauge(name, help string, f func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tributary_coordinator_" + name, Help: help}, f)
}

type state struct {
	running, waiting int
	reserved         int64
}

func (b *Budget) state() state {
	b.mu.Lock()
	defer b.mu.Unlock()
	return state{b.running, b.waiting.Len(), b.reserved}
}

// Admit waits, in turn, until a query of a user may run; engine says that it
// needs the embedded engine. It does not wait for the user's own memory, behind
// which others would wait. The query must be closed.
func (b *Budget) Admit(ctx context.Context, user string, engine bool) (*Query, error) {
	if b == nil {
		return nil, nil
	}
	w := &waiter{user: user, ready: make(chan struct{})}
	if engine {
		w.bytes = b.cfg.EngineMemory
	}
	if err := b.enter(ctx, w); err != nil {
		return nil, err
	}
	return &Query{budget: b, user: user, reserved: w.bytes, engine: w.bytes}, nil
}

// Engine waits, in turn, for the engine's memory, for a query that was admitted
// without. What it has read meanwhile it keeps.
func (q *Query) Engine(ctx context.Context) error {
	if q == nil || q.hasEngine() {
		return nil
	}
	w := &waiter{user: q.user, bytes: q.budget.cfg.EngineMemory, admitted: true, ready: make(chan struct{})}
	if err := q.budget.enter(ctx, w); err != nil {
		return err
	}
	q.budget.mu.Lock()
	defer q.budget.mu.Unlock()
	q.reserved += w.bytes
	q.engine += w.bytes
	if q.closed {
		q.giveBack()
		return status.New(status.Canceled, "the query has ended")
	}
	return nil
}

func (q *Query) hasEngine() bool {
	q.budget.mu.Lock()
	defer q.budget.mu.Unlock()
	return q.engine > 0
}

// enter waits until there is room for w.
func (b *Budget) enter(ctx context.Context, w *waiter) error {
	if b.cfg.MaxMemory > 0 && w.bytes > b.cfg.MaxMemory {
		return status.New(status.ResourceExhausted, "a query may use %d bytes in the engine, all queries together %d: raise --max-memory or lower --query-memory",
			w.bytes, b.cfg.MaxMemory)
	}
	b.mu.Lock()
	if err := b.userFits(w.user, w.bytes); err != nil {
		b.mu.Unlock()
		return err
	}
	b.users[w.user] += w.bytes // held while it waits, so that it fits afterwards
	at := b.queue(w)
	b.admit()
	b.mu.Unlock()
	if err := b.wait(ctx, w); err != nil {
		return b.giveUp(at, w, err)
	}
	return nil
}

// queue puts w behind the others, or before them when it runs already: they may
// wait for it to end. The caller holds mu.
func (b *Budget) queue(w *waiter) *list.Element {
	if w.admitted {
		return b.waiting.PushFront(w)
	}
	return b.waiting.PushBack(w)
}

// userFits: the user may reserve so much more; the caller holds mu.
func (b *Budget) userFits(user string, bytes int64) error {
	if b.cfg.MaxUserMemory <= 0 || bytes <= b.cfg.MaxUserMemory-b.users[user] {
		return nil
	}
	b.refused.WithLabelValues(refusedUser).Inc()
	return status.New(status.ResourceExhausted, "user %s is out of memory: %d bytes more are needed, the queries of the user hold %d of %d; wait for one to end, or raise --max-user-memory",
		user, bytes, b.users[user], b.cfg.MaxUserMemory)
}

// giveBack returns what a user has reserved; the caller holds mu.
func (b *Budget) giveBack(user string, bytes int64) {
	if b.users[user] -= bytes; b.users[user] <= 0 {
		delete(b.users, user)
	}
}

func (b *Budget) wait(ctx context.Context, w *waiter) error {
	var late <-chan time.Time
	if b.cfg.Timeout > 0 {
		timer := time.NewTimer(b.cfg.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-w.ready:
		return nil
	case <-late:
		b.refused.WithLabelValues(refusedQueue).Inc()
		return status.New(status.ResourceExhausted, "the server is busy: the query was not admitted within %s; try again later", b.cfg.Timeout)
	case <-ctx.Done():
		return status.Wrap(status.Canceled, context.Cause(ctx), "the query waited to be admitted")
	}
}

// giveUp takes a waiter off the queue, or gives back what it was just granted.
func (b *Budget) giveUp(at *list.Element, w *waiter, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveBack(w.user, w.bytes)
	select {
	case <-w.ready:
		b.running -= w.count()
		b.reserved -= w.bytes
		b.engines -= w.bytes
	default:
		b.waiting.Remove(at)
	}
	b.admit()
	return err
}

// admit lets those in that there is room for, in turn; the caller holds mu.
func (b *Budget) admit() {
	for at := b.waiting.Front(); at != nil; at = b.waiting.Front() {
		w := at.Value.(*waiter)
		if b.cfg.MaxQueries > 0 && b.running+w.count() > b.cfg.MaxQueries || !b.fits(w.bytes) || !b.engineFits(w.bytes) {
			return
		}
		b.waiting.Remove(at)
		b.running += w.count()
		b.reserved += w.bytes
		b.engines += w.bytes
		close(w.ready)
	}
}

func (b *Budget) fits(bytes int64) bool {
	return b.cfg.MaxMemory <= 0 || bytes <= b.cfg.MaxMemory-b.reserved
}

// engineFits: an engine must not take the memory that the rows need which all
// engines wait for. One on its own may.
func (b *Budget) engineFits(bytes int64) bool {
	return b.cfg.MaxMemory <= 0 || bytes == 0 || b.engines == 0 || b.engines+bytes <= b.cfg.MaxMemory-b.cfg.MaxMemory/rowsShare
}

// rowsShare is the part of all memory, as its denominator, that engines leave.
const rowsShare = 4

// Query is the share of one query. Its methods may be called from any goroutine;
// a nil Query bounds nothing.
type Query struct {
	budget *Budget
	user   string
	// budget.mu guards the rest.
	reserved int64
	closed   bool
	engine   int64 // what was reserved for the engine
}

// Reserve takes bytes, or returns a ResourceExhausted error.
func (q *Query) Reserve(bytes int64) error {
	if q == nil || bytes <= 0 {
		return nil
	}
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.closed {
		return status.New(status.Canceled, "the query has ended")
	}
	if !b.fits(bytes) {
		b.refused.WithLabelValues(refusedMemory).Inc()
		return status.New(status.ResourceExhausted, "out of memory: %d bytes more are needed, %d of %d are in use (this query: %d); try again later, or raise --max-memory",
			bytes, b.reserved, b.cfg.MaxMemory, q.reserved)
	}
	if err := b.userFits(q.user, bytes); err != nil {
		return err
	}
	b.reserved += bytes
	b.users[q.user] += bytes
	q.reserved += bytes
	return nil
}

// Release gives bytes back that were reserved.
func (q *Query) Release(bytes int64) {
	if q == nil || bytes <= 0 {
		return
	}
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	bytes = min(bytes, q.reserved) // a closed query has given back all
	q.reserved -= bytes
	b.reserved -= bytes
	b.giveBack(q.user, bytes)
	b.admit()
}

// Close gives back everything. It may be called again.
func (q *Query) Close() {
	if q == nil {
		return
	}
	b := q.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	b.running--
	q.giveBack()
}

// giveBack returns all that was reserved; the caller holds the budget's mu.
func (q *Query) giveBack() {
	b := q.budget
	b.reserved -= q.reserved
	b.engines -= q.engine
	b.giveBack(q.user, q.reserved)
	q.reserved, q.engine = 0, 0
	b.admit()
}
