package exec

import (
	"context"
	"sync"
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

// slotTopN is the slot of the filter that follows a top-N. Those that come from the
// keys of a join's other side use slotKeys and the slots after it, each its own.
const (
	slotTopN = 0
	slotKeys = 1
)

// tell sets the slots of what was found out since the scan started, which grows.
func (o *openScan) tell(filters []plan.RuntimeFilter) {
	for i := o.told; i < len(filters); i++ {
		o.slots.set(o.ctx, slotKeys+i, filters[i].Expr)
	}
	o.told = max(o.told, len(filters))
}

// slots are the dynamic filters of one open scan: conditions over the columns of
// its table that all rows still wanted fulfil, by slot. Whoever learns such a
// condition sets it, at any time and as often as it gets tighter; streams that
// can use it get the newest, in between and at their start. Scanners may ignore it.
type slots struct {
	mu      sync.Mutex
	newest  map[int]update
	streams map[*codec.Scan]map[int]uint64 // and the generation told of each slot
	wake    chan struct{}
	running bool
	chaos   *Chaos // disturbs messages in tests
	sent    int    // messages so far
}

type update struct {
	generation uint64
	expr       pushdown.Expr
}

func newSlots() *slots {
	return &slots{newest: map[int]update{}, streams: map[*codec.Scan]map[int]uint64{}, wake: make(chan struct{}, 1)}
}

// set makes e the filter of a slot, until ctx ends.
func (s *slots) set(ctx context.Context, slot int, e pushdown.Expr) {
	s.mu.Lock()
	s.newest[slot] = update{generation: s.newest[slot].generation + 1, expr: e}
	if !s.running {
		s.running = true
		go s.run(ctx)
	}
	s.mu.Unlock()
	s.poke()
}

// join begins to tell a stream.
func (s *slots) join(scan *codec.Scan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[scan] = map[int]uint64{}
	s.poke()
}

// told reports whether a stream was sent any filter.
func (s *slots) told(scan *codec.Scan) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams[scan]) > 0
}

func (s *slots) quit(scan *codec.Scan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, scan)
}

// used reports whether there was any filter.
func (s *slots) used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.newest) > 0
}

func (s *slots) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pause is the least time between two rounds of messages, so that a filter that
// changes with every batch costs little.
const pause = 2 * time.Millisecond

func (s *slots) run(ctx context.Context) {
	for {
		select {
		case <-s.wake:
			s.tell(ctx)
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// tell sends each stream what it has not been told.
func (s *slots) tell(ctx context.Context) {
	type message struct {
		scan *codec.Scan
		slot int
		update
	}
	var messages []message
	s.mu.Lock()
	for scan, told := range s.streams {
		for slot, u := range s.newest {
			if told[slot] < u.generation {
				told[slot] = u.generation
				messages = append(messages, message{scan, slot, u})
			}
		}
	}
	s.mu.Unlock()
	for _, m := range messages {
		// A stream that has ended needs no filter, and one that cannot be told works
		// without.
		s.sent++
		s.chaos.filter(ctx, s.sent, func() { _ = m.scan.UpdateFilter(m.slot, m.generation, m.expr) })
	}
}
