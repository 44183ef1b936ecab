package exec

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
)

// stage is a scan of a query that adapts: while others wait for it, what it
// yields is held here.
type stage struct {
	scan  *remoteScan // with the filters that it got
	state adapt.State
	open  *openScan // of a stage that was started
	held  []arrow.RecordBatch
	bytes int64
	rows  int64
	// reserved of the query's memory for held.
	reserved int64
	taken    atomic.Bool // of a stage that goes on running: somebody reads it
}

// event is the end of a stage's wait: all rows are held, or it failed.
type event struct {
	stage int
	err   error
}

// pull holds what the stage yields until its end, or until ctx ends: the rest
// stays in the scan's queue.
func (s *stage) pull(ctx context.Context, keys map[int]*adapt.Keys, room *atomic.Int64) error {
	for {
		batch, err := s.open.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		reserved := s.hold(batch)
		for column, k := range keys {
			k.Add(batch.Column(column))
		}
		if room.Add(-size(batch)) < 0 || reserved != nil {
			return errTooMuch
		}
	}
}

// hold takes over a batch; it fails when the memory for it cannot be reserved.
func (s *stage) hold(batch arrow.RecordBatch) error {
	bytes := size(batch)
	s.held = append(s.held, batch)
	s.rows += batch.NumRows()
	s.bytes += bytes
	s.scan.query.exec.metrics.inflight(bytes)
	if err := s.scan.query.budget.Reserve(bytes); err != nil {
		return err
	}
	s.reserved += bytes
	return nil
}

// errTooMuch ends the wait for a stage that yields more than may be held.
var errTooMuch = errors.New("more than may be held")

// release lets go of what is held.
func (s *stage) release() {
	releaseAll(s.held)
	s.scan.query.exec.metrics.inflight(-s.bytes)
	s.scan.query.budget.Release(s.reserved)
	s.held, s.bytes, s.reserved = nil, 0, 0
}

// narrow gives the stage's scan filters. It shares the statistics of the scan
// that was planned.
func (s *stage) narrow(filters []plan.RuntimeFilter) {
	planned := s.scan.query.planned(s.scan)
	s.scan = &remoteScan{query: s.scan.query, plan: planned.plan.Narrow(exprs(filters)), schema: planned.schema, stats: planned.stats, shared: planned.shared, narrowed: true}
}

func exprs(filters []plan.RuntimeFilter) []pushdown.Expr {
	out := make([]pushdown.Expr, len(filters))
	for i, f := range filters {
		out[i] = f.Expr
	}
	return out
}

// planned is the scan of the plan that s came from.
func (q *query) planned(s *remoteScan) *remoteScan {
	at := slices.IndexFunc(q.scans, func(p *remoteScan) bool { return p.plan.ID == s.plan.ID })
	return q.scans[at]
}

// stageInput lets the engine read a stage.
type stageInput struct {
	*input
	stage *stage
	at    int        // among the stages
	live  *streaming // nil for a stage of which nothing is to be learned
}

var _ engine.Input = (*stageInput)(nil)

// Rows is known of a stage that has ended.
func (in *stageInput) Rows() (n int64, exact bool) {
	switch in.stage.state {
	case adapt.Finished:
		return in.stage.rows, true
	case adapt.Removed, adapt.Cancelled:
		return 0, true
	}
	return in.input.Rows()
}

// Open reads what is held, nothing of a needless stage, and goes on with what
// still runs; another reader of that starts anew.
func (in *stageInput) Open(ctx context.Context, columns []int) (engine.Reader, error) {
	s := in.stage
	switch s.state {
	case adapt.Finished:
		return in.heldReader(columns, s.held, nil), nil
	case adapt.Removed, adapt.Cancelled:
		return in.heldReader(columns, nil, nil), nil
	case adapt.Running:
		if !s.taken.Swap(true) {
			return in.heldReader(columns, s.held, s.open), nil
		}
	}
	if in.live != nil {
		return in.live.open(ctx, in, columns)
	}
	return in.input.Open(ctx, columns)
}

// heldReader yields the stage's batches, then those of an open scan.
type heldReader struct {
	schema  *arrow.Schema
	columns []int
	held    []arrow.RecordBatch
	at      atomic.Int64
	rest    *openScan // nil for none
}

func (in *stageInput) heldReader(columns []int, held []arrow.RecordBatch, rest *openScan) *heldReader {
	return &heldReader{schema: in.columns(columns), columns: columns, held: held, rest: rest}
}

// Next returns the next batch or io.EOF.
func (r *heldReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if at := int(r.at.Add(1)) - 1; at < len(r.held) {
		return selected(r.held[at], r.schema, r.columns), nil
	}
	if r.rest == nil {
		return nil, io.EOF
	}
	batch, err := r.rest.next(ctx)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return selected(batch, r.schema, r.columns), nil
}

// Close stops what still runs.
func (r *heldReader) Close() error {
	if r.rest != nil {
		r.rest.close()
	}
	return nil
}
