package exec

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

// window is what of the scan's output a pass-through yields: columns in order,
// and rows Offset … Offset+Count.
type window struct {
	columns       []int
	offset, count int64 // count may be NoLimit
}

// windowOf reads a plan that is only a scan below projections of columns and
// limits.
func windowOf(n plan.Node) (window, error) {
	switch n := n.(type) {
	case *plan.Scan:
		w := window{count: pushdown.NoLimit}
		for i := range n.Columns() {
			w.columns = append(w.columns, i)
		}
		return w, nil
	case *plan.Project:
		w, err := windowOf(n.Input)
		if err != nil {
			return window{}, err
		}
		return w.project(n.Exprs)
	case *plan.Limit:
		w, err := windowOf(n.Input)
		if err != nil {
			return window{}, err
		}
		return w.limit(n.Offset, n.Count), nil
	}
	return window{}, status.New(status.Internal, "a pass-through plan has a %T", n)
}

func (w window) project(exprs []plan.Expr) (window, error) {
	columns := make([]int, len(exprs))
	for i, e := range exprs {
		if c, ok := e.(*plan.Cast); ok && !c.Try {
			e = c.Arg
		}
		ref, ok := e.(*plan.Ref)
		if !ok || ref.Index >= len(w.columns) {
			return window{}, status.New(status.Internal, "a pass-through plan computes %T", e)
		}
		columns[i] = w.columns[ref.Index]
	}
	w.columns = columns
	return w, nil
}

// limit applies OFFSET and LIMIT to what w yields.
func (w window) limit(offset, count int64) window {
	w.offset += offset
	if w.count != pushdown.NoLimit {
		w.count = max(w.count-offset, 0)
	}
	if count != pushdown.NoLimit && (w.count == pushdown.NoLimit || count < w.count) {
		w.count = count
	}
	return w
}

// passThrough is a plan that needs no engine.
type passThrough struct {
	query  *query
	open   *openScan
	window window
}

func (q *query) passThrough() (source, error) {
	if len(q.scans) != 1 {
		return nil, status.New(status.Internal, "a pass-through plan has %d scans", len(q.scans))
	}
	w, err := windowOf(q.plan.Root)
	if err != nil {
		return nil, err
	}
	if len(w.columns) != q.plan.Schema.NumFields() {
		return nil, status.New(status.Internal, "a pass-through plan yields %d columns, not %d", len(w.columns), q.plan.Schema.NumFields())
	}
	open, err := q.scans[0].open(q.ctx, nil)
	if err != nil {
		return nil, err
	}
	return &passThrough{query: q, open: open, window: w}, nil
}

// Next returns the next batch or io.EOF.
func (p *passThrough) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for p.window.count != 0 {
		batch, err := p.open.next(ctx)
		if err != nil {
			return nil, err
		}
		if batch = p.cut(batch); batch == nil {
			continue
		}
		defer batch.Release()
		return conform(batch, p.query.plan.Schema, p.window.columns, p.query.exec.cfg.Alloc)
	}
	p.open.close()
	return nil, io.EOF
}

// cut consumes a batch and returns the rows of it that are in the window, or
// nil.
func (p *passThrough) cut(b arrow.RecordBatch) arrow.RecordBatch {
	w := &p.window
	skip := min(w.offset, b.NumRows())
	keep := b.NumRows() - skip
	if w.count != pushdown.NoLimit {
		keep = min(keep, w.count)
		w.count -= keep
	}
	w.offset -= skip
	if keep == b.NumRows() {
		return b
	}
	defer b.Release()
	if keep == 0 {
		return nil
	}
	return b.NewSlice(skip, skip+keep)
}

// Close stops the scan.
func (p *passThrough) Close() error {
	p.open.close()
	return nil
}
