package duckdb

import (
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/scanner"
)

// settle makes a file look as if it had been written long ago.
func settle(t testing.TB, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, old, old))
}

func listParts(t testing.TB, s *Source) []scanner.Partition {
	t.Helper()
	parts, err := s.Partitions(t.Context())
	require.NoError(t, err)
	return parts
}

func boundsText(s codec.ColumnStats) string {
	if s.Min == nil && s.Max == nil {
		return "none"
	}
	return s.Min.String() + " to " + s.Max.String()
}

func TestParquetStatistics(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	const rows = `SELECT i::TINYINT AS ti, (i - 7)::INTEGER AS i, CASE WHEN i > 3000 THEN i END AS n, NULL::INTEGER AS z,
		18446744073709551000 + i::UBIGINT AS u, ((i - 5) / 100)::DECIMAL(9,2) AS d, (i - 5)::DECIMAL(38,3) AS w,
		DATE '1969-12-31' + i::INTEGER AS dt, TIMESTAMP '2020-01-01 00:00:00.000123' + INTERVAL (i) SECOND AS ts,
		TIMESTAMPTZ '2020-01-01 00:00:00+00' AS tz, 'x' AS s, i::DOUBLE AS f, [i] AS l, i AS "l, list, element", i AS "a b",
		('a0000000-0000-0000-0000-' || lpad(i::VARCHAR, 12, '0'))::UUID AS u2`
	path := filepath.Join(dir, "p.parquet")
	require.NoError(t, e.exec(t.Context(), "COPY ("+rows+" FROM range(120) r(i)) TO "+quoteText(path)+" (ROW_GROUP_SIZE 20)"))
	settle(t, path)
	p := listParts(t, globSource(t, e, path))[0]
	require.NotEmpty(t, p.Version)
	for name, want := range map[string]string{
		"ti": "0 to 119", "i": "-7 to 112", "n": "none", "z": "none", "u": "18446744073709551000 to 18446744073709551119",
		"s": "none", "f": "none", "l": "none", "l, list, element": "none", "a b": "0 to 119",
		"u2": "a0000000-0000-0000-0000-000000000000 to a0000000-0000-0000-0000-000000000119",
	} {
		require.Equal(t, want, boundsText(p.Columns[name]), name)
	}
	for name, want := range map[string][2]int64{"d": {-5, 114}, "w": {-5000, 114000}, "dt": {-1, 118}, "ts": {1577836800000123, 1577836919000123}, "tz": {1577836800000000, 1577836800000000}} {
		got := p.Columns[name]
		for i, v := range [][2]any{{want[0], got.Min}, {want[1], got.Max}} {
			require.Equal(t, boxed(bigOf(v[0].(int64)), typeOf(t, e, path, name)), v[1], "%s %d", name, i)
		}
	}
	require.EqualValues(t, 120, p.Columns["n"].Nulls)
	require.EqualValues(t, 120, p.Columns["z"].Nulls)
	require.EqualValues(t, 0, p.Columns["s"].Nulls)
	require.EqualValues(t, -1, p.Columns["l"].Nulls)
	require.EqualValues(t, -1, p.Columns["l, list, element"].Nulls, "it shares its path with the list's elements")
}

func typeOf(t testing.TB, e *Engine, path, column string) arrow.DataType {
	t.Helper()
	schema, err := globSource(t, e, path).Schema(t.Context())
	require.NoError(t, err)
	return schema.Field(schema.FieldIndices(column)[0]).Type
}

// TestValuesThatFilesCount: DuckDB counts the values of a column that it wrote with a
// dictionary, in each row group.
func TestValuesThatFilesCount(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/h=a", 0o755))
	require.NoError(t, os.Mkdir(dir+"/h=b", 0o755))
	for _, h := range []string{"a", "b"} {
		path := filepath.Join(dir, "h="+h, "p.parquet")
		const rows = "SELECT 'text ' || (i % 7) AS few, i AS each, CASE WHEN i < 2048 THEN NULL ELSE i % 3 END AS half, NULL::INTEGER AS none FROM range(4096) r(i)"
		require.NoError(t, e.exec(t.Context(), "COPY ("+rows+") TO "+quoteText(path)+" (ROW_GROUP_SIZE 2048)"))
		settle(t, path)
	}
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{{ID: "all", Files: []string{dir + "/h=*/*.parquet"}}}})
	require.NoError(t, err)
	got := listParts(t, s)[0].Columns
	require.EqualValues(t, 4*7, got["few"].Distinct, "no value is taken to be in two row groups")
	require.EqualValues(t, 0, got["each"].Distinct)
	require.EqualValues(t, 2*3, got["half"].Distinct)
	require.EqualValues(t, 0, got["none"].Distinct)
	require.EqualValues(t, 2, got["h"].Distinct)
}

func TestStatisticsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	settle(t, write(t, e, "SELECT 5 AS a", dir, "1.parquet"))
	settle(t, write(t, e, "SELECT 9 AS a UNION ALL SELECT NULL", dir, "2.parquet"))
	settle(t, write(t, e, "SELECT 1 AS a WHERE false", dir, "3.parquet"))
	write(t, e, "SELECT 2::INTEGER AS a", dir, "4.csv")
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{
		{ID: "all", Files: []string{dir + "/*.parquet"}}, {ID: "empty", Files: []string{dir + "/3.parquet"}},
	}})
	require.NoError(t, err)
	parts := listParts(t, s)
	require.Equal(t, "5 to 9", boundsText(parts[0].Columns["a"]))
	require.EqualValues(t, 1, parts[0].Columns["a"].Nulls)
	require.Equal(t, map[string]codec.ColumnStats{"a": {}}, parts[1].Columns)
	csv := globSource(t, e, dir+"/4.csv")
	require.Nil(t, listParts(t, csv)[0].Columns)
	require.Empty(t, listParts(t, csv)[0].Version)
	settle(t, dir+"/4.csv")
	require.NotEmpty(t, listParts(t, csv)[0].Version, "files without statistics have versions too")
}

// TestVersionsFollowTheFile: a new file is not relied on until it has settled,
// and a replaced one has another version even with the same time and size.
func TestVersionsFollowTheFile(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	path := write(t, e, "SELECT 5 AS a", dir, "p.parquet")
	now := time.Now()
	require.NoError(t, os.Chtimes(path, now, now))
	s := globSource(t, e, path)
	fresh := listParts(t, s)[0]
	require.Empty(t, fresh.Version)
	require.Nil(t, fresh.Columns)
	s.snap.partitions[0].origins[0].stamp.modified = now.Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, now, now.Add(-time.Hour)))
	first := listParts(t, s)[0]
	require.Equal(t, "5 to 5", boundsText(first.Columns["a"]))
	require.Equal(t, first, listParts(t, s)[0])

	info, err := os.Stat(path)
	require.NoError(t, err)
	other := write(t, e, "SELECT 7 AS a", t.TempDir(), "p.parquet")
	require.NoError(t, os.Chtimes(other, info.ModTime(), info.ModTime()))
	require.NoError(t, os.Rename(other, path))
	second := listParts(t, s)[0]
	require.Equal(t, first.Bytes, second.Bytes)
	require.Equal(t, "7 to 7", boundsText(second.Columns["a"]))
	require.NotEqual(t, first.Version, second.Version)
}

func TestParseBound(t *testing.T) {
	t.Parallel()
	us, tz := &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	seconds, dec := &arrow.TimestampType{Unit: arrow.Second}, &arrow.Decimal128Type{Precision: 5, Scale: 2}
	for _, c := range []struct {
		text string
		t    arrow.DataType
		want string
	}{
		{"-128", arrow.PrimitiveTypes.Int8, "-128"}, {"128", arrow.PrimitiveTypes.Int8, ""}, {"1.5", arrow.PrimitiveTypes.Int32, ""},
		{"", arrow.PrimitiveTypes.Int32, ""}, {"+1", arrow.PrimitiveTypes.Int32, ""}, {"-1", arrow.PrimitiveTypes.Uint8, ""},
		{"infinity", arrow.FixedWidthTypes.Date32, ""}, {"0044-03-15 (BC)", arrow.FixedWidthTypes.Date32, ""},
		{"1969-12-31", arrow.FixedWidthTypes.Date32, "-1"}, {"0001-01-01", arrow.FixedWidthTypes.Date32, "-719162"},
		{"2020-01-01 00:00:00.5", us, "1577836800500000"}, {"2020-01-01 00:00:00.5", seconds, ""}, {"2020-01-01 00:00:00+00", us, ""},
		{"2020-01-01 00:00:00", tz, ""}, {"2020-01-01 01:00:00+01", tz, ""}, {"2020-01-01 00:00:00+00", tz, "1577836800000000"},
		{"0001-01-01 00:00:00", &arrow.TimestampType{Unit: arrow.Nanosecond}, ""},
		{"-1.50", dec, "-150"}, {"-0.05", dec, "-5"}, {"1.5", dec, ""}, {"1.-5", dec, ""}, {"1000.00", dec, ""}, {"1e2", dec, ""},
		{"0.5", arrow.PrimitiveTypes.Float64, ""}, {"x", arrow.BinaryTypes.String, ""},
	} {
		n := parseBound(c.text, c.t)
		if n == nil || boxed(n, c.t) == nil {
			require.Empty(t, c.want, "%s as %s", c.text, c.t)
			continue
		}
		require.Equal(t, c.want, n.String(), "%s as %s", c.text, c.t)
	}
}

func bigOf(v int64) *big.Int { return big.NewInt(v) }
