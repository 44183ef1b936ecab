package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown/status"
)

func dict(index, value arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

func dec(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }

func ts(unit arrow.TimeUnit, zone string) arrow.DataType {
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}
}

const long = "a text that is longer than twelve bytes: žluťoučký kůň"

// readCases has, per Arrow type: the SQL type, the values as JSON, and as DuckDB
// prints them.
var readCases = []struct {
	t      arrow.DataType
	sql    string
	values string
	want   []string
}{
	{arrow.Null, "INTEGER", `[null, null]`, []string{"(null)", "(null)"}},
	{arrow.FixedWidthTypes.Boolean, "BOOLEAN", `[true, null, false]`, []string{"true", "(null)", "false"}},
	{arrow.PrimitiveTypes.Int8, "TINYINT", `[-128, null, 127]`, []string{"-128", "(null)", "127"}},
	{arrow.PrimitiveTypes.Int16, "SMALLINT", `[-32768, null, 32767]`, []string{"-32768", "(null)", "32767"}},
	{arrow.PrimitiveTypes.Int32, "INTEGER", `[-2147483648, null, 7]`, []string{"-2147483648", "(null)", "7"}},
	{arrow.PrimitiveTypes.Int64, "BIGINT", `[-9223372036854775808, null, 9223372036854775807]`, []string{"-9223372036854775808", "(null)", "9223372036854775807"}},
	{arrow.PrimitiveTypes.Uint8, "UTINYINT", `[255, null]`, []string{"255", "(null)"}},
	{arrow.PrimitiveTypes.Uint16, "USMALLINT", `[65535, null]`, []string{"65535", "(null)"}},
	{arrow.PrimitiveTypes.Uint32, "UINTEGER", `[4294967295, null]`, []string{"4294967295", "(null)"}},
	{arrow.PrimitiveTypes.Uint64, "UBIGINT", `[18446744073709551615, null]`, []string{"18446744073709551615", "(null)"}},
	{arrow.PrimitiveTypes.Float32, "FLOAT", `[1.5, null]`, []string{"1.5", "(null)"}},
	{arrow.PrimitiveTypes.Float64, "DOUBLE", `[-0.1, null, 1e300]`, []string{"-0.1", "(null)", "1e+300"}},
	{arrow.BinaryTypes.String, "VARCHAR", `["", null, "twelve bytes", "` + long + `"]`, []string{"", "(null)", "twelve bytes", long}},
	{arrow.BinaryTypes.LargeString, "VARCHAR", `["x", null, "` + long + `"]`, []string{"x", "(null)", long}},
	{arrow.BinaryTypes.StringView, "VARCHAR", `["x", null, "` + long + `"]`, []string{"x", "(null)", long}},
	{arrow.BinaryTypes.Binary, "BLOB", `["AP8=", null, ""]`, []string{`\x00\xFF`, "(null)", ""}},
	{arrow.BinaryTypes.LargeBinary, "BLOB", `["AP8=", null]`, []string{`\x00\xFF`, "(null)"}},
	{&arrow.FixedSizeBinaryType{ByteWidth: 2}, "BLOB", `["AP8=", null]`, []string{`\x00\xFF`, "(null)"}},
	{dec(4, 2), "DECIMAL(4,2)", `["-99.99", null, "0.01"]`, []string{"-99.99", "(null)", "0.01"}},
	{dec(9, 0), "DECIMAL(9,0)", `["-999999999", null]`, []string{"-999999999", "(null)"}},
	{dec(18, 3), "DECIMAL(18,3)", `["-999999999999999.999", null]`, []string{"-999999999999999.999", "(null)"}},
	{dec(38, 0), "DECIMAL(38,0)", `["-99999999999999999999999999999999999999", null, "1"]`, []string{"-99999999999999999999999999999999999999", "(null)", "1"}},
	{arrow.FixedWidthTypes.Date32, "DATE", `["1969-12-31", null]`, []string{"1969-12-31", "(null)"}},
	{arrow.FixedWidthTypes.Date64, "DATE", `["1969-12-31", null]`, []string{"1969-12-31", "(null)"}},
	{arrow.FixedWidthTypes.Time32s, "TIME", `["23:59:58", null]`, []string{"23:59:58", "(null)"}},
	{arrow.FixedWidthTypes.Time32ms, "TIME", `["23:59:58.5", null]`, []string{"23:59:58.5", "(null)"}},
	{arrow.FixedWidthTypes.Time64us, "TIME", `["23:59:58.000001", null]`, []string{"23:59:58.000001", "(null)"}},
	{arrow.FixedWidthTypes.Time64ns, "TIME_NS", `["23:59:58.000000001", null]`, []string{"23:59:58.000000001", "(null)"}},
	{ts(arrow.Second, ""), "TIMESTAMP_S", `["1969-12-31 23:59:59", null]`, []string{"1969-12-31 23:59:59", "(null)"}},
	{ts(arrow.Millisecond, ""), "TIMESTAMP_MS", `["1969-12-31 23:59:59.001", null]`, []string{"1969-12-31 23:59:59.001", "(null)"}},
	{ts(arrow.Microsecond, ""), "TIMESTAMP", `["1969-12-31 23:59:59.000001", null]`, []string{"1969-12-31 23:59:59.000001", "(null)"}},
	{ts(arrow.Nanosecond, ""), "TIMESTAMP_NS", `["1969-12-31 23:59:59.000000001", null]`, []string{"1969-12-31 23:59:59.000000001", "(null)"}},
	{ts(arrow.Microsecond, "UTC"), "TIMESTAMP WITH TIME ZONE", `["2020-01-02 03:04:05.000001Z", null]`, []string{"2020-01-02 03:04:05.000001+00", "(null)"}},
	{ts(arrow.Second, "UTC"), "TIMESTAMP WITH TIME ZONE", `["2020-01-02 03:04:05Z", null]`, []string{"2020-01-02 03:04:05+00", "(null)"}},
	{ts(arrow.Nanosecond, "UTC"), "TIMESTAMP WITH TIME ZONE", `["1969-12-31 23:59:59.999999999Z", null]`, []string{"1969-12-31 23:59:59.999999+00", "(null)"}},
	{arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL", `[{"months": 14, "days": -3, "nanoseconds": 1000}, null]`, []string{"1 year 2 months -3 days 00:00:00.000001", "(null)"}},
	{dict(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String), "VARCHAR", `["x", null, "` + long + `", "x"]`, []string{"x", "(null)", long, "x"}},
	{dict(arrow.PrimitiveTypes.Uint32, arrow.BinaryTypes.LargeString), "VARCHAR", `["x", null, "y"]`, []string{"x", "(null)", "y"}},
	{dict(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64), "BIGINT", `[5, null, 5]`, []string{"5", "(null)", "5"}},
	{arrow.ListOf(arrow.PrimitiveTypes.Int32), "INTEGER[]", `[[1, null], null, [], [3]]`, []string{"[1, NULL]", "(null)", "[]", "[3]"}},
	{arrow.LargeListOf(arrow.BinaryTypes.String), "VARCHAR[]", `[["` + long + `"], null, [null]]`, []string{"['" + long + "']", "(null)", "[NULL]"}},
	{arrow.ListOf(arrow.ListOf(arrow.PrimitiveTypes.Int8)), "TINYINT[][]", `[[[1], null, [2, 3]], null, [[]]]`, []string{"[[1], NULL, [2, 3]]", "(null)", "[[]]"}},
	{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), "SMALLINT[2]", `[[1, 2], null, [3, null]]`, []string{"[1, 2]", "(null)", "[3, NULL]"}},
	{
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true}),
		`STRUCT("a" INTEGER, "b" VARCHAR)`, `[{"a": 1, "b": "x"}, null, {"a": null, "b": null}]`,
		[]string{"{'a': 1, 'b': x}", "(null)", "{'a': NULL, 'b': NULL}"},
	},
	{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), "MAP(VARCHAR, INTEGER)", `[[{"key": "k", "value": 1}], null, []]`, []string{"{k=1}", "(null)", "{}"}},
	{extensions.NewBool8Type(), "TINYINT", `[true, null, false]`, []string{"1", "(null)", "0"}},
}

