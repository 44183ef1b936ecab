package codec

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// everyType has one of each kind of data type, parameters not at their zero.
func everyType() []arrow.DataType {
	types := make([]arrow.DataType, 0, 64)
	for _, s := range simpleTypes {
		types = append(types, s.dt)
	}
	return append(types,
		&arrow.FixedSizeBinaryType{ByteWidth: 3},
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms,
		arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		arrow.FixedWidthTypes.Duration_ms,
		&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: 3},
		&arrow.Decimal128Type{Precision: 38, Scale: -2}, &arrow.Decimal256Type{Precision: 76, Scale: 5},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String, Ordered: true},
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.LargeListOf(arrow.BinaryTypes.String),
		arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Float32),
		arrow.StructOf(
			arrow.Field{Name: "x", Type: arrow.ListOf(arrow.FixedWidthTypes.Date32), Nullable: true},
			arrow.Field{Name: "y", Type: arrow.BinaryTypes.String},
		),
		arrow.MapOfFields(arrow.Field{Type: arrow.BinaryTypes.String}, arrow.Field{Type: arrow.PrimitiveTypes.Int64, Nullable: true}),
	)
}

// everyLiteral has one value of each type that literals may have, extremes
// included.
func everyLiteral() []scalar.Scalar {
	wide := &arrow.Decimal128Type{Precision: 38, Scale: 3}
	return []scalar.Scalar{
		scalar.NewBooleanScalar(true), scalar.NewBooleanScalar(false),
		scalar.NewInt8Scalar(math.MinInt8), scalar.NewInt16Scalar(math.MinInt16),
		scalar.NewInt32Scalar(math.MinInt32), scalar.NewInt64Scalar(math.MinInt64),
		scalar.NewUint8Scalar(math.MaxUint8), scalar.NewUint16Scalar(math.MaxUint16),
		scalar.NewUint32Scalar(math.MaxUint32), scalar.NewUint64Scalar(math.MaxUint64),
		scalar.NewFloat16Scalar(float16.New(1.5)), scalar.NewFloat32Scalar(math.MaxFloat32),
		scalar.NewFloat64Scalar(math.SmallestNonzeroFloat64), scalar.NewFloat64Scalar(math.Copysign(0, -1)),
		scalar.NewFloat64Scalar(math.Inf(-1)),
		scalar.NewStringScalar("it's \x00 ü"), scalar.NewStringScalar(""), scalar.NewLargeStringScalar("large"),
		scalar.NewBinaryScalar(memory.NewBufferBytes([]byte{0xff, 0}), arrow.BinaryTypes.Binary),
		scalar.NewLargeBinaryScalar(memory.NewBufferBytes([]byte{1})),
		scalar.NewFixedSizeBinaryScalar(memory.NewBufferBytes([]byte{1, 2}), &arrow.FixedSizeBinaryType{ByteWidth: 2}),
		scalar.NewDate32Scalar(-7), scalar.NewDate64Scalar(86400000),
		scalar.NewTime32Scalar(7, arrow.FixedWidthTypes.Time32ms), scalar.NewTime64Scalar(7, arrow.FixedWidthTypes.Time64us),
		scalar.NewTimestampScalar(math.MinInt64, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}),
		scalar.NewDurationScalar(-5, arrow.FixedWidthTypes.Duration_us),
		scalar.NewMonthIntervalScalar(-1),
		scalar.NewDayTimeIntervalScalar(arrow.DayTimeInterval{Days: -1, Milliseconds: 2}),
		scalar.NewMonthDayNanoIntervalScalar(arrow.MonthDayNanoInterval{Months: -1, Days: 2, Nanoseconds: math.MinInt64}),
		scalar.NewDecimal128Scalar(decimal128.New(math.MinInt64, 1), wide),
		scalar.NewDecimal256Scalar(decimal256.New(1, 2, 3, 4), &arrow.Decimal256Type{Precision: 76, Scale: 5}),
		scalar.MakeNullScalar(wide), scalar.MakeNullScalar(arrow.BinaryTypes.String), scalar.MakeNullScalar(arrow.Null),
	}
}

func col(name string, dt arrow.DataType) pushdown.Column {
	return pushdown.Column{Name: name, DataType: dt}
}

func lit(v scalar.Scalar) pushdown.Literal { return pushdown.Literal{Value: v} }

