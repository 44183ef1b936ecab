package duckdb

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// driftCases are the columns of two files. DuckDB's own union of the files gives
// the same text, but for the types in which it is not exact.
var driftCases = []struct {
	a, b, typ string
	// want is what the union by name does not give.
	want []string
}{
	{a: "unnest([1::TINYINT, -128, NULL])", b: "127::SMALLINT", typ: "int16"},
	{a: "1::INTEGER", b: "9223372036854775807", typ: "int64"},
	{a: "1::UTINYINT", b: "-1::TINYINT", typ: "int16"},
	{a: "4294967295::UINTEGER", b: "-1::INTEGER", typ: "int64"},
	{a: "18446744073709551615::UBIGINT", b: "-1::BIGINT", typ: "decimal(20, 0)"},
	{a: "1::INTEGER", b: "1.25::DECIMAL(4,2)", typ: "decimal(12, 2)"},
	{a: "1.5::DECIMAL(9,1)", b: "0.125::DECIMAL(18,3)", typ: "decimal(18, 3)"},
	{a: "1.5::FLOAT", b: "0.1::DOUBLE", typ: "float64"},
	{a: "3", b: "3.5::DOUBLE", typ: "float64"},
	{a: "9007199254740992::BIGINT", b: "'nan'::DOUBLE", typ: "float64"},
	{a: "16777217::INTEGER", b: "0.5::FLOAT", typ: "float64", want: []string{"0.5|b", "16777217.0|1", "NULL|2"}},
	{a: "DATE '2024-02-29'", b: "TIMESTAMP '1969-12-31 23:59:59.999999'", typ: "timestamp[us]"},
	{a: "'x'", b: "NULL::VARCHAR", typ: "utf8"},
	{a: "[1::TINYINT, NULL]", b: "[1000::SMALLINT]", typ: "list<l: int16, nullable>"},
	{a: "[[1], NULL]", b: "[[0.5::DOUBLE]]", typ: "list<l: list<l: float64, nullable>, nullable>"},
	{a: "{'a': 1, 'b': 'x'}", b: "{'b': 'y', 'a': 5000000000}", typ: "struct<a: int64 nullable, b: utf8 nullable>"},
	{a: "{'a': 1}", b: "{'b': [DATE '2024-01-01']}", typ: "struct<a: int32 nullable, b: list<l: date32, nullable> nullable>"},
	{a: "map {'k': 1}", b: "map {'k': 0.5::DOUBLE, 'l': NULL}", typ: "map<utf8, float64, items_nullable>"},
	{a: "map {'k': {'a': 1}}", b: "map {'k': {'b': 2}}", typ: "map<utf8, struct<a: int32 nullable, b: int32 nullable>, items_nullable>"},
}

// TestUUIDsAreMarked: a column is one of UUIDs when it is in all files.
func TestUUIDsAreMarked(t *testing.T) {
	t.Parallel()
	e, id := newEngine(t), "'A0000000-0000-0000-0000-00000000000A'"
	for other, want := range map[string]bool{id + "::UUID AS c": true, "1 AS d": true, id + " AS c": false} {
		for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
			dir := t.TempDir()
			write(t, e, "SELECT "+id+"::UUID AS c", dir, order[0]+".parquet")
			write(t, e, "SELECT "+other, dir, order[1]+".parquet")
			schema, err := globSource(t, e, dir+"/*.parquet").Schema(t.Context())
			require.NoError(t, err)
			require.Equal(t, want, pushdown.IsUUID(schema.Field(schema.FieldIndices("c")[0])), other)
		}
	}
}

// TestDrift reads two files with other columns as DuckDB unites them by name.
func TestDrift(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, c := range driftCases {
		dir, name := t.TempDir(), c.a+" and "+c.b
		write(t, e, "SELECT "+c.a+" AS c, 1 AS only_a UNION ALL SELECT NULL, 2", dir, "a.parquet")
		write(t, e, "SELECT 'b' AS only_b, "+c.b+" AS c", dir, "b.parquet")
		s := globSource(t, e, dir+"/*.parquet")
		spec := tableSpec(t, s)
		require.Equal(t, c.typ, col(spec, "c").DataType.String(), name)
		got := unionRows(t, e, sqlOf(t, s, spec))
		want := unionRows(t, e, "read_parquet("+quoteText(dir+"/*.parquet")+", union_by_name = true)")
		if c.want != nil {
			require.NotEqual(t, want, got, name)
			want = c.want
		}
		require.Equal(t, want, got, name)
		require.Len(t, rows(t, s, spec), len(got), name)
	}
}

// sqlOf is the statement of a spec as a relation.
func sqlOf(t *testing.T, s *Source, spec pushdown.Spec) string {
	t.Helper()
	snap, err := s.refresh(t.Context())
	require.NoError(t, err)
	sql, _, err := snap.statement(&spec)
	require.NoError(t, err)
	return "(" + sql + ")"
}

// unionRows are the rows of a relation as DuckDB prints them, in order.
func unionRows(t *testing.T, e *Engine, from string) []string {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	r, err := e.query(t.Context(), "SELECT concat_ws('|', ifnull(c::VARCHAR, 'NULL'), only_a, only_b) FROM "+from+" ORDER BY ALL", schema)
	require.NoError(t, err)
	defer r.Close()
	batch, err := r.Next(t.Context())
	require.NoError(t, err)
	defer batch.Release()
	var out []string
	for _, row := range texts(batch) {
		out = append(out, row[0])
	}
	return out
}

