package eval

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// loadCalls is testdata/calls.arrow, in the form of duckdb.arrow.
func loadCalls(t testing.TB) *golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/calls.arrow")
	require.NoError(t, err)
	r, err := ipc.NewFileReader(bytes.NewReader(raw))
	require.NoError(t, err)
	all, err := r.RecordBatchAt(0)
	require.NoError(t, err)
	return splitGolden(all)
}

var callNames = func() map[string]pushdown.Func {
	out := map[string]pushdown.Func{"%": pushdown.FuncModulo, "//": pushdown.FuncIntegerDivide, "/": pushdown.FuncDivide}
	for f := pushdown.FuncYear; f <= pushdown.FuncAbs; f++ {
		out[f.String()] = f
	}
	return out
}()

// callOf reads the SQL of a result column.
func (g *golden) callOf(t testing.TB, sql string) pushdown.Expr {
	t.Helper()
	e := pushdown.Call{DataType: g.results[sql].DataType()}
	if part := strings.Split(sql, " "); len(part) == 3 && !strings.Contains(sql, "(") {
		e.Func = callNames[part[1]]
		e.Args = []pushdown.Expr{g.col(part[0]), g.operand(part[2])}
		return e
	}
	name, rest, ok := strings.Cut(strings.TrimSuffix(sql, ")"), "(")
	require.True(t, ok, sql)
	args := strings.Split(rest, ", ")
	if name == "date_trunc" {
		name, args = "trunc_"+strings.Trim(args[0], "'"), args[1:]
	}
	e.Func = callNames[name]
	for _, a := range args {
		e.Args = append(e.Args, g.operand(a))
	}
	return e
}

// operand is a column or an integer: of type bigint, or as a cast says.
func (g *golden) operand(text string) pushdown.Expr {
	number, typ, typed := strings.Cut(text, "::")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return g.col(text)
	}
	dt := arrow.DataType(arrow.PrimitiveTypes.Int64)
	if typed {
		dt = map[string]arrow.DataType{
			"tinyint": arrow.PrimitiveTypes.Int8, "smallint": arrow.PrimitiveTypes.Int16, "integer": arrow.PrimitiveTypes.Int32, "bigint": dt,
			"utinyint": arrow.PrimitiveTypes.Uint8, "usmallint": arrow.PrimitiveTypes.Uint16, "uinteger": arrow.PrimitiveTypes.Uint32, "ubigint": arrow.PrimitiveTypes.Uint64,
		}[typ]
	}
	s, err := scalar.MakeScalarParam(n, dt)
	if err != nil {
		s, _ = scalar.NewInt64Scalar(n).CastTo(dt)
	}
	return lit(s)
}

func (g *golden) checkCalls(t *testing.T) {
	t.Helper()
	for sql, want := range g.results {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		p, err := Compile(g.callOf(t, sql), g.batch.Schema())
		require.NoError(t, err, sql)
		for _, cut := range [][2]int64{{0, g.batch.NumRows()}, {1, 70}, {64, 129}, {5, 5}} {
			checkSlice(t, p, g.batch, want, cut, sql, mem)
		}
		checkSelected(t, p, g.batch, want, sql, mem)
		mem.AssertSize(t, 0)
	}
}

func TestCallsAgainstDuckDB(t *testing.T) {
	t.Parallel()
	g := loadCalls(t)
	require.Greater(t, len(g.results), 100)
	g.checkCalls(t)
	g.mapColumns(func(i int, a arrow.Array) arrow.Array { return toDictionary(t, a, i, 0) })
	g.checkCalls(t)
}

// TestLettersAgainstDuckDB has every code point that has a case.
func TestLettersAgainstDuckDB(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/letters.txt")
	require.NoError(t, err)
	lower, upper := map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(raw)) {
		part := strings.Fields(line)
		lower[part[0]], upper[part[0]] = part[1], part[2]
	}
	for c := rune(1); c <= 0x10FFFF; c++ {
		s := string(c)
		low, cased := lower[s]
		up := upper[s]
		if !cased {
			low, up = s, s
		}
		require.Equal(t, low, pushdown.Lower(s))
		require.Equal(t, up, string(pushdown.AppendUpper(nil, s)))
		require.Equal(t, c < 128 && low == s, pushdown.IsLower(s))
	}
	require.Equal(t, "a\xffb\xc3", pushdown.Lower("A\xffB\xc3"))
}

// TestCallErrors: what DuckDB refuses raises, on rows that are not NULL only.
func TestCallErrors(t *testing.T) {
	t.Parallel()
	us := &arrow.TimestampType{Unit: arrow.Microsecond}
	schema := schemaOf(arrow.Field{Name: "i", Type: arrow.PrimitiveTypes.Int8}, arrow.Field{Name: "d", Type: arrow.FixedWidthTypes.Date32}, arrow.Field{Name: "ts", Type: us})
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int8Builder).AppendValues([]int8{-128, 1, 0}, []bool{true, true, false})
	b.Field(1).(*array.Date32Builder).AppendValues([]arrow.Date32{106_751_992, 1, 0}, []bool{true, true, false})
	b.Field(2).(*array.TimestampBuilder).AppendValues([]arrow.Timestamp{-9223372022400000000, 1, 0}, []bool{true, true, false})
	batch := b.NewRecordBatch()
	defer batch.Release()
	i, d, ts := pushdown.Column{Name: "i", DataType: arrow.PrimitiveTypes.Int8}, pushdown.Column{Name: "d", DataType: arrow.FixedWidthTypes.Date32}, pushdown.Column{Name: "ts", DataType: us}
	minus := lit(scalar.NewInt8Scalar(-1))
	for want, e := range map[string]pushdown.Call{
		"overflow in division of -128 / -1":         {Func: pushdown.FuncModulo, Args: []pushdown.Expr{i, minus}, DataType: i.DataType},
		"abs(-128) does not fit int8":               {Func: pushdown.FuncAbs, Args: []pushdown.Expr{i}, DataType: i.DataType},
		"day 106751992 since 1970-01-01, trunc":     {Func: pushdown.FuncTruncDay, Args: []pushdown.Expr{d}, DataType: us},
		"timestamp -9223372022400000000, truncated": {Func: pushdown.FuncTruncYear, Args: []pushdown.Expr{ts}, DataType: us},
	} {
		require.False(t, pushdown.Infallible(e), want)
		p, err := Compile(e, schema)
		require.NoError(t, err)
		_, err = p.Eval(batch, memory.DefaultAllocator)
		require.ErrorContains(t, err, want)
		require.Equal(t, status.OutOfRange, status.CodeOf(err))
		got, err := p.EvalSelected(batch, []int32{1, 2}, memory.DefaultAllocator)
		require.NoError(t, err)
		require.Equal(t, 1, got.NullN())
		got.Release()
	}
}
