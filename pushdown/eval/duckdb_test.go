package eval

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

// golden is testdata/duckdb.arrow: rows, and what DuckDB makes of them.
type golden struct {
	batch arrow.RecordBatch
	// results are the columns that are not input, by the SQL that made them.
	results map[string]arrow.Array
}

func loadGolden(t testing.TB) *golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/duckdb.arrow")
	require.NoError(t, err)
	r, err := ipc.NewFileReader(bytes.NewReader(raw))
	require.NoError(t, err)
	all, err := r.RecordBatchAt(0)
	require.NoError(t, err)
	return splitGolden(all)
}

// splitGolden tells the results from the input by their names.
func splitGolden(all arrow.RecordBatch) *golden {
	g := &golden{results: map[string]arrow.Array{}}
	var fields []arrow.Field
	var cols []arrow.Array
	for i, f := range all.Schema().Fields() {
		if strings.ContainsAny(f.Name, " ()") || strings.Contains(f.Name, "::") {
			g.results[f.Name] = all.Column(i)
			continue
		}
		fields, cols = append(fields, f), append(cols, all.Column(i))
	}
	g.batch = array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, all.NumRows())
	return g
}

func (g *golden) col(name string) pushdown.Column {
	f := g.batch.Schema().Field(g.batch.Schema().FieldIndices(name)[0])
	return pushdown.Column{Name: name, DataType: f.Type}
}

// values is the type of a column with dictionaries decoded.
func (g *golden) values(name string) arrow.DataType { return pushdown.ValueType(g.col(name).DataType) }

func lit(s scalar.Scalar) pushdown.Literal { return pushdown.Literal{Value: s} }

func strs(values ...string) []pushdown.Literal {
	var out []pushdown.Literal
	for _, v := range values {
		out = append(out, lit(scalar.NewStringScalar(v)))
	}
	return out
}

func int32s(values ...int32) []pushdown.Literal {
	var out []pushdown.Literal
	for _, v := range values {
		out = append(out, lit(scalar.NewInt32Scalar(v)))
	}
	return out
}

func doubles(values ...float64) []pushdown.Literal {
	var out []pushdown.Literal
	for _, v := range values {
		out = append(out, lit(scalar.NewFloat64Scalar(v)))
	}
	return out
}

func null(t arrow.DataType) pushdown.Literal { return lit(scalar.MakeNullScalar(t)) }

// literals are the constants that the file compares each column with.
func (g *golden) literals() map[string]struct {
	sql   string
	value scalar.Scalar
} {
	type entry = struct {
		sql   string
		value scalar.Scalar
	}
	dec := func(name string, v int64) scalar.Scalar {
		return scalar.NewDecimal128Scalar(arrowDecimal(v), g.values(name))
	}
	stamp := func(name string, v int64) scalar.Scalar {
		return scalar.NewTimestampScalar(arrow.Timestamp(v), g.values(name))
	}
	const y2k = 946684800
	return map[string]entry{
		"b": {"true", scalar.NewBooleanScalar(true)}, "i8": {"7::tinyint", scalar.NewInt8Scalar(7)},
		"i16": {"7::smallint", scalar.NewInt16Scalar(7)}, "i32": {"7::integer", scalar.NewInt32Scalar(7)},
		"i64": {"7::bigint", scalar.NewInt64Scalar(7)}, "u8": {"7::utinyint", scalar.NewUint8Scalar(7)},
		"u16": {"7::usmallint", scalar.NewUint16Scalar(7)}, "u32": {"7::uinteger", scalar.NewUint32Scalar(7)},
		"u64": {"7::ubigint", scalar.NewUint64Scalar(7)}, "f32": {"1.5::float", scalar.NewFloat32Scalar(1.5)},
		"f64": {"1.5::double", scalar.NewFloat64Scalar(1.5)}, "d4": {"1.00::decimal(4,2)", dec("d4", 100)},
		"d9": {"1.000::decimal(9,3)", dec("d9", 1000)}, "d18": {"1.00::decimal(18,2)", dec("d18", 100)},
		"d38": {"1.00000::decimal(38,5)", dec("d38", 100000)}, "s": {"'abc'", scalar.NewStringScalar("abc")},
		"bl":   {"'ab'::blob", scalar.NewBinaryScalar(memory.NewBufferBytes([]byte("ab")), arrow.BinaryTypes.Binary)},
		"dt":   {"'2000-01-01'::date", scalar.NewDate32Scalar(y2k / 86400)},
		"tm":   {"'12:34:56'::time", scalar.NewTime64Scalar(45296e6, g.values("tm"))},
		"ts":   {"'2000-01-01'::timestamp", stamp("ts", y2k*1e6)},
		"tss":  {"'2000-01-01'::timestamp_s", stamp("tss", y2k)},
		"tsms": {"'2000-01-01'::timestamp_ms", stamp("tsms", y2k*1e3)},
		"tsns": {"'2000-01-01'::timestamp_ns", stamp("tsns", y2k*1e9)},
		"tz":   {"'2000-01-01'::timestamptz", stamp("tz", y2k*1e6)},
	}
}

