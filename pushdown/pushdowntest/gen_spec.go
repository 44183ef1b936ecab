package pushdowntest

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
)

// Spec draws a spec that is valid over the schema: a row scan, a limit, a top-N
// or a partial aggregate.
func Spec(t *rapid.T, schema *arrow.Schema) pushdown.Spec {
	spec := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit}
	for range rapid.IntRange(0, 2).Draw(t, "conjuncts") {
		spec.Filter = append(spec.Filter, Predicate(t, schema, 2))
	}
	if rapid.IntRange(0, 5).Draw(t, "risky") == 0 {
		spec.Filter = append(spec.Filter, riskyPredicate(t, schema))
	}
	if rapid.Bool().Draw(t, "grouped") {
		aggregateSpec(t, schema, &spec)
		return spec
	}
	for i := range schema.NumFields() {
		if rapid.Bool().Draw(t, "column") {
			spec.Columns = append(spec.Columns, column(schema, i))
		}
	}
	if len(spec.Columns) == 0 {
		spec.Columns = []pushdown.Column{column(schema, 0)}
	}
	if rapid.Bool().Draw(t, "limited") {
		spec.Limit = int64(rapid.IntRange(0, 12).Draw(t, "limit"))
		for range rapid.IntRange(0, 3).Draw(t, "sort keys") {
			spec.OrderBy = append(spec.OrderBy, pushdown.SortKey{
				Column:     anyColumn(t, schema),
				Descending: rapid.Bool().Draw(t, "desc"), NullsFirst: rapid.Bool().Draw(t, "nulls first"),
			})
		}
	}
	return spec
}

func column(schema *arrow.Schema, i int) pushdown.Column {
	return pushdown.Column{Name: schema.Field(i).Name, DataType: schema.Field(i).Type}
}

func anyColumn(t *rapid.T, schema *arrow.Schema) pushdown.Column {
	return column(schema, rapid.IntRange(0, schema.NumFields()-1).Draw(t, "column"))
}

func aggregateSpec(t *rapid.T, schema *arrow.Schema, spec *pushdown.Spec) {
	if rapid.IntRange(0, 2).Draw(t, "joined") == 0 {
		lookups(t, schema, spec)
		schema = spec.Joined(schema)
	}
	keys := rapid.IntRange(0, 3).Draw(t, "keys")
	for i := range keys {
		spec.GroupBy = append(spec.GroupBy, pushdown.NamedExpr{Name: fmt.Sprintf("k%d", i), Expr: Computed(t, schema, 1)})
	}
	for i := range rapid.IntRange(btoi(keys == 0), 4).Draw(t, "aggregates") {
		spec.Aggregates = append(spec.Aggregates, aggregate(t, schema, fmt.Sprintf("a%d", i)))
	}
}

