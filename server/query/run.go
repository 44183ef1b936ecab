package query

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/exec"
)

// running is one query in flight: it counts what it yields and reports once,
// when it ends.
type running struct {
	service *Service
	record  Record // as it was when it began
	st      *Statement
	ctx     context.Context
	cancel  context.CancelFunc
	stream  *exec.Stream
	rows    int64
	done    sync.Once
	leave   func()
	// begunRows: the client has a batch, so the query cannot be repeated.
	begunRows bool
	repeats   int
}

func (s *Service) start(ctx context.Context, id string, st *Statement) *running {
	var cancel context.CancelFunc
	if t := st.Settings.StatementTimeout; t > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, t, status.New(status.DeadlineExceeded, "the statement took longer than statement_timeout = %s", t))
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	s.metrics.active.Inc()
	record := Record{ID: id, User: auth.UserOf(ctx).Name, SQL: clip(st.SQL), Begun: time.Now(), Outcome: Running}
	s.history.begin(record)
	return &running{service: s, record: record, st: st, ctx: ctx, cancel: cancel}
}

// Schema is the promised schema.
func (r *running) Schema() *arrow.Schema { return r.st.Schema }

// QueryID is the id under which the query is logged.
func (r *running) QueryID() string { return r.record.ID }

// Next returns the next batch.
func (r *running) Next(ctx context.Context) (arrow.RecordBatch, error) {
	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	batch, err := r.stream.Next(r.ctx)
	for r.stale(err) {
		batch, err = r.again()
	}
	if err == nil {
		batch, err = r.st.edge.apply(batch, r.service.cfg.Alloc)
	}
	r.begunRows = r.begunRows || err == nil
	switch {
	case err == nil:
		r.rows += batch.NumRows()
	case errors.Is(err, io.EOF):
		r.finish(nil)
	default:
		err = r.explainCancel(err)
		r.finish(err)
	}
	return batch, err
}

// maxRepeats is how often a stale plan is made anew, the last time so that it
// depends on no statistics.
const maxRepeats = 2

// stale reports whether the plan met a scanner that restarted, or whose rows
// changed, since it was made, before anything was sent: the statement can then be
// planned again.
func (r *running) stale(err error) bool {
	return status.CodeOf(err) == status.Aborted && !r.begunRows && r.repeats < maxRepeats
}

// again plans and starts the statement once more on a fresh catalog.
func (r *running) again() (arrow.RecordBatch, error) {
	r.repeats++
	r.st.restless = r.repeats == maxRepeats
	if err := errors.Join(r.stream.Close(), r.service.cfg.Catalog.Refresh(r.ctx)); err != nil {
		return nil, err
	}
	r.st.planned = time.Time{}
	if err := r.service.refresh(r.ctx, r.st); err != nil {
		return nil, err
	}
	stream, err := r.service.execute(r.ctx, r.record.ID, r.st)
	if err != nil {
		return nil, err
	}
	r.stream = stream
	return stream.Next(r.ctx)
}

// explainCancel replaces a bare context error by the reason for it.
func (r *running) explainCancel(err error) error {
	code := status.CodeOf(err)
	if code != status.Canceled && code != status.DeadlineExceeded {
		return err
	}
	var cause *status.Error
	if errors.As(context.Cause(r.ctx), &cause) {
		return cause
	}
	return err
}

// Close ends the query; before the end of the stream it cancels it.
func (r *running) Close() error {
	r.cancel()
	var err error
	if r.stream != nil {
		err = r.stream.Close()
	}
	r.finish(status.New(status.Canceled, "the client closed the result before its end"))
	return err
}

// fail reports err and releases what the query held; nil is the end of a
// statement that yields a finished result.
func (r *running) fail(err error) error {
	err = r.explainCancel(err)
	r.finish(err)
	r.cancel()
	return err
}

func (r *running) finish(err error) {
	r.done.Do(func() {
		record, elapsed := r.record, time.Since(r.record.Begun)
		r.leave()
		r.service.metrics.ended(err, elapsed)
		event := r.service.cfg.Logger.Info()
		if err != nil && status.CodeOf(err) != status.Canceled {
			event = r.service.cfg.Logger.Warn()
			if len(r.st.rows) == 0 { // it may quote bound values
				event = event.Err(err)
			}
		}
		record.Elapsed, record.Outcome, record.Rows = elapsed, outcome(err), r.rows
		if err != nil && len(r.st.rows) == 0 {
			record.Error = err.Error()
		}
		event = audited(r.ctx, event).Str("query_id", record.ID).Str("outcome", record.Outcome).Dur("elapsed", elapsed).Int64("rows", r.rows)
		if r.stream != nil {
			stats := r.stream.Stats()
			total := stats.Total()
			event = event.Str("mode", string(r.st.plan.Kind)).Int64("rows_scanned", total.RowsScanned).Int64("bytes_received", total.BytesReceived)
			record.Mode, record.RowsScanned, record.BytesReceived = string(r.st.plan.Kind), total.RowsScanned, total.BytesReceived
			record.Rounds, record.Scans = r.stream.Rounds(), scanRecords(stats)
		}
		r.service.history.add(record)
		event.Str("sql", record.SQL).Msg("query ended")
	})
}

// outcome is the label of a query's end: ok, canceled, or the error's code.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return status.CodeOf(err).String()
}
