package plan

import (
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// answer is the row of an aggregate without keys over a partition, when
// statistics give it exactly; nil otherwise. Every row must pass the filter.
func answer(p *catalog.Partition, spec *pushdown.Spec) []scalar.Scalar {
	if !spec.Grouped() || len(spec.GroupBy)+len(spec.Lookups) > 0 || len(p.Columns) == 0 || p.Rows < 0 {
		return nil
	}
	f := factsOf(p)
	for _, e := range spec.Filter {
		if f.eval(e)&^mayTrue != 0 {
			return nil
		}
	}
	row := make([]scalar.Scalar, len(spec.Aggregates))
	for i, a := range spec.Aggregates {
		if row[i] = f.aggregate(a); row[i] == nil {
			return nil
		}
	}
	return row
}

// aggregate is the value of a over all rows, nil when it is not known.
func (f facts) aggregate(a pushdown.Aggregate) scalar.Scalar {
	if a.Filter != nil {
		switch passes := f.eval(a.Filter); {
		case passes&mayTrue == 0:
			return ofNothing(a)
		case passes != mayTrue:
			return nil
		}
	}
	if a.Func == pushdown.CountStar {
		return scalar.NewInt64Scalar(f.rows)
	}
	c, ok := a.Arg.(pushdown.Column)
	stats, has := f.columns[c.Name]
	if !ok || !has || stats.Nulls < 0 || stats.Nulls > f.rows {
		return nil
	}
	switch {
	case stats.Nulls == f.rows:
		return ofNothing(a)
	case a.Func == pushdown.Count:
		return scalar.NewInt64Scalar(f.rows - stats.Nulls)
	case a.Func == pushdown.Min:
		return bound(stats.Exact, stats.Min, c)
	case a.Func == pushdown.Max:
		return bound(stats.Exact, stats.Max, c)
	}
	return nil
}

// ofNothing is an aggregate over no values.
func ofNothing(a pushdown.Aggregate) scalar.Scalar {
	if a.Func == pushdown.CountStar || a.Func == pushdown.Count {
		return scalar.NewInt64Scalar(0)
	}
	return scalar.MakeNullScalar(a.Type())
}

// bound is an extreme value that occurs in the column.
func bound(exact bool, v scalar.Scalar, c pushdown.Column) scalar.Scalar {
	if !exact || !isBound(v, pushdown.ValueType(c.DataType)) {
		return nil
	}
	return v
}
