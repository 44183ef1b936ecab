package scanner

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// DoExchange runs one scan for a coordinator.
func (s *service) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	session, err := codec.Accept(stream, s.cfg.Alloc)
	if err != nil {
		return grpcstatus.ToGRPC(err)
	}
	request := session.Request()
	leave, err := s.enter()
	if err != nil {
		return session.Fail(err)
	}
	defer leave()
	end := s.metrics.begin(modeOf(&request.Spec))
	rows, err := s.serve(session, request)
	end(rows, err)
	s.logScan(request, rows, err)
	if err != nil {
		return session.Fail(err)
	}
	return session.End(rows)
}

func (s *Scanner) logScan(r codec.OpenRequest, rows int64, err error) {
	event := s.cfg.Logger.Debug()
	if err != nil && status.CodeOf(err) != status.Canceled {
		event = s.cfg.Logger.Warn().Err(err)
	}
	event.Str("scan", r.ScanID).Str("table", r.Spec.Table).Str("mode", modeOf(&r.Spec)).Int64("rows_scanned", rows).Msg("scan")
}

// serve checks the request, echoes it and runs it.
func (s *service) serve(session *codec.Session, request codec.OpenRequest) (int64, error) {
	ctx, cancel := s.scanContext(session.Context())
	defer cancel(nil)
	spec := request.Spec
	out := &exchange{session: session, mode: codec.ModeOf(&spec), quota: newQuota(rowLimit(&spec)), metrics: s.metrics}
	j, err := s.jobOf(ctx, spec, request.SchemaVersion, request.TableVersion, out)
	if err != nil {
		return 0, err
	}
	if err := session.Open(codec.Opened{Mode: out.mode, Epoch: s.epoch, TableVersion: request.TableVersion}, spec.OutputSchema()); err != nil {
		return 0, err
	}
	go j.dynamic.listen(session.Filters())
	stopBeats := s.beat(ctx, cancel, out, j)
	defer stopBeats()
	rows, err := j.run(ctx)
	if err == nil && request.PinVersion {
		err = s.compareVersion(ctx, j.table, request.TableVersion)
	}
	return rows, err
}

// jobOf is the job of a specification by someone who knows the table at the
// given versions; empty ones are not compared.
func (s *Scanner) jobOf(ctx context.Context, spec pushdown.Spec, schemaVersion, tableVersion string, out sink) (*job, error) {
	if err := s.allowed(&spec); err != nil {
		return nil, err
	}
	t, err := s.table(spec.Table)
	if err != nil {
		return nil, err
	}
	own, err := s.schema(ctx, t)
	if err != nil {
		return nil, err
	}
	told, err := carried(own)
	if err != nil {
		return nil, err
	}
	if err := s.compareSchema(t, told, schemaVersion); err != nil {
		return nil, err
	}
	schema := federated(own, &spec, schemaVersion != "")
	if err := spec.Validate(schema); err != nil {
		return nil, err
	}
	if err := s.compareVersion(ctx, t, tableVersion); err != nil {
		return nil, err
	}
	return s.newJob(ctx, t, s.widening(t, own, &spec), schema, spec, out)
}

// rowLimit is the number of rows that a stream may carry at most.
func rowLimit(spec *pushdown.Spec) int64 {
	if spec.Grouped() {
		return pushdown.NoLimit
	}
	return spec.Limit
}

// allowed refuses what Disable withholds: a coordinator that asks for it did
// not look at Hello.
func (s *Scanner) allowed(spec *pushdown.Spec) error {
	for _, c := range spec.Required() {
		if !s.caps.Has(c) {
			return status.New(status.FailedPrecondition, "scanner %q does not offer the capability %q", s.cfg.Name, c)
		}
	}
	return nil
}

// scanContext ends with parent and with the scanner.
func (s *Scanner) scanContext(parent context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	unlink := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func(cause error) {
		unlink()
		cancel(cause)
	}
}

// schema asks a source, which may panic.
func (s *Scanner) schema(ctx context.Context, t *table) (schema *arrow.Schema, err error) {
	defer s.recovered(t, &err)
	schema, err = t.Source.Schema(ctx)
	return schema, status.Wrap(status.Internal, err, "table %s of scanner %q", t.name, s.cfg.Name)
}

// beat reports progress while nothing is sent and stops the scan when the
// coordinator has enough. The returned function ends it and waits.
func (s *Scanner) beat(ctx context.Context, cancel context.CancelCauseFunc, x *exchange, j *job) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		beats := time.NewTicker(s.cfg.Heartbeat)
		defer beats.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ctx.Done():
				return
			case <-x.session.Enough():
				cancel(errEnough)
				return
			case <-beats.C:
				if x.session.Heartbeat(j.feed.rowsScanned()) != nil {
					return // the scan itself sees why
				}
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
