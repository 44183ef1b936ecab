package duckdb

import (
	"context"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// The size of batches: one chunk at first, for latency, then growing.
const (
	firstRows  = 2048
	maxRows    = 64 << 10
	maxBytes   = 1 << 20
	growFactor = 4
	// A fetch that took longer than this ends the batch: the rows at hand are
	// worth more now than together with the next ones.
	slowFetch = 20 * time.Millisecond
)

// reader turns a stream into record batches.
type reader struct {
	stream    *stream
	schema    *arrow.Schema
	appenders []appender
	canonical []int // float group keys
	alloc     memory.Allocator

	rows, target int
	scanned      atomic.Int64
	table        int64 // rows to read, -1 unknown
	extent       int64 // rows in the files, of which DuckDB reports progress
	limit        int64 // rows that end the statement early, or pushdown.NoLimit
	sent         int64
	ended        atomic.Bool
	// closing keeps the connection while its progress is asked for.
	closing sync.Mutex
	closed  bool
}

// query runs a statement whose result has the given schema.
func (e *Engine) query(ctx context.Context, sql string, schema *arrow.Schema) (*reader, error) {
	return e.queryInto(ctx, sql, schema, e.alloc)
}

func (e *Engine) queryInto(ctx context.Context, sql string, schema *arrow.Schema, alloc memory.Allocator) (*reader, error) {
	s, err := e.stream(ctx, sql)
	if err != nil {
		return nil, err
	}
	r := &reader{stream: s, schema: schema, alloc: alloc, target: firstRows, table: -1, limit: pushdown.NoLimit}
	if err := r.prepare(); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

func (r *reader) prepare() error {
	types := r.stream.columnTypes()
	defer func() {
		for i := range types {
			bind.DestroyLogicalType(&types[i])
		}
	}()
	if len(types) != r.schema.NumFields() {
		return status.New(status.Internal, "DuckDB returned %d columns where %d were asked for", len(types), r.schema.NumFields())
	}
	for i, f := range r.schema.Fields() {
		a, err := newAppender(r.alloc, f.Type, types[i])
		if err != nil {
			return status.Wrap(status.Internal, err, "column %q", f.Name)
		}
		r.appenders = append(r.appenders, a)
	}
	return nil
}

// Next returns the next batch or io.EOF.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.closed {
		return nil, status.New(status.FailedPrecondition, "the scan is closed")
	}
	if r.stream.ctx != ctx { // the statement listens to its own context only
		g := guard(ctx, r.stream.conn)
		defer func() {
			if g.disarm() {
				r.stream.guard.interrupt(r.stream.conn) // remembers not to reuse the connection
			}
		}()
	}
	for {
		start := time.Now()
		more, err := r.fill()
		if err != nil {
			return nil, r.explain(ctx, err)
		}
		if r.rows > 0 && (!more || r.full() || r.last() || time.Since(start) > slowFetch) {
			return r.flush(), nil
		}
		if !more {
			r.complete()
			return nil, io.EOF
		}
	}
}

// explain prefers the reason of the caller's context.
func (r *reader) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return engineError(ctx, "")
	}
	return err
}

// fill appends one chunk and reports whether there may be more.
func (r *reader) fill() (bool, error) {
	chunk, err := r.stream.fetch()
	if err != nil || chunk.Ptr == nil {
		return false, err
	}
	defer bind.DestroyDataChunk(&chunk)
	n := int(bind.DataChunkGetSize(chunk))
	for i, a := range r.appenders {
		if err := a.append(bind.DataChunkGetVector(chunk, bind.IdxT(i)), 0, n); err != nil {
			return false, status.Wrap(status.Internal, err, "column %q", r.schema.Field(i).Name)
		}
	}
	r.rows += n
	return true, nil
}

func (r *reader) full() bool {
	if r.rows >= r.target {
		return true
	}
	n := 0
	for _, a := range r.appenders {
		n += a.bytes()
	}
	return n >= maxBytes
}

// last reports that the rows at hand are all that a LIMIT lets through: DuckDB
// need not be asked whether there are more before they are sent.
func (r *reader) last() bool {
	return r.limit != pushdown.NoLimit && r.sent+int64(r.rows) >= r.limit
}

// flush makes a batch of the rows so far.
func (r *reader) flush() arrow.RecordBatch {
	columns := make([]arrow.Array, len(r.appenders))
	for i, a := range r.appenders {
		data := a.finish()
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	for _, i := range r.canonical {
		canonicalFloats(columns[i])
	}
	batch := array.NewRecordBatch(r.schema, columns, int64(r.rows))
	for _, c := range columns {
		c.Release()
	}
	r.sent += int64(r.rows)
	r.note(max(r.sent, r.progress()))
	r.rows, r.target = 0, min(r.target*growFactor, maxRows)
	return batch
}

// canonicalFloats gives equal group keys equal bits: one NaN and no -0. The
// array is new and not shared yet.
func canonicalFloats(a arrow.Array) {
	switch a := a.(type) {
	case *array.Float64:
		for i, x := range a.Float64Values() {
			a.Float64Values()[i] = canonicalFloat(x)
		}
	case *array.Float32:
		for i, x := range a.Float32Values() {
			a.Float32Values()[i] = float32(canonicalFloat(float64(x)))
		}
	}
}

func canonicalFloat(x float64) float64 {
	switch {
	case x == 0:
		return 0
	case x != x:
		return math.NaN()
	default:
		return x
	}
}

// RowsScanned is the number of rows read so far, by DuckDB's own account of its
// progress: never less than the rows returned, and those of the partitions once
// DuckDB is through with them.
func (r *reader) RowsScanned() int64 {
	r.closing.Lock()
	defer r.closing.Unlock()
	if !r.closed && !r.ended.Load() {
		r.note(r.progress())
	}
	return r.scanned.Load()
}

// progress is DuckDB's account, 0 when it has none.
func (r *reader) progress() int64 {
	p := bind.QueryProgress(r.stream.conn)
	percent, _, _ := bind.QueryProgressTypeMembers(&p)
	if percent <= 0 || r.table <= 0 {
		return 0
	}
	return min(int64(percent/100*float64(r.extent)), r.table)
}

// note never goes back.
func (r *reader) note(rows int64) {
	for {
		was := r.scanned.Load()
		if rows <= was || r.scanned.CompareAndSwap(was, rows) {
			return
		}
	}
}

// complete notes that DuckDB is through with the partitions, unless it stopped
// because it had enough rows.
func (r *reader) complete() {
	if r.limit != pushdown.NoLimit && r.sent >= r.limit {
		r.note(r.progress())
	} else {
		r.note(r.table)
	}
	r.ended.Store(true)
}

// Close stops the statement.
func (r *reader) Close() error {
	r.closing.Lock()
	defer r.closing.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	r.stream.close()
	for _, a := range r.appenders {
		a.release()
	}
	return nil
}
