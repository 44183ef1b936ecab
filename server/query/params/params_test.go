package params

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT ?, ?":                                "1,2",
		"SELECT $2,$01":                              "2,1",
		"SELECT ?1":                                  "1",
		"SELECT $Name, $näme":                        "name,näme",
		"SELECT a$1, $b":                             "b",
		"SELECT '?''?', \"?\"\"$1\", ?":              "1",
		`SELECT E'\'?', e'\\', 'x\', ?`:              "1",
		"SELECT 1 -- ?\r\n, ? --?":                   "1",
		"SELECT /* ? /* ? */ ? */ ? /* ?":            "1",
		"SELECT $$ ? $$, $t$ $1 $$ ? $t$, $x $u$ ? ": "x",
		"SELECT ?::INT, x[?]":                        "1,2",
		"SELECT '?":                                  "",
		"SELECT $":                                   "",
	} {
		var names []string
		for _, token := range Tokens(sql) {
			names = append(names, token.Name)
			require.Contains(t, "?$", sql[token.Start:token.Start+1])
		}
		require.Equal(t, want, strings.Join(names, ","), sql)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("SELECT ?, $1, $a$ ? $a$, '?' -- x\n/* /* */ ? */ E'\\'?'")
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for _, token := range Tokens(sql) {
			require.GreaterOrEqual(t, token.Start, end)
			require.Greater(t, token.End, token.Start)
			end = token.End
		}
		require.LessOrEqual(t, end, len(sql))
	})
}

func TestSubstitute(t *testing.T) {
	t.Parallel()
	got, err := Substitute("SELECT $2,'?',$1", []string{"A", "B"})
	require.NoError(t, err)
	require.Equal(t, "SELECT  B ,'?', A ", got)
	got, err = Substitute("SELECT $b,$a,$B", []string{"A", "B"})
	require.NoError(t, err)
	require.Equal(t, "SELECT  A , B , A ", got)
	_, err = Substitute("SELECT ?,?", []string{"A"})
	require.Equal(t, status.InvalidArgument, status.CodeOf(err))
}

func TestSort(t *testing.T) {
	t.Parallel()
	ps, err := Sort("SELECT $2, $1", []Param{{Name: "2", SQL: "DATE"}, {Name: "1"}})
	require.NoError(t, err)
	require.Equal(t, []Param{{Name: "1"}, {Name: "2", SQL: "DATE"}}, ps)
	ps, err = Sort("SELECT $b, $a", []Param{{Name: "a"}, {Name: "B"}})
	require.NoError(t, err)
	require.Equal(t, []Param{{Name: "b"}, {Name: "a"}}, ps)
	for _, sql := range []string{"SELECT 1", "SELECT ?, ?", "SELECT $x"} {
		_, err = Sort(sql, []Param{{Name: "1"}})
		require.Equal(t, status.Unimplemented, status.CodeOf(err), sql)
	}
}

func TestColumnsByNameOrPlace(t *testing.T) {
	t.Parallel()
	schema := func(names ...string) *arrow.Schema {
		var fields []arrow.Field
		for _, n := range names {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.Null})
		}
		return arrow.NewSchema(fields, nil)
	}
	for _, c := range []struct {
		params []Param
		names  []string
		want   []int
	}{
		{[]Param{{Name: "1"}, {Name: "2"}}, []string{"2", "1"}, []int{0, 1}},
		{[]Param{{Name: "lo"}, {Name: "hi"}}, []string{"HI", "$lo"}, []int{1, 0}},
		{[]Param{{Name: "lo"}, {Name: "hi"}}, []string{"0", "hi"}, []int{0, 1}},
	} {
		got, err := columnsFor(c.params, schema(c.names...))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	_, err := columnsFor([]Param{{Name: "1"}}, schema("a", "b"))
	require.ErrorContains(t, err, "1 parameters, 2 values")
}

func literalOf(t *testing.T, typ arrow.DataType, json string, p Param) (string, error) {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader("["+json+"]"))
	require.NoError(t, err)
	defer a.Release()
	return Literal(a, 0, p)
}

var (
	asInteger = Param{Type: arrow.PrimitiveTypes.Int32, SQL: "INTEGER"}
	asDouble  = Param{Type: arrow.PrimitiveTypes.Float64, SQL: "DOUBLE"}
	asFloat   = Param{Type: arrow.PrimitiveTypes.Float32, SQL: "FLOAT"}
	asPrice   = Param{Type: &arrow.Decimal128Type{Precision: 6, Scale: 2}, SQL: "DECIMAL(6,2)"}
	asText    = Param{Type: arrow.BinaryTypes.String, SQL: "VARCHAR"}
	asDate    = Param{Type: arrow.FixedWidthTypes.Date32, SQL: "DATE"}
	asSecond  = Param{Type: &arrow.TimestampType{Unit: arrow.Second}, SQL: "TIMESTAMP_S"}
	asBool    = Param{Type: arrow.FixedWidthTypes.Boolean, SQL: "BOOLEAN"}
	asInts    = Param{Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), SQL: "INTEGER[]"}
)

