package plan

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestReadConst(t *testing.T) {
	t.Parallel()
	decimal := `{"id":"DECIMAL","type_info":{"width":10,"scale":2}}`
	named := func(id string) string { return `{"id":"` + id + `"}` }
	cases := []struct {
		kind, value, sql string
		want             any
	}{
		{named("INTEGER"), "-5", "'-5'::INTEGER", int64(-5)},
		{named("BIGINT"), "-9223372036854775808", "'-9223372036854775808'::BIGINT", int64(math.MinInt64)},
		{named("UBIGINT"), "18446744073709551615", "'18446744073709551615'::UBIGINT", new(big.Int).SetUint64(math.MaxUint64)},
		{named("UBIGINT"), "7", "'7'::UBIGINT", int64(7)},
		{named("HUGEINT"), `{"upper":-1,"lower":18446744073709551611}`, "'-5'::HUGEINT", big.NewInt(-5)},
		{decimal, "5", "'0.05'::DECIMAL(10,2)", big.NewInt(5)},
		{decimal, "-12345", "'-123.45'::DECIMAL(10,2)", big.NewInt(-12345)},
		{`{"id":"DECIMAL","type_info":{"width":4,"scale":0}}`, "12", "'12'::DECIMAL(4,0)", big.NewInt(12)},
		{named("BOOLEAN"), "true", "true", true},
		{named("VARCHAR"), `"it's"`, "'it''s'::VARCHAR", "it's"},
		{named("VARCHAR"), `"a\u0000b"`, `decode('\x61\x00\x62'::BLOB)`, "a\x00b"},
		{named("DOUBLE"), "0.1", "'0.1'::DOUBLE", 0.1},
		{named("DOUBLE"), "5e-324", "'5e-324'::DOUBLE", 5e-324},
		{named("DOUBLE"), "-0.0", "'-0'::DOUBLE", math.Copysign(0, -1)},
		{named("DOUBLE"), `"Infinity"`, "'inf'::DOUBLE", math.Inf(1)},
		{named("FLOAT"), `"-Infinity"`, "'-inf'::FLOAT", math.Inf(-1)},
		{named("FLOAT"), "1.100000023841858", "'1.1'::FLOAT", float64(float32(1.1))},
		{named("DATE"), "18262", "'2020-01-01'::DATE", int64(18262)},
		{named("DATE"), "2147483647", "'infinity'::DATE", int64(math.MaxInt32)},
		{named("TIMESTAMP"), "1577836800500000", "'2020-01-01 00:00:00.5'::TIMESTAMP", int64(1577836800500000)},
		{named("TIMESTAMP"), "-9223372036854775807", "'-infinity'::TIMESTAMP", int64(-math.MaxInt64)},
		{named("TIMESTAMP_S"), "1577836800", "'2020-01-01 00:00:00'::TIMESTAMP_S", int64(1577836800)},
		{named("TIMESTAMP_MS"), "1577836800001", "'2020-01-01 00:00:00.001'::TIMESTAMP_MS", int64(1577836800001)},
		{named("TIMESTAMP_NS"), "1577836800000000001", "'2020-01-01 00:00:00.000000001'::TIMESTAMP_NS", int64(1577836800000000001)},
		{named("TIMESTAMP WITH TIME ZONE"), "0", "'1970-01-01 00:00:00+00'::TIMESTAMP WITH TIME ZONE", int64(0)},
		{named("TIME"), "36672500000", "'10:11:12.500000'::TIME", int64(36672500000)},
		{named("TIME"), "86400000000", "'24:00:00.000000'::TIME", int64(86400000000)},
		{named("INTERVAL"), `{"months":1,"days":-2,"micros":3}`, "'1 months -2 days 3 microseconds'::INTERVAL", nil},
		{named("BLOB"), `"\\x00a"`, `'\x00a'::BLOB`, nil},
		{named("UUID"), `{"upper":-9223372036854775808,"lower":255}`, "'00000000-0000-0000-0000-0000000000ff'::UUID", nil},
		{`{"id":"ENUM","type_info":{"values":["a","b"]}}`, "1", "'b'::ENUM('a', 'b')", nil},
		{`{"id":"VARCHAR","type_info":{"alias":"JSON"}}`, `"{}"`, "'{}'::JSON", nil},
		{`{"id":"LIST","type_info":{"child_type":{"id":"INTEGER"}}}`, `{"children":[]}`, "[]::INTEGER[]", nil},
		{
			`{"id":"LIST","type_info":{"child_type":{"id":"INTEGER"}}}`,
			`{"children":[{"type":{"id":"INTEGER"},"value":1},{"type":{"id":"INTEGER"},"is_null":true}]}`,
			"['1'::INTEGER, NULL::INTEGER]::INTEGER[]", nil,
		},
		{
			`{"id":"STRUCT","type_info":{"child_types":[{"first":"a'b","second":{"id":"NULL"}}]}}`,
			`{"children":[{"type":{"id":"NULL"},"is_null":true}]}`, "{'a''b': NULL}", nil,
		},
		{
			`{"id":"STRUCT","type_info":{"child_types":[{"first":"","second":{"id":"BOOLEAN"}}]}}`,
			`{"children":[{"type":{"id":"BOOLEAN"},"value":false}]}`, "row(false)", nil,
		},
	}
	for _, c := range cases {
		got, err := constOf(t, c.kind, c.value)
		require.NoError(t, err, c.sql)
		require.Equal(t, c.sql, got.SQL)
		require.Equal(t, c.want, got.Value, c.sql)
		require.Equal(t, c.want == nil, got.Opaque, c.sql)
		require.NotEmpty(t, constText(got))
	}
}

