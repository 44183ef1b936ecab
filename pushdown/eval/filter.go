package eval

import (
	"cmp"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// FilterProgram is a compiled conjunction that selects rows. It is reusable
// and serves one goroutine at a time.
type FilterProgram struct {
	inputs
	tests []test
	live  []uint64
	part  truth
	sub   subset
	sel   []int32
}

// test is one conjunct.
type test struct {
	node node
	safe bool
	cost int
}

// CompileFilter compiles the conjunction of conjuncts over batches of the input
// schema; without conjuncts all rows pass.
func CompileFilter(conjuncts []pushdown.Expr, input *arrow.Schema) (*FilterProgram, error) {
	c := compiler{input: input}
	p := &FilterProgram{}
	for _, e := range conjuncts {
		n, err := c.compile(e)
		if err != nil {
			return nil, err
		}
		if pushdown.ValueType(e.Type()).ID() != arrow.BOOL {
			return nil, invalid("the filter %s is not boolean", pushdown.ExprString(e))
		}
		p.tests = append(p.tests, test{n, pushdown.Infallible(e), cost(e)})
	}
	slices.SortStableFunc(p.tests, compareTests)
	p.inputs = inputs{schema: input, columns: c.columns}
	return p, nil
}

// compareTests orders what cannot fail first, and the cheap first among them.
func compareTests(a, b test) int {
	if a.safe != b.safe {
		return int(b2u(b.safe)) - int(b2u(a.safe))
	}
	return cmp.Compare(a.cost, b.cost)
}

// cost is a rough price per row.
func cost(e pushdown.Expr) int {
	total := 0
	pushdown.Walk(e, func(e pushdown.Expr) bool {
		total += nodeCost(e)
		return true
	})
	return total
}

func nodeCost(e pushdown.Expr) int {
	switch e := e.(type) {
	case pushdown.Column:
		if f, _ := pushdown.FamilyOf(e.DataType); (f == pushdown.FamilyString || f == pushdown.FamilyBinary) && !isDictionaryColumn(e) {
			return 4
		}
		return 1
	case pushdown.Literal:
		return 0
	case pushdown.In:
		return 4
	case pushdown.Like:
		return 8
	}
	return 1
}

// Select returns the rows of batch that pass, in order. When all pass, all is
// true and sel is nil. Conjuncts that can fail see only the rows that the others
// let through. The program owns sel: it is valid until the next Select.
func (p *FilterProgram) Select(batch arrow.RecordBatch, _ memory.Allocator) (sel []int32, all bool, err error) {
	if err := p.bind(batch); err != nil {
		return nil, false, err
	}
	defer p.release()
	rows := int(batch.NumRows())
	if rows > maxRows {
		return nil, false, status.New(status.ResourceExhausted, "a batch of %d rows: send smaller batches", rows)
	}
	if len(p.tests) == 0 {
		return nil, true, nil
	}
	p.sel = slices.Grow(p.sel[:0], rows)
	f := &p.frame
	for f.off = 0; f.off < rows; f.off += chunkRows {
		f.n = min(chunkRows, rows-f.off)
		if err := p.chunk(f); err != nil {
			return nil, false, err
		}
		p.sel = appendRows(p.sel, p.live, int32(f.off))
	}
	if len(p.sel) == rows {
		return nil, true, nil
	}
	return p.sel, false, nil
}

// maxRows keeps row numbers in an int32.
const maxRows = 1<<31 - 1 - chunkRows

// chunk leaves in live the rows of f that pass.
func (p *FilterProgram) chunk(f *frame) error {
	p.live = resize(p.live, wordsFor(f.n))
	fill(p.live, f.n)
	for i := range p.tests {
		t := &p.tests[i]
		n := popCount(p.live)
		if n == 0 {
			return nil
		}
		if err := p.apply(f, t, n); err != nil {
			return err
		}
	}
	return nil
}

// apply narrows live, which has n rows. Few rows are picked out first when the
// test is dear.
func (p *FilterProgram) apply(f *frame, t *test, n int) error {
	if n < f.n && (!t.safe || n*max(2, 32/t.cost) < f.n) {
		if err := p.sub.truth(t.node, f, p.live, &p.part); err != nil {
			return err
		}
		copy(p.live, p.part.yes)
		return nil
	}
	b, err := evalTruth(t.node, f)
	if err != nil {
		return err
	}
	for i := range p.live {
		p.live[i] &= b.yes[i]
	}
	return nil
}
