package plan

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// guess is the part of the rows that a condition keeps of which nothing is
// known; the engine guesses the same.
const guess = 0.2

// EstimatedRows is how many rows of the table pass the scan's filter, by the
// statistics of the partitions that are read; -1 when their sizes are unknown.
func (r *RemoteScan) EstimatedRows() int64 {
	read := map[string]bool{}
	for _, t := range r.Targets {
		for _, id := range t.Partitions {
			read[id] = true
		}
	}
	sum, some := 0.0, false
	for i := range r.Table.Partitions {
		p := &r.Table.Partitions[i]
		if !read[p.ID] {
			continue
		}
		if p.Rows < 0 {
			return -1
		}
		some = some || p.Rows > 0
		sum += float64(p.Rows) * selectivity(r.Spec.Filter, p)
	}
	if some {
		sum = max(sum, 1)
	}
	return int64(math.Round(sum))
}

// interval is what conditions leave of a column's values.
type interval struct{ low, high float64 }

// selectivity is the part of a partition's rows that pass a conjunction.
func selectivity(conjuncts []pushdown.Expr, p *catalog.Partition) float64 {
	left, out := map[string]interval{}, 1.0
	for _, e := range conjuncts {
		column, in, ok := bounded(e, p)
		if !ok {
			out *= selectivityOf(e, p)
			continue
		}
		if was, again := left[column]; again {
			in = interval{max(in.low, was.low), min(in.high, was.high)}
		}
		left[column] = in
	}
	for column, in := range left {
		out *= share(in, p.Columns[column])
	}
	return out
}

// bounded reads a comparison of a column, whose bounds are known, with a number.
func bounded(e pushdown.Expr, p *catalog.Partition) (column string, in interval, ok bool) {
	c, ok := e.(pushdown.Compare)
	if !ok {
		return "", in, false
	}
	op, left, right := c.Op, c.Left, c.Right
	if _, constant := left.(pushdown.Literal); constant {
		op, left, right = op.Mirror(), right, left
	}
	ref, isColumn := left.(pushdown.Column)
	value, constant := right.(pushdown.Literal)
	if !isColumn || !constant {
		return "", in, false
	}
	v, _, ok := number(value.Value)
	low, high, step, known := numericBounds(p.Columns[ref.Name])
	if !ok || !known {
		return "", in, false
	}
	switch in = (interval{low, high}); op {
	case pushdown.Equal, pushdown.NotDistinct:
		if step == 0 {
			return "", in, false
		}
		in = interval{v, v}
	case pushdown.Less:
		in.high = v - step
	case pushdown.LessEqual:
		in.high = v
	case pushdown.Greater:
		in.low = v + step
	case pushdown.GreaterEqual:
		in.low = v
	default:
		return "", in, false
	}
	return ref.Name, in, true
}

// share is the part of a column's range that an interval covers.
func share(in interval, stats codec.ColumnStats) float64 {
	low, high, step, _ := numericBounds(stats)
	covered := min(in.high, high) - max(in.low, low) + step
	if width := high - low + step; width > 0 {
		return min(max(covered/width, 0), 1)
	}
	return 1
}

func numericBounds(stats codec.ColumnStats) (low, high, step float64, ok bool) {
	low, step, okLow := number(stats.Min)
	high, _, okHigh := number(stats.Max)
	return low, high, step, okLow && okHigh && low <= high
}

// number is a value on a line, and the distance to the next one, 0 for none.
func number(s scalar.Scalar) (v, step float64, ok bool) {
	if s == nil || !s.IsValid() {
		return 0, 0, false
	}
	switch s := s.(type) {
	case *scalar.Uint64:
		return float64(s.Value), 1, true
	case *scalar.Float32:
		return float64(s.Value), 0, !math.IsNaN(float64(s.Value))
	case *scalar.Float64:
		return s.Value, 0, !math.IsNaN(s.Value)
	case *scalar.Decimal128:
		scale := s.DataType().(*arrow.Decimal128Type).Scale
		return s.Value.ToFloat64(scale), math.Pow10(-int(scale)), true
	}
	n, ok := intOf(s)
	return float64(n), 1, ok
}

// selectivityOf is that of a condition by itself.
func selectivityOf(e pushdown.Expr, p *catalog.Partition) float64 {
	if column, in, ok := bounded(e, p); ok {
		return share(in, p.Columns[column])
	}
	switch e := e.(type) {
	case pushdown.And:
		return selectivity(e.Args, p)
	case pushdown.Or:
		sum := 0.0
		for _, a := range e.Args {
			sum += selectivityOf(a, p)
		}
		return min(sum, 1)
	case pushdown.Not:
		return 1 - selectivityOf(e.Arg, p)
	case pushdown.IsNull:
		return nullShare(e, p)
	case pushdown.In:
		return inShare(e, p)
	}
	return guess
}

func nullShare(e pushdown.IsNull, p *catalog.Partition) float64 {
	out := guess
	if c, ok := e.Arg.(pushdown.Column); ok {
		if stats, known := p.Columns[c.Name]; known && stats.Nulls >= 0 && p.Rows > 0 {
			out = float64(stats.Nulls) / float64(p.Rows)
		} else if e.Negated {
			return 1
		}
	}
	if e.Negated {
		return 1 - out
	}
	return out
}

// inShare counts the values where it is known what each of them keeps.
func inShare(e pushdown.In, p *catalog.Partition) float64 {
	out := guess
	if len(e.Values) > 0 {
		equal := pushdown.Compare{Op: pushdown.Equal, Left: e.Arg, Right: e.Values[len(e.Values)/2]}
		if column, in, ok := bounded(equal, p); ok {
			out = min(share(in, p.Columns[column])*float64(len(e.Values)), 1)
		}
	}
	if e.Negated {
		return 1 - out
	}
	return out
}

// Domain is the range of an integral column of a table, by the bounds of its
// partitions; not ok when they are unknown.
func Domain(t *catalog.Table, column string) (low, high float64, ok bool) {
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if p.Rows == 0 {
			continue
		}
		l, h, step, known := numericBounds(p.Columns[column])
		if !known || step != 1 {
			return 0, 0, false
		}
		if !ok {
			low, high, ok = l, h, true
		}
		low, high = min(low, l), max(high, h)
	}
	return low, high, ok
}

// TableRows is the number of rows of a table, -1 when unknown.
func TableRows(t *catalog.Table) int64 {
	var sum int64
	for _, p := range t.Partitions {
		if p.Rows < 0 {
			return -1
		}
		sum += p.Rows
	}
	return sum
}
