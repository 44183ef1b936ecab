package exec

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

// run reads one target to its end; a failure fails the query.
func (o *openScan) run(i int) {
	stats := o.scan.stats[i]
	target := &o.scan.plan.Targets[i]
	stats.begin()
	defer stats.end()
	err := o.guarded(target, stats)
	if o.unwanted() {
		return
	}
	if err == nil {
		o.complete.Add(1)
		return
	}
	o.scan.query.exec.cfg.Logger.Warn().Err(err).Str("query", o.scan.query.id).Msg("scan failed")
	o.scan.query.fail(err)
}

// guarded turns a panic, which only a fault in a kernel can cause, into an error
// of this query.
func (o *openScan) guarded(t *plan.Target, stats *targetStats) (err error) {
	defer func() {
		if r := recover(); r != nil {
			o.scan.query.exec.cfg.Logger.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Str("query", o.scan.query.id).Msg("recovered in a scan")
			err = o.describe(t, status.New(status.Internal, "internal error: %v", r))
		}
	}()
	return o.read(t, stats, true)
}

// read reads one target, and its replicas instead when it fails before its
// first batch.
func (o *openScan) read(t *plan.Target, stats *targetStats, retry bool) error {
	a := &attempt{open: o, target: t, stats: streamStats{target: stats, metrics: o.scan.query.exec.metrics}}
	err := a.run(o.reading)
	if err == nil || o.unwanted() {
		return err
	}
	if suspicious(err) {
		o.scan.query.exec.cfg.Catalog.MarkFailed(t.Scanner, err)
	}
	err = o.describe(t, err)
	if !retry || a.started || !retryable(err) {
		return err
	}
	others := o.scan.replicas(t)
	if len(others) == 0 {
		return err
	}
	a.waive()
	o.scan.query.exec.metrics.fallback(fallbackReplica)
	stats.retried(others[0].Scanner)
	for i := range others {
		if again := o.read(&others[i], stats, false); again != nil {
			return again
		}
	}
	return nil
}

// ours is an error with which no scanner has to do.
type ours struct{ error }

// Unwrap returns the error.
func (o ours) Unwrap() error { return o.error }

// describe says what failed. Errors of the connection are Unavailable, as is a
// scan that the scanner gave up although nobody here did.
func (o *openScan) describe(t *plan.Target, err error) error {
	if own := (ours{}); errors.As(err, &own) {
		return status.Wrap(status.Internal, own.error, "read of table %s", o.scan.plan.Table.ID())
	}
	wrapped := status.Wrap(status.Unavailable, err, "scanner %q at %s failed to read table %s, partitions %s",
		t.Scanner.Name, t.Scanner.Addr, o.scan.plan.Table.ID(), few(slices.Concat(t.Partitions, t.Unread())))
	if e := (*status.Error)(nil); errors.As(wrapped, &e) && e.Code == status.Canceled {
		e.Code = status.Unavailable
	}
	return wrapped
}

// few lists the first partitions of a target.
func few(ids []string) string {
	const most = 8
	if len(ids) > most {
		return strings.Join(ids[:most], ", ") + ", …"
	}
	return strings.Join(ids, ", ")
}

// suspicious errors say something about the scanner rather than the query.
func suspicious(err error) bool {
	switch status.CodeOf(err) {
	case status.Unavailable, status.Aborted, status.DataLoss, status.Unknown, status.Canceled, status.FailedPrecondition:
		return true
	}
	return false
}

// retryable errors may go away on another scanner.
func retryable(err error) bool { return suspicious(err) }

// replicas are the targets that can read t's partitions instead of it; none if
// a partition has no other healthy owner. What t left out they read: only t
// could tell whether that was still right.
func (s *remoteScan) replicas(t *plan.Target) []plan.Target {
	if t.Pinned {
		return nil
	}
	var others []plan.Target
	for _, id := range slices.Concat(t.Partitions, t.Unread()) {
		owner := s.otherOwner(id, t.Scanner)
		if owner == nil {
			return nil
		}
		at := slices.IndexFunc(others, func(o plan.Target) bool { return o.Scanner == owner })
		if at < 0 {
			at = len(others)
			others = append(others, plan.Target{Scanner: owner, Split: s.resplit(t, owner)})
		}
		others[at].Partitions = append(others[at].Partitions, id)
	}
	if s.plan.Spec.Reduce != nil && len(others) > 1 {
		for i := range others { // none of them has whole groups
			others[i].Split = plan.SplitFor(s.plan.Table, others[i].Scanner, s.plan.Spec.Unreduced())
		}
	}
	return others
}

func (s *remoteScan) otherOwner(partition string, failed *catalog.Scanner) *catalog.Scanner {
	for _, p := range s.plan.Table.Partitions {
		if p.ID != partition {
			continue
		}
		for _, o := range p.Owners {
			if o.Err == nil && o.Addr != failed.Addr {
				return o
			}
		}
	}
	return nil
}