// everyExpr has every member of Expr with every operator.
func everyExpr() []pushdown.Expr {
	a, b := col("a", arrow.PrimitiveTypes.Int64), col("b", arrow.PrimitiveTypes.Int64)
	s := col("s", arrow.BinaryTypes.String)
	one, null := lit(scalar.NewInt64Scalar(1)), lit(scalar.MakeNullScalar(arrow.PrimitiveTypes.Int64))
	isNull := pushdown.IsNull{Arg: a}
	out := []pushdown.Expr{
		a, one, null,
		pushdown.And{Args: []pushdown.Expr{isNull, pushdown.IsNull{Arg: b, Negated: true}}},
		pushdown.Or{Args: []pushdown.Expr{isNull, pushdown.Not{Arg: isNull}}},
		pushdown.In{Arg: a, Values: []pushdown.Literal{one, null}},
		pushdown.In{Arg: a, Values: []pushdown.Literal{one}, Negated: true},
		pushdown.Cast{Arg: a, DataType: arrow.PrimitiveTypes.Float64},
		pushdown.Case{Whens: []pushdown.When{{Cond: isNull, Then: one}, {Cond: isNull, Then: b}}, DataType: a.DataType},
		pushdown.Case{Whens: []pushdown.When{{Cond: isNull, Then: one}}, Else: b, DataType: a.DataType},
		pushdown.Coalesce{Args: []pushdown.Expr{a, b, one}, DataType: a.DataType},
	}
	for op := pushdown.Equal; op <= pushdown.NotDistinct; op++ {
		out = append(out, pushdown.Compare{Op: op, Left: a, Right: b})
	}
	for kind := pushdown.LikePattern; kind <= pushdown.LikeContains; kind++ {
		out = append(out, pushdown.Like{Arg: s, Kind: kind, Pattern: "%ü_\xff", Negated: kind%2 == 0})
	}
	for op := pushdown.Add; op <= pushdown.Multiply; op++ {
		out = append(out, pushdown.Arith{Op: op, Left: a, Right: one, DataType: a.DataType})
	}
	return out
}

// everySpec has a row scan and a partial aggregate that set every field.
func everySpec() []pushdown.Spec {
	rows := pushdown.Spec{
		Table: "main.täble", Partitions: []string{"0", "part/1"}, Filter: everyExpr(), Limit: 10,
		OrderBy: []pushdown.SortKey{
			{Column: col("a", arrow.PrimitiveTypes.Int64), Descending: true},
			{Column: col("b", arrow.PrimitiveTypes.Int64), NullsFirst: true},
		},
	}
	for i, dt := range everyType() {
		rows.Columns = append(rows.Columns, col(string(rune('A'+i)), dt))
	}
	for _, v := range everyLiteral() {
		rows.Filter = append(rows.Filter, pushdown.Compare{Op: pushdown.Equal, Left: lit(v), Right: lit(v)})
	}
	a := col("a", arrow.PrimitiveTypes.Int64)
	groups := pushdown.Spec{
		Table: "s.t", Partitions: []string{"x"}, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "g0", Expr: a}, {Name: "g1", Expr: everyExpr()[9]}},
	}
	for f := pushdown.CountStar; f <= pushdown.Max; f++ {
		agg := pushdown.Aggregate{Name: "a" + string(rune('0'+f)), Func: f}
		if f != pushdown.CountStar {
			agg.Arg, agg.Filter = a, pushdown.IsNull{Arg: a}
		}
		groups.Aggregates = append(groups.Aggregates, agg)
	}
	reduced := groups
	reduced.Reduce = &pushdown.Reduction{
		Apart: "g0", Limit: 7, Filter: []pushdown.Expr{pushdown.IsNull{Arg: col("g0", arrow.PrimitiveTypes.Int64)}},
		OrderBy: []pushdown.SortKey{{Column: col("a1", arrow.PrimitiveTypes.Int64), Descending: true}},
	}
	joined := groups
	joined.Lookups = []pushdown.Lookup{
		{Keys: []pushdown.Expr{a}, On: []int{1}, Columns: relationColumns, Relation: relation()},
		{Keys: []pushdown.Expr{col("text", arrow.BinaryTypes.String)}, On: []int{0}, Columns: []pushdown.Column{col("t", arrow.BinaryTypes.String)}},
	}
	return []pushdown.Spec{rows, groups, {Limit: 0}, reduced, joined}
}

var relationColumns = []pushdown.Column{col("text", arrow.BinaryTypes.String), col("id", arrow.PrimitiveTypes.Int64), col("yes", arrow.FixedWidthTypes.Boolean)}

func relation() *pushdown.Relation {
	b := array.NewRecordBuilder(scratch(), relationSchema(relationColumns))
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues([]string{"a", "", "ü"}, []bool{true, false, true})
	b.Field(1).(*array.Int64Builder).AppendValues([]int64{1, 2, 3}, nil)
	b.Field(2).(*array.BooleanBuilder).AppendValues([]bool{true, false, true}, []bool{true, true, false})
	r, err := pushdown.NewRelation(b.NewRecordBatch())
	if err != nil {
		panic(err)
	}
	return r
}

// fullHello sets every field.
func fullHello() *Hello {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "e", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "n", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	}, nil)
	return &Hello{
		ProtocolMin: 1, ProtocolLatest: 3, Name: "s1", Epoch: "e-1", Version: 9,
		Capabilities: pushdown.NewCapabilities("agg.sum.int", "filter", "unknown.future"),
		Limits:       Limits{MaxBatchBytes: 1 << 20, MaxScans: 7},
		Tables: []Table{
			{Schema: "main", Name: "t", Arrow: schema, Partitions: []Partition{
				{ID: "0", Rows: 5, Bytes: 0, Columns: map[string]ColumnStats{
					"a": {Min: scalar.NewInt64Scalar(-1), Max: scalar.NewInt64Scalar(4), Nulls: 2, Exact: true},
					"b": {Nulls: -1},
				}},
				{ID: "1", Rows: -1, Bytes: -1},
			}},
			{Schema: "main", Name: "broken", Err: "partition 3: column c differs"},
		},
	}
}
