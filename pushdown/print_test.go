package pushdown

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
)

func TestExprString(t *testing.T) {
	t.Parallel()
	var many []Literal
	for i := range 25 {
		many = append(many, num(int32(i)))
	}
	for want, e := range map[string]Expr{
		`(i32 = 1)`:                           cmpr(Equal, i32, num(1)),
		`("Odd ""name""" is distinct from 1)`: cmpr(Distinct, odd, num(1)),
		`(dec >= -0.05)`:                      cmpr(GreaterEqual, dec, decimal(-5)),
		`(str = 'it''s\x0a\\')`:               cmpr(Equal, str, text("it's\n\\")),
		`(bin = x'\x00a')`:                    cmpr(Equal, bin, Literal{scalar.NewBinaryScalar(memory.NewBufferBytes([]byte("\x00a")), bin.DataType)}),
		`(day < '2000-01-01')`:                cmpr(Less, day, Literal{scalar.NewDate32Scalar(10957)}),
		`(clock < '12:34:56.000001')`:         cmpr(Less, clock, Literal{scalar.NewTime64Scalar(45296000001, clock.DataType)}),
		`(ts < '2000-01-01 00:00:00.5')`:      cmpr(Less, ts, Literal{scalar.NewTimestampScalar(946684800500000, ts.DataType)}),
		`(f64 <> NaN)`:                        cmpr(NotEqual, f64, Literal{scalar.NewFloat64Scalar(math.NaN())}),
		`((flag and null) or not (flag))`:     Or{[]Expr{And{[]Expr{flag, Literal{scalar.MakeNullScalar(boolType)}}}, Not{flag}}},
		`list is not null`:                    IsNull{Arg: list, Negated: true},
		`str not in ('a')`:                    In{Arg: str, Values: []Literal{text("a")}, Negated: true},
		`kind not like 'a%'`:                  Like{Arg: kind, Kind: LikePattern, Pattern: "a%", Negated: true},
		`(i32 + cast(u8 as int32))`:           Arith{Add, i32, narrow(u8), i32.DataType},
		`case when flag then i32 else 1 end`:  Case{Whens: []When{{flag, i32}}, Else: num(1), DataType: i32.DataType},
		`coalesce(i32, 1)`:                    Coalesce{[]Expr{i32, num(1)}, i32.DataType},
		`(i32 unknown(44) ?)`:                 cmpr(44, i32, nil),
		`cast(str as dictionary<uint8,utf8>)`: Cast{str, kind.DataType},
		`cast(ts as timestamp[us,UTC])`:       Cast{ts, tz.DataType},
		`cast(clock as time[us])`:             Cast{clock, clock.DataType},
		`cast(ts as timestamp[us])`:           Cast{ts, ts.DataType},
		`cast(dec as decimal(9,2))`:           Cast{dec, dec.DataType},
		`(i32 + ?)`:                           Arith{Add, i32, Literal{}, i32.DataType},
		`i32 in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, … 5 more)`: In{Arg: i32, Values: many},
	} {
		require.Equal(t, want, ExprString(e))
	}
}

// TestExactText: the canonical text tells apart what differs only in types.
func TestExactText(t *testing.T) {
	t.Parallel()
	wide := Literal{scalar.NewInt64Scalar(1)}
	large := Literal{scalar.NewLargeStringScalar("1")}
	exprs := []Expr{
		num(1), wide, text("1"), large, decimal(1), Column{"a", i32.DataType}, Column{"a", i64.DataType},
		Column{`a" and "b`, i32.DataType}, text(`1'::utf8 and '1`), Literal{scalar.MakeNullScalar(i32.DataType)}, text("null"),
		Arith{Add, i32, i32, i32.DataType}, Arith{Add, i32, i32, i64.DataType}, Literal{scalar.NewFloat64Scalar(0)},
		Literal{scalar.NewFloat64Scalar(math.Copysign(0, -1))}, Literal{scalar.NewFloat32Scalar(0)},
	}
	seen := map[string]int{}
	for i, e := range exprs {
		require.NotContains(t, seen, exactText(e), "%d", i)
		seen[exactText(e)] = i
	}
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		s := randomSpec(r)
		want := s.Canonical()
		shuffled := s
		shuffled.Filter = append(slices.Clone(s.Filter), s.Filter...)
		r.Shuffle(len(shuffled.Filter), func(i, j int) {
			shuffled.Filter[i], shuffled.Filter[j] = shuffled.Filter[j], shuffled.Filter[i]
		})
		if len(shuffled.Filter) > 2 {
			shuffled.Filter = []Expr{shuffled.Filter[0], And{shuffled.Filter[1:]}}
		}
		require.Equal(t, want, shuffled.Canonical())
		require.Equal(t, want, want.Canonical())
		require.Equal(t, s.Hash(), shuffled.Hash())
		require.Equal(t, s.InputColumns(), shuffled.InputColumns())
	}
}

// TestHash pins the canonical text: the hash is the same in every process and
// release.
func TestHash(t *testing.T) {
	t.Parallel()
	s := base()
	s.Filter = []Expr{cmpr(Equal, day, Literal{scalar.NewDate32Scalar(10957)}), cmpr(Equal, i32, num(1))}
	s.GroupBy = []NamedExpr{{"kind", kind}}
	s.Aggregates = aggregates()[:4]
	require.Equal(t, uint64(0x853d123441c405cb), s.Hash(), "%#x", s.Hash())
	other := s
	other.Aggregates = aggregates()[:3]
	require.NotEqual(t, s.Hash(), other.Hash())
	other = s
	other.Partitions = []string{"0,1"}
	require.NotEqual(t, s.Hash(), other.Hash())
}

