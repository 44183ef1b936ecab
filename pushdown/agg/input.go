package agg

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/status"
)

// projection picks the columns of a batch that some expressions read.
type projection struct {
	columns []int
	schema  *arrow.Schema
}

// project returns the columns that exprs read; nil expressions are skipped.
func project(input *arrow.Schema, exprs ...pushdown.Expr) (projection, error) {
	var p projection
	var fields []arrow.Field
	for _, e := range exprs {
		missing := ""
		pushdown.Walk(e, func(e pushdown.Expr) bool {
			c, ok := e.(pushdown.Column)
			if !ok {
				return true
			}
			at := input.FieldIndices(c.Name)
			switch {
			case len(at) == 0:
				missing = c.Name
			case !slices.Contains(p.columns, at[0]):
				p.columns = append(p.columns, at[0])
				fields = append(fields, input.Field(at[0]))
			}
			return true
		})
		if missing != "" {
			return p, status.New(status.InvalidArgument, "column %q is not in the input", missing)
		}
	}
	p.schema = arrow.NewSchema(fields, nil)
	return p, nil
}

// of returns the projected batch; the caller releases it.
func (p *projection) of(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	cols := make([]arrow.Array, len(p.columns))
	for i, at := range p.columns {
		if at >= int(batch.NumCols()) || !arrow.TypeEqual(batch.Column(at).DataType(), p.schema.Field(i).Type) {
			return nil, status.New(status.InvalidArgument, "column %q of the batch is not of the declared type %s",
				p.schema.Field(i).Name, p.schema.Field(i).Type)
		}
		cols[i] = batch.Column(at)
	}
	return array.NewRecordBatch(p.schema, cols, batch.NumRows()), nil
}

// take returns the selected rows of the projected batch; nil selects all.
func (p *projection) take(batch arrow.RecordBatch, sel []int32, mem memory.Allocator) (arrow.RecordBatch, error) {
	cols, err := p.of(batch)
	if err != nil || sel == nil {
		return cols, err
	}
	defer cols.Release()
	if len(p.columns) == 0 {
		return array.NewRecordBatch(p.schema, nil, int64(len(sel))), nil
	}
	return eval.Take(cols, sel, mem)
}

// operand yields the values of one expression over projected batches.
type operand struct {
	column  int // when program is nil
	program *eval.Program
}

// newOperand compiles e. With raw, a plain column is handed over as it is, a
// dictionary included.
func newOperand(e pushdown.Expr, schema *arrow.Schema, raw bool) (operand, error) {
	if c, ok := e.(pushdown.Column); ok {
		at := schema.FieldIndices(c.Name)[0]
		have := schema.Field(at).Type
		if !arrow.TypeEqual(have, c.DataType) {
			return operand{}, status.New(status.InvalidArgument, "column %q has type %s, the specification expects %s", c.Name, have, c.DataType)
		}
		if _, dict := have.(*arrow.DictionaryType); raw || !dict {
			return operand{column: at}, nil
		}
	}
	program, err := eval.Compile(e, schema)
	return operand{program: program}, err
}

// values returns one value a row; the caller releases the array.
func (o *operand) values(batch arrow.RecordBatch, mem memory.Allocator) (arrow.Array, error) {
	if o.program != nil {
		return o.program.Eval(batch, mem)
	}
	arr := batch.Column(o.column)
	arr.Retain()
	return arr, nil
}

// aggregate is one aggregate of a spec with its compiled input.
type aggregate struct {
	spec   pushdown.Aggregate
	acc    accumulator
	arg    operand // unused by COUNT(*)
	filter *eval.FilterProgram
	rows   projection // columns of arg, for the rows that pass filter
	groups []uint32   // scratch
}

func newAggregate(a pushdown.Aggregate, schema *arrow.Schema) (*aggregate, error) {
	acc, err := newAccumulator(a)
	if err != nil {
		return nil, err
	}
	g := &aggregate{spec: a, acc: acc}
	if a.Filter != nil {
		if g.filter, err = eval.CompileFilter([]pushdown.Expr{a.Filter}, schema); err != nil {
			return nil, err
		}
		if g.rows, err = project(schema, a.Arg); err != nil {
			return nil, err
		}
		schema = g.rows.schema
	}
	if a.Func != pushdown.CountStar {
		g.arg, err = newOperand(a.Arg, schema, rawArgument(a))
	}
	return g, err
}

// rawArgument reports that the accumulator reads dictionaries itself.
func rawArgument(a pushdown.Aggregate) bool {
	_, bytesLike := newExtreme(pushdown.ValueType(a.Arg.Type()), false).(*bytesExtreme)
	return a.Func == pushdown.Count || bytesLike
}

// add folds a batch into acc; groups is nil when all rows are of group 0.
func (g *aggregate) add(acc accumulator, groups []uint32, batch arrow.RecordBatch, mem memory.Allocator) error {
	if g.filter == nil {
		return g.addRows(acc, groups, batch, mem)
	}
	sel, all, err := g.filter.Select(batch, mem)
	if err != nil {
		return err
	}
	if all {
		sel = nil
	} else if len(sel) == 0 {
		return nil
	}
	rows, err := g.rows.take(batch, sel, mem)
	if err != nil {
		return err
	}
	defer rows.Release()
	return g.addRows(acc, g.selected(groups, sel), rows, mem)
}

func (g *aggregate) selected(groups []uint32, sel []int32) []uint32 {
	if groups == nil || sel == nil {
		return groups
	}
	g.groups = resize(g.groups, len(sel))
	for i, row := range sel {
		g.groups[i] = groups[row]
	}
	return g.groups
}

func (g *aggregate) addRows(acc accumulator, groups []uint32, batch arrow.RecordBatch, mem memory.Allocator) error {
	n := int(batch.NumRows())
	if g.spec.Func == pushdown.CountStar {
		return acc.add(groups, nil, n)
	}
	arr, err := g.arg.values(batch, mem)
	if err != nil {
		return err
	}
	defer arr.Release()
	return acc.add(groups, arr, n)
}
