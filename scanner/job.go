package scanner

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
)

// job runs one spec over one table: the source does what it can, the kernels
// do the rest.
type job struct {
	scanner *Scanner
	table   *table
	out     sink
	feed    *feed
	workers int
	dynamic *dynamic

	// each worker runs this over what it reads; nil passes the rows on.
	each  *pushdown.Spec
	input *arrow.Schema
	// shared brings the workers' results together: groups that they finished
	// with, or all their rows for a top-N. nil when they go straight out.
	shared     *run.Runner
	sharedMu   sync.Mutex
	sharedRows bool
	// passed are rows that the workers did not group, though they should.
	passed atomic.Int64
	// hold keeps groups in the workers' tables, for a reduction at the end.
	hold bool
	// unique: the source expects groups of about one row.
	unique bool
}

// newJob divides spec, which is valid over schema, between source and kernels.
func (s *Scanner) newJob(ctx context.Context, t *table, source Source, schema *arrow.Schema, spec pushdown.Spec, out sink) (j *job, err error) {
	defer s.recovered(t, &err)
	if source, err = s.fromMemory(ctx, source, spec.WithCarrier(schema)); err != nil {
		return nil, status.Wrap(status.Internal, err, "table %s of scanner %q", t.name, s.cfg.Name)
	}
	caps, err := advised(ctx, source, spec)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "table %s of scanner %q", t.name, s.cfg.Name)
	}
	unreduced := spec.Unreduced()
	split := pushdown.Split(unreduced.WithCarrier(schema), caps)
	j = &job{scanner: s, table: t, out: out, each: split.Residual, input: split.Remote.OutputSchema(), hold: spec.Reduce != nil, dynamic: newDynamic(&split.Remote)}
	j.unique = spec.Grouped() && !caps.Has(pushdown.CapAggCount) && source.Capabilities().Has(pushdown.CapAggCount)
	j.workers = s.cfg.Workers
	todo, err := reads(ctx, source, split, j.workers)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "table %s of scanner %q", t.name, s.cfg.Name)
	}
	j.feed = &feed{todo: todo}
	if split.Residual == nil && len(todo) == 1 {
		j.workers = 2 // one reads while the other sends
		if len(spec.OrderBy) > 0 {
			j.workers = 1 // keeps the order, for those who look at the rows
		}
	}
	if spec.Reduce != nil {
		j.shared, err = j.newRunner(spec.WithCarrier(schema), schema)
		return j, err
	}
	return j, j.share()
}

// fromMemory is the source of the rows that a spec reads if they are in memory, or
// the given one.
func (s *Scanner) fromMemory(ctx context.Context, source Source, spec pushdown.Spec) (Source, error) {
	k, ok := source.(Keeper)
	if !ok {
		return source, nil
	}
	kept, err := k.Kept(ctx, spec)
	if kept == nil || err != nil {
		return source, err
	}
	s.metrics.kept.Inc()
	return kept, nil
}

// advised are the capabilities of a source to use for a spec.
func advised(ctx context.Context, source Source, spec pushdown.Spec) (pushdown.Capabilities, error) {
	if a, ok := source.(Adviser); ok {
		return a.Advise(ctx, spec)
	}
	return source.Capabilities(), nil
}

// reads divides what is asked of a source: into the pieces that it makes, or one
// read a partition, unless the source does everything and aggregates, and so is an
// engine that has threads of its own.
func reads(ctx context.Context, source Source, split pushdown.SplitResult, workers int) ([]Piece, error) {
	if split.Remote.Limit == 0 || split.Residual != nil && split.Residual.Limit == 0 {
		return nil, nil // no rows are wanted, only an answer
	}
	if pieces, err := pieces(ctx, source, split.Remote, workers); err != nil || len(pieces) > 0 {
		return pieces, err
	}
	if split.Residual == nil && source.Capabilities().Has(pushdown.CapAggCount) {
		return []Piece{whole(source, split.Remote)}, nil
	}
	out := make([]Piece, len(split.Remote.Partitions))
	for i, id := range split.Remote.Partitions {
		one := split.Remote
		one.Partitions = []string{id}
		out[i] = whole(source, one)
	}
	return out, nil
}

// pieces asks the source to divide a scan of rows.
func pieces(ctx context.Context, source Source, spec pushdown.Spec, workers int) ([]Piece, error) {
	s, ok := source.(Splitter)
	if !ok || workers < 2 || spec.Grouped() || len(spec.OrderBy) > 0 || len(spec.Partitions) == 0 {
		return nil, nil
	}
	return s.Split(ctx, spec, workers)
}

// whole is a read of all that a spec names.
func whole(source Source, spec pushdown.Spec) Piece {
	p := Piece{Scan: func(ctx context.Context) (Reader, error) { return source.Scan(ctx, spec) }}
	if len(spec.Partitions) == 1 {
		p.Partition = spec.Partitions[0]
	}
	return p
}

