package pushdown

import "github.com/apache/arrow-go/v18/arrow"

// NoLimit is the Limit of a Spec without LIMIT.
const NoLimit int64 = -1

// Spec is everything a scanner may be asked to do with one table. Its result is
// ordinary rows.
//
// A spec with neither GroupBy nor Aggregates is a row scan: its output columns
// are Columns. Otherwise it is a partial aggregate: its output columns are the
// group keys followed by the aggregates, and Columns is empty or names one
// carrier column, see WithCarrier. An aggregate without GroupBy yields exactly
// one row, over zero rows too. GroupBy without Aggregates is DISTINCT.
//
// Partial results are merge-stable: a scanner may emit several rows for one
// group; merging them by Aggregate.Merge gives the answer.
type Spec struct {
	// Table is "schema.name".
	Table string
	// Partitions are the physical partition ids to read; never empty.
	Partitions []string
	// Columns are the output columns of a row scan, in order and each once.
	Columns []Column
	// Filter is a canonical set of conjuncts: only rows for which all are true.
	Filter []Expr
	// Lookups join the rows of a partial aggregate with small relations.
	Lookups []Lookup
	// GroupBy are the typed group keys, compared by value, NULL being a value.
	GroupBy []NamedExpr
	// Aggregates are the partial aggregates.
	Aggregates []Aggregate
	// OrderBy with a Limit is a top-N of a row scan; empty otherwise.
	OrderBy []SortKey
	// Limit is the number of rows wanted from a row scan, or NoLimit. Each
	// stream may return that many.
	Limit int64
	// Reduce drops groups of a partial aggregate with keys; nil keeps all.
	Reduce *Reduction
}

// NamedExpr is an output column computed by an expression.
type NamedExpr struct {
	Name string
	Expr Expr
}

// SortKey orders a top-N by a column of the table (it need not be an output
// column).
type SortKey struct {
	Column     Column
	Descending bool
	NullsFirst bool
}

// AggFunc is a merge-stable aggregate function.
type AggFunc uint8

// The aggregate functions.
const (
	// CountStar counts rows. Result int64.
	CountStar AggFunc = iota + 1
	// Count counts values that are not NULL. Result int64.
	Count
	// Sum adds integers, decimals or floats: result decimal128(38,0) for
	// integers, decimal128(38,s) for decimals, float64 for floats; NULL when
	// there is no value; overflow is an OutOfRange error.
	Sum
	// Min is the least value in DuckDB's order; NULL when there is none.
	Min
	// Max is the greatest value in DuckDB's order (NaN above all numbers).
	Max
)

// Aggregate is one partial aggregate.
type Aggregate struct {
	// Name is the output column.
	Name string
	// Func is the function.
	Func AggFunc
	// Arg is the argument; nil for CountStar.
	Arg Expr
	// Filter restricts the rows that this aggregate sees; nil for all.
	Filter Expr
}

// Merge is the function that combines two partial results of a.
func (a Aggregate) Merge() AggFunc {
	if a.Func == CountStar || a.Func == Count {
		return Sum
	}
	return a.Func
}

// Type is the Arrow type of a's result, see the AggFunc constants. Min and Max
// have their argument's type (dictionaries decoded).
func (a Aggregate) Type() arrow.DataType {
	switch a.Func {
	case CountStar, Count:
		return arrow.PrimitiveTypes.Int64
	case Sum:
		return SumType(a.Arg.Type())
	default:
		return ValueType(a.Arg.Type())
	}
}

// SumType is the result type of SUM over t, or nil when t cannot be summed.
func SumType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return &arrow.Decimal128Type{Precision: 38, Scale: t.Scale}
	default:
		if arrow.IsInteger(t.ID()) {
			return &arrow.Decimal128Type{Precision: 38}
		}
		if t.ID() == arrow.FLOAT32 || t.ID() == arrow.FLOAT64 {
			return arrow.PrimitiveTypes.Float64
		}
	}
	return nil
}

// ValueType is t with a dictionary replaced by the type of its values.
func ValueType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

// Grouped reports whether s is a partial aggregate rather than a row scan.
func (s *Spec) Grouped() bool { return len(s.GroupBy) > 0 || len(s.Aggregates) > 0 }

// OutputSchema is the schema of the rows that s yields. Every field is
// nullable. Dictionary columns of a row scan keep their type, group keys are
// decoded.
func (s *Spec) OutputSchema() *arrow.Schema {
	var fields []arrow.Field
	if !s.Grouped() {
		for _, c := range s.Columns {
			fields = append(fields, c.Field())
		}
		return arrow.NewSchema(fields, nil)
	}
	for _, k := range s.GroupBy {
		fields = append(fields, arrow.Field{Name: k.Name, Type: ValueType(k.Expr.Type()), Nullable: true})
	}
	for _, a := range s.Aggregates {
		fields = append(fields, arrow.Field{Name: a.Name, Type: a.Type(), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}
