package pushdowntest

import (
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Reference is the result of a spec over batches of its table, computed row by
// row. A row scan yields every matching row, best first when there is an order;
// the caller applies the limit, since ties are arbitrary.
func Reference(spec pushdown.Spec, batches ...arrow.RecordBatch) ([][]any, error) {
	before, after := spec.FilterParts()
	rows, err := filtered(before, tableRows(batches))
	if err == nil && len(spec.Lookups) > 0 {
		if rows, err = joined(spec.Lookups, rows); err == nil {
			rows, err = filtered(after, rows)
		}
	}
	if err != nil {
		return nil, err
	}
	if spec.Grouped() {
		return grouped(spec, rows)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return CompareRows(spec.OrderBy, a, b) })
	out := make([][]any, len(rows))
	for i, row := range rows {
		for _, c := range spec.Columns {
			out[i] = append(out[i], row[c.Name])
		}
	}
	return out, nil
}

func tableRows(batches []arrow.RecordBatch) []Row {
	var out []Row
	for _, b := range batches {
		for _, vals := range Rows(b) {
			row := Row{}
			for c, v := range vals {
				row[b.ColumnName(c)] = v
			}
			out = append(out, row)
		}
	}
	return out
}

// filtered keeps the rows for which all conjuncts are true; those that can fail
// see only the survivors of the others.
func filtered(conjuncts []pushdown.Expr, rows []Row) ([]Row, error) {
	var safe, risky []pushdown.Expr
	for _, e := range conjuncts {
		if pushdown.Infallible(e) {
			safe = append(safe, e)
		} else {
			risky = append(risky, e)
		}
	}
	for _, e := range append(safe, risky...) {
		var kept []Row
		for _, row := range rows {
			v, err := Eval(e, row)
			if err != nil {
				return nil, err
			}
			if v == true {
				kept = append(kept, row)
			}
		}
		rows = kept
	}
	return rows, nil
}

// CompareRows orders rows by sort keys.
func CompareRows(keys []pushdown.SortKey, a, b Row) int {
	for _, k := range keys {
		if c := compareKey(k, a[k.Column.Name], b[k.Column.Name]); c != 0 {
			return c
		}
	}
	return 0
}

func compareKey(k pushdown.SortKey, x, y any) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1 - 2*btoi(k.NullsFirst)
	case y == nil:
		return 2*btoi(k.NullsFirst) - 1
	}
	if k.Descending {
		return Compare(y, x)
	}
	return Compare(x, y)
}

// group collects the values of each aggregate that are not NULL.
type group struct {
	keys []any
	vals [][]any
	rows []int
}

func grouped(spec pushdown.Spec, rows []Row) ([][]any, error) {
	g := newGrouping(len(spec.GroupBy), len(spec.Aggregates))
	for _, row := range rows {
		keys := make([]any, len(spec.GroupBy))
		for i, k := range spec.GroupBy {
			v, err := Eval(k.Expr, row)
			if err != nil {
				return nil, err
			}
			keys[i] = v
		}
		if err := g.of(keys).add(spec.Aggregates, row); err != nil {
			return nil, err
		}
	}
	return g.result(spec.Aggregates)
}

// grouping holds groups in order of appearance.
type grouping struct {
	aggs   int
	byText map[string]*group
	order  []*group
}

func newGrouping(keys, aggs int) *grouping {
	g := &grouping{aggs: aggs, byText: map[string]*group{}}
	if keys == 0 {
		g.of(nil)
	}
	return g
}

func (g *grouping) of(keys []any) *group {
	text := RowText(keys)
	if g.byText[text] == nil {
		g.byText[text] = &group{keys: keys, vals: make([][]any, g.aggs), rows: make([]int, g.aggs)}
		g.order = append(g.order, g.byText[text])
	}
	return g.byText[text]
}

func (g *group) add(aggs []pushdown.Aggregate, row Row) error {
	for i, a := range aggs {
		if a.Filter != nil {
			pass, err := Eval(a.Filter, row)
			if err != nil {
				return err
			}
			if pass != true {
				continue
			}
		}
		g.rows[i]++
		if a.Arg == nil {
			continue
		}
		v, err := Eval(a.Arg, row)
		if err != nil {
			return err
		}
		if v != nil {
			g.vals[i] = append(g.vals[i], v)
		}
	}
	return nil
}

func (g *grouping) result(aggs []pushdown.Aggregate) ([][]any, error) {
	var out [][]any
	for _, gr := range g.order {
		row := slices.Clone(gr.keys)
		for i, a := range aggs {
			v, err := fold(a.Func, gr.vals[i], gr.rows[i])
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		out = append(out, row)
	}
	return out, nil
}

func fold(f pushdown.AggFunc, vals []any, rows int) (any, error) {
	switch f {
	case pushdown.CountStar:
		return big.NewInt(int64(rows)), nil
	case pushdown.Count:
		return big.NewInt(int64(len(vals))), nil
	}
	if len(vals) == 0 {
		return nil, nil
	}
	switch f {
	case pushdown.Min:
		return slices.MinFunc(vals, Compare), nil
	case pushdown.Max:
		return slices.MaxFunc(vals, Compare), nil
	}
	return sum(vals)
}

func sum(vals []any) (any, error) {
	if _, ok := vals[0].(float64); ok {
		total := 0.0
		for _, v := range vals {
			total += v.(float64)
		}
		return total, nil
	}
	total := new(big.Int)
	for _, v := range vals {
		total.Add(total, v.(*big.Int))
	}
	if total.BitLen() > 127 {
		return nil, status.New(status.OutOfRange, "the sum %s exceeds 128 bits", total)
	}
	return total, nil
}

// MergePartial combines partial rows of a grouped spec, several to a group, as
// a coordinator does.
func MergePartial(spec pushdown.Spec, partial [][]any) ([][]any, error) {
	keys := len(spec.GroupBy)
	g := newGrouping(keys, len(spec.Aggregates))
	aggs := slices.Clone(spec.Aggregates)
	for i, a := range aggs {
		aggs[i].Func = a.Merge()
	}
	for _, row := range partial {
		gr := g.of(row[:keys])
		for i, v := range row[keys:] {
			if v != nil {
				gr.vals[i] = append(gr.vals[i], v)
			}
		}
	}
	return g.result(aggs)
}
