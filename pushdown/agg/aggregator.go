package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

const (
	// window is how many rows pass through the kernels at once: their scratch
	// stays in the cache.
	window = 8192
	// MaxEmitRows is the most rows of an emitted batch.
	MaxEmitRows = 64 << 10
)

// Options configures an [Aggregator].
type Options struct {
	// Alloc allocates results and temporary arrays; nil is Go memory.
	Alloc memory.Allocator
	// MaxGroups and MaxBytes say when the table is Full; zero is no bound. One
	// update may exceed them by its own rows.
	MaxGroups int
	MaxBytes  int64
	// HashMask keeps only the given bits of every hash, so that tests can force
	// collisions; zero keeps all.
	HashMask uint64
}

// Aggregator computes the partial aggregates of one spec. It is for one
// goroutine.
type Aggregator struct {
	spec   *pushdown.Spec
	output *arrow.Schema
	opts   Options
	input  projection
	keys   *keySet // nil without GROUP BY
	inputs []operand
	aggs   []*aggregate
	pass   *passThrough // nil until used
	groups []uint32     // scratch
}

// New returns an aggregator of a grouped spec over batches of the input schema.
// The spec's Filter is not applied: Update gets the selected rows.
func New(spec *pushdown.Spec, input *arrow.Schema, opts Options) (*Aggregator, error) {
	if !spec.Grouped() {
		return nil, status.New(status.InvalidArgument, "the specification over %s has nothing to aggregate", spec.Table)
	}
	if opts.Alloc == nil {
		opts.Alloc = memory.DefaultAllocator
	}
	a := &Aggregator{spec: spec, opts: opts}
	var err error
	if a.input, err = project(input, expressions(spec)...); err != nil {
		return nil, err
	}
	if err := a.compileKeys(); err != nil {
		return nil, err
	}
	for _, s := range spec.Aggregates {
		g, err := newAggregate(s, a.input.schema)
		if err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "aggregate %q", s.Name)
		}
		a.aggs = append(a.aggs, g)
	}
	a.output = spec.OutputSchema()
	return a, nil
}

// expressions lists what the keys and aggregates of spec compute.
func expressions(spec *pushdown.Spec) []pushdown.Expr {
	var out []pushdown.Expr
	for _, k := range spec.GroupBy {
		out = append(out, k.Expr)
	}
	for _, g := range spec.Aggregates {
		out = append(out, g.Arg, g.Filter)
	}
	return out
}

func (a *Aggregator) compileKeys() error {
	if len(a.spec.GroupBy) == 0 {
		return nil
	}
	var types []arrow.DataType
	for _, k := range a.spec.GroupBy {
		op, err := newOperand(k.Expr, a.input.schema, true)
		if err != nil {
			return status.Wrap(status.InvalidArgument, err, "group key %q", k.Name)
		}
		a.inputs = append(a.inputs, op)
		types = append(types, k.Expr.Type())
	}
	var err error
	a.keys, err = newKeySet(types, newHashing(a.opts.HashMask))
	return err
}

// Update folds raw rows in; sel lists the rows that count, nil meaning all.
// After an error the aggregator must be released.
func (a *Aggregator) Update(batch arrow.RecordBatch, sel []int32) error {
	rows, err := a.input.take(batch, sel, a.opts.Alloc)
	if err != nil {
		return err
	}
	defer rows.Release()
	return windows(rows, window, a.update)
}

