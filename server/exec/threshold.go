package exec

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
)

// maxThreshold is the largest LIMIT whose last row is looked for.
const maxThreshold = 1 << 17

// threshold follows the last row that the ORDER BY … LIMIT of a scan still wants,
// over all its streams, and sets the slot of the top-N to it.
type threshold struct {
	open *openScan

	mu   sync.Mutex
	best run.Bound
	// rows ranks what the scanners' own top-N sent, by the first key; nil when
	// that is not among the columns, or was not needed yet.
	rows *run.Runner
	at   int // of the first key in the delivered columns
}

// newThreshold returns nil for a scan without a top-N of rows.
func newThreshold(o *openScan) *threshold {
	spec := &o.scan.plan.Spec
	if spec.Grouped() || len(spec.OrderBy) == 0 || spec.Limit > maxThreshold {
		return nil
	}
	key := spec.OrderBy[0].Column
	at := slices.IndexFunc(o.schema.Fields(), func(f arrow.Field) bool {
		return f.Name == key.Name && arrow.TypeEqual(f.Type, key.DataType)
	})
	return &threshold{open: o, at: at}
}

// note takes what a stream has learned, after the rows that it yields.
func (t *threshold) note(b run.Bound, ready []arrow.RecordBatch) error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.rank(ready); err != nil {
		return err
	}
	if t.rows != nil {
		t.improve(t.rows.Bound())
	}
	t.improve(b)
	return nil
}

func (t *threshold) improve(b run.Bound) {
	if b.Tighter(t.best) {
		t.best = b
		t.open.slots.set(t.open.ctx, slotTopN, b.Expr)
	}
}

// rank counts rows that are part of the scan's result.
func (t *threshold) rank(batches []arrow.RecordBatch) error {
	if t.at < 0 || len(batches) == 0 {
		return nil
	}
	if t.rows == nil {
		if err := t.begin(); err != nil {
			return err
		}
	}
	for _, b := range batches {
		column := b.Column(t.at)
		keys := array.NewRecordBatch(t.keySchema(), []arrow.Array{column}, b.NumRows())
		_, err := t.rows.Push(keys)
		keys.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *threshold) keySchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{t.open.schema.Field(t.at)}, nil)
}

func (t *threshold) begin() (err error) {
	spec := t.open.scan.plan.Spec
	t.rows, err = run.New(pushdown.Spec{
		Table: spec.Table, Partitions: []string{"0"}, Columns: []pushdown.Column{spec.OrderBy[0].Column},
		OrderBy: spec.OrderBy[:1], Limit: spec.Limit,
	}, t.keySchema(), run.Options{Alloc: t.open.scan.query.exec.cfg.Alloc})
	return err
}

// release frees the ranked keys; no stream runs any more.
func (t *threshold) release() {
	if t != nil && t.rows != nil {
		t.rows.Release()
	}
}
