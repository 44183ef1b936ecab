package duckdb

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// everyType has a column of each type that is carried, with a row of values, a
// row of NULLs and a row of extremes.
const everyType = `SELECT * FROM (VALUES
 (true, -1::TINYINT, -2::SMALLINT, -3::INTEGER, -4::BIGINT, 1::UTINYINT, 2::USMALLINT, 3::UINTEGER, 4::UBIGINT,
  1.5::FLOAT, 2.5::DOUBLE, 'é short', 'a text longer than twelve bytes', '\x00\xFF'::BLOB,
  1.25::DECIMAL(4,2), -123456.789::DECIMAL(9,3), 12345678901.5::DECIMAL(18,1), 12345678901234567890.5::DECIMAL(38,1),
  DATE '2020-02-29', TIME '12:34:56.789', TIMESTAMP '2020-01-02 03:04:05.678901', TIMESTAMP_S '2020-01-02 03:04:05',
  TIMESTAMP_MS '2020-01-02 03:04:05.678', TIMESTAMP_NS '2020-01-02 03:04:05.678901234', TIMESTAMPTZ '2020-01-02 03:04:05+02',
  170141183460469231731687303715884105::HUGEINT, '00000000-0000-0000-0000-00000000002a'::UUID, 'b'::mood,
  INTERVAL '1 month 2 days 3 seconds', [1, NULL, 3], {'x': 1, 'y': ['a', 'b']}, MAP {'k': 1, 'l': NULL}, [1, 2]::INTEGER[2],
  ['00000000-0000-0000-0000-00000000002a'::UUID], {'e': 'a'::mood}),
 (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (false, 127::TINYINT, '-32768'::SMALLINT, 2147483647, '-9223372036854775808'::BIGINT, 255::UTINYINT, 65535::USMALLINT,
  4294967295::UINTEGER, 18446744073709551615::UBIGINT, 'nan'::FLOAT, '-inf'::DOUBLE, '', repeat('x', 13), ''::BLOB,
  -99.99::DECIMAL(4,2), 0::DECIMAL(9,3), -1::DECIMAL(18,1), '-9999999999999999999999999999999999999.9'::DECIMAL(38,1),
  DATE '0001-01-01', TIME '24:00:00', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP_S '1969-12-31 23:59:59',
  TIMESTAMP_MS '1969-12-31 23:59:59.999', TIMESTAMP_NS '1969-12-31 23:59:59.999999999', TIMESTAMPTZ '1969-12-31 23:59:59+00',
  -1::HUGEINT, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID, 'a'::mood, INTERVAL '-1 day', [], {'x': NULL, 'y': []}, MAP {},
  [NULL, 5]::INTEGER[2], [], {'e': NULL})
) v(bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, s1, s2, bin, d4, d9, d18, d38, date, time, ts, ts_s, ts_ms, ts_ns,
 tstz, huge, uuid, mood, iv, list, st, mp, arr, uuids, moods)`

func everyTypeSource(t *testing.T, e *Engine, repeat int) *Source {
	t.Helper()
	path := t.TempDir() + "/types.duckdb"
	for _, sql := range []string{
		"ATTACH " + quoteText(path) + " AS w",
		"CREATE TYPE w.mood AS ENUM ('a', 'b')",
		"USE w",
		fmt.Sprintf("CREATE TABLE w.every AS SELECT e.* FROM (%s) e, range(%d)", everyType, repeat),
		"USE memory",
		"DETACH w",
	} {
		require.NoError(t, e.exec(t.Context(), sql))
	}
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{{ID: "p", Database: path, Table: "every"}}})
	require.NoError(t, err)
	return s
}