// cases builds the expression of every result column.
func (g *golden) cases() map[string]pushdown.Expr {
	out := map[string]pushdown.Expr{}
	b, b2 := g.col("b"), g.col("b_2")
	for name, l := range g.literals() {
		x, y := g.col(name), g.col(name+"_2")
		for op := pushdown.Equal; op <= pushdown.NotDistinct; op++ {
			out[name+" "+op.String()+" "+name+"_2"] = pushdown.Compare{Op: op, Left: x, Right: y}
			out[name+" "+op.String()+" "+l.sql] = pushdown.Compare{Op: op, Left: x, Right: lit(l.value)}
			out[l.sql+" "+op.String()+" "+name] = pushdown.Compare{Op: op, Left: lit(l.value), Right: x}
		}
		out[name+" is null"] = pushdown.IsNull{Arg: x}
		out[name+" is not null"] = pushdown.IsNull{Arg: x, Negated: true}
		out["coalesce("+name+", "+name+"_2)"] = pushdown.Coalesce{Args: []pushdown.Expr{x, y}, DataType: g.values(name)}
		out["case when b then "+name+" when b_2 then "+name+"_2 end"] = pushdown.Case{
			Whens: []pushdown.When{{Cond: b, Then: x}, {Cond: b2, Then: y}}, DataType: g.values(name),
		}
	}
	for op := pushdown.Equal; op <= pushdown.GreaterEqual; op++ {
		nan := math.NaN()
		out["f32 "+op.String()+" 'nan'::float"] = pushdown.Compare{Op: op, Left: g.col("f32"), Right: lit(scalar.NewFloat32Scalar(float32(nan)))}
		out["f64 "+op.String()+" 'nan'::double"] = pushdown.Compare{Op: op, Left: g.col("f64"), Right: lit(scalar.NewFloat64Scalar(nan))}
		out["f64 "+op.String()+" '-0.0'::double"] = pushdown.Compare{Op: op, Left: g.col("f64"), Right: lit(scalar.NewFloat64Scalar(math.Copysign(0, -1)))}
	}
	g.logic(out)
	g.matches(out)
	g.lists(out)
	g.arithmetic(out)
	g.casts(out)
	return out
}

func (g *golden) logic(out map[string]pushdown.Expr) {
	b, b2, unknown := g.col("b"), g.col("b_2"), null(arrow.FixedWidthTypes.Boolean)
	out["b and b_2"] = pushdown.And{Args: []pushdown.Expr{b, b2}}
	out["b or b_2"] = pushdown.Or{Args: []pushdown.Expr{b, b2}}
	out["not b"] = pushdown.Not{Arg: b}
	out["b and null::boolean"] = pushdown.And{Args: []pushdown.Expr{b, unknown}}
	out["b or null::boolean"] = pushdown.Or{Args: []pushdown.Expr{b, unknown}}
	compare := func(op pushdown.CompareOp, name string) pushdown.Expr {
		return pushdown.Compare{Op: op, Left: g.col(name), Right: g.col(name + "_2")}
	}
	out["(i32 < i32_2) and (f64 > f64_2) or not (s = s_2)"] = pushdown.Or{Args: []pushdown.Expr{
		pushdown.And{Args: []pushdown.Expr{compare(pushdown.Less, "i32"), compare(pushdown.Greater, "f64")}},
		pushdown.Not{Arg: compare(pushdown.Equal, "s")},
	}}
}

func (g *golden) matches(out map[string]pushdown.Expr) {
	for name := range g.results {
		for prefix, negated := range map[string]bool{"s like '": false, "s not like '": true} {
			if p, ok := strings.CutPrefix(name, prefix); ok {
				out[name] = pushdown.Like{Arg: g.col("s"), Kind: pushdown.LikePattern, Pattern: strings.TrimSuffix(p, "'"), Negated: negated}
			}
		}
	}
	out["prefix(s, 'ab')"] = pushdown.Like{Arg: g.col("s"), Kind: pushdown.LikePrefix, Pattern: "ab"}
	out["prefix(s, '')"] = pushdown.Like{Arg: g.col("s"), Kind: pushdown.LikePrefix}
	out["suffix(s, 'a')"] = pushdown.Like{Arg: g.col("s"), Kind: pushdown.LikeSuffix, Pattern: "a"}
	out["contains(s, 'b')"] = pushdown.Like{Arg: g.col("s"), Kind: pushdown.LikeContains, Pattern: "b"}
}

