package exec

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
)

// late is what sources share that begin to work in their first Next, so that what
// they meet is reported as any other failure of the running query.
type late struct {
	query *query

	mu     sync.Mutex // held while it begins
	begun  bool
	source source
	err    error
}

// next yields the rows of the source that begin makes, the first time.
func (l *late) next(ctx context.Context, begin func() (source, error)) (arrow.RecordBatch, error) {
	source, err := l.start(ctx, begin)
	if err != nil {
		return nil, err
	}
	return source.Next(ctx)
}

func (l *late) start(ctx context.Context, begin func() (source, error)) (source, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		return l.source, l.err
	}
	l.begun = true
	stop := context.AfterFunc(ctx, func() { l.query.cancel(context.Cause(ctx)) })
	defer stop()
	l.source, l.err = begin()
	return l.source, l.err
}

// close closes the source that was begun, or lets none begin any more. Whoever
// closes has stopped the query, which ends a begin.
func (l *late) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		l.begun, l.err = true, l.query.stopped()
	}
	if l.source == nil {
		return nil
	}
	return l.source.Close()
}