// TestDriftPushed: filters, keys and aggregates are of the table's types.
func TestDriftPushed(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT i::TINYINT AS n, 'even' AS c FROM (VALUES (100), (100), (3), (NULL)) r(i)", dir, "a.parquet")
	write(t, e, "SELECT 3000000000 AS n", dir, "b.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	spec := tableSpec(t, s)
	n, c := col(spec, "n"), col(spec, "c")
	value := func(v int64) pushdown.Expr { return pushdown.Literal{Value: scalar.NewInt64Scalar(v)} }
	spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Greater, Left: n, Right: value(3)}}
	require.ElementsMatch(t, [][]string{{"100", "even"}, {"100", "even"}, {"3000000000", "(null)"}}, rows(t, s, spec))
	spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Left: n, Right: value(1000)}, pushdown.IsNull{Arg: c, Negated: true}}
	require.ElementsMatch(t, [][]string{{"100", "even"}, {"100", "even"}, {"3", "even"}}, rows(t, s, spec))
	spec.Columns, spec.Filter = nil, nil
	spec.GroupBy = []pushdown.NamedExpr{{Name: "c", Expr: c}}
	spec.Aggregates = []pushdown.Aggregate{{Name: "s", Func: pushdown.Sum, Arg: n}, {Name: "m", Func: pushdown.Max, Arg: n}, {Name: "k", Func: pushdown.Count, Arg: c}}
	require.ElementsMatch(t, [][]string{{"even", "203", "100", "4"}, {"(null)", "3000000000", "3000000000", "0"}}, rows(t, s, spec))
}

// TestWider: another scanner may have columns that are wider, and more of them.
func TestWider(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT 7::TINYINT AS n, 'x' AS c", dir, "a.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	spec := tableSpec(t, s)
	spec.Columns = []pushdown.Column{
		{Name: "n", DataType: &arrow.Decimal128Type{Precision: 20, Scale: 2}}, {Name: "more", DataType: arrow.ListOf(arrow.FixedWidthTypes.Date32)},
	}
	require.Equal(t, [][]string{{"7", "(null)"}}, rows(t, s, spec))
	require.True(t, s.Widens(spec.Columns[1].DataType))
	require.False(t, s.Widens(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.BinaryTypes.LargeString})))
	spec.Partitions = nil
	require.Empty(t, rows(t, s, spec))
	spec.Columns[0].DataType = arrow.BinaryTypes.String
	_, err := s.Scan(t.Context(), spec)
	require.Equal(t, status.Aborted, status.CodeOf(err))
}

// TestInexactDrift: what a DOUBLE does not hold is an error at any depth.
func TestInexactDrift(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, c := range [][2]string{
		{"9007199254740993", "0.5::DOUBLE"}, {"[NULL, 9007199254740993]", "[0.5::DOUBLE]"},
		{"{'a': 9007199254740993}", "{'a': 0.5::DOUBLE}"}, {"map {'a': 9007199254740993}", "map {'a': 0.5::DOUBLE}"},
		{"DATE '294248-01-01'", "TIMESTAMP '2024-01-01'"},
	} {
		dir := t.TempDir()
		write(t, e, "SELECT "+c[0]+" AS c", dir, "a.parquet")
		write(t, e, "SELECT "+c[1]+" AS c", dir, "b.parquet")
		s := globSource(t, e, dir+"/*.parquet")
		_, err := tryRows(t.Context(), s, tableSpec(t, s))
		require.Equal(t, status.OutOfRange, status.CodeOf(err), "%s: %v", c[0], err)
	}
}

// TestDriftStatistics: bounds are of the table's types, and a column that a
// file lacks is NULL in all of it.
func TestDriftStatistics(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT i::TINYINT AS n, 1.5::DECIMAL(4,1) AS m, DATE '1970-01-02' AS d, 1::BIGINT AS f FROM (VALUES (100), (-3), (NULL)) r(i)", dir, "a.parquet")
	write(t, e, "SELECT 3000000000 AS n, 2.25::DECIMAL(9,2) AS m, TIMESTAMP '2024-01-01' AS d, 0.5::DOUBLE AS f, 'x' AS c", dir, "b.parquet")
	settle(t, dir+"/a.parquet")
	settle(t, dir+"/b.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	parts := listParts(t, s)
	a := parts[0].Columns
	require.Equal(t, "-3 to 100", boundsText(a["n"]))
	require.Equal(t, "int64", a["n"].Min.DataType().String())
	require.EqualValues(t, 1, a["n"].Nulls)
	require.True(t, a["n"].Exact)
	require.Equal(t, "1.5 to 1.5", boundsText(a["m"]))
	require.Equal(t, "1970-01-02 00:00:00 to 1970-01-02 00:00:00", boundsText(a["d"]))
	require.Nil(t, a["f"].Min)
	require.Equal(t, codec.ColumnStats{Nulls: 3}, a["c"])
	require.Equal(t, "3000000000 to 3000000000", boundsText(parts[1].Columns["n"]))
}
