package pushdown

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	rows := func(edit func(*Spec)) Spec {
		s := base()
		s.Columns = []Column{i32}
		edit(&s)
		return s
	}
	filter := func(e Expr) Spec { return rows(func(s *Spec) { s.Filter = []Expr{e} }) }
	agg := func(a Aggregate) Spec {
		return rows(func(s *Spec) { s.Columns, s.Aggregates = nil, []Aggregate{a} })
	}
	deep := Expr(flag)
	for range MaxDepth {
		deep = Not{deep}
	}
	huge := Literal{scalar.NewDecimal128Scalar(decimal128.FromI64(10_000_000_000), dec.DataType)}
	for want, s := range map[string]Spec{
		"the table has no name":                 rows(func(s *Spec) { s.Table = "" }),
		"no partitions":                         rows(func(s *Spec) { s.Partitions = nil }),
		`partition "a" is listed twice`:         rows(func(s *Spec) { s.Partitions = []string{"a", "a"} }),
		"call Spec.WithCarrier":                 rows(func(s *Spec) { s.Columns = nil }),
		`column 0: no column "x"`:               rows(func(s *Spec) { s.Columns = []Column{{"x", i32.DataType}} }),
		`column "i32" is int32, not int64`:      rows(func(s *Spec) { s.Columns = []Column{{"i32", i64.DataType}} }),
		`column "i32" has no type`:              rows(func(s *Spec) { s.Columns = []Column{{"i32", nil}} }),
		`two output columns are named "i32"`:    rows(func(s *Spec) { s.Columns = []Column{i32, i32} }),
		"the limit -2 is negative":              rows(func(s *Spec) { s.Limit = -2 }),
		"an order needs a limit":                rows(func(s *Spec) { s.OrderBy = []SortKey{{Column: i32}} }),
		"sort key 0: values of type list":       rows(func(s *Spec) { s.OrderBy, s.Limit = []SortKey{{Column: list}}, 1 }),
		"an aggregate has no limit or order":    rows(func(s *Spec) { s.GroupBy, s.Limit = []NamedExpr{{"k", i32}}, 1 }),
		"no columns besides one carrier":        rows(func(s *Spec) { s.GroupBy, s.Columns = []NamedExpr{{"k", i32}}, []Column{i32, i64} }),
		`group key "k": values of type list`:    rows(func(s *Spec) { s.GroupBy = []NamedExpr{{"k", list}} }),
		`aggregate "a": unknown function 0`:     agg(Aggregate{Name: "a"}),
		`aggregate "a": unknown expression`:     agg(Aggregate{Name: "a", Func: Sum}),
		`aggregate "a": cannot sum utf8`:        agg(Aggregate{Name: "a", Func: Sum, Arg: str}),
		`aggregate "a": values of type list`:    agg(Aggregate{Name: "a", Func: Max, Arg: list}),
		"count(*) takes no argument":            agg(Aggregate{Name: "a", Func: CountStar, Arg: i32}),
		`aggregate "a" filter: a filter needs`:  agg(Aggregate{Name: "a", Func: CountStar, Filter: i32}),
		"conjunct 0: a filter needs a boolean":  filter(i32),
		"conjunct 0: unknown expression <nil>":  filter(nil),
		"unknown expression *pushdown.Not":      filter(&Not{flag}),
		"nest deeper than 200":                  filter(deep),
		"cannot compare int32 with int64":       filter(cmpr(Equal, i32, i64)),
		"cannot compare timestamp[us] with":     filter(cmpr(Equal, ts, tz)),
		"cannot compare list":                   filter(cmpr(Equal, list, list)),
		"unknown comparison operator 99":        filter(cmpr(99, i32, i32)),
		"AND without arguments":                 filter(And{}),
		"OR needs a boolean":                    filter(Or{[]Expr{flag, i32}}),
		"NOT needs a boolean":                   filter(Not{i32}),
		"IN without values":                     filter(In{Arg: i32}),
		"IN over int32 has a value of type":     filter(In{Arg: i32, Values: []Literal{text("a")}}),
		"LIKE needs a string":                   filter(Like{Arg: i32, Kind: LikePrefix}),
		"unknown string match 0":                filter(Like{Arg: str}),
		"a literal has no value":                filter(Literal{}),
		"a literal exceeds its type":            filter(cmpr(Equal, dec, huge)),
		"is malformed":                          filter(nil),
		"no literals of type none":              filter(nil),
		"WHEN needs a boolean":                  filter(Case{Whens: []When{{i32, flag}}, DataType: boolType}),
		"CASE without WHEN":                     filter(Case{DataType: boolType}),
		"CASE cannot yield none":                filter(Case{Whens: []When{{flag, flag}}}),
		"COALESCE without arguments":            filter(Coalesce{DataType: boolType}),
		"COALESCE yields bool but a branch has": filter(Coalesce{Args: []Expr{i32}, DataType: boolType}),
		"no exact cast from utf8 to bool":       filter(Cast{Arg: str, DataType: boolType}),
		"no arithmetic int32 + int64 giving":    filter(cmpr(Equal, Arith{Op: Add, Left: i32, Right: i64, DataType: i64.DataType}, i64)),
		"unknown arithmetic operator 7":         filter(cmpr(Equal, Arith{Op: 7, Left: i32, Right: i32, DataType: i32.DataType}, i32)),
		"no arithmetic decimal(9,2) * decimal":  filter(cmpr(Equal, Arith{Op: Multiply, Left: dec, Right: dec, DataType: dec.DataType}, dec)),
	} {
		if want == "is malformed" || want == "no literals of type none" {
			s.Filter[0] = broken(want)
		}
		err := s.Validate(tableSchema())
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "spec of table")
		require.Equal(t, status.InvalidArgument, status.CodeOf(err))
	}
}

