package run

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/eval"
)

// reducer drops whole groups that nobody wants.
type reducer struct {
	rows  *Runner
	apart int // the key whose NULL groups are kept, -1 for none
	opts  Options
}

func newReducer(spec pushdown.Spec, opts Options) (*reducer, error) {
	schema := spec.OutputSchema()
	rows, err := New(spec.Reducer(), schema, Options{Alloc: opts.Alloc})
	r := &reducer{rows: rows, apart: -1, opts: opts}
	if spec.Reduce.Apart != "" {
		r.apart = schema.FieldIndices(spec.Reduce.Apart)[0]
	}
	return r, err
}

// apply consumes all groups and returns those that are kept.
func (r *reducer) apply(groups []arrow.RecordBatch) (kept []arrow.RecordBatch, err error) {
	defer r.rows.Release()
	defer agg.Release(groups)
	defer func() {
		if err != nil {
			agg.Release(kept)
			kept = nil
		}
	}()
	for _, b := range groups {
		ready, err := r.divide(b)
		kept = append(kept, ready...)
		if err != nil {
			return kept, err
		}
	}
	last, err := r.rows.Finish()
	return append(kept, last...), err
}

// divide passes on what is set apart and reduces the rest.
func (r *reducer) divide(b arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	if r.apart < 0 || b.Column(r.apart).NullN() == 0 {
		return r.rows.Push(b)
	}
	var nulls, values []int32
	for i := range b.Column(r.apart).Len() {
		if b.Column(r.apart).IsNull(i) {
			nulls = append(nulls, int32(i))
		} else {
			values = append(values, int32(i))
		}
	}
	apart, err := eval.Take(b, nulls, r.opts.Alloc)
	if err != nil {
		return nil, err
	}
	whole, err := eval.Take(b, values, r.opts.Alloc)
	if err != nil {
		apart.Release()
		return nil, err
	}
	defer whole.Release()
	out, err := r.rows.Push(whole)
	return append(out, apart), err
}
