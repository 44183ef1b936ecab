package eval

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// inputs binds the columns of batches to a program.
type inputs struct {
	schema  *arrow.Schema
	columns []int
	frame   frame
}

// bind starts a batch.
func (in *inputs) bind(batch arrow.RecordBatch) error {
	if int(batch.NumCols()) != in.schema.NumFields() {
		return status.New(status.Internal, "a batch has %d columns, the program was compiled for %d", batch.NumCols(), in.schema.NumFields())
	}
	in.frame = frame{cols: in.frame.cols[:0], batch: in.frame.batch + 1}
	for _, i := range in.columns {
		col, want := batch.Column(i), in.schema.Field(i)
		if !arrow.TypeEqual(col.DataType(), want.Type) {
			return status.New(status.Internal, "column %q of a batch is %s, the program was compiled for %s", want.Name, col.DataType(), want.Type)
		}
		in.frame.cols = append(in.frame.cols, col)
	}
	return nil
}

// release forgets the batch.
func (in *inputs) release() { clear(in.frame.cols) }

// Program is a compiled expression. It is reusable and serves one goroutine at
// a time.
type Program struct {
	inputs
	root node
	typ  arrow.DataType
	// pass is the column that the program only passes on, or -1.
	pass int
}

// Compile compiles e over batches of the input schema. The error is
// InvalidArgument or Unimplemented and names what cannot be compiled.
func Compile(e pushdown.Expr, input *arrow.Schema) (*Program, error) {
	c := compiler{input: input}
	p := &Program{pass: -1}
	if err := pushdown.Supported(e); err != nil {
		return nil, err
	}
	p.typ = pushdown.ValueType(e.Type())
	if col, ok := e.(pushdown.Column); ok && p.typ == col.DataType {
		at, err := c.position(col)
		if err != nil {
			return nil, err
		}
		p.pass = c.columns[at]
	} else {
		root, err := c.node(e)
		if err != nil {
			return nil, err
		}
		p.root = root
	}
	p.inputs = inputs{schema: input, columns: c.columns}
	return p, nil
}

// Type is the type of the results; dictionaries are decoded.
func (p *Program) Type() arrow.DataType { return p.typ }

// Eval returns the value for every row of batch. The caller releases it.
func (p *Program) Eval(batch arrow.RecordBatch, mem memory.Allocator) (arrow.Array, error) {
	if err := p.bind(batch); err != nil {
		return nil, err
	}
	defer p.release()
	if p.pass >= 0 {
		col := batch.Column(p.pass)
		col.Retain()
		return col, nil
	}
	return p.run(int(batch.NumRows()), nil, mem)
}

// EvalSelected returns the value for the rows that sel lists; the program does
// not look at others. A nil sel means all rows.
func (p *Program) EvalSelected(batch arrow.RecordBatch, sel []int32, mem memory.Allocator) (arrow.Array, error) {
	if sel == nil {
		return p.Eval(batch, mem)
	}
	if err := p.bind(batch); err != nil {
		return nil, err
	}
	defer p.release()
	if p.pass >= 0 {
		return TakeArray(batch.Column(p.pass), sel, mem)
	}
	return p.run(len(sel), sel, mem)
}

func (p *Program) run(rows int, sel []int32, mem memory.Allocator) (arrow.Array, error) {
	out := familyOf(p.typ).sink(p.typ, rows, mem)
	f := &p.frame
	for at := 0; at < rows; at += chunkRows {
		f.n = min(chunkRows, rows-at)
		if sel == nil {
			f.off = at
		} else {
			f.sel = sel[at : at+f.n]
		}
		v, err := p.root.eval(f)
		if err == nil {
			err = out.add(v, f.n)
		}
		if err != nil {
			out.release()
			return nil, err
		}
	}
	return out.finish(), nil
}
