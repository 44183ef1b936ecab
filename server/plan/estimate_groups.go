package plan

import (
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// estimatedGroups is how many rows of a table pass the filter of a partial
// aggregate, and how many groups of them its scanners may send, by statistics. It
// fails where these do not tell.
func estimatedGroups(t *catalog.Table, spec pushdown.Spec) (rows, groups float64, err error) {
	targets, err := targetsOf(t, spec)
	if err != nil {
		return 0, 0, err
	}
	all := partitionsByID(t)
	for i := range targets {
		parts := targets[i].parts(all)
		own := 0.0
		for _, p := range parts {
			if p.Rows < 0 {
				return 0, 0, notPushed("it is not known how many rows %s has", t.ID())
			}
			own += float64(p.Rows) * selectivity(spec.Filter, p)
		}
		of := 1.0
		for _, k := range spec.GroupBy {
			n := (&values{parts: parts, filter: spec.Filter}).of(k.Expr)
			if math.IsInf(n, 1) {
				return 0, 0, notPushed("it is not known how many values %s has", pushdown.ExprString(k.Expr))
			}
			of *= n
		}
		rows, groups = rows+own, groups+min(of, own)
	}
	return rows, groups, nil
}

// parts are the partitions with rows that the target reads.
func (t *Target) parts(all map[string]*catalog.Partition) []*catalog.Partition {
	var out []*catalog.Partition
	for _, id := range t.Partitions {
		if p := all[id]; p.Rows != 0 {
			out = append(out, p)
		}
	}
	return out
}

// values estimates, from above, how many values expressions have in the rows of
// some partitions that pass a filter; infinitely many when that is not known.
type values struct {
	parts  []*catalog.Partition
	filter []pushdown.Expr
}

// of is no more than all combinations of the columns that e reads.
func (v *values) of(e pushdown.Expr) float64 {
	if c, ok := e.(pushdown.Column); ok {
		return v.ofColumn(c)
	}
	columns := 1.0
	for _, c := range columnsOfExpr(e) {
		columns *= v.ofColumn(c)
	}
	return min(resultsOf(e), columns, v.spans(e))
}

func columnsOfExpr(e pushdown.Expr) []pushdown.Column {
	spec := pushdown.Spec{Filter: []pushdown.Expr{e}}
	return spec.InputColumns()
}

// resultsOf is how many values an expression has whatever it reads.
func resultsOf(e pushdown.Expr) float64 {
	if e.Type().ID() == arrow.BOOL {
		return 3
	}
	switch e := e.(type) {
	case pushdown.Literal:
		return 1
	case pushdown.Call:
		return partsOf(e.Func)
	case pushdown.Case:
		out := 1.0
		for _, w := range e.Whens {
			out += resultsOf(w.Then)
		}
		return out
	}
	return math.Inf(1)
}

// partsOf is how many values, and NULL, a part of a date has.
func partsOf(f pushdown.Func) float64 {
	switch f {
	case pushdown.FuncQuarter:
		return 5
	case pushdown.FuncMonth:
		return 13
	case pushdown.FuncDay:
		return 32
	case pushdown.FuncHour:
		return 25
	case pushdown.FuncMinute, pushdown.FuncSecond:
		return 61
	}
	return math.Inf(1)
}

// spans are the years, months, … between the bounds of a date or timestamp.
func (v *values) spans(e pushdown.Expr) float64 {
	call, ok := e.(pushdown.Call)
	if !ok || len(call.Args) != 1 {
		return math.Inf(1)
	}
	column, ok := call.Args[0].(pushdown.Column)
	seconds := secondsOf(call.Func)
	if !ok || seconds == 0 {
		return math.Inf(1)
	}
	span := v.within(column) * secondsBetween(column.DataType)
	return math.Floor(span/seconds) + 3 // begun at both ends, and NULL
}

// secondsOf is the least length of what a function of dates tells apart, 0 for
// other functions.
func secondsOf(f pushdown.Func) float64 {
	const day = 24 * 60 * 60
	switch f {
	case pushdown.FuncYear, pushdown.FuncTruncYear:
		return 365 * day
	case pushdown.FuncTruncQuarter:
		return 90 * day
	case pushdown.FuncTruncMonth:
		return 28 * day
	case pushdown.FuncTruncWeek:
		return 7 * day
	case pushdown.FuncTruncDay:
		return day
	case pushdown.FuncTruncHour:
		return 60 * 60
	case pushdown.FuncTruncMinute:
		return 60
	case pushdown.FuncTruncSecond:
		return 1
	}
	return 0
}

// secondsBetween is the distance of the values of a type.
func secondsBetween(t arrow.DataType) float64 {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return 24 * 60 * 60
	case *arrow.TimestampType:
		return t.Unit.Multiplier().Seconds()
	}
	return math.Inf(1)
}