func constOf(t *testing.T, kind, value string) (*Const, error) {
	var v jsonValue
	require.NoError(t, json.Unmarshal([]byte(`{"type":`+kind+`,"is_null":false,"value":`+value+`}`), &v))
	return readConst(&v)
}

func TestReadConstRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{`{"id":"INTEGER"}`, `"x"`}, {`{"id":"BOOLEAN"}`, "1"}, {`{"id":"DOUBLE"}`, `"x"`}, {`{"id":"UBIGINT"}`, "-1"},
		{`{"id":"HUGEINT"}`, "1.5"}, {`{"id":"HUGEINT"}`, `{"upper":1}`}, {`{"id":"UUID"}`, "1"}, {`{"id":"INTERVAL"}`, "1"},
		{`{"id":"DATE"}`, "2000000000"}, {`{"id":"TIME WITH TIME ZONE"}`, "1"}, {`{"id":"ENUM","type_info":{"values":["a"]}}`, "1"},
		{`{"id":"GEOMETRY"}`, "1"}, {`{"id":"LIST"}`, "1"}, {`{"id":"VARCHAR","type_info":{"alias":"MOOD"}}`, `"x"`},
	} {
		_, err := constOf(t, c[0], c[1])
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%v: %v", c, err)
	}
}

func TestQuoteNonFinite(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"value":NaN}`:                        `{"value":"NaN"}`,
		`{"value":-Infinity,"b":Infinity}`:     `{"value":"-Infinity","b":"Infinity"}`,
		`{"s":":NaN \" Infinity","value":NaN}`: `{"s":":NaN \" Infinity","value":"NaN"}`,
		`{"s":"x"}`:                            `{"s":"x"}`,
	} {
		got := quoteNonFinite([]byte(in))
		require.Equal(t, want, string(got))
		require.True(t, json.Valid(got))
	}
}

func TestDecimalResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op          string
		left, right Type
		want        Type
	}{
		{"+", "DECIMAL(15,2)", "DECIMAL(3,2)", "DECIMAL(16,2)"},
		{"-", "DECIMAL(15,2)", "INTEGER", "DECIMAL(16,2)"},
		{"+", "DECIMAL(15,2)", "BIGINT", "DECIMAL(22,2)"},
		{"+", "DECIMAL(18,3)", "DECIMAL(18,3)", "DECIMAL(18,3)"},
		{"+", "DECIMAL(38,5)", "DECIMAL(1,0)", "DECIMAL(38,5)"},
		{"*", "DECIMAL(15,2)", "DECIMAL(16,2)", "DECIMAL(18,4)"},
		{"*", "DECIMAL(4,1)", "INTEGER", "DECIMAL(14,1)"},
		{"*", "DECIMAL(38,2)", "DECIMAL(38,5)", "DECIMAL(38,7)"},
		{"*", "DECIMAL(18,9)", "DECIMAL(18,8)", "DECIMAL(18,17)"},
		{"*", "DECIMAL(18,9)", "DECIMAL(18,9)", "DECIMAL(36,18)"},
		{"+", "DECIMAL(18,18)", "DECIMAL(18,0)", "DECIMAL(18,18)"},
		{"*", "DECIMAL(38,30)", "DECIMAL(38,30)", ""},
		{"+", "DOUBLE", "DECIMAL(3,2)", ""},
	} {
		args := []Expr{&Ref{RefType: c.left}, &Ref{Index: 1, RefType: c.right}}
		require.Equal(t, c.want, decimalResult(c.op, args), "%v", c)
	}
}
