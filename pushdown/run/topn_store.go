package run

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/status"
)

// shrink replaces the batch of s by its kept rows, so that what is held does not
// grow with the input.
func (t *topN) shrink(s *store) error {
	var live []*entry
	for _, e := range t.heap {
		if e.store == s {
			live = append(live, e)
		}
	}
	rows, err := takeEntries(live, t.mem)
	if err != nil {
		return err
	}
	t.replace(s, rows, live)
	return nil
}

// replace puts rows, the rows of live in order, into s.
func (t *topN) replace(s *store, rows arrow.RecordBatch, live []*entry) {
	s.rows.Release()
	s.rows = rows
	t.held += len(live)
	for i, e := range live {
		e.store, e.row = s, int32(i)
	}
}

// takeEntries gathers rows of one store.
func takeEntries(es []*entry, mem memory.Allocator) (arrow.RecordBatch, error) {
	sel := make([]int32, len(es))
	for i, e := range es {
		sel[i] = e.row
	}
	return eval.Take(es[0].store.rows, sel, mem)
}

// minStores is how many stores are held before they are joined.
const minStores = 256

// compact drops the rows that were displaced once they outnumber the kept ones.
func (t *topN) compact() error {
	if t.held <= 2*t.limit+agg.MaxEmitRows && len(t.stores) <= t.maxStores {
		return nil
	}
	if err := t.unify(); err != nil {
		return err
	}
	if err := t.compactEach(); err != nil {
		return err
	}
	t.maxStores = max(minStores, 2*len(t.stores))
	return nil
}

// compactEach drops the stores without a kept row and shrinks the others.
func (t *topN) compactEach() error {
	live := map[*store]bool{}
	for _, e := range t.heap {
		live[e.store] = true
	}
	t.stores = slices.DeleteFunc(t.stores, func(s *store) bool {
		if !live[s] {
			s.rows.Release()
		}
		return !live[s]
	})
	t.held = 0
	for _, s := range t.stores {
		if err := t.shrink(s); err != nil {
			return err
		}
	}
	return nil
}

// unify makes one store of all, unless their dictionaries do not fit together.
func (t *topN) unify() error {
	if len(t.stores) < 2 || !t.concatenable() {
		return nil
	}
	cols := make([]arrow.Array, t.cols.schema.NumFields())
	total := int64(0)
	for c := range cols {
		parts := make([]arrow.Array, len(t.stores))
		for i, s := range t.stores {
			parts[i] = s.rows.Column(c)
		}
		joined, err := array.Concatenate(parts, t.mem)
		if err != nil {
			return status.Wrap(status.Internal, err, "joining rows of column %q", t.cols.schema.Field(c).Name)
		}
		defer joined.Release()
		cols[c] = joined
	}
	start := map[*store]int32{}
	for _, s := range t.stores {
		start[s] = int32(total)
		total += s.rows.NumRows()
		s.rows.Release()
	}
	whole := &store{rows: array.NewRecordBatch(t.cols.schema, cols, total)}
	for _, e := range t.heap {
		e.row += start[e.store]
		e.store = whole
	}
	t.stores = []*store{whole}
	return nil
}

// concatenable reports that no union of dictionaries outgrows its index type.
func (t *topN) concatenable() bool {
	for c, f := range t.cols.schema.Fields() {
		if f.Type.ID() != arrow.DICTIONARY {
			continue
		}
		first := t.stores[0].rows.Column(c).(*array.Dictionary).Dictionary()
		values, same, nulls := 0, true, false
		for _, s := range t.stores {
			dict := s.rows.Column(c).(*array.Dictionary).Dictionary()
			values += dict.Len()
			same = same && array.Equal(first, dict)
			nulls = nulls || dict.NullN() > 0
		}
		dt := f.Type.(*arrow.DictionaryType)
		width := dt.IndexType.(arrow.FixedWidthDataType).BitWidth()
		if !same && (nulls || dt.ValueType.ID() != arrow.STRING || values >= 1<<min(width-1, 31)) {
			return false
		}
	}
	return true
}
