package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// Batches of a result start small, for a quick first answer, and grow.
const (
	firstBatchRows = 2048
	maxBatchRows   = 64 << 10
	maxBatchBytes  = 4 << 20
	// maxBatchWait bounds how long finished rows wait for more of their batch.
	maxBatchWait = 20 * time.Millisecond
)

// Result streams the rows of a query. Next must not be called concurrently;
// Close may be called at any time.
type Result struct {
	run       *running
	conn      duckdb.Connection
	alloc     memory.Allocator
	interrupt func()
	done      func(clean bool) // gives the connection back
	missing   int64            // rows until enough is to be called; 0 for never
	enough    func()

	mu       sync.Mutex // held by the call that is inside DuckDB
	schema   *arrow.Schema
	stmt     duckdb.PreparedStatement
	pending  duckdb.PendingResult
	result   duckdb.Result
	started  bool
	complete bool  // all rows were fetched
	err      error // sticky
	closed   bool
	columns  []gatherer
	target   int
	closing  sync.Once
}

// Schema of the batches.
func (r *Result) Schema() *arrow.Schema { return r.schema }

// Next returns the next batch, or io.EOF after the last. The caller releases
// it. When ctx ends the whole query does.
func (r *Result) Next(ctx context.Context) (arrow.RecordBatch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, io.EOF
	}
	if r.err != nil {
		return nil, r.err
	}
	batch, err := r.next(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.errorOr(err)
	}
	r.err = err
	return batch, err
}

// next runs DuckDB with both contexts watched.
func (r *Result) next(ctx context.Context) (arrow.RecordBatch, error) {
	defer context.AfterFunc(ctx, func() { r.run.cancel(context.Cause(ctx)) })()
	defer r.watch()()
	if !r.started {
		if err := r.start(); err != nil {
			return nil, err
		}
	}
	return r.gather()
}

// watch interrupts DuckDB when the query's context ends, until the returned
// function is called. It keeps interrupting: DuckDB forgets an interrupt that
// arrives just before it starts.
func (r *Result) watch() func() {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-stop:
			return
		case <-r.run.ctx.Done():
		}
		for {
			r.interrupt()
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return func() { close(stop); wg.Wait() }
}

// start executes the statement up to its first rows.
func (r *Result) start() error {
	r.started = true
	if r.run.ctx.Err() != nil {
		return ctxError(r.run.ctx)
	}
	if duckdb.PendingPreparedStreaming(r.stmt, &r.pending) != duckdb.StateSuccess {
		return duckError(duckdb.PendingError(r.pending))
	}
	if duckdb.ExecutePending(r.pending, &r.result) != duckdb.StateSuccess {
		return duckError(duckdb.ResultError(&r.result))
	}
	return nil
}

// gather collects chunks into one batch.
func (r *Result) gather() (arrow.RecordBatch, error) {
	rows := 0
	begun := time.Time{}
	for rows < r.target && r.pendingBytes() < maxBatchBytes {
		n, err := r.fetch()
		if err != nil {
			return nil, err
		}
		if n == 0 {
			r.complete = true
			break
		}
		rows += n
		if r.counted(n) {
			break
		}
		if begun.IsZero() {
			begun = time.Now()
		} else if time.Since(begun) > maxBatchWait {
			break
		}
	}
	if rows == 0 {
		return nil, io.EOF
	}
	r.target = min(maxBatchRows, 2*r.target)
	return r.finish(rows), nil
}

// counted takes off n rows and reports whether all that can come have come.
func (r *Result) counted(n int) bool {
	if r.missing <= 0 {
		return false
	}
	if r.missing -= int64(n); r.missing > 0 {
		return false
	}
	if r.enough != nil {
		r.enough()
	}
	return true
}

// fetch adds one chunk to the columns and returns its rows; 0 at the end.
func (r *Result) fetch() (int, error) {
	if r.complete {
		return 0, nil
	}
	chunk := duckdb.FetchChunk(r.result)
	if chunk.Ptr == nil {
		if text := duckdb.ResultError(&r.result); text != "" {
			return 0, duckError(text)
		}
		return 0, nil
	}
	defer duckdb.DestroyDataChunk(&chunk)
	n := int(duckdb.DataChunkGetSize(chunk))
	if n == 0 {
		return 0, nil
	}
	for i, c := range r.columns {
		if err := c.append(duckdb.DataChunkGetVector(chunk, duckdb.IdxT(i)), 0, n); err != nil {
			return 0, columnError(err, r.schema.Field(i).Name)
		}
	}
	return n, nil
}

func (r *Result) pendingBytes() int {
	n := 0
	for _, c := range r.columns {
		n += c.bytes()
	}
	return n
}

func (r *Result) finish(rows int) arrow.RecordBatch {
	cols := make([]arrow.Array, len(r.columns))
	for i, c := range r.columns {
		data := c.finish()
		cols[i] = array.MakeFromData(data)
		data.Release()
	}
	batch := array.NewRecordBatch(r.schema, cols, int64(rows))
	for _, c := range cols {
		c.Release()
	}
	return batch
}

// errorOr prefers the cause that DuckDB only reports: the error of an input,
// then the end of the query's context.
func (r *Result) errorOr(err error) error {
	if r.run.ctx.Err() != nil {
		return ctxError(r.run.ctx)
	}
	if failure := r.run.failure(); failure != nil {
		return failure
	}
	return err
}

// Close interrupts the query when it still runs, and frees what it holds.
func (r *Result) Close() error {
	r.closing.Do(func() {
		r.run.cancel(nil) // a Next in progress interrupts DuckDB and returns
		r.mu.Lock()
		defer r.mu.Unlock()
		r.closed = true
		clean := !r.started && r.err == nil || r.complete
		if r.started && !r.complete {
			r.interrupt()
		}
		duckdb.DestroyResult(&r.result)
		duckdb.DestroyPending(&r.pending)
		duckdb.DestroyPrepare(&r.stmt)
		for _, c := range r.columns {
			c.release()
		}
		r.done(clean)
	})
	return nil
}
