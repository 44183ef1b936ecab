package run

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/status"
)

// The bounds that apply where Options has none.
const (
	DefaultMaxGroups = 1 << 20
	DefaultMaxBytes  = 64 << 20
	DefaultProbeRows = 128 << 10
)

// Options configures a [Runner].
type Options struct {
	// Alloc allocates results and temporary arrays; nil is Go memory.
	Alloc memory.Allocator
	// MaxGroups and MaxBytes bound the group table; beyond them it is emitted
	// early. Zero means the default.
	MaxGroups int
	MaxBytes  int64
	// ProbeRows is how many rows are grouped before it is decided whether
	// grouping reduces them. Zero means the default.
	ProbeRows int64
	// Pass says that grouping will hardly reduce the rows: they pass through before
	// it is tried.
	Pass bool
	// Hold keeps groups in the table even where that does not reduce the rows,
	// as a reduction needs.
	Hold bool
	// HashMask is for tests, see [agg.Options].
	HashMask uint64
}

func (o Options) withDefaults() Options {
	if o.Alloc == nil {
		o.Alloc = memory.DefaultAllocator
	}
	if o.MaxGroups == 0 {
		o.MaxGroups = DefaultMaxGroups
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.ProbeRows == 0 {
		o.ProbeRows = DefaultProbeRows
	}
	return o
}

// consumer is what follows the filter.
type consumer interface {
	// push takes the selected rows of a batch; nil selects all.
	push(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error)
	// merge takes rows of the spec's output.
	merge(batch arrow.RecordBatch) ([]arrow.RecordBatch, error)
	done() bool
	finish() ([]arrow.RecordBatch, error)
	release()
}

// Runner executes one spec over one stream. It is for one goroutine. After an
// error it must only be released.
type Runner struct {
	mem    memory.Allocator
	output *arrow.Schema
	spec   pushdown.Spec
	input  *arrow.Schema
	filter *eval.FilterProgram // nil without a filter
	rest   consumer
	reduce *reducer // nil without a reduction
}

// New compiles spec, which must be valid over the input schema, for batches of
// that schema.
func New(spec pushdown.Spec, input *arrow.Schema, opts Options) (*Runner, error) {
	if err := spec.Validate(input); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	opts.Hold = opts.Hold || spec.Reduce != nil
	r := &Runner{mem: opts.Alloc, output: spec.OutputSchema(), spec: spec, input: input}
	err := r.Narrow(nil)
	if err != nil {
		return nil, err
	}
	switch {
	case len(spec.Lookups) > 0:
		r.rest, err = newJoiner(spec, input, opts)
	case spec.Grouped():
		r.rest, err = newGrouper(spec, input, opts)
	case len(spec.OrderBy) > 0:
		r.rest, err = newTopN(spec, input, opts)
	default:
		r.rest, err = newScan(spec, input, opts)
	}
	if err == nil && spec.Reduce != nil {
		r.reduce, err = newReducer(spec, opts)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Narrow makes the batches to come pass further conjuncts over the input, in the
// place of those of the last call.
func (r *Runner) Narrow(extra []pushdown.Expr) error {
	before, _ := r.spec.FilterParts()
	conjuncts := slices.Concat(before, extra)
	if len(conjuncts) == 0 {
		r.filter = nil
		return nil
	}
	filter, err := eval.CompileFilter(conjuncts, r.input)
	if err != nil {
		return status.Wrap(status.InvalidArgument, err, "filter over table %q", r.spec.Table)
	}
	r.filter = filter
	return nil
}

// Push takes a batch of the input schema and returns the results that are ready
// now; the caller releases them. The batch stays the caller's.
func (r *Runner) Push(batch arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	if r.rest.done() || batch.NumRows() == 0 {
		return nil, nil
	}
	if r.filter == nil {
		return r.early(r.rest.push(batch, nil))
	}
	sel, all, err := r.filter.Select(batch, r.mem)
	switch {
	case err != nil:
		return nil, err
	case all:
		return r.early(r.rest.push(batch, nil))
	case len(sel) == 0:
		return nil, nil
	}
	return r.early(r.rest.push(batch, sel))
}

// Merge takes a batch that is already of the spec's output: rows that another
// runner of the same spec returned.
func (r *Runner) Merge(batch arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	if r.rest.done() || batch.NumRows() == 0 {
		return nil, nil
	}
	if err := agg.CheckPartial(batch, r.output); err != nil {
		return nil, err
	}
	return r.early(r.rest.merge(batch))
}

// Elsewhere says that the rows to come are of another part of the table than those so
// far: that grouping did not reduce them says little about these.
func (r *Runner) Elsewhere() {
	if g, ok := r.rest.(*grouper); ok {
		g.elsewhere()
	}
}

// Passed is how many of the rows that the runner returned so far are partial rows of
// about one row each, because grouping does not reduce the rows.
func (r *Runner) Passed() int64 {
	if g, ok := r.rest.(*grouper); ok {
		return g.passed
	}
	return 0
}

// Done reports that the limit is reached: more input changes nothing.
func (r *Runner) Done() bool { return r.rest.done() }

// Finish returns the results that were still held; the caller releases them.
// They are reduced if nothing of them was returned before.
func (r *Runner) Finish() ([]arrow.RecordBatch, error) {
	out, err := r.rest.finish()
	if err != nil || r.reduce == nil {
		return out, err
	}
	return r.reduce.apply(out)
}

// Partial says that rows of the runner's groups were or will be seen elsewhere:
// Finish then does not reduce.
func (r *Runner) Partial() {
	if r.reduce != nil {
		r.reduce.rows.Release()
		r.reduce = nil
	}
}

// early notes that groups were returned before the end.
func (r *Runner) early(out []arrow.RecordBatch, err error) ([]arrow.RecordBatch, error) {
	if len(out) > 0 {
		r.Partial()
	}
	return out, err
}

// Release frees what the runner holds. It may be called more than once.
func (r *Runner) Release() {
	r.rest.release()
	r.Partial()
}

// scan is a projection with an optional limit.
type scan struct {
	cols  columns
	mem   memory.Allocator
	limit int64 // rows still wanted, or NoLimit
}

func newScan(spec pushdown.Spec, input *arrow.Schema, opts Options) (*scan, error) {
	cols, err := newColumns(spec, input)
	return &scan{cols: cols, mem: opts.Alloc, limit: spec.Limit}, err
}

func (s *scan) push(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
	if sel != nil && s.limit != pushdown.NoLimit && int64(len(sel)) > s.limit {
		sel = sel[:s.limit]
	}
	rows, err := s.cols.take(batch, sel, s.mem)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	return s.merge(rows)
}

func (s *scan) merge(rows arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	if s.limit == pushdown.NoLimit {
		rows.Retain()
		return []arrow.RecordBatch{rows}, nil
	}
	n := min(rows.NumRows(), s.limit)
	s.limit -= n
	return []arrow.RecordBatch{rows.NewSlice(0, n)}, nil
}

func (s *scan) done() bool                           { return s.limit == 0 }
func (s *scan) finish() ([]arrow.RecordBatch, error) { return nil, nil }
func (s *scan) release()                             {}

// columns are the output columns of a row scan.
type columns struct {
	at     []int
	schema *arrow.Schema
}

func newColumns(spec pushdown.Spec, input *arrow.Schema) (columns, error) {
	c := columns{schema: spec.OutputSchema()}
	for _, col := range spec.Columns {
		at, err := find(input, col)
		if err != nil {
			return c, err
		}
		c.at = append(c.at, at)
	}
	return c, nil
}

// find is the place of col in the input, whose type must be the declared one.
func find(input *arrow.Schema, col pushdown.Column) (int, error) {
	at := input.FieldIndices(col.Name)
	if len(at) == 0 {
		return 0, status.New(status.InvalidArgument, "column %q is not in the input", col.Name)
	}
	if have := input.Field(at[0]).Type; !arrow.TypeEqual(have, col.DataType) {
		return 0, status.New(status.InvalidArgument, "column %q has type %s, the specification expects %s", col.Name, have, col.DataType)
	}
	return at[0], nil
}

// take returns the output columns of the selected rows; nil selects all.
func (c *columns) take(batch arrow.RecordBatch, sel []int32, mem memory.Allocator) (arrow.RecordBatch, error) {
	arrs := make([]arrow.Array, len(c.at))
	for i, at := range c.at {
		if err := checkColumn(batch, at, c.schema.Field(i)); err != nil {
			return nil, err
		}
		arrs[i] = batch.Column(at)
	}
	rows := array.NewRecordBatch(c.schema, arrs, batch.NumRows())
	if sel == nil {
		return rows, nil
	}
	defer rows.Release()
	return eval.Take(rows, sel, mem)
}

func checkColumn(batch arrow.RecordBatch, at int, want arrow.Field) error {
	if at >= int(batch.NumCols()) || !arrow.TypeEqual(batch.Column(at).DataType(), want.Type) {
		return status.New(status.InvalidArgument, "column %q of the batch is not of the declared type %s", want.Name, want.Type)
	}
	return nil
}