func (g *golden) lists(out map[string]pushdown.Expr) {
	nothing := null(arrow.PrimitiveTypes.Int32)
	for head, negated := range map[string]bool{"i32 in": false, "i32 not in": true} {
		in := func(list string, values ...pushdown.Literal) {
			out[head+" ("+list+")"] = pushdown.In{Arg: g.col("i32"), Values: values, Negated: negated}
		}
		in("0, 1", int32s(0, 1)...)
		in("0, null", append(int32s(0), nothing)...)
		in("0, 1, 2, 3, 4, 5, 6, 7", int32s(0, 1, 2, 3, 4, 5, 6, 7)...)
		in("0, 1, 2, 3, 4, 5, 6, 7, null", append(int32s(0, 1, 2, 3, 4, 5, 6, 7), nothing)...)
	}
	nan := math.NaN()
	out["f64 in ('nan'::double, 0.0::double)"] = pushdown.In{Arg: g.col("f64"), Values: doubles(nan, 0)}
	out["f64 in ('nan'::double, 0.0::double, 1, 2, 3, 4)"] = pushdown.In{Arg: g.col("f64"), Values: doubles(nan, 0, 1, 2, 3, 4)}
	out["s in ('a', 'abc')"] = pushdown.In{Arg: g.col("s"), Values: strs("a", "abc")}
	out["s in ('a', 'abc', 'b', '', 'ba', '%')"] = pushdown.In{Arg: g.col("s"), Values: strs("a", "abc", "b", "", "ba", "%")}
	out["s not in ('a', 'abc', 'b', '', 'ba', null)"] = pushdown.In{
		Arg: g.col("s"), Values: append(strs("a", "abc", "b", "", "ba"), null(arrow.BinaryTypes.String)), Negated: true,
	}
	var decimals []pushdown.Literal
	for _, v := range []int64{0, 1000, 5, 2000, 3000, 4000} {
		decimals = append(decimals, lit(scalar.NewDecimal128Scalar(arrowDecimal(v), g.values("d9"))))
	}
	out["d9 in (0, 1, 0.005, 2, 3, 4)"] = pushdown.In{Arg: g.col("d9"), Values: decimals}
	yes := lit(scalar.NewBooleanScalar(true))
	out["b in (true)"] = pushdown.In{Arg: g.col("b"), Values: []pushdown.Literal{yes}}
	out["b not in (true, null)"] = pushdown.In{
		Arg: g.col("b"), Values: []pushdown.Literal{yes, null(arrow.FixedWidthTypes.Boolean)}, Negated: true,
	}
}

func (g *golden) arithmetic(out map[string]pushdown.Expr) {
	for name, result := range g.results {
		part := strings.Split(name, " ")
		if len(part) != 3 || !strings.Contains("+-*", part[1]) {
			continue
		}
		op := map[string]pushdown.ArithOp{"+": pushdown.Add, "-": pushdown.Subtract, "*": pushdown.Multiply}[part[1]]
		out[name] = pushdown.Arith{Op: op, Left: g.col(part[0]), Right: g.col(part[2]), DataType: result.DataType()}
	}
}

func (g *golden) casts(out map[string]pushdown.Expr) {
	for name, result := range g.results {
		arg, _, ok := strings.Cut(name, "::")
		if ok && !strings.Contains(name, " ") && !strings.Contains(arg, "(") {
			out[name] = pushdown.Cast{Arg: g.col(arg), DataType: result.DataType()}
		}
	}
}

// requireSame compares bit for bit, all NaNs being one.
func requireSame(t testing.TB, want, got arrow.Array, msg string) {
	t.Helper()
	require.True(t, arrow.TypeEqual(want.DataType(), got.DataType()), "%s: type %s, want %s", msg, got.DataType(), want.DataType())
	require.Equal(t, want.Len(), got.Len(), msg)
	require.Equal(t, want.NullN(), got.NullN(), msg)
	for i := range want.Len() {
		if want.IsNull(i) != got.IsNull(i) || want.IsValid(i) && plain(want, i) != plain(got, i) {
			require.Failf(t, "wrong value", "%s: row %d: %s, want %s", msg, i, got.ValueStr(i), want.ValueStr(i))
		}
	}
}

