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

// Stream is the result of a running plan.
type Stream struct {
	query  *query
	source source
	close  sync.Once
	err    error
}

// Schema is the schema that the plan promised.
func (s *Stream) Schema() *arrow.Schema { return s.query.plan.Schema }

// Next returns the next batch, which the caller releases, or io.EOF after the
// last one.
func (s *Stream) Next(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := s.source.Next(ctx)
	switch {
	case err == nil:
		return batch, nil
	case errors.Is(err, io.EOF):
		if failed := s.query.failure(); failed != nil {
			return nil, failed
		}
		return nil, io.EOF
	}
	return nil, s.query.explain(err)
}

// Close stops the query if it still runs, and returns when nothing of it is
// left. It may be called again.
func (s *Stream) Close() error {
	s.close.Do(func() {
		// The scans first: the engine may wait in one of them.
		s.query.stop()
		s.err = s.source.Close()
		s.query.close()
	})
	return s.err
}

// Stats tells what the scans have done so far.
func (s *Stream) Stats() plan.Stats { return s.query.stats() }