// broken is a literal that no constructor makes.
func broken(want string) Expr {
	if want == "is malformed" {
		s := scalar.NewInt32Scalar(1)
		s.Type = str.DataType
		return cmpr(Equal, str, Literal{s})
	}
	return Literal{&scalar.Int32{}}
}

func TestValidateAccepts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		s := randomSpec(r)
		require.NoError(t, s.Validate(tableSchema()), s.String())
		c := s.Canonical()
		require.NoError(t, c.Validate(tableSchema()))
	}
	s := base()
	s.Columns = []Column{i32}
	for i := range MaxPartitions + 1 {
		s.Partitions = append(s.Partitions, "p"+strconv.Itoa(i))
	}
	require.ErrorContains(t, s.Validate(tableSchema()), "partitions")
	two := arrow.NewSchema([]arrow.Field{{Name: "i32", Type: i32.DataType}, {Name: "i32", Type: i32.DataType}}, nil)
	s = base()
	require.ErrorContains(t, s.Validate(two), "two columns")
}

// builder makes arbitrary specs, most of them invalid, from bytes.
type builder struct{ data []byte }

func (b *builder) next() int {
	if len(b.data) == 0 {
		return 0
	}
	v := b.data[0]
	b.data = b.data[1:]
	return int(v)
}

func (b *builder) types() arrow.DataType {
	all := []arrow.DataType{nil, arrow.Null, &arrow.Decimal128Type{Precision: 99, Scale: -3}, &arrow.DictionaryType{}, arrow.BinaryTypes.LargeString}
	i := b.next() % (len(all) + len(allFields))
	if i < len(all) {
		return all[i]
	}
	return allFields[i-len(all)].DataType
}

func (b *builder) literal() Literal {
	switch b.next() % 5 {
	case 0:
		return Literal{}
	case 1:
		return num(int32(b.next()))
	case 2:
		return text("a%_")
	case 3:
		return Literal{(*scalar.Int32)(nil)}
	}
	return Literal{&scalar.Float64{}}
}

func (b *builder) exprs() []Expr {
	var out []Expr
	for range b.next() % 4 {
		out = append(out, b.expr())
	}
	return out
}

func (b *builder) expr() Expr {
	switch b.next() % 15 {
	case 0:
		return nil
	case 1, 2:
		return allFields[b.next()%len(allFields)]
	case 3:
		return Column{"x", b.types()}
	case 4:
		return b.literal()
	case 5:
		return Compare{CompareOp(b.next() % 10), b.expr(), b.expr()}
	case 6:
		return And{b.exprs()}
	case 7:
		return Or{b.exprs()}
	case 8:
		return Not{b.expr()}
	case 9:
		return IsNull{Arg: b.expr(), Negated: b.next()%2 == 0}
	case 10:
		return In{Arg: b.expr(), Values: []Literal{b.literal(), b.literal()}}
	case 11:
		return Like{Arg: b.expr(), Kind: LikeKind(b.next() % 6), Pattern: "%a"}
	case 12:
		return Arith{ArithOp(b.next() % 5), b.expr(), b.expr(), b.types()}
	case 13:
		return Cast{b.expr(), b.types()}
	}
	return Case{Whens: []When{{b.expr(), b.expr()}}, Else: b.expr(), DataType: b.types()}
}

// FuzzValidate: no spec makes Validate panic, and a valid one prints, hashes
// and splits.
func FuzzValidate(f *testing.F) {
	f.Add([]byte{1, 5, 1, 1, 0, 4, 1, 7})
	f.Add([]byte{14, 1, 8, 1, 0, 1, 0, 0, 20, 3, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := &builder{data}
		s := Spec{Table: "t", Partitions: []string{"0"}, Columns: []Column{i32}, Filter: b.exprs(), Limit: int64(b.next()) - 2}
		if b.next()%2 == 0 {
			s.Columns, s.Limit = nil, NoLimit
			s.GroupBy = []NamedExpr{{"k", b.expr()}}
			s.Aggregates = []Aggregate{{Name: "a", Func: AggFunc(b.next() % 7), Arg: b.expr(), Filter: b.expr()}}
		}
		if s.Validate(tableSchema()) != nil {
			return
		}
		require.NotEmpty(t, s.String())
		c := s.Canonical()
		require.Equal(t, s.Hash(), c.Hash())
		out := Split(s.WithCarrier(tableSchema()), NewCapabilities(CapFilter))
		require.NoError(t, out.Remote.Validate(tableSchema()))
	})
}
