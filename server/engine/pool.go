package engine

import (
	"context"
	"runtime"
	"sync"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Config sets up a [Pool].
type Config struct {
	// Threads of one query; 0 means one per core.
	Threads int
	// MemoryLimit of one query in bytes; 0 leaves DuckDB's own (80 % of RAM).
	MemoryLimit int64
	// TempDir holds the spill directories; empty means the system's.
	TempDir string
	// MaxTempBytes bounds the spill of one query; 0 means 16 GiB.
	MaxTempBytes int64
	// Warm is the number of idle instances kept ready.
	Warm int
	// MaxOpen bounds the queries that run at once, the others wait; 0 means no bound.
	MaxOpen int
}

const defaultTempBytes = 16 << 30

func (c Config) limits() limits {
	l := limits{threads: c.Threads, memory: c.MemoryLimit, temp: c.MaxTempBytes}
	if l.threads <= 0 {
		l.threads = runtime.GOMAXPROCS(0)
	}
	if l.temp <= 0 {
		l.temp = defaultTempBytes
	}
	return l
}

// Pool runs queries, each on a DuckDB instance of its own.
type Pool struct {
	limits limits
	warm   int
	spill  *spillRoot
	slots  chan struct{} // nil: no bound

	mu      sync.Mutex
	idle    []*instance
	opening int // instances on their way to idle
	running map[*Result]struct{}
	closed  bool
	work    sync.WaitGroup // background openings
}

// New opens a pool. It removes the spill that killed processes left in TempDir.
func New(cfg Config) (*Pool, error) {
	spill, err := newSpillRoot(cfg.TempDir)
	if err != nil {
		return nil, err
	}
	p := &Pool{limits: cfg.limits(), warm: max(0, cfg.Warm), spill: spill, running: map[*Result]struct{}{}}
	if cfg.MaxOpen > 0 {
		p.slots = make(chan struct{}, cfg.MaxOpen)
	}
	first, err := openInstance(p.limits, spill.instanceDir())
	if err != nil {
		_ = spill.remove()
		return nil, err
	}
	p.put(first)
	p.refill()
	return p, nil
}

// Close interrupts the running queries and frees the idle instances. Those of
// running queries are freed when their results are closed.
func (p *Pool) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	idle, busy := p.idle, len(p.running) > 0
	p.idle = nil
	for r := range p.running {
		r.run.cancel(errPoolClosed())
	}
	p.mu.Unlock()
	p.work.Wait()
	for _, inst := range idle {
		inst.close()
	}
	if busy {
		return nil
	}
	return p.spill.remove()
}

func errPoolClosed() error { return status.New(status.Unavailable, "the engine is shutting down") }

// acquire waits for a free slot and takes an instance with the given limits.
func (p *Pool) acquire(ctx context.Context, l limits) (*instance, error) {
	if p.slots != nil {
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctxError(ctx)
		}
	}
	inst, err := p.take(l)
	if err == nil && inst == nil {
		inst, err = openInstance(l, p.spill.instanceDir())
	}
	if err != nil {
		p.freeSlot()
	}
	return inst, err
}

func (p *Pool) freeSlot() {
	if p.slots != nil {
		<-p.slots
	}
}

// take returns an idle instance; nil when a new one must be opened.
func (p *Pool) take(l limits) (*instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed()
	}
	n := len(p.idle)
	if l != p.limits || n == 0 {
		return nil, nil
	}
	inst := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return inst, nil
}

// release takes an instance back. One that is not clean is closed.
func (p *Pool) release(inst *instance, clean bool) {
	if !clean || inst.limits != p.limits || !p.put(inst) {
		inst.close()
	}
	p.freeSlot()
}

// finished takes the instance of a result back; the last one of a closed pool
// removes the spill.
func (p *Pool) finished(r *Result, inst *instance, clean bool) {
	p.release(inst, clean)
	p.mu.Lock()
	delete(p.running, r)
	last := p.closed && len(p.running) == 0
	p.mu.Unlock()
	if last {
		_ = p.spill.remove()
		return
	}
	p.refill()
}

// put keeps an instance as a warm one, if there is room.
func (p *Pool) put(inst *instance) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle)+p.opening >= max(1, p.warm) {
		return false
	}
	p.idle = append(p.idle, inst)
	return true
}

// refill opens, in the background, the warm instances that are missing.
func (p *Pool) refill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && len(p.idle)+len(p.running)+p.opening < p.warm {
		p.opening++
		p.work.Go(p.openOne)
	}
}

func (p *Pool) openOne() {
	inst, err := openInstance(p.limits, p.spill.instanceDir())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opening--
	switch {
	case err != nil: // the next query opens its own, and reports the error
	case p.closed:
		inst.close()
	default:
		p.idle = append(p.idle, inst)
	}
}