// resplit is t's split when the other scanner can run it too.
func (s *remoteScan) resplit(t *plan.Target, other *catalog.Scanner) pushdown.SplitResult {
	if len(t.Partitions) == 0 {
		return plan.SplitFor(s.plan.Table, other, s.plan.Spec)
	}
	for _, c := range t.Split.Remote.Required() {
		if !other.Capabilities.Has(c) {
			return plan.SplitFor(s.plan.Table, other, s.plan.Spec)
		}
	}
	if !other.Capabilities.Has(pushdown.CapWiden) && s.plan.Table.Narrow(other.Name, s.plan.Spec.ReadColumns()) {
		return plan.SplitFor(s.plan.Table, other, s.plan.Spec)
	}
	return t.Split
}

// attempt is one stream.
type attempt struct {
	open    *openScan
	target  *plan.Target
	stats   streamStats
	started bool  // a batch has arrived
	passed  int64 // Progress.RowsPassed so far
	// confirmed: the scanner still has the version that the target relies on.
	confirmed bool
}

func (a *attempt) run(ctx context.Context) error {
	t, q := a.target, a.open.scan.query
	if t.Scanner.Err != nil {
		return status.Wrap(status.Unavailable, t.Scanner.Err, "the scanner is not reachable")
	}
	client, err := q.exec.cfg.Catalog.Client(t.Scanner)
	if err != nil {
		return err
	}
	w := a.open.scan.work(t, a.open.columns)
	first, begun := min(firstWindow, q.window), time.Now()
	if err := q.budget.Reserve(first); err != nil {
		return ours{err}
	}
	credit := newCredit(q.budget, first, q.window)
	defer credit.close()
	scan, err := client.Scan(ctx, codec.OpenRequest{
		ScanID: a.open.id + "." + t.Scanner.Name, Spec: w.sent, Epoch: t.Scanner.Epoch,
		InitialCredit: first, BatchBytes: q.opts.BatchBytes, TableVersion: t.Version, PinVersion: t.Pinned,
		SchemaVersion: a.open.scan.plan.Table.Schemas[t.Scanner.Name].Version,
		Compression:   q.compression(),
	}, q.exec.cfg.Alloc)
	if err != nil {
		return err
	}
	q.exec.metrics.opened(1)
	defer q.exec.metrics.opened(-1)
	defer a.stats.end()
	// Closing is what frees the scanner early; its error adds nothing.
	defer func() { _ = scan.Close() }()
	a.open.control.add(scan)
	defer a.open.control.remove(scan)
	if t.Scanner.Capabilities.Has(pushdown.CapDynamicFilter) {
		a.open.slots.join(scan)
		defer a.open.slots.quit(scan)
	}
	if err := a.confirm(ctx, scan); err != nil {
		return err
	}
	if _, err := scan.Opened(); err != nil {
		return err
	}
	p := newProcessor(w, a.open.schema, q.exec.cfg.Alloc)
	defer p.release()
	if len(t.Partitions) > 0 {
		if err := a.pump(ctx, scan, p, credit.begin(scan, time.Since(begun))); err != nil {
			return err
		}
	}
	return a.answer(p)
}

// pump moves batches from the scan to the queue until the end of either.
func (a *attempt) pump(ctx context.Context, scan *codec.Scan, p *processor, credit *credit) error {
	for !p.done() {
		if a.open.unwanted() {
			a.drain(ctx, scan, &p.work.remote)
			return nil
		}
		batch, err := scan.Next()
		if errors.Is(err, io.EOF) {
			if a.stats.scanned(scan.End().RowsScanned); plain(&p.work.remote) && a.open.slots.told(scan) {
				a.stats.dropped()
			}
			break
		}
		if err != nil {
			return err
		}
		if !a.started && batch.Mode == codec.Raw && !plain(&p.work.remote) {
			a.open.scan.query.exec.metrics.fallback(fallbackRaw)
		}
		if !a.started && batch.Mode != codec.Raw && p.work.residual == nil {
			a.open.control.counts(scan)
		}
		if err := credit.arrived(batch.Cost); err != nil {
			batch.Record.Release()
			return ours{err}
		}
		a.started = true
		a.stats.batch(batch, &p.work.remote)
		a.open.passed(batch.RowsPassed - a.passed)
		a.passed = batch.RowsPassed
		out, err := p.add(batch)
		batch.Record.Release()
		if err != nil {
			return err
		}
		if err := a.open.bound.note(p.bound(), out); err != nil {
			releaseAll(out)
			return err
		}
		if err := a.open.deliver(out, credit.of(batch.Cost)); err != nil && !a.open.unwanted() {
			return err
		}
	}
	out, err := p.finish()
	if err != nil {
		return err
	}
	if err := a.open.deliver(out, nil); err != nil {
		return err
	}
	if p.done() {
		a.drain(ctx, scan, &p.work.remote)
	}
	return nil
}