// decode makes an array of JSON values; a dictionary has one entry a row.
func decode(t testing.TB, typ arrow.DataType, values string) arrow.Array {
	if d, ok := typ.(*arrow.DictionaryType); ok {
		dense := decode(t, d.ValueType, values)
		indices := make([]string, dense.Len())
		for i := range indices {
			indices[i] = fmt.Sprint(i)
			if dense.IsNull(i) {
				indices[i] = "null"
			}
		}
		return array.NewDictionaryArray(d, decode(t, d.IndexType, "["+strings.Join(indices, ",")+"]"), dense)
	}
	arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	require.NoError(t, err, typ)
	return arr
}

// TestRead reads every type, whole and as a slice, and lets DuckDB print it.
func TestRead(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1})
	for _, c := range readCases {
		sql, err := SQLType(c.t)
		require.NoError(t, err)
		require.Equal(t, c.sql, sql)
		arr := decode(t, c.t, c.values)
		for from := range arr.Len() {
			slice := array.NewSlice(arr, int64(from), int64(arr.Len()))
			got := mustQuery(t, p, Query{SQL: "select x::varchar from remote('i')", Inputs: map[string]Input{"i": single(slice)}})
			require.Equal(t, c.want[from:], got, "%s from %d", c.t, from)
		}
	}
}

