package exec

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/engine"
)

// DefaultMergeBytes is how much of partial groups is merged without the engine.
const DefaultMergeBytes = 1 << 20

// merging is the source of a plan that only merges partial groups: a statement in
// the engine would take longer than all else of a small query. The rows are held
// first; when they are many the engine gets them, and the rest.
type merging struct {
	late
	stage *stage
}

// Next waits for the partial groups and yields the merged ones.
func (m *merging) Next(ctx context.Context) (arrow.RecordBatch, error) { return m.next(ctx, m.run) }

func (m *merging) run() (_ source, err error) {
	if m.stage.open, err = m.stage.scan.open(m.query.ctx, nil); err != nil {
		return nil, err
	}
	var room atomic.Int64
	room.Store(m.query.exec.cfg.MergeBytes)
	switch err := m.stage.pull(m.query.ctx, nil, &room); {
	case err == nil:
		return m.merged()
	case !errors.Is(err, errTooMuch):
		return nil, err
	}
	if err := m.query.budget.Engine(m.query.ctx); err != nil {
		return nil, err
	}
	in := &stageInput{input: newInput(m.stage.scan, false), stage: m.stage}
	return m.query.runEngine(m.query.plan.Residual, nil, map[string]engine.Input{m.stage.scan.plan.ID: in})
}

// merged merges what is held.
func (m *merging) merged() (source, error) {
	mem := m.query.exec.cfg.Alloc
	spec := m.stage.scan.plan.Spec
	r, err := run.New(spec, inputSchema(&spec), run.Options{Alloc: mem, Hold: true})
	if err != nil {
		return nil, err
	}
	defer r.Release()
	var out []arrow.RecordBatch
	defer func() { releaseAll(out) }()
	for _, b := range m.stage.held {
		early, err := r.Merge(b)
		out = append(out, early...)
		if err != nil {
			return nil, err
		}
	}
	if len(out) > 0 {
		return nil, status.New(status.Internal, "%d groups do not fit into the kernels' table", m.stage.rows)
	}
	if out, err = r.Finish(); err != nil {
		return nil, err
	}
	m.stage.release()
	result := &batches{}
	for _, b := range out {
		c, err := conform(b, m.query.plan.Schema, m.query.plan.Merge.Columns, mem)
		if err == nil {
			result.left = append(result.left, c)
			err = printable(c)
		}
		if err != nil {
			releaseAll(result.left)
			return nil, err
		}
	}
	return result, nil
}

// printable makes sure that decimals have no more digits than their type: sums are
// of 128 bits, which hold a few more.
func printable(b arrow.RecordBatch) error {
	for _, c := range b.Columns() {
		d, ok := c.(*array.Decimal128)
		if !ok {
			continue
		}
		t := d.DataType().(*arrow.Decimal128Type)
		for i, x := range d.Values() {
			if d.IsValid(i) && !x.FitsInPrecision(t.Precision) {
				return status.New(status.OutOfRange, "the value %s has more than the %d digits that %s can hold", x.ToString(t.Scale), t.Precision, t)
			}
		}
	}
	return nil
}

// Close stops the engine, when it has started.
func (m *merging) Close() error {
	err := m.close()
	m.stage.release()
	return err
}

// batches is a source of batches that are there.
type batches struct{ left []arrow.RecordBatch }

// Next returns the next batch or io.EOF.
func (b *batches) Next(context.Context) (arrow.RecordBatch, error) {
	if len(b.left) == 0 {
		return nil, io.EOF
	}
	next := b.left[0]
	b.left = b.left[1:]
	return next, nil
}

// Close drops the rest.
func (b *batches) Close() error {
	releaseAll(b.left)
	b.left = nil
	return nil
}
