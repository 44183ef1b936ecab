package agg

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown/status"
)

// passThrough turns rows into partial rows one for one, with accumulators of
// its own whose groups are the rows of a batch.
type passThrough struct {
	keys []operand
	accs []accumulator
	rows []uint32
}

// PassThrough returns one partial row for every selected row, leaving the table
// as it is: for input that grouping does not reduce. It needs group keys.
func (a *Aggregator) PassThrough(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
	if a.keys == nil {
		return nil, status.New(status.Internal, "an aggregate without group keys cannot pass rows through")
	}
	if err := a.preparePass(); err != nil {
		return nil, err
	}
	rows, err := a.input.take(batch, sel, a.opts.Alloc)
	if err != nil {
		return nil, err
	}
	defer rows.Release()
	var out []arrow.RecordBatch
	err = windows(rows, MaxEmitRows, func(rows arrow.RecordBatch) error {
		partial, err := a.passRows(rows)
		if err == nil {
			out = append(out, partial)
		}
		return err
	})
	if err != nil {
		Release(out)
		return nil, err
	}
	return out, nil
}

func (a *Aggregator) preparePass() error {
	if a.pass != nil {
		return nil
	}
	p := &passThrough{}
	for _, k := range a.spec.GroupBy {
		op, err := newOperand(k.Expr, a.input.schema, false)
		if err != nil {
			return err
		}
		p.keys = append(p.keys, op)
	}
	for _, g := range a.aggs {
		acc, err := newAccumulator(g.spec)
		if err != nil {
			return err
		}
		p.accs = append(p.accs, acc)
	}
	a.pass = p
	return nil
}

func (a *Aggregator) passRows(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	n := int(batch.NumRows())
	cols, err := a.passKeys(batch)
	defer func() { releaseAll(cols) }()
	if err != nil {
		return nil, err
	}
	a.pass.number(n)
	for i, g := range a.aggs {
		acc := a.pass.accs[i]
		acc.reset()
		acc.grow(n)
		if err := g.add(acc, a.pass.rows, batch, a.opts.Alloc); err != nil {
			return nil, g.wrap(err)
		}
		arr, err := acc.array(a.opts.Alloc, 0, n)
		if err != nil {
			return nil, g.wrap(err)
		}
		cols = append(cols, arr)
	}
	return array.NewRecordBatch(a.output, cols, int64(n)), nil
}

// number makes row i the group i.
func (p *passThrough) number(n int) {
	p.rows = resize(p.rows, n)
	for i := range p.rows {
		p.rows[i] = uint32(i)
	}
}

func (a *Aggregator) passKeys(batch arrow.RecordBatch) ([]arrow.Array, error) {
	keys, err := operands(a.pass.keys, batch, a.opts.Alloc)
	for i, arr := range keys {
		if id := arr.DataType().ID(); id == arrow.FLOAT32 || id == arrow.FLOAT64 {
			keys[i] = a.canonicalFloats(arr)
			arr.Release()
		}
	}
	return keys, err
}

// canonicalFloats copies floats with one NaN and no negative zero, as the table
// would emit them.
func (a *Aggregator) canonicalFloats(arr arrow.Array) arrow.Array {
	valid := validBools(arr)
	if arr.DataType().ID() == arrow.FLOAT32 {
		bits := make([]uint32, arr.Len())
		for i, f := range fixedValues[float32](arr) {
			bits[i] = canonical32(f)
		}
		return fixedArray(a.opts.Alloc, arr.DataType(), bits, valid)
	}
	bits := make([]uint64, arr.Len())
	for i, f := range fixedValues[float64](arr) {
		bits[i] = canonical64(f)
	}
	return fixedArray(a.opts.Alloc, arr.DataType(), bits, valid)
}

func validBools(arr arrow.Array) []bool {
	v := validityOf(arr)
	if v.all() {
		return nil
	}
	out := make([]bool, arr.Len())
	for i := range out {
		out[i] = v.at(i)
	}
	return out
}