// single is an input of one column x with one batch.
func single(arr arrow.Array) *batches {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arr.DataType(), Nullable: true}}, nil)
	return &batches{schema: schema, rows: []arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{arr}, int64(arr.Len()))}}
}

// TestRoundTrip sends random arrays of every type through, in batches that are
// longer than a vector, and compares what returns.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1})
	rapid.Check(t, func(rt *rapid.T) {
		c := readCases[rapid.IntRange(0, len(readCases)-1).Draw(rt, "type")]
		values := decode(t, c.t, c.values)
		parts := make([]arrow.Array, rapid.IntRange(1, 3000).Draw(rt, "parts"))
		pick := rapid.IntRange(0, values.Len()-1)
		for i := range parts {
			from := pick.Draw(rt, "from")
			parts[i] = array.NewSlice(values, int64(from), int64(values.Len()))
		}
		all, err := array.Concatenate(parts, memory.DefaultAllocator)
		require.NoError(rt, err)
		all = array.NewSlice(all, int64(rapid.IntRange(0, all.Len()-1).Draw(rt, "offset")), int64(all.Len()))
		want := make([]string, all.Len())
		for i := range want {
			want[i] = all.ValueStr(i)
		}
		text := mustQuery(t, p, Query{SQL: "select x::varchar from remote('i')", Inputs: map[string]Input{"i": single(all)}})
		require.Len(rt, text, len(want))
		got := mustQuery(t, p, Query{SQL: "select x from remote('i')", Inputs: map[string]Input{"i": single(all)}})
		require.Len(rt, got, len(want))
		byValue := map[string]string{}
		for i := range want {
			if seen, ok := byValue[want[i]]; ok {
				require.Equal(rt, seen, text[i], "row %d", i)
			}
			byValue[want[i]] = text[i]
			require.Equal(rt, want[i] == "(null)", got[i] == "(null)", "row %d", i)
		}
	})
}

// TestResults checks the Arrow type and values of every type that results have.
func TestResults(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1})
	cases := []struct{ expr, arrow, value string }{
		{"null", "null", "(null)"},
		{"true", "bool", "true"}, {"1::tinyint", "int8", "1"}, {"1::smallint", "int16", "1"}, {"1::int", "int32", "1"},
		{"1::bigint", "int64", "1"}, {"1::utinyint", "uint8", "1"}, {"1::usmallint", "uint16", "1"},
		{"1::uinteger", "uint32", "1"}, {"1::ubigint", "uint64", "1"}, {"1.5::float", "float32", "1.5"}, {"1.5::double", "float64", "1.5"},
		{"'x'", "utf8", "x"}, {"'" + long + "'", "utf8", long}, {"'ab'::blob", "binary", "YWI="},
		{"1.25::decimal(4,2)", "decimal(4, 2)", "1.25"}, {"-1.25::decimal(9,2)", "decimal(9, 2)", "-1.25"},
		{"-1.25::decimal(18,2)", "decimal(18, 2)", "-1.25"}, {"-1.25::decimal(38,2)", "decimal(38, 2)", "-1.25"},
		{"-12345678901234567890::hugeint", "decimal(38, 0)", "-12345678901234567890"},
		{"sum(1)", "decimal(38, 0)", "1"},
		{"date '1969-12-31'", "date32", "1969-12-31"}, {"time '01:02:03.000004'", "time64[us]", "01:02:03.000004"},
		{"timestamp '2020-01-02 03:04:05.6'", "timestamp[us]", "2020-01-02T03:04:05.6"},
		{"'2020-01-02 03:04:05'::timestamp_s", "timestamp[s]", "2020-01-02T03:04:05"},
		{"'2020-01-02 03:04:05'::timestamp_ms", "timestamp[ms]", "2020-01-02T03:04:05"},
		{"'2020-01-02 03:04:05.000000007'::timestamp_ns", "timestamp[ns]", "2020-01-02T03:04:05.000000007"},
		{"'2020-01-02 03:04:05+01'::timestamptz", "timestamp[us, tz=UTC]", "2020-01-02T02:04:05Z"},
		{"interval '14 months -3 days 1 microsecond'", "month_day_nano_interval", `{"months":14,"days":-3,"nanoseconds":1000}`},
		{"'b'::enum('a', 'b')", "dictionary<values=utf8, indices=uint8, ordered=false>", "b"},
		{"'0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9'::uuid", "utf8", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"},
		{"'f0000000-0000-0000-0000-00000000000f'::uuid", "utf8", "f0000000-0000-0000-0000-00000000000f"},
		{"[1, null, 3]", "list<l: int32, nullable>", "[1,null,3]"},
		{"[['a'], null, []]", "list<l: list<l: utf8, nullable>, nullable>", `[["a"],null,[]]`},
		{"[1, 2]::int[2]", "fixed_size_list<l: int32, nullable>[2]", "[1,2]"},
		{"{'a': 1, 'b': ['x']}", "struct<a: int32 nullable, b: list<l: utf8, nullable> nullable>", `{"a":1,"b":["x"]}`},
		{"map {'k': 1}", "map<utf8, int32, items_nullable>", `[{"key":"k","value":1}]`},
		{"'{\"a\": 1}'::json", "utf8", `{"a": 1}`},
	}
	for _, c := range cases {
		mem := checked(t)
		r, err := p.Run(t.Context(), Query{SQL: "select " + c.expr + " as x union all select null", Alloc: mem})
		require.NoError(t, err, c.expr)
		if c.expr != "null" {
			require.Equal(t, c.arrow, r.Schema().Field(0).Type.String(), c.expr)
		}
		rows, err := rowsOf(r)
		require.NoError(t, err, c.expr)
		require.ElementsMatch(t, []string{c.value, "(null)"}, rows, c.expr)
		require.NoError(t, r.Close())
	}
}

