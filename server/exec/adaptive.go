package exec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/engine"
)

// DefaultHeldBytes is how much of the scans that others wait for a query holds.
const DefaultHeldBytes = 64 << 20

// adaptive is the source of a plan that waits for some scans before the engine
// starts.
type adaptive struct {
	late
	graph  *adapt.Graph
	stages []*stage
	live   *streaming // once the engine reads
	rounds atomic.Pointer[[]adapt.Round]
}

// adaptive returns nil when the plan is to be run as it is.
func (q *query) adaptive() *adaptive {
	estimates := make([]int64, len(q.scans))
	for i, s := range q.scans {
		estimates[i] = s.estimate()
	}
	g := adapt.New(q.plan, q.opts.Adaptive, estimates)
	if g == nil {
		return nil
	}
	a := &adaptive{late: late{query: q}, graph: g}
	for _, s := range q.scans {
		a.stages = append(a.stages, &stage{scan: s, state: adapt.Planned})
	}
	return a
}

// estimate is the number of rows that the scan may yield, -1 for unknown.
func (s *remoteScan) estimate() int64 {
	spec := &s.plan.Spec
	if spec.Grouped() && len(spec.GroupBy) == 0 {
		return int64(max(len(s.plan.Targets), 1))
	}
	n := s.passing()
	if spec.Limit >= 0 && !spec.Grouped() && n > spec.Limit*int64(len(s.plan.Targets)) {
		n = spec.Limit * int64(len(s.plan.Targets))
	}
	return n
}

// Next waits for the scans that come first, starts the engine, and yields its
// rows.
func (a *adaptive) Next(ctx context.Context) (arrow.RecordBatch, error) {
	return a.next(ctx, func() (source, error) {
		if err := a.run(); err != nil {
			return nil, err
		}
		if a.graph.Broadcast() {
			if s, ok, err := a.broadcast(); ok || err != nil {
				return s, err
			}
			a.graph.Abandon("the small tables do not travel after all: they are too large")
			a.publish()
		}
		var err error
		if a.live, err = newStreaming(a); err != nil {
			return nil, err
		}
		return a.query.runEngine(a.query.plan.Residual, nil, a.inputs())
	})
}

func (a *adaptive) inputs() map[string]engine.Input {
	inputs := make(map[string]engine.Input, len(a.stages))
	for i, s := range a.stages {
		inputs[s.scan.plan.ID] = &stageInput{newInput(s.scan, false), s, i, a.live}
	}
	return inputs
}

// Close stops the engine, when it has started.
func (a *adaptive) Close() error {
	err := a.close()
	a.live.wait()
	for _, s := range a.stages {
		s.release() // nobody reads it any more
	}
	return err
}

// waiting is the run of the stages that others wait for.
type waiting struct {
	*adaptive
	ctx    context.Context // ends when the waiting does
	cancel context.CancelFunc
	events chan event
	pulls  sync.WaitGroup
	room   atomic.Int64
}

// run runs the stages that come first, one round after the other.
func (a *adaptive) run() error {
	w := &waiting{adaptive: a, events: make(chan event, len(a.stages))}
	w.ctx, w.cancel = context.WithCancel(a.query.ctx)
	w.room.Store(a.query.exec.cfg.HeldBytes)
	err := w.loop()
	w.cancel()
	w.pulls.Wait()
	a.publish()
	return err
}

func (w *waiting) loop() error {
	for !w.graph.Done() {
		if err := w.begin(w.graph.Ready()); err != nil {
			return err
		}
		w.publish()
		select {
		case e := <-w.events:
			if err := w.handle(e); err != nil {
				return err
			}
		case <-w.query.ctx.Done():
			return w.query.explain(nil)
		}
	}
	return nil
}

// publish makes the rounds so far visible to others, and counts new ones.
func (a *adaptive) publish() {
	rounds := a.graph.Rounds()
	seen := 0
	if before := a.rounds.Swap(&rounds); before != nil {
		seen = len(*before)
	}
	for _, r := range rounds[seen:] {
		a.query.exec.metrics.round(r)
	}
}

// begin opens the scans of stages and holds what they yield.
func (w *waiting) begin(ready []int) error {
	w.graph.Start(ready)
	for _, i := range ready {
		s := w.stages[i]
		open, err := s.scan.open(w.query.ctx, nil)
		if err != nil {
			return err
		}
		s.open, s.state = open, adapt.Running
		keys := w.graph.Keys(i)
		w.pulls.Go(func() {
			w.query.exec.cfg.Chaos.report(w.ctx, w.query.plan.SQL, event{i, s.pull(w.ctx, keys, &w.room)}, w.events)
		})
	}
	return nil
}

func (w *waiting) handle(e event) error {
	s := w.stages[e.stage]
	switch {
	case s.state != adapt.Running:
		return nil // it was cancelled, and its end says nothing
	case errors.Is(e.err, errTooMuch):
		w.giveUp()
		return nil
	case e.err != nil:
		return w.query.explain(e.err)
	}
	change, err := w.graph.Finish(e.stage, s.rows, s.bytes)
	if err != nil {
		return err
	}
	s.state = adapt.Finished
	s.open.close()
	w.apply(change)
	return nil
}

// apply makes the stages follow a change of the plan.
func (w *waiting) apply(c adapt.Change) {
	for _, i := range c.Stop {
		w.stages[i].state = adapt.Cancelled
		w.stages[i].open.close()
	}
	for _, i := range c.Removed {
		w.stages[i].state = adapt.Removed
	}
	for _, i := range c.Narrowed {
		w.stages[i].narrow(w.graph.Filters(i))
	}
	for _, i := range c.Told {
		w.stages[i].open.tell(w.graph.Late(i))
	}
}

// giveUp goes on without waiting: what was held is read first, the rest streams.
func (w *waiting) giveUp() {
	w.graph.Abandon("what was waited for is more than may be held: it streams, and nothing more is adapted")
}

// selected is a batch with some columns under the names of schema. The caller
// keeps its own reference.
func selected(b arrow.RecordBatch, schema *arrow.Schema, columns []int) arrow.RecordBatch {
	picked := make([]arrow.Array, len(columns))
	for i, c := range columns {
		picked[i] = b.Column(c)
	}
	return array.NewRecordBatch(schema, picked, b.NumRows())
}

// Rounds are the decisions taken so far while the query ran.
func (s *Stream) Rounds() []adapt.Round {
	q, source := s.running()
	if a, ok := source.(*adaptive); ok {
		if later := a.rounds.Load(); later != nil {
			return slices.Concat(q.decided(), *later)
		}
	}
	return q.decided()
}
