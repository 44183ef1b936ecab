package scanner

import (
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/run"
)

// maxSlots bounds the dynamic filters of one scan; further slots are ignored.
const maxSlots = 16

// dynamic are the filters that a coordinator sends while a scan runs: rows that
// do not pass one of them are not wanted, but may be sent.
type dynamic struct {
	// input is the schema of the rows that filters are tried on; nil when there are
	// none, because the source has grouped or cut them already.
	input *arrow.Schema

	mu    sync.Mutex
	slots map[int]codec.FilterUpdate
	// version rises with every change.
	version uint64
}

// newDynamic decides what filters can be tried on.
func newDynamic(remote *pushdown.Spec) *dynamic {
	d := &dynamic{slots: map[int]codec.FilterUpdate{}}
	cut := remote.Limit != pushdown.NoLimit && len(remote.OrderBy) == 0
	if !remote.Grouped() && !cut {
		d.input = remote.OutputSchema()
	}
	return d
}

// listen takes updates until there are no more.
func (d *dynamic) listen(updates <-chan codec.FilterUpdate) {
	for u := range updates {
		d.offer(u)
	}
}

// offer takes a filter if it is the newest of its slot and can be computed from
// the rows at hand.
func (d *dynamic) offer(u codec.FilterUpdate) {
	if d.input == nil || !pushdown.Infallible(u.Expr) {
		return
	}
	if _, err := eval.CompileFilter([]pushdown.Expr{u.Expr}, d.input); err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	have, known := d.slots[u.Slot]
	if known && have.Generation >= u.Generation || !known && len(d.slots) == maxSlots {
		return
	}
	d.slots[u.Slot] = u
	d.version++
}

// newer returns the filters when they have changed since a version.
func (d *dynamic) newer(than uint64) (conjuncts []pushdown.Expr, version uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.version == than {
		return nil, than
	}
	var slots []int
	for slot := range d.slots {
		slots = append(slots, slot)
	}
	slices.Sort(slots)
	for _, slot := range slots {
		conjuncts = append(conjuncts, d.slots[slot].Expr)
	}
	return conjuncts, d.version
}

// worker is one goroutine of a job: its kernels, nil when rows pass as they are,
// and the version of the dynamic filters that they know.
type worker struct {
	job    *job
	runner *run.Runner
	seen   uint64
	// partition is where the last read was that lies in one.
	partition string
}

// visit notes where a read lies. A source that was asked about the whole table
// has nothing to learn from one partition more.
func (w *worker) visit(partition string) {
	if partition == "" || partition == w.partition {
		return
	}
	if w.partition != "" && w.runner != nil && !w.job.unique {
		w.runner.Elsewhere()
	}
	w.partition = partition
}

func (w *worker) release() {
	if w.runner != nil {
		w.runner.Release()
	}
}

// refresh makes the rows to come pass the newest dynamic filters.
func (w *worker) refresh() error {
	conjuncts, version := w.job.dynamic.newer(w.seen)
	if version == w.seen {
		return nil
	}
	w.seen = version
	if w.runner == nil {
		r, err := w.job.newRunner(w.job.passing(), w.job.input)
		if err != nil {
			return err
		}
		w.runner = r
	}
	return w.runner.Narrow(conjuncts)
}

// passing is the spec that passes the rows of the source on.
func (j *job) passing() pushdown.Spec {
	spec := pushdown.Spec{Table: j.table.name, Partitions: []string{"0"}, Limit: pushdown.NoLimit}
	for _, f := range j.input.Fields() {
		spec.Columns = append(spec.Columns, pushdown.Column{Name: f.Name, DataType: f.Type})
	}
	return spec
}