// TestManyRows checks batches of more than one vector, with NULLs, for the
// gatherers of every kind.
func TestManyRows(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1, Warm: 1})
	const n = 9_000
	exprs := []string{
		"i", "i % 2 = 0", "'text ' || i", "i::decimal(9,1)", "i::hugeint", "[i, i + 1]", "{'a': i, 'b': 't' || i}",
		"map {i: 'v' || i}", "(case i % 3 when 0 then 'a' else 'b' end)::enum('a', 'b')",
		"list_transform(range(i % 5), lambda x: 'e' || x)", "to_days(i::int)",
	}
	for _, e := range exprs {
		sql := fmt.Sprintf("select case when i %% 7 > 0 then %s end x, i from range(%d) t(i)", e, n)
		r, err := p.Run(t.Context(), Query{SQL: sql, Alloc: checked(t)})
		require.NoError(t, err, e)
		rows, err := rowsOf(r)
		require.NoError(t, err, e)
		require.NoError(t, r.Close())
		require.Len(t, rows, n, e)
		for i, row := range rows {
			value, key, _ := cutLast(row, "|")
			require.Equal(t, fmt.Sprint(i), key, e)
			require.Equal(t, i%7 == 0, value == "(null)", "%s: row %d: %s", e, i, row)
			if strings.Contains(e, "|| i") || e == "i" || e == "[i, i + 1]" {
				require.True(t, i%7 == 0 || strings.Contains(value, fmt.Sprint(i)), "%s: row %d: %s", e, i, row)
			}
		}
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	return s[:i], s[i+len(sep):], true
}

// TestNullStructs: the fields of a NULL struct are NULL, whatever bytes they hold.
func TestNullStructs(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	inner := arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int32, Nullable: true})
	leaf, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int32, strings.NewReader("[1, 2, 3]"))
	require.NoError(t, err)
	mid := array.NewData(inner, 3, []*memory.Buffer{nil}, []arrow.ArrayData{leaf.Data()}, 0, 0)
	outer := array.NewData(arrow.StructOf(arrow.Field{Name: "a", Type: inner, Nullable: true}), 3,
		[]*memory.Buffer{memory.NewBufferBytes([]byte{0b101})}, []arrow.ArrayData{mid}, 1, 0)
	in := single(array.NewStructData(outer))
	got := mustQuery(t, p, Query{SQL: "select x is null, x.a is null, x.a.b from remote('i')", Inputs: map[string]Input{"i": in}})
	require.Equal(t, []string{"false|false|1", "true|true|(null)", "false|false|3"}, got)
}