func TestLiterals(t *testing.T) {
	t.Parallel()
	i64, f64, text := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String
	for _, c := range []struct {
		typ   arrow.DataType
		value string
		param Param
		want  string
	}{
		{arrow.Null, "null", Param{}, "NULL"},
		{arrow.Null, "null", asDate, "CAST(NULL AS DATE)"},
		{i64, "-5", Param{}, "CAST('-5' AS BIGINT)"},
		{i64, "2147483647", asInteger, "CAST('2147483647' AS INTEGER)"},
		{f64, "-7", asInteger, "CAST('-7' AS INTEGER)"},
		{text, `" 7.50e1 "`, asInteger, "CAST('75' AS INTEGER)"},
		{text, `"it's"`, Param{}, "CAST('it''s' AS VARCHAR)"},
		{f64, "0.1", asFloat, "CAST('1e-01' AS FLOAT)"},
		{f64, "0.1", asPrice, "CAST('0.10' AS DECIMAL(6,2))"},
		{i64, "9007199254740992", asDouble, "CAST('9.007199254740992e+15' AS DOUBLE)"},
		{text, `"nan"`, asDouble, "CAST('nan' AS DOUBLE)"},
		{f64, "1.5", asText, "CAST(CAST('1.5e+00' AS DOUBLE) AS VARCHAR)"},
		{i64, "15", asText, "CAST('15' AS VARCHAR)"},
		{&arrow.Decimal256Type{Precision: 50, Scale: 1}, `"1.5"`, asText, "CAST('1.5' AS VARCHAR)"},
		{arrow.FixedWidthTypes.Date64, `"2026-01-02"`, asText, "CAST(CAST('2026-01-02' AS DATE) AS VARCHAR)"},
		{i64, "1", asBool, "CAST('true' AS BOOLEAN)"},
		{arrow.FixedWidthTypes.Timestamp_ms, `"2026-01-02 00:00:00Z"`, asDate, "CAST('2026-01-02' AS DATE)"},
		{text, `"2026-01-02T03:04:05+02:00"`, asSecond, "CAST('2026-01-02 01:04:05' AS TIMESTAMP_S)"},
		{arrow.BinaryTypes.Binary, `"AP8nYQ=="`, Param{}, `CAST('\x00\xFF\x27a' AS BLOB)`},
		{arrow.ListOf(f64), "[1, null]", asInts, "CAST([CAST('1' AS INTEGER), CAST(NULL AS INTEGER)] AS INTEGER[])"},
	} {
		got, err := literalOf(t, c.typ, c.value, c.param)
		require.NoError(t, err, c.want)
		require.Equal(t, c.want, got)
	}
}

func TestLiteralsThatWouldLose(t *testing.T) {
	t.Parallel()
	i64, f64, text := arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String
	for _, c := range []struct {
		typ   arrow.DataType
		value string
		param Param
	}{
		{i64, "2147483648", asInteger}, {i64, "-2147483649", asInteger}, {f64, "1.5", asInteger}, {f64, "1e300", asInteger},
		{text, `"1_000"`, asInteger}, {text, `"1.-5"`, asInteger}, {text, `""`, asInteger}, {text, `"1e999"`, asInteger},
		{f64, "10000", asPrice}, {f64, "0.125", asPrice}, {i64, "9007199254740993", asDouble}, {f64, "0.12345678901", asFloat},
		{text, `"0x10"`, asDouble}, {text, `"a\u0000b"`, asText}, {arrow.BinaryTypes.Binary, `"/w=="`, asText}, {i64, "2", asBool},
		{arrow.FixedWidthTypes.Timestamp_ms, `"2026-01-02 00:00:01Z"`, asDate}, {arrow.FixedWidthTypes.Timestamp_us, `"2026-01-02 00:00:01.5Z"`, asSecond},
		{text, `"yesterday"`, asDate}, {arrow.ListOf(f64), "[1.5]", asInts}, {i64, "1", asInts}, {i64, "1", asDate},
		{&arrow.Decimal256Type{Precision: 50, Scale: 1}, `"1.5"`, Param{}},
	} {
		got, err := literalOf(t, c.typ, c.value, c.param)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%s %s: %s", c.typ, c.value, got)
	}
}