// windows calls f with consecutive slices of at most size rows.
func windows(batch arrow.RecordBatch, size int64, f func(arrow.RecordBatch) error) error {
	n := batch.NumRows()
	if n <= size {
		if n == 0 {
			return nil
		}
		return f(batch)
	}
	for from := int64(0); from < n; from += size {
		slice := batch.NewSlice(from, min(from+size, n))
		err := f(slice)
		slice.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *Aggregator) update(batch arrow.RecordBatch) error {
	keys, err := operands(a.inputs, batch, a.opts.Alloc)
	if err != nil {
		return err
	}
	defer releaseAll(keys)
	groups, err := a.groupsOf(keys, int(batch.NumRows()))
	if err != nil {
		return err
	}
	for _, g := range a.aggs {
		g.acc.grow(a.Groups())
		if err := g.add(g.acc, groups, batch, a.opts.Alloc); err != nil {
			return g.wrap(err)
		}
	}
	return nil
}

// groupsOf numbers the rows by group; nil without GROUP BY.
func (a *Aggregator) groupsOf(keys []arrow.Array, n int) ([]uint32, error) {
	if a.keys == nil {
		return nil, nil
	}
	a.groups = resize(a.groups, n)
	return a.groups, a.keys.intern(a.groups, keys)
}

func (g *aggregate) wrap(err error) error {
	return status.Wrap(status.Internal, err, "aggregate %q", g.spec.Name)
}

// operands evaluates ops over batch.
func operands(ops []operand, batch arrow.RecordBatch, mem memory.Allocator) ([]arrow.Array, error) {
	out := make([]arrow.Array, 0, len(ops))
	for i := range ops {
		arr, err := ops[i].values(batch, mem)
		if err != nil {
			releaseAll(out)
			return nil, err
		}
		out = append(out, arr)
	}
	return out, nil
}

func releaseAll(arrs []arrow.Array) {
	for _, arr := range arrs {
		arr.Release()
	}
}

// Merge folds partial rows in: a batch of the spec's OutputSchema. After an
// error the aggregator must be released.
func (a *Aggregator) Merge(batch arrow.RecordBatch) error {
	if err := CheckPartial(batch, a.output); err != nil {
		return err
	}
	return windows(batch, window, a.merge)
}

// CheckPartial reports whether batch has the columns of a partial result.
func CheckPartial(batch arrow.RecordBatch, output *arrow.Schema) error {
	if int(batch.NumCols()) != output.NumFields() {
		return status.New(status.InvalidArgument, "partial rows have %d columns, expected %d", batch.NumCols(), output.NumFields())
	}
	for i, f := range output.Fields() {
		if have := batch.Column(i).DataType(); !arrow.TypeEqual(have, f.Type) {
			return status.New(status.InvalidArgument, "column %q of the partial rows has type %s, expected %s", f.Name, have, f.Type)
		}
	}
	return nil
}

func (a *Aggregator) merge(batch arrow.RecordBatch) error {
	n, keys := int(batch.NumRows()), len(a.inputs)
	groups, err := a.groupsOf(batch.Columns()[:keys], n)
	if err != nil {
		return err
	}
	for i, g := range a.aggs {
		g.acc.grow(a.Groups())
		if err := g.acc.merge(groups, batch.Column(keys+i), n); err != nil {
			return g.wrap(err)
		}
	}
	return nil
}

// Groups is the number of groups in the table; an ungrouped aggregate has one.
func (a *Aggregator) Groups() int {
	if a.keys == nil {
		return 1
	}
	return a.keys.size()
}

// Bytes is the memory that the table holds.
func (a *Aggregator) Bytes() int64 {
	var n int64
	if a.keys != nil {
		n = a.keys.bytes()
	}
	for _, g := range a.aggs {
		n += g.acc.bytes()
	}
	return n
}

// Full reports that the table has reached its bounds and should be emitted. An
// ungrouped aggregate is never full.
func (a *Aggregator) Full() bool {
	if a.keys == nil || a.Groups() == 0 {
		return false
	}
	return a.opts.MaxGroups > 0 && a.Groups() >= a.opts.MaxGroups ||
		a.opts.MaxBytes > 0 && a.Bytes() >= a.opts.MaxBytes
}

// Emit returns the partial rows so far and empties the table. An ungrouped
// aggregate always yields its one row. The caller releases the batches.
func (a *Aggregator) Emit() ([]arrow.RecordBatch, error) {
	var out []arrow.RecordBatch
	n := a.Groups()
	for from := 0; from < n; from += MaxEmitRows {
		batch, err := a.emit(from, min(from+MaxEmitRows, n))
		if err != nil {
			Release(out)
			return nil, err
		}
		out = append(out, batch)
	}
	a.reset()
	return out, nil
}

func (a *Aggregator) emit(from, to int) (arrow.RecordBatch, error) {
	var cols []arrow.Array
	if a.keys != nil {
		cols = a.keys.arrays(a.opts.Alloc, from, to)
	}
	defer func() { releaseAll(cols) }()
	for _, g := range a.aggs {
		g.acc.grow(to)
		arr, err := g.acc.array(a.opts.Alloc, from, to)
		if err != nil {
			return nil, g.wrap(err)
		}
		cols = append(cols, arr)
	}
	return array.NewRecordBatch(a.output, cols, int64(to-from)), nil
}

func (a *Aggregator) reset() {
	if a.keys != nil {
		a.keys.reset()
	}
	for _, g := range a.aggs {
		g.acc.reset()
	}
}

// Release frees the table. It may be called more than once.
func (a *Aggregator) Release() { a.reset() }

// Release releases batches that are not wanted.
func Release(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}
