package exec

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// errUngrouped ends a query that goes on as another one, over rows in place of groups.
var errUngrouped = status.New(status.Aborted, "the query is run in another way")

// Choose is the plan that a query runs: p, or another one of the same statement that
// reads rows where earlier queries showed that grouping does not reduce them.
func (e *Executor) Choose(p *plan.Plan, mode adapt.Mode) *plan.Plan {
	p, _ = e.choose(p, mode)
	return p
}

func (e *Executor) choose(p *plan.Plan, mode adapt.Mode) (*plan.Plan, []adapt.Round) {
	if !learns(mode) {
		return p, nil
	}
	known := e.feedback.Ungrouped(p)
	other := p.Ungrouped(known)
	if other == nil {
		return p, nil
	}
	round := adapt.UngroupedRound(time.Now(), p, other, p.Scans[known[0]].ID, "earlier scans are remembered")
	return other, []adapt.Round{round}
}

// passed notes rows that were found to be groups of their own. When they are too
// many, and nothing was yielded yet, the query ends so that its stream goes on with another.
func (o *openScan) passed(rows int64) {
	if rows <= 0 || o.scan.narrowed || !o.scan.plan.Reducible() {
		return
	}
	passed := o.ungrouped.Add(rows)
	if q := o.scan.query; q.learns() && adapt.UngroupedSoFar(o.scan.plan, o.rows.Load(), passed) {
		q.regroup(o.scan.plan, passed)
	}
}

// regroup ends the query in favour of another one, unless it has yielded something,
// or is itself such a one.
func (q *query) regroup(s *plan.RemoteScan, passed int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed != nil || q.closed || q.yielded || q.regrouped {
		return
	}
	q.regrouped = true
	q.exec.feedback.LearnUngrouped(s)
	other := q.plan.Ungrouped(q.exec.feedback.Ungrouped(q.plan))
	if other == nil {
		return
	}
	round := adapt.UngroupedRound(q.begun, q.plan, other, s.ID, fmt.Sprintf("%s: %d rows were no fewer as groups", s.ID, passed))
	q.other, q.rounds, q.failed = other, append(q.rounds, round), errUngrouped
	q.exec.metrics.round(round)
	q.cancel(errUngrouped)
}

// yield reports whether rows of the query may be seen; from then on it is not run in
// another way.
func (q *query) yield() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.yielded = q.yielded || q.failed != errUngrouped
	return q.yielded
}

// decided are the rounds in which the way of the query was chosen.
func (q *query) decided() []adapt.Round {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.rounds)
}

// instead is the plan to go on with, nil when there is none.
func (q *query) instead() *plan.Plan {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.other
}

// regroup goes on with another plan, of which the query has yielded nothing yet. What
// it was admitted with the new one keeps.
func (s *Stream) regroup(ctx context.Context, p *plan.Plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.query
	if s.closing {
		return status.New(status.Canceled, "query %s is closed", old.id)
	}
	err := s.source.Close()
	old.end()
	q := newQuery(old.parent, old.exec, old.id, p, old.opts)
	q.budget, q.regrouped, q.rounds, q.begun = old.budget, true, old.rounds, old.begun
	s.query, s.source = q, &batches{}
	if err != nil {
		return q.explain(err)
	}
	stop := context.AfterFunc(ctx, func() { q.cancel(context.Cause(ctx)) })
	defer stop()
	if err := q.budget.Engine(q.ctx); err != nil {
		return q.explain(err)
	}
	source, err := q.start()
	if err != nil {
		return q.explain(err)
	}
	s.source = source
	return nil
}
