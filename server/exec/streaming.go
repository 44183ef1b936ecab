package exec

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/engine"
)

// streaming listens to the scans that the engine reads: what one of them yielded
// narrows those that start later, and those that still run.
type streaming struct {
	*adaptive
	mu      sync.Mutex // guards the graph, the stages' scans, opens and told of an openScan
	opens   map[int][]*openScan
	ahead   map[int]*ahead  // by stage; not changed once the engine reads
	running sync.WaitGroup  // what fetches ahead and reports
	ctx     context.Context // ends when nobody waits for reports any more
	cancel  context.CancelFunc
}

// newStreaming begins when nothing is waited for any more.
func newStreaming(a *adaptive) (*streaming, error) {
	l := &streaming{adaptive: a, opens: map[int][]*openScan{}, ahead: map[int]*ahead{}}
	l.ctx, l.cancel = context.WithCancel(a.query.ctx)
	l.graph.Stream()
	return l, l.fetch()
}

// wait ends the reports; nothing is read any more.
func (l *streaming) wait() {
	if l != nil {
		l.cancel()
		l.running.Wait()
	}
}

// start opens a scan with all that is known by now. l.mu is held.
func (l *streaming) start(ctx context.Context, at int, columns []int) (*openScan, error) {
	o, err := l.stages[at].scan.open(ctx, columns)
	if err != nil {
		return nil, err
	}
	l.graph.Open(at)
	l.opens[at] = append(l.opens[at], o)
	o.tell(l.graph.Late(at))
	return o, nil
}

// keysOf are keys to be filled with what is read of some columns, nil for all, or
// nil when nobody wants them.
func (l *streaming) keysOf(at int, columns []int) map[int]*adapt.Keys {
	if !l.graph.Listens(at) {
		return nil
	}
	keys := map[int]*adapt.Keys{}
	for column, k := range l.graph.Keys(at) {
		keys[column] = adapt.NewKeys(k.Type)
		if columns != nil && !slices.Contains(columns, column) {
			keys[column].Forget()
		}
	}
	return keys
}

// open lets the engine read a scan.
func (l *streaming) open(ctx context.Context, in *stageInput, columns []int) (engine.Reader, error) {
	if a := l.ahead[in.at]; a != nil && a.free() {
		return &aheadReader{ahead: a, schema: in.columns(columns), columns: columns}, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.graph.State(in.at); s == adapt.Removed || s == adapt.Cancelled {
		return in.heldReader(columns, nil, nil), nil
	}
	keys := l.keysOf(in.at, columns)
	o, err := l.start(ctx, in.at, columns)
	if err != nil {
		return nil, err
	}
	return &listener{
		reader: &reader{open: o, schema: in.columns(columns)}, live: l, heard: heard{at: in.at, keys: keys}, columns: columns,
	}, nil
}

// closed forgets a scan that is not read any more.
func (l *streaming) closed(at int, o *openScan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opens[at] = slices.DeleteFunc(l.opens[at], func(other *openScan) bool { return other == o })
}

// heard is what a scan yielded that was read to its end.
type heard struct {
	at    int
	keys  map[int]*adapt.Keys
	rows  int64
	bytes int64
}

// hear takes note of what was heard, and acts on it.
func (l *streaming) hear(h heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change, err := l.graph.Heard(h.at, h.keys, h.rows, h.bytes)
	if err != nil {
		l.query.fail(err)
		return
	}
	for _, i := range change.Narrowed {
		l.stages[i].narrow(l.graph.Filters(i))
	}
	for _, i := range change.Told {
		for _, o := range l.opens[i] {
			o.tell(l.graph.Late(i))
		}
	}
	for _, i := range change.Stop {
		for _, o := range l.opens[i] {
			o.leave()
		}
	}
	l.publish()
}

// report tells what was heard, as late and as often as chaos wants.
func (l *streaming) report(h heard) {
	chaos := l.query.exec.cfg.Chaos
	if chaos == nil {
		l.hear(h)
		return
	}
	events := make(chan event)
	l.running.Go(func() {
		defer close(events)
		chaos.report(l.ctx, l.query.plan.SQL, event{stage: h.at}, events)
	})
	l.running.Go(func() {
		for range events {
			l.hear(h)
		}
	})
}

// listener looks at what the engine reads of a scan.
type listener struct {
	*reader
	live    *streaming
	columns []int
	pulling atomic.Int64 // calls of Next that run
	ended   atomic.Bool  // all rows were handed out
	once    sync.Once

	mu sync.Mutex
	heard
}

// Next returns the next batch or io.EOF.
func (r *listener) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.keys == nil {
		return r.reader.Next(ctx)
	}
	r.pulling.Add(1)
	batch, err := r.reader.Next(ctx)
	switch {
	case err == nil:
		r.note(batch)
	case errors.Is(err, io.EOF) && r.open.exhausted():
		r.ended.Store(true)
	}
	// The last one out has seen all rows.
	if r.pulling.Add(-1) == 0 && r.ended.Load() {
		r.once.Do(func() { r.live.report(r.heard) })
	}
	return batch, err
}

// note adds the keys of a batch.
func (r *listener) note(batch arrow.RecordBatch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(batch, r.columns)
}

// add adds the keys of a batch of some columns, nil for all, as long as there are
// not too many rows.
func (h *heard) add(batch arrow.RecordBatch, columns []int) {
	h.rows += batch.NumRows()
	h.bytes += size(batch)
	for column, k := range h.keys {
		at := column
		if columns != nil {
			at = slices.Index(columns, column)
		}
		switch {
		case h.rows > adapt.MaxListened:
			k.Forget()
		case at >= 0:
			k.Add(batch.Column(at))
		}
	}
}

// Close stops the streams.
func (r *listener) Close() error {
	err := r.reader.Close()
	r.live.closed(r.at, r.open)
	return err
}

// exhausted reports, at the end of the queue, that all rows of the scan came out of
// it: it was neither left nor cut short.
func (o *openScan) exhausted() bool {
	select {
	case <-o.left:
		return false
	default:
		return o.whole.Load()
	}
}