func aggregate(t *rapid.T, schema *arrow.Schema, name string) pushdown.Aggregate {
	funcs := []pushdown.AggFunc{pushdown.CountStar, pushdown.Count, pushdown.Sum, pushdown.Min, pushdown.Max}
	a := pushdown.Aggregate{Name: name, Func: rapid.SampledFrom(funcs).Draw(t, "function")}
	if a.Func != pushdown.CountStar {
		a.Arg = Computed(t, schema, 1)
		if a.Func == pushdown.Sum && pushdown.SumType(a.Arg.Type()) == nil {
			a.Func = pushdown.Min
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "filtered") == 0 {
		a.Filter = Predicate(t, schema, 1)
	}
	return a
}

// Computed draws an expression of any type: mostly a column. It may fail.
func Computed(t *rapid.T, schema *arrow.Schema, depth int) pushdown.Expr {
	c := anyColumn(t, schema)
	dt := pushdown.ValueType(c.DataType)
	if depth == 0 {
		return c
	}
	switch rapid.IntRange(0, 11).Draw(t, "computed") {
	case 0:
		return pushdown.Case{
			Whens:    []pushdown.When{{Cond: Predicate(t, schema, 1), Then: c}},
			Else:     pushdown.Literal{Value: Scalar(dt, Value(t, dt))},
			DataType: dt,
		}
	case 1:
		return pushdown.Coalesce{Args: []pushdown.Expr{c, pushdown.Literal{Value: Scalar(dt, Value(t, dt))}}, DataType: dt}
	case 2:
		return Predicate(t, schema, 1)
	case 3:
		if e := widened(dt); e != nil {
			return pushdown.Cast{Arg: c, DataType: e}
		}
	case 4:
		return sumOf(c, dt)
	case 5, 6:
		return anyCall(t, c, dt)
	}
	return c
}

// widened is a type to cast dt to; the cast may fail. Nil for none.
func widened(dt arrow.DataType) arrow.DataType {
	switch f, _ := pushdown.FamilyOf(dt); f {
	case pushdown.FamilyInt:
		return &arrow.Decimal128Type{Precision: 12, Scale: 1}
	case pushdown.FamilyDecimal:
		return &arrow.Decimal128Type{Precision: 20, Scale: 1}
	case pushdown.FamilyFloat:
		return arrow.PrimitiveTypes.Float64
	case pushdown.FamilyDate:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	}
	return nil
}

// sumOf is c + c where that is typed, else c.
func sumOf(c pushdown.Column, dt arrow.DataType) pushdown.Expr {
	switch f, _ := pushdown.FamilyOf(dt); f {
	case pushdown.FamilyInt, pushdown.FamilyFloat:
		return pushdown.Arith{Op: pushdown.Add, Left: c, Right: c, DataType: dt}
	}
	return c
}

// Predicate draws a boolean expression that cannot fail.
func Predicate(t *rapid.T, schema *arrow.Schema, depth int) pushdown.Expr {
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "connective") == 0 {
		args := []pushdown.Expr{Predicate(t, schema, depth-1), Predicate(t, schema, depth-1)}
		switch rapid.IntRange(0, 2).Draw(t, "which") {
		case 0:
			return pushdown.And{Args: args}
		case 1:
			return pushdown.Or{Args: args}
		}
		return pushdown.Not{Arg: args[0]}
	}
	return simplePredicate(t, anyColumn(t, schema))
}

func simplePredicate(t *rapid.T, c pushdown.Column) pushdown.Expr {
	dt := pushdown.ValueType(c.DataType)
	literal := func() pushdown.Literal { return pushdown.Literal{Value: Scalar(dt, Value(t, dt))} }
	negated := rapid.Bool().Draw(t, "negated")
	switch rapid.IntRange(0, 3).Draw(t, "predicate") {
	case 0:
		return pushdown.IsNull{Arg: c, Negated: negated}
	case 1:
		return pushdown.In{Arg: c, Values: []pushdown.Literal{literal(), literal(), literal()}, Negated: negated}
	case 2:
		if f, _ := pushdown.FamilyOf(dt); f == pushdown.FamilyString {
			kind := pushdown.LikeKind(rapid.IntRange(1, 4).Draw(t, "like"))
			pattern := rapid.SampledFrom([]string{"a%", "%b%", "_", "a_", "b", "", "%"}).Draw(t, "pattern")
			return pushdown.Like{Arg: c, Kind: kind, Pattern: pattern, Negated: negated}
		}
	}
	op := pushdown.CompareOp(rapid.IntRange(1, 8).Draw(t, "operator"))
	return pushdown.Compare{Op: op, Left: c, Right: literal()}
}

// riskyPredicate can raise OutOfRange: it adds a column to itself.
func riskyPredicate(t *rapid.T, schema *arrow.Schema) pushdown.Expr {
	c := anyColumn(t, schema)
	dt := pushdown.ValueType(c.DataType)
	return pushdown.Compare{
		Op: pushdown.GreaterEqual, Left: sumOf(c, dt), Right: pushdown.Literal{Value: Scalar(dt, Value(t, dt))},
	}
}

// Capabilities draws a subset of everything that kernels can do.
func Capabilities(t *rapid.T) pushdown.Capabilities {
	all := pushdown.AllCapabilities().Names()
	if rapid.Bool().Draw(t, "most") { // all but a few reaches deeper
		for range rapid.IntRange(0, 3).Draw(t, "withheld") {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "capability")
			all = append(all[:i], all[i+1:]...)
		}
		return pushdown.NewCapabilities(all...)
	}
	var some []pushdown.Capability
	for _, c := range all {
		if rapid.Bool().Draw(t, "has") {
			some = append(some, c)
		}
	}
	return pushdown.NewCapabilities(some...)
}