// plain is the text of a value, but the bits of a float.
func plain(a arrow.Array, i int) any {
	switch a := a.(type) {
	case *array.Float64:
		return canonicalBits(a.Value(i))
	case *array.Float32:
		return canonicalBits(float64(a.Value(i)))
	case *array.Timestamp:
		return a.Value(i)
	case *array.Date32:
		return a.Value(i)
	}
	return a.ValueStr(i)
}

func canonicalBits(v float64) uint64 {
	if math.IsNaN(v) {
		v = math.NaN()
	}
	return math.Float64bits(v)
}

// check evaluates every expression of the file over the whole batch, over
// slices of it and over selections.
func (g *golden) check(t *testing.T) {
	cases := g.cases()
	for name := range g.results {
		require.Contains(t, cases, name, "a result column without an expression")
	}
	for name, want := range g.results {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		p, err := Compile(cases[name], g.batch.Schema())
		require.NoError(t, err, name)
		for _, cut := range [][2]int64{{0, g.batch.NumRows()}, {1, 70}, {63, 200}, {64, 129}, {65, 66}, {300, g.batch.NumRows()}, {5, 5}} {
			checkSlice(t, p, g.batch, want, cut, name, mem)
		}
		checkSelected(t, p, g.batch, want, name, mem)
		mem.AssertSize(t, 0)
	}
}

func TestAgainstDuckDB(t *testing.T) {
	t.Parallel()
	loadGolden(t).check(t)
}

// TestLargeAgainstDuckDB has strings with 64-bit offsets.
func TestLargeAgainstDuckDB(t *testing.T) {
	t.Parallel()
	g := loadGolden(t)
	g.mapColumns(func(i int, a arrow.Array) arrow.Array { return toLarge(a) })
	for name := range g.results {
		if !strings.ContainsAny(name, "s") || strings.Contains(name, "coalesce") || strings.Contains(name, "case") {
			delete(g.results, name)
		}
	}
	g.check(t)
}

// TestDictionaryAgainstDuckDB has every column as a dictionary, with all widths
// of codes, and NULL both as a NULL code and as a NULL in the dictionary.
func TestDictionaryAgainstDuckDB(t *testing.T) {
	t.Parallel()
	for _, padding := range []int{0, 1000} {
		g := loadGolden(t)
		g.mapColumns(func(i int, a arrow.Array) arrow.Array { return toDictionary(t, a, i, padding) })
		g.check(t)
	}
}

func checkSlice(t testing.TB, p *Program, batch arrow.RecordBatch, want arrow.Array, cut [2]int64, name string, mem memory.Allocator) {
	t.Helper()
	part := batch.NewSlice(cut[0], cut[1])
	defer part.Release()
	wanted := array.NewSlice(want, cut[0], cut[1])
	defer wanted.Release()
	got, err := p.Eval(part, mem)
	require.NoError(t, err, name)
	defer got.Release()
	requireSame(t, wanted, got, name)
}

func checkSelected(t testing.TB, p *Program, batch arrow.RecordBatch, want arrow.Array, name string, mem memory.Allocator) {
	t.Helper()
	sel := []int32{0, 3, 4, 64, 65, 100, 127, 128, 200, 331, 332}
	wanted, err := TakeArray(want, sel, mem)
	require.NoError(t, err)
	defer wanted.Release()
	got, err := p.EvalSelected(batch, sel, mem)
	require.NoError(t, err, name)
	defer got.Release()
	requireSame(t, wanted, got, name)
}

// TestFilterAgainstDuckDB selects by every boolean expression of the file.
func TestFilterAgainstDuckDB(t *testing.T) {
	t.Parallel()
	g := loadGolden(t)
	for name, e := range g.cases() {
		want, ok := g.results[name].(*array.Boolean)
		if !ok {
			continue
		}
		p, err := CompileFilter([]pushdown.Expr{e}, g.batch.Schema())
		require.NoError(t, err, name)
		sel, all, err := p.Select(g.batch, nil)
		require.NoError(t, err, name)
		var rows []int32
		for i := range want.Len() {
			if want.IsValid(i) && want.Value(i) {
				rows = append(rows, int32(i))
			}
		}
		require.Equal(t, len(rows) == want.Len(), all, name)
		if !all {
			require.Equal(t, len(rows), len(sel), name)
			require.ElementsMatch(t, rows, sel, name)
		}
	}
}