// share makes the runner that brings the workers together.
func (j *job) share() (err error) {
	switch {
	case j.each == nil:
		return nil
	case j.each.Grouped():
		j.shared, err = j.newRunner(*j.each, j.input)
	case len(j.each.OrderBy) > 0:
		last := *j.each
		last.Filter = nil
		j.each = filterStage(*j.each, last)
		input := j.input
		if j.each != nil {
			input = j.each.OutputSchema()
		}
		j.sharedRows = true
		j.shared, err = j.newRunner(last, input)
	}
	return err
}

// filterStage is what each worker does of a top-N.
func filterStage(whole, last pushdown.Spec) *pushdown.Spec {
	if len(whole.Filter) == 0 {
		return nil
	}
	return &pushdown.Spec{
		Table: whole.Table, Partitions: whole.Partitions,
		Columns: last.InputColumns(), Filter: whole.Filter, Limit: pushdown.NoLimit,
	}
}

func (j *job) newRunner(spec pushdown.Spec, input *arrow.Schema) (*run.Runner, error) {
	return run.New(spec, input, run.Options{Alloc: j.scanner.cfg.Alloc, Hold: j.hold, Pass: j.unique})
}

// run does the work and returns the number of table rows read.
func (j *job) run(ctx context.Context) (int64, error) {
	if j.shared != nil {
		defer j.shared.Release()
	}
	group, inner := errgroup.WithContext(ctx)
	for range j.workers {
		group.Go(func() error { return j.guarded(inner) })
	}
	err := group.Wait()
	if err == nil && j.shared != nil {
		err = j.emit(j.shared.Finish())
	}
	return j.feed.rowsScanned(), j.verdict(ctx, err)
}

// verdict tells a stop from a failure.
func (j *job) verdict(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, errEnough) {
		return nil
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errEnough):
		return nil
	case cause != nil && status.CodeOf(err) == status.Canceled:
		err = cause
	}
	return status.Wrap(status.Internal, err, "table %s of scanner %q", j.table.name, j.scanner.cfg.Name)
}

// guarded turns a panic of a source into an error of the scan.
func (j *job) guarded(ctx context.Context) (err error) {
	defer j.scanner.recovered(j.table, &err)
	return j.work(ctx)
}

// recovered is deferred around calls into a source.
func (s *Scanner) recovered(t *table, err *error) {
	if p := recover(); p != nil {
		s.cfg.Logger.Error().Str("table", t.name).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("source panicked")
		*err = status.New(status.Internal, "the source of table %s panicked: %v", t.name, p)
	}
}

// work reads until the feed is empty.
func (j *job) work(ctx context.Context) error {
	w := &worker{job: j}
	defer w.release()
	if j.each != nil {
		r, err := j.newRunner(*j.each, j.input)
		if err != nil {
			return err
		}
		w.runner = r
	}
	for {
		share := j.feed.pick()
		if share == nil {
			return j.finish(w.runner)
		}
		if err := j.drain(ctx, share, w); err != nil {
			return err
		}
	}
}

// drain works on one read until it ends.
func (j *job) drain(ctx context.Context, s *share, w *worker) (err error) {
	defer func() {
		if closeErr := j.feed.leave(s); err == nil {
			err = closeErr
		}
	}()
	w.visit(s.piece.Partition)
	for {
		batch, err := s.batch(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err = w.refresh(); err == nil {
			err = j.process(batch, w.runner)
		}
		batch.Release()
		if err != nil {
			return err
		}
	}
}

func (j *job) process(batch arrow.RecordBatch, runner *run.Runner) error {
	if runner == nil {
		return j.merge(batch)
	}
	before := runner.Passed()
	results, err := runner.Push(batch)
	j.passed.Add(runner.Passed() - before)
	if j.hold && len(results) > 0 {
		j.sharedMu.Lock()
		j.shared.Partial()
		j.sharedMu.Unlock()
	}
	for i, r := range results {
		if err == nil {
			err = j.pass(r)
		}
		results[i].Release()
	}
	return err
}

// pass takes a batch of a worker's results.
func (j *job) pass(batch arrow.RecordBatch) error {
	if !j.sharedRows {
		return j.send(batch)
	}
	j.sharedMu.Lock()
	defer j.sharedMu.Unlock()
	return j.emit(j.shared.Push(batch))
}

// finish takes what a worker still holds.
func (j *job) finish(runner *run.Runner) error {
	if runner == nil {
		return nil
	}
	results, err := runner.Finish()
	for _, r := range results {
		if err == nil {
			err = j.merge(r)
		}
		r.Release()
	}
	return err
}

func (j *job) merge(batch arrow.RecordBatch) error {
	if j.shared == nil || j.sharedRows {
		return j.pass(batch)
	}
	j.sharedMu.Lock()
	defer j.sharedMu.Unlock()
	return j.emit(j.shared.Merge(batch))
}

// emit sends and releases results.
func (j *job) emit(results []arrow.RecordBatch, err error) error {
	for _, r := range results {
		if err == nil {
			err = j.send(r)
		}
		r.Release()
	}
	return err
}

func (j *job) send(batch arrow.RecordBatch) error {
	if batch.NumRows() == 0 {
		return nil
	}
	return j.out.send(batch, codec.Progress{RowsScanned: j.feed.rowsScanned(), RowsPassed: j.passed.Load()})
}
