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
	query  *query
	source source
	ended  error // what Next returned at the end
	close  sync.Once
	closed error // what Close returned
}

// Schema is the schema that the plan promised.
func (s *Stream) Schema() *arrow.Schema { return s.query.plan.Schema }

// Next returns the next batch, which the caller releases, or io.EOF after the
// last one. A stream that has failed stays failed.
func (s *Stream) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if s.ended != nil {
		return nil, s.ended
	}
	batch, err := s.source.Next(ctx)
	if err == nil {
		return batch, nil
	}
	if failed := s.query.failure(); failed != nil || !errors.Is(err, io.EOF) {
		err = s.query.explain(err)
	}
	if s.query.ctx.Err() != nil || errors.Is(err, io.EOF) {
		s.ended = err
	}
	return nil, err
}

// Close stops the query if it still runs, and returns when nothing of it is
// left. It may be called again.
func (s *Stream) Close() error {
	s.close.Do(func() {
		if errors.Is(s.ended, io.EOF) {
			s.query.settle()
		}
		// The scans first: the engine may wait in one of them.
		s.query.stop()
		s.closed = s.source.Close()
		s.query.close()
	})
	return s.closed
}

// Stats tells what the scans have done so far.
func (s *Stream) Stats() plan.Stats { return s.query.stats() }
