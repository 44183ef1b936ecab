package plan

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/server/catalog"
)

// truth is a set of truth values that an expression may have on the rows of a
// partition. It may contain values that no row has, but never lacks one.
type truth uint8

const (
	mayTrue truth = 1 << iota
	mayFalse
	mayNull
	anything = mayTrue | mayFalse | mayNull
)

// maxInValues bounds the lists that are compared with every partition.
const maxInValues = 1024

// facts are what is known of the rows of a partition.
type facts struct {
	columns map[string]codec.ColumnStats
	rows    int64 // -1 unknown
	promise *partition.Promise
}

func factsOf(p *catalog.Partition) facts {
	return facts{columns: p.Columns, rows: p.Rows, promise: &p.Promise}
}

// eval is the set for a boolean expression.
func (f facts) eval(e pushdown.Expr) truth {
	if f.rows == 0 {
		return 0
	}
	switch e := e.(type) {
	case pushdown.Literal:
		return literalTruth(e)
	case pushdown.And:
		return f.fold(e.Args, mayTrue, truth.and)
	case pushdown.Or:
		return f.fold(e.Args, mayFalse, truth.or)
	case pushdown.Not:
		return f.eval(e.Arg).not()
	case pushdown.IsNull:
		return f.isNull(e)
	case pushdown.Compare:
		return f.compare(e)
	case pushdown.In:
		return f.in(e)
	case pushdown.Like:
		return f.like(e)
	}
	return anything
}

func literalTruth(e pushdown.Literal) truth {
	v, ok := boolOf(e.Value)
	switch {
	case !e.Value.IsValid():
		return mayNull
	case !ok:
		return anything
	case v:
		return mayTrue
	}
	return mayFalse
}

func (f facts) fold(args []pushdown.Expr, start truth, join func(a, b truth) truth) truth {
	out := start
	for _, a := range args {
		out = join(out, f.eval(a))
	}
	return out
}

// and is the set of the conjunction: it is true where both are, false where one
// is, and NULL where one is and the other is not false.
func (a truth) and(b truth) truth {
	out := (a | b) & mayFalse
	out |= a & b & mayTrue
	if a&mayNull != 0 && b&(mayNull|mayTrue) != 0 || b&mayNull != 0 && a&(mayNull|mayTrue) != 0 {
		out |= mayNull
	}
	if a == 0 || b == 0 {
		return 0
	}
	return out
}

func (a truth) or(b truth) truth { return a.not().and(b.not()).not() }

func (a truth) not() truth {
	out := a & mayNull
	if a&mayTrue != 0 {
		out |= mayFalse
	}
	if a&mayFalse != 0 {
		out |= mayTrue
	}
	return out
}

func (f facts) isNull(e pushdown.IsNull) truth {
	c, ok := f.column(e.Arg)
	if !ok {
		return mayTrue | mayFalse
	}
	var out truth
	if c.nulls {
		out |= mayTrue
	}
	if c.values {
		out |= mayFalse
	}
	if e.Negated {
		return out.not()
	}
	return out
}

// compare handles a column and a constant, in either order.
func (f facts) compare(e pushdown.Compare) truth {
	op, left, right := e.Op, e.Left, e.Right
	if _, constant := left.(pushdown.Literal); constant {
		op, left, right = op.Mirror(), right, left
	}
	value, constant := right.(pushdown.Literal)
	c, ok := f.column(left)
	if !constant || !ok {
		return anything
	}
	var out truth
	if !value.Value.IsValid() {
		return c.compareNull(op)
	}
	if c.nulls {
		out |= nullTruth(op)
	}
	if c.values {
		out |= c.where(value.Value).truth(op)
	}
	return out
}

// nullTruth is the comparison of a NULL with a value.
func nullTruth(op pushdown.CompareOp) truth {
	switch op {
	case pushdown.Distinct:
		return mayTrue
	case pushdown.NotDistinct:
		return mayFalse
	}
	return mayNull
}

// compareNull is the comparison of a column with NULL.
func (c known) compareNull(op pushdown.CompareOp) truth {
	var out truth
	if c.values {
		out |= nullTruth(op) // symmetric
	}
	if c.nulls {
		switch op {
		case pushdown.Distinct:
			out |= mayFalse
		case pushdown.NotDistinct:
			out |= mayTrue
		default:
			out |= mayNull
		}
	}
	return out
}

// in handles a column and a list of constants.
func (f facts) in(e pushdown.In) truth {
	c, ok := f.column(e.Arg)
	if !ok || len(e.Values)*max(len(c.set), 1) > maxInValues*maxInValues || len(c.set) == 0 && len(e.Values) > maxInValues {
		return anything
	}
	var out truth
	if c.nulls {
		out |= mayNull
	}
	if c.values {
		out |= c.member(e.Values)
	}
	if e.Negated {
		return out.not()
	}
	return out
}

// member is whether a value of the column is in the list. A miss is NULL when
// the list has a NULL.
func (c known) member(list []pushdown.Literal) truth {
	hit, miss := truth(0), mayFalse
	misses := true
	for _, v := range list {
		if !v.Value.IsValid() {
			miss = mayNull
			continue
		}
		p := c.where(v.Value)
		if p.at {
			hit = mayTrue
		}
		misses = misses && (p.below || p.above)
	}
	if misses {
		return hit | miss
	}
	return hit
}

// like excludes by the prefix that a string must begin with.
func (f facts) like(e pushdown.Like) truth {
	c, ok := f.column(e.Arg)
	if !ok {
		return anything
	}
	var out truth
	if c.nulls {
		out |= mayNull
	}
	if c.values {
		out |= mayFalse
		if e.Kind != pushdown.LikePrefix || c.mayBegin(e.Pattern) {
			out |= mayTrue
		}
	}
	if e.Negated {
		return out.not()
	}
	return out
}

// column is what is known of an expression that is a column.
func (f facts) column(e pushdown.Expr) (known, bool) {
	c, ok := e.(pushdown.Column)
	if !ok {
		return known{}, false
	}
	k := f.measured(c)
	if f.promise != nil {
		if values, promised := f.promise.Values[c.Name]; promised {
			k.promise(values)
		}
	}
	return k, true
}

// measured is what statistics say of a column.
func (f facts) measured(c pushdown.Column) known {
	stats, has := f.columns[c.Name]
	if !has {
		return known{values: true, nulls: true}
	}
	k := known{values: true, nulls: stats.Nulls != 0}
	if f.rows >= 0 && stats.Nulls == f.rows {
		k.values = false
	}
	if f.rows >= 0 && stats.Nulls > f.rows {
		return known{values: true, nulls: true} // nonsense
	}
	t := pushdown.ValueType(c.DataType)
	if isBound(stats.Min, t) {
		k.lo = stats.Min
	}
	if isBound(stats.Max, t) {
		k.hi = stats.Max
	}
	if order, ok := compareScalars(k.lo, k.hi); ok && order > 0 {
		k.lo, k.hi = nil, nil // nonsense
	}
	return k
}

// ordered reports whether bounds of the type can be compared exactly as the
// engine compares values. Floats are not: NaN and the zeros.
func ordered(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.DECIMAL128, arrow.DATE32, arrow.TIMESTAMP, arrow.TIME64, arrow.STRING, arrow.LARGE_STRING:
		return true
	}
	return arrow.IsInteger(t.ID())
}