func TestEveryType(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.warm = 1 // USE belongs to a connection
	s := everyTypeSource(t, e, 1)
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	got := map[string][]string{}
	all := rows(t, s, tableSpec(t, s))
	require.Len(t, all, 3)
	for i, f := range schema.Fields() {
		got[f.Name] = []string{f.Type.String(), all[0][i], all[1][i], all[2][i]}
	}
	const null = "(null)"
	for name, want := range map[string][]string{
		"bool":  {"bool", "true", null, "false"},
		"i8":    {"int8", "-1", null, "127"},
		"i16":   {"int16", "-2", null, "-32768"},
		"i32":   {"int32", "-3", null, "2147483647"},
		"i64":   {"int64", "-4", null, "-9223372036854775808"},
		"u8":    {"uint8", "1", null, "255"},
		"u16":   {"uint16", "2", null, "65535"},
		"u32":   {"uint32", "3", null, "4294967295"},
		"u64":   {"uint64", "4", null, "18446744073709551615"},
		"f32":   {"float32", "1.5", null, "NaN"},
		"f64":   {"float64", "2.5", null, "-Inf"},
		"s1":    {"utf8", "é short", null, ""},
		"s2":    {"utf8", "a text longer than twelve bytes", null, "xxxxxxxxxxxxx"},
		"bin":   {"binary", "AP8=", null, ""},
		"d4":    {"decimal(4, 2)", "1.25", null, "-99.99"},
		"d9":    {"decimal(9, 3)", "-123456.789", null, "0"},
		"d18":   {"decimal(18, 1)", "12345678901.5", null, "-1"},
		"d38":   {"decimal(38, 1)", "12345678901234567890.5", null, "-9999999999999999999999999999999999999.9"},
		"date":  {"date32", "2020-02-29", null, "0001-01-01"},
		"time":  {"time64[us]", "12:34:56.789000", null, "00:00:00.000000"},
		"ts":    {"timestamp[us]", "2020-01-02T03:04:05.678901", null, "1969-12-31T23:59:59.999999"},
		"ts_s":  {"timestamp[s]", "2020-01-02T03:04:05", null, "1969-12-31T23:59:59"},
		"ts_ms": {"timestamp[ms]", "2020-01-02T03:04:05.678", null, "1969-12-31T23:59:59.999"},
		"ts_ns": {"timestamp[ns]", "2020-01-02T03:04:05.678901234", null, "1969-12-31T23:59:59.999999999"},
		"tstz":  {"timestamp[us, tz=UTC]", "2020-01-02T01:04:05Z", null, "1969-12-31T23:59:59Z"},
		"huge":  {"decimal(38, 0)", "170141183460469231731687303715884105", null, "-1"},
		"uuid":  {"utf8", "00000000-0000-0000-0000-00000000002a", null, "ffffffff-ffff-ffff-ffff-ffffffffffff"},
		"mood":  {"dictionary<values=utf8, indices=uint8, ordered=false>", "b", null, "a"},
		"iv":    {"month_day_nano_interval", `{"months":1,"days":2,"nanoseconds":3000000000}`, null, `{"months":0,"days":-1,"nanoseconds":0}`},
		"list":  {"list<l: int32, nullable>", "[1,null,3]", null, "[]"},
		"st":    {"struct<x: int32 nullable, y: list<l: utf8, nullable> nullable>", `{"x":1,"y":["a","b"]}`, null, `{"x":null,"y":[]}`},
		"mp":    {"map<utf8, int32, items_nullable>", `[{"key":"k","value":1},{"key":"l","value":null}]`, null, "[]"},
		"arr":   {"fixed_size_list<l: int32, nullable>[2]", "[1,2]", null, "[null,5]"},
		"uuids": {"list<l: utf8, nullable>", `["00000000-0000-0000-0000-00000000002a"]`, null, "[]"},
		"moods": {"struct<e: utf8 nullable>", `{"e":"a"}`, null, `{"e":null}`},
	} {
		require.Equal(t, want, got[name], name)
		delete(got, name)
	}
	require.Empty(t, got)
}

func TestEveryTypeOverManyChunks(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.warm = 1
	s := everyTypeSource(t, e, 5000)
	count := map[string]int{}
	for _, r := range rows(t, s, tableSpec(t, s)) {
		count[fmt.Sprint(r)]++
	}
	require.Len(t, count, 3)
	for row, n := range count {
		require.Equal(t, 5000, n, row)
	}
}

func TestTypesNotCarried(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for value, typ := range map[string]string{
		"5::UHUGEINT": "UHUGEINT", "'101'::BIT": "BIT", "TIMETZ '12:00:00+01'": "TIME WITH TIME ZONE",
		"union_value(x := 1)": "UNION", "[5::UHUGEINT]": "UHUGEINT", "{'f': '1'::BIT}": `field "f"`,
	} {
		_, err := e.describe(t.Context(), "(SELECT 1 AS ok, "+value+" AS odd)")
		require.ErrorIs(t, err, &status.Error{Code: status.Unimplemented}, value)
		require.ErrorContains(t, err, `column "odd"`)
		require.ErrorContains(t, err, typ)
	}
}

func TestProjectionOfOneColumn(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	e.warm = 1
	s := everyTypeSource(t, e, 1)
	spec := tableSpec(t, s)
	for _, c := range spec.Columns {
		spec := spec
		spec.Columns = []pushdown.Column{c}
		require.Len(t, rows(t, s, spec), 3, c.Name)
	}
}