func TestSpecString(t *testing.T) {
	t.Parallel()
	s := base()
	s.Table, s.Columns, s.Limit = "t", []Column{i32, odd}, 3
	s.OrderBy = []SortKey{{Column: i32, Descending: true, NullsFirst: true}, {Column: str}}
	require.Equal(t, `scan t ["0", "1"] columns (i32, "Odd ""name""") order by i32 desc nulls first, str limit 3`, s.String())
	s = base()
	s.GroupBy = []NamedExpr{{"kind", kind}, {"d", narrow(i64)}}
	s.Aggregates = aggregates()[:4]
	s.Partitions = make([]string, 30)
	require.Equal(t, `scan "main.t" [30 partitions] group by (kind, d = cast(i64 as int32)) `+
		`aggregate (n = count(*), c = count(list), s = sum(i64), sd = sum(dec) filter ((kind = 'x')))`, s.String())
}

func TestInputColumns(t *testing.T) {
	t.Parallel()
	s := base()
	s.Filter = []Expr{cmpr(Less, i64, narrow(u8)), flag}
	s.GroupBy = []NamedExpr{{"k", kind}}
	s.Aggregates = []Aggregate{{Name: "n", Func: Sum, Arg: f64, Filter: IsNull{Arg: day}}}
	require.Equal(t, []Column{day, f64, flag, i64, kind, u8}, s.InputColumns())
}

func TestCapabilityNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "[agg.count agg.minmax.binary agg.minmax.bool agg.minmax.date agg.minmax.decimal agg.minmax.float "+
		"agg.minmax.int agg.minmax.string agg.minmax.time agg.minmax.timestamp agg.sum.decimal agg.sum.float agg.sum.int "+
		"expr.arith expr.call expr.case expr.cast filter filter.in filter.like group.binary group.bool group.date group.decimal "+
		"group.float group.int group.string group.time group.timestamp limit lookup reduce topn widen]", fmt.Sprint(AllCapabilities().Names()))
	r := rand.New(rand.NewPCG(8, 8))
	for range 300 {
		s := randomSpec(r)
		for _, c := range s.Required() {
			require.True(t, AllCapabilities().Has(c), c)
		}
	}
	none := AllCapabilities().Without("agg", "filter", "expr", "limit", "lookup", "topn", "reduce", "widen")
	require.Empty(t, none.Names())
	require.Equal(t, AllCapabilities(), none.Union(AllCapabilities()))
	require.Empty(t, AllCapabilities().Without("all").Names())
}

// TestCasts is the matrix of casts: what is exact, and what cannot fail.
func TestCasts(t *testing.T) {
	t.Parallel()
	dec18 := &arrow.Decimal128Type{Precision: 18, Scale: 2}
	types := []arrow.DataType{
		boolType, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint64,
		f32.DataType, f64.DataType, dec.DataType, dec18, str.DataType, arrow.BinaryTypes.LargeString, bin.DataType,
		day.DataType, clock.DataType, &arrow.TimestampType{Unit: arrow.Second}, ts.DataType, tz.DataType, kind.DataType, list.DataType,
	}
	// A row for each source, a column for each target: - no, ! may fail, + safe.
	want := []string{
		"+------------------",
		"-++!!-+++----------",
		"-!+!!-+!!----------",
		"-!+++-+++----------",
		"-!!!+-+!!----------",
		"-----++------------",
		"------+------------",
		"------+++----------",
		"------+!+----------",
		"---------++--------",
		"---------++--------",
		"-----------+-------",
		"------------+--!---",
		"-------------+-----",
		"--------------+!---",
		"---------------+---",
		"----------------+--",
		"---------++--------",
		"-------------------",
	}
	for i, from := range types {
		got := ""
		for _, to := range types {
			e := Cast{Arg: Column{"c", from}, DataType: to}
			switch {
			case Supported(e) != nil:
				got += "-"
			case Infallible(e):
				got += "+"
			default:
				got += "!"
			}
		}
		require.Equal(t, want[i], got, typeText(from))
	}
}

func TestInfallible(t *testing.T) {
	t.Parallel()
	d := func(p, s int32) *arrow.Decimal128Type { return &arrow.Decimal128Type{Precision: p, Scale: s} }
	c := func(p, s int32) Column { return Column{"c", d(p, s)} }
	for i, x := range []struct {
		e    Expr
		want bool
	}{
		{Arith{Add, c(9, 2), c(9, 2), d(10, 2)}, true},
		{Arith{Add, c(18, 2), c(18, 2), d(18, 2)}, false},
		{Arith{Multiply, c(9, 2), c(9, 2), d(18, 4)}, true},
		{Arith{Multiply, c(9, 2), c(10, 2), d(18, 4)}, false},
		{Arith{Add, f64, f64, f64.DataType}, true},
		{Arith{Add, i32, i32, i32.DataType}, false},
		{Cast{c(4, 2), d(3, 1)}, false},
		{Cast{c(4, 2), d(4, 1)}, true},
		{Cast{c(4, 2), d(5, 3)}, true},
		{Cast{c(4, 2), d(4, 3)}, false},
		{And{[]Expr{flag, cmpr(Less, narrow(i64), num(1))}}, false},
		{In{Arg: i32, Values: []Literal{num(1)}}, true},
	} {
		require.NoError(t, Supported(x.e), "%d", i)
		require.Equal(t, x.want, Infallible(x.e), ExprString(x.e))
	}
}