func (v *values) ofColumn(c pushdown.Column) float64 {
	out := math.Inf(1)
	switch dt := c.DataType.(type) {
	case *arrow.BooleanType:
		out = 2
	case *arrow.DictionaryType:
		if dt.IndexType.(arrow.FixedWidthDataType).BitWidth() == 8 {
			out = 256
		}
	}
	out = min(out, v.listed(c), v.within(c), v.constants(c), distinctIn(v.parts, c.Name))
	if v.nulls(c) {
		out++
	}
	return out
}

// nulls: the column may be NULL.
func (v *values) nulls(c pushdown.Column) bool {
	if slices.ContainsFunc(v.filter, func(e pushdown.Expr) bool { return neverNull(e, c) }) {
		return false
	}
	return slices.ContainsFunc(v.parts, func(p *catalog.Partition) bool {
		stats, known := p.Columns[c.Name]
		return !known || stats.Nulls != 0
	})
}

// neverNull: a condition is not true where the column is NULL.
func neverNull(e pushdown.Expr, c pushdown.Column) bool {
	is := func(e pushdown.Expr) bool {
		column, ok := e.(pushdown.Column)
		return ok && column.Name == c.Name
	}
	switch e := e.(type) {
	case pushdown.Compare:
		return e.Op != pushdown.Distinct && e.Op != pushdown.NotDistinct && (is(e.Left) || is(e.Right))
	case pushdown.In:
		return is(e.Arg)
	case pushdown.Like:
		return is(e.Arg)
	case pushdown.IsNull:
		return e.Negated && is(e.Arg)
	}
	return false
}

// listed are the values that the filter names.
func (v *values) listed(c pushdown.Column) float64 {
	out := math.Inf(1)
	for _, e := range v.filter {
		switch e := e.(type) {
		case pushdown.In:
			if column, ok := e.Arg.(pushdown.Column); ok && !e.Negated && column.Name == c.Name {
				out = min(out, float64(len(e.Values)))
			}
		case pushdown.Compare:
			if equalTo(e, c) {
				out = 1
			}
		}
	}
	return out
}

// equalTo: e says that the column has one value.
func equalTo(e pushdown.Compare, c pushdown.Column) bool {
	left, right := e.Left, e.Right
	if _, constant := left.(pushdown.Literal); constant {
		left, right = right, left
	}
	column, ok := left.(pushdown.Column)
	_, constant := right.(pushdown.Literal)
	return ok && constant && column.Name == c.Name && (e.Op == pushdown.Equal || e.Op == pushdown.NotDistinct)
}

// within are the values between the bounds of a column on which values have a
// least distance, those of the partitions and those of the filter.
func (v *values) within(c pushdown.Column) float64 {
	all, distance := interval{math.Inf(1), math.Inf(-1)}, 0.0
	for _, p := range v.parts {
		low, high, step, ok := numericBounds(p.Columns[c.Name])
		if !ok && p.Rows == p.Columns[c.Name].Nulls {
			continue
		}
		if !ok || step == 0 {
			return math.Inf(1)
		}
		in := interval{low, high}
		for _, e := range v.filter {
			if column, by, ok := bounded(e, p); ok && column == c.Name {
				in = interval{max(in.low, by.low), min(in.high, by.high)}
			}
		}
		if in.low <= in.high {
			all, distance = interval{min(all.low, in.low), max(all.high, in.high)}, step
		}
	}
	if distance == 0 {
		return 0
	}
	return (all.high-all.low)/distance + 1
}

// constants are the values of a column that has one in each partition.
func (v *values) constants(c pushdown.Column) float64 {
	for _, p := range v.parts {
		stats := p.Columns[c.Name]
		if stats.Min == nil || stats.Max == nil {
			return math.Inf(1)
		}
		if order, ok := compareScalars(stats.Min, stats.Max); !ok || order != 0 {
			return math.Inf(1)
		}
	}
	return float64(len(v.parts))
}
