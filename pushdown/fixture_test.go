package pushdown

import (
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

var (
	boolType  = arrow.FixedWidthTypes.Boolean
	i32       = Column{Name: "i32", DataType: arrow.PrimitiveTypes.Int32}
	i64       = Column{Name: "i64", DataType: arrow.PrimitiveTypes.Int64}
	u8        = Column{Name: "u8", DataType: arrow.PrimitiveTypes.Uint8}
	f32       = Column{Name: "f32", DataType: arrow.PrimitiveTypes.Float32}
	f64       = Column{Name: "f64", DataType: arrow.PrimitiveTypes.Float64}
	dec       = Column{Name: "dec", DataType: &arrow.Decimal128Type{Precision: 9, Scale: 2}}
	str       = Column{Name: "str", DataType: arrow.BinaryTypes.String}
	bin       = Column{Name: "bin", DataType: arrow.BinaryTypes.Binary}
	flag      = Column{Name: "flag", DataType: boolType}
	day       = Column{Name: "day", DataType: arrow.FixedWidthTypes.Date32}
	clock     = Column{Name: "clock", DataType: arrow.FixedWidthTypes.Time64us}
	ts        = Column{Name: "ts", DataType: &arrow.TimestampType{Unit: arrow.Microsecond}}
	tz        = Column{Name: "tz", DataType: arrow.FixedWidthTypes.Timestamp_us}
	kind      = Column{Name: "kind", DataType: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}}
	list      = Column{Name: "list", DataType: arrow.ListOf(arrow.PrimitiveTypes.Int32)}
	odd       = Column{Name: `Odd "name"`, DataType: arrow.PrimitiveTypes.Int32}
	allFields = []Column{i32, i64, u8, f32, f64, dec, str, bin, flag, day, clock, ts, tz, kind, list, odd}
)

func tableSchema() *arrow.Schema {
	var fields []arrow.Field
	for _, c := range allFields {
		fields = append(fields, arrow.Field{Name: c.Name, Type: c.DataType, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

func num(v int32) Literal   { return Literal{scalar.NewInt32Scalar(v)} }
func text(s string) Literal { return Literal{scalar.NewStringScalar(s)} }

func decimal(v int64) Literal {
	return Literal{scalar.NewDecimal128Scalar(decimal128.FromI64(v), dec.DataType)}
}

func cmpr(op CompareOp, l, r Expr) Expr { return Compare{Op: op, Left: l, Right: r} }

func narrow(e Expr) Expr { return Cast{Arg: e, DataType: arrow.PrimitiveTypes.Int32} }

// conjuncts are filters with a spread of capabilities; the last two can fail.
func conjuncts() []Expr {
	return []Expr{
		cmpr(Equal, i32, num(1)),
		In{Arg: str, Values: []Literal{text("a"), text("b")}},
		Like{Arg: kind, Kind: LikePrefix, Pattern: "x"},
		IsNull{Arg: list, Negated: true},
		flag,
		cmpr(Less, Cast{Arg: i32, DataType: i64.DataType}, i64),
		Case{Whens: []When{{flag, flag}}, DataType: boolType},
		cmpr(Less, Arith{Op: Add, Left: f64, Right: f64, DataType: f64.DataType}, f64),
		cmpr(Less, narrow(i64), num(3)),
		cmpr(Less, Arith{Op: Add, Left: i32, Right: i32, DataType: i32.DataType}, num(3)),
	}
}

func base() Spec {
	return Spec{Table: "main.t", Partitions: []string{"0", "1"}, Limit: NoLimit}
}

func aggregates() []Aggregate {
	return []Aggregate{
		{Name: "n", Func: CountStar}, {Name: "c", Func: Count, Arg: list},
		{Name: "s", Func: Sum, Arg: i64}, {Name: "sd", Func: Sum, Arg: dec, Filter: cmpr(Equal, kind, text("x"))},
		{Name: "lo", Func: Min, Arg: str}, {Name: "hi", Func: Max, Arg: ts},
		{Name: "sc", Func: Sum, Arg: Case{Whens: []When{{flag, i32}}, Else: num(0), DataType: i32.DataType}},
	}
}

// randomSpec picks a valid spec.
func randomSpec(r *rand.Rand) Spec {
	s := base()
	for _, e := range conjuncts() {
		if r.IntN(3) == 0 {
			s.Filter = append(s.Filter, e)
		}
	}
	if r.IntN(2) == 0 {
		for _, k := range []NamedExpr{{"k1", kind}, {"k2", day}, {"k3", narrow(i64)}} {
			if r.IntN(3) == 0 {
				s.GroupBy = append(s.GroupBy, k)
			}
		}
		for _, a := range aggregates() {
			if r.IntN(3) == 0 {
				s.Aggregates = append(s.Aggregates, a)
			}
		}
		if s.Grouped() {
			return s
		}
	}
	for _, c := range allFields {
		if r.IntN(4) == 0 {
			s.Columns = append(s.Columns, c)
		}
	}
	if len(s.Columns) == 0 {
		s.Columns = []Column{str}
	}
	switch r.IntN(3) {
	case 0:
		s.Limit = 10
	case 1:
		s.Limit = 10
		s.OrderBy = []SortKey{{Column: f64, Descending: true}, {Column: kind, NullsFirst: true}}
	}
	return s
}

func randomCapabilities(r *rand.Rand) Capabilities {
	var names []Capability
	density := r.IntN(8)
	for _, c := range AllCapabilities().Names() {
		if r.IntN(8) < density {
			names = append(names, c)
		}
	}
	return NewCapabilities(names...)
}
