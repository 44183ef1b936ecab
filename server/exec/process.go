package exec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
)

// processor turns the batches of one stream into rows of the spec that was
// wanted of it, whatever the scanner did to them. Partial rows need no merging
// here: they are merge-stable and the plan above merges them.
type processor struct {
	work work
	out  *arrow.Schema
	mem  memory.Allocator
	rest *run.Runner // the residual over the scanner's rows
	raw  *run.Runner // the whole spec over raw rows
}

func newProcessor(w work, out *arrow.Schema, mem memory.Allocator) *processor {
	return &processor{work: w, out: out, mem: mem}
}

// add processes one batch and returns the rows that are ready.
func (p *processor) add(b codec.Batch) ([]arrow.RecordBatch, error) {
	remote := &p.work.remote
	if plain(remote) && !b.Record.Schema().Equal(remote.OutputSchema()) {
		wide, err := widen.Batch(b.Record, remote.OutputSchema(), p.mem)
		if err != nil {
			return nil, err
		}
		defer wide.Release()
		b.Record = wide
	}
	switch {
	case b.Mode == codec.Raw && !plain(remote):
		return p.through(&p.raw, p.work.full.Unreduced(), inputSchema(&p.work.full), b.Record)
	case b.Mode != codec.Raw && b.Mode != codec.ModeOf(remote):
		return nil, status.New(status.DataLoss, "the scanner sent %s rows for a scan of %s rows", b.Mode, codec.ModeOf(remote))
	case p.work.residual != nil:
		return p.through(&p.rest, *p.work.residual, remote.OutputSchema(), b.Record)
	}
	b.Record.Retain()
	return p.shape([]arrow.RecordBatch{b.Record})
}

// plain reports whether raw rows are all that s asks for.
func plain(s *pushdown.Spec) bool {
	return !s.Grouped() && len(s.Filter) == 0 && len(s.OrderBy) == 0 && s.Limit == pushdown.NoLimit
}

// inputSchema is the schema of the table's columns that s reads.
func inputSchema(s *pushdown.Spec) *arrow.Schema {
	var fields []arrow.Field
	for _, c := range s.ReadColumns() {
		fields = append(fields, c.Field())
	}
	return arrow.NewSchema(fields, nil)
}

// through pushes a batch through a runner, which is made for the first one.
func (p *processor) through(r **run.Runner, spec pushdown.Spec, input *arrow.Schema, rec arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	if err := p.ensure(r, spec, input); err != nil {
		return nil, err
	}
	rec, err := conform(rec, input, nil, p.mem)
	if err != nil {
		return nil, err
	}
	defer rec.Release()
	out, err := (*r).Push(rec)
	if err != nil {
		return nil, err
	}
	return p.shape(out)
}

func (p *processor) ensure(r **run.Runner, spec pushdown.Spec, input *arrow.Schema) error {
	if *r != nil {
		return nil
	}
	runner, err := run.New(spec, input, run.Options{Alloc: p.mem})
	if err != nil {
		return err
	}
	*r = runner
	return nil
}

// done reports that no more input is wanted.
func (p *processor) done() bool {
	return p.rest != nil && p.rest.Done() || p.raw != nil && p.raw.Done()
}

// bound is what the kernels here know about rows that are not wanted any more.
func (p *processor) bound() run.Bound {
	var best run.Bound
	for _, r := range []*run.Runner{p.rest, p.raw} {
		if r == nil {
			continue
		}
		if b := r.Bound(); b.Tighter(best) {
			best = b
		}
	}
	return best
}

// finish returns the rows that only the end makes ready.
func (p *processor) finish() ([]arrow.RecordBatch, error) {
	var all []arrow.RecordBatch
	if p.raw != nil && p.rest != nil {
		p.rest.Partial() // a group may be in both
	}
	for _, r := range []*run.Runner{p.rest, p.raw} {
		if r == nil {
			continue
		}
		out, err := r.Finish()
		if err != nil {
			releaseAll(all)
			return nil, err
		}
		all = append(all, out...)
	}
	return p.shape(all)
}

// empty is the result over no rows at all.
func (p *processor) empty() ([]arrow.RecordBatch, error) {
	if err := p.ensure(&p.raw, p.work.full, inputSchema(&p.work.full)); err != nil {
		return nil, err
	}
	return p.finish()
}

func (p *processor) release() {
	for _, r := range []*run.Runner{p.rest, p.raw} {
		if r != nil {
			r.Release()
		}
	}
}

// shape makes batches, which it consumes, have the wanted columns and types.
func (p *processor) shape(batches []arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	defer releaseAll(batches)
	var shaped []arrow.RecordBatch
	for _, b := range batches {
		if b.NumRows() == 0 {
			continue
		}
		s, err := conform(b, p.out, p.work.project, p.mem)
		if err != nil {
			releaseAll(shaped)
			return nil, err
		}
		shaped = append(shaped, s)
	}
	return shaped, nil
}
