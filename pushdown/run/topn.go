package run

import (
	"bytes"
	"container/heap"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
)

// topN keeps the best rows in a heap whose root is the worst of them. Most rows
// lose against the root by an 8-byte prefix of their key; only the others are
// encoded.
type topN struct {
	limit     int
	cols      columns
	keys      *sortKeys
	outKeys   *sortKeys // over the output columns; nil when a key is not there
	mem       memory.Allocator
	heap      entries
	stores    []*store
	maxStores int
	held      int // rows in stores
	scratch   []byte
	prefixes  []uint64
}

// entry is a kept row: its key and where its columns are.
type entry struct {
	prefix uint64
	key    []byte
	store  *store
	row    int32
}

// store is a batch that holds kept rows, among others.
type store struct{ rows arrow.RecordBatch }

func compareEntries(a, b *entry) int { return bytes.Compare(a.key, b.key) }

// entries is a heap with the worst entry at the root.
type entries []*entry

func (h entries) Len() int           { return len(h) }
func (h entries) Less(i, j int) bool { return compareEntries(h[i], h[j]) > 0 }
func (h entries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *entries) Push(x any)        { *h = append(*h, x.(*entry)) }
func (h *entries) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func newTopN(spec pushdown.Spec, input *arrow.Schema, opts Options) (*topN, error) {
	cols, err := newColumns(spec, input)
	if err != nil {
		return nil, err
	}
	keys, err := newSortKeys(spec.OrderBy, input)
	if err != nil {
		return nil, err
	}
	t := &topN{limit: int(spec.Limit), cols: cols, keys: keys, mem: opts.Alloc, maxStores: minStores}
	t.outKeys, _ = newSortKeys(spec.OrderBy, cols.schema)
	return t, nil
}

func (t *topN) push(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
	if err := t.keys.check(batch); err != nil {
		return nil, err
	}
	rows, err := t.cols.take(batch, nil, t.mem)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	return nil, t.offer(t.keys, batch, rows, sel)
}

// merge ranks the rows of another run again. Where the sort keys are not among
// the columns that cannot be done, and the rows pass on: every stream may return
// as many as the limit says.
func (t *topN) merge(batch arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	if t.outKeys == nil {
		batch.Retain()
		return []arrow.RecordBatch{batch}, nil
	}
	return nil, t.offer(t.outKeys, batch, batch, nil)
}

// offer considers the selected rows of batch, whose output columns are rows.
func (t *topN) offer(keys *sortKeys, batch, rows arrow.RecordBatch, sel []int32) error {
	t.prefixes = keys.prefixes(t.prefixes, batch)
	reader := keys.reader(batch)
	fresh := &store{rows: rows}
	kept := false
	consider := func(row int32) {
		if t.consider(keys, reader, fresh, row) {
			kept = true
		}
	}
	if sel == nil {
		for row := range int32(batch.NumRows()) {
			consider(row)
		}
	} else {
		for _, row := range sel {
			consider(row)
		}
	}
	if !kept {
		return nil
	}
	rows.Retain()
	t.stores = append(t.stores, fresh)
	if err := t.shrink(fresh); err != nil {
		return err
	}
	return t.compact()
}

// consider keeps the row when it is among the best so far.
func (t *topN) consider(keys *sortKeys, reader []keyReader, s *store, row int32) bool {
	prefix := t.prefixes[row]
	full := len(t.heap) == t.limit
	if full {
		if worst := t.heap[0].prefix; prefix > worst || prefix == worst && keys.exact {
			return false
		}
	}
	t.scratch = encodeKey(t.scratch[:0], reader, int(row))
	if !full {
		heap.Push(&t.heap, &entry{prefix: prefix, key: slices.Clone(t.scratch), store: s, row: row})
		return true
	}
	worst := t.heap[0]
	if bytes.Compare(t.scratch, worst.key) >= 0 {
		return false
	}
	worst.prefix, worst.key = prefix, append(worst.key[:0], t.scratch...)
	worst.store, worst.row = s, row
	heap.Fix(&t.heap, 0)
	return true
}

func (t *topN) done() bool { return t.limit == 0 }

func (t *topN) finish() ([]arrow.RecordBatch, error) {
	slices.SortFunc(t.heap, compareEntries)
	if err := t.unify(); err != nil {
		return nil, err
	}
	var out []arrow.RecordBatch
	for from := 0; from < len(t.heap); {
		to := from + 1
		for to < len(t.heap) && to-from < agg.MaxEmitRows && t.heap[to].store == t.heap[from].store {
			to++
		}
		batch, err := takeEntries(t.heap[from:to], t.mem)
		if err != nil {
			agg.Release(out)
			return nil, err
		}
		out = append(out, batch)
		from = to
	}
	t.release()
	return out, nil
}

func (t *topN) release() {
	for _, s := range t.stores {
		s.rows.Release()
	}
	t.stores, t.heap, t.held = nil, nil, 0
}