// TestDictionaryNull: a NULL in the dictionary itself, and bad indexes under NULLs.
func TestDictionaryNull(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	values, _, err := array.FromJSON(memory.DefaultAllocator, arrow.BinaryTypes.String, strings.NewReader(`["a", null]`))
	require.NoError(t, err)
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	make3 := func(valid byte) *batches {
		idx := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1, 77}))
		d := array.NewDataWithDictionary(typ, 3, []*memory.Buffer{memory.NewBufferBytes([]byte{valid}), idx}, array.UnknownNullCount, 0, values.Data().(*array.Data))
		return single(array.NewDictionaryData(d))
	}
	got := mustQuery(t, p, Query{SQL: "from remote('i')", Inputs: map[string]Input{"i": make3(0b011)}})
	require.Equal(t, []string{"a", "(null)", "(null)"}, got)
	_, err = query(t, p, Query{SQL: "from remote('i')", Inputs: map[string]Input{"i": make3(0b111)}})
	require.ErrorContains(t, err, "outside of its dictionary")
	require.Equal(t, status.DataLoss, status.CodeOf(err))
}

// TestHostileBatches: what a broken peer may send is an error, not a crash.
func TestHostileBatches(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	str := func(data string, offsets ...int32) arrow.Array {
		return array.NewStringData(array.NewData(arrow.BinaryTypes.String, len(offsets)-1, []*memory.Buffer{nil,
			memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes([]byte(data))}, nil, 0, 0))
	}
	narrow := array.NewDecimal128Data(array.NewData(dec(4, 0), 1, []*memory.Buffer{nil,
		memory.NewBufferBytes(arrow.Decimal128Traits.CastToBytes([]decimal128.Num{decimal128.FromI64(70000)}))}, nil, 0, 0))
	cases := map[string]arrow.Array{
		"not UTF-8":    str("a\xffb", 0, 3),
		"is not UTF-8": str("ž", 0, 1, 2),
		"offsets that": str("abc", 0, 3, 2, 3),
		"does not fit": narrow,
	}
	for text, arr := range cases {
		_, err := query(t, p, Query{SQL: "from remote('i')", Inputs: map[string]Input{"i": single(arr)}})
		require.ErrorContains(t, err, text)
	}
	wrong := single(str("abc", 0, 3))
	wrong.schema = arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, err := query(t, p, Query{SQL: "from remote('i')", Inputs: map[string]Input{"i": wrong}})
	require.ErrorContains(t, err, "sent utf8 for column \"x\" of type int64")
}

func TestDigits(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	max38 := strings.Repeat("9", 38)
	require.Equal(t, []string{max38}, mustQuery(t, p, Query{SQL: "select " + max38 + "::hugeint"}))
	for _, sql := range []string{
		"select " + max38 + "::hugeint + 1",
		"select -(" + max38 + "::hugeint) - 1",
		"select sum(x) from (values (" + max38 + "::decimal(38,0)), (1::decimal(38,0))) t(x)",
	} {
		_, err := query(t, p, Query{SQL: sql})
		require.Equal(t, status.OutOfRange, status.CodeOf(err), "%s: %v", sql, err)
		require.ErrorContains(t, err, "38 digits")
	}
}

func TestUncarriedTypes(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	for _, e := range []string{"1::uhugeint", "'101'::bit", "1::bignum", "time '00:00'::timetz", "union_value(a := 1)"} {
		_, err := query(t, p, Query{SQL: "select " + e + " as col"})
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%s: %v", e, err)
		require.ErrorContains(t, err, `"col"`)
	}
	for _, typ := range []arrow.DataType{&arrow.Decimal256Type{Precision: 50}, arrow.StructOf(), arrow.DenseUnionOf(nil, nil)} {
		_, err := SQLType(typ)
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%s", typ)
	}
}

func TestFloatsKeepTheirBits(t *testing.T) {
	t.Parallel()
	p := testPool(t, Config{Threads: 1})
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}, nil)
	r, err := p.Run(t.Context(), Query{SQL: "from remote('i')", Inputs: map[string]Input{"i": single(b.NewArray())}})
	require.NoError(t, err)
	batch, err := r.Next(t.Context())
	require.NoError(t, err)
	v := batch.Column(0).(*array.Float64)
	require.True(t, math.IsNaN(v.Value(0)) && math.IsInf(v.Value(1), 1) && math.Signbit(v.Value(2)))
	batch.Release()
	require.NoError(t, r.Close())
}
