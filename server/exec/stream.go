package exec

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/server/plan"
)

// source yields the rows of a running plan: the engine's result or a
// pass-through.
type source interface {
	Next(ctx context.Context) (arrow.RecordBatch, error)
	Close() error
}

// Stream is the result of a running plan. Next is for one goroutine at a time.
type Stream struct {
	ended  error // what Next returned at the end
	close  sync.Once
	closed error // what Close returned

	mu      sync.Mutex // held where the two change
	query   *query
	source  source
	closing bool
}

// running are the query and what yields its rows.
func (s *Stream) running() (*query, source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.query, s.source
}

// Plan is what runs: the plan that was given to Run, or another one for the same rows.
func (s *Stream) Plan() *plan.Plan {
	q, _ := s.running()
	return q.plan
}

// Schema is the schema that the plan promised.
func (s *Stream) Schema() *arrow.Schema { return s.Plan().Schema }

// Next returns the next batch, which the caller releases, or io.EOF after the
// last one. A stream that has failed stays failed.
func (s *Stream) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	q, source := s.running()
	batch, err := source.Next(ctx)
	if err == nil && q.yield() {
		return batch, nil
	}
	if err == nil {
		batch.Release()
	}
	if other := q.instead(); other != nil {
		if s.ended = s.regroup(ctx, other); s.ended != nil {
			return nil, s.ended
		}
		return s.Next(ctx)
	}
	if failed := q.failure(); failed != nil || !errors.Is(err, io.EOF) {
		err = q.explain(err)
	}
	if q.ctx.Err() != nil || errors.Is(err, io.EOF) {
		s.ended = err
	}
	return nil, err
}

// Close stops the query if it still runs, and returns when nothing of it is
// left. It may be called again.
func (s *Stream) Close() error {
	s.close.Do(func() {
		s.mu.Lock()
		s.closing = true
		q, source := s.query, s.source
		s.mu.Unlock()
		if errors.Is(s.ended, io.EOF) {
			q.settle()
		}
		// The scans first: the engine may wait in one of them.
		q.stop()
		s.closed = source.Close()
		q.close()
	})
	return s.closed
}

// Stats tells what the scans have done so far.
func (s *Stream) Stats() plan.Stats {
	q, _ := s.running()
	return q.stats()
}
