package duckdb

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	promises "github.com/tributary-db/tributary/pushdown/partition"
)

// writeAt writes a file below a directory "key=value/…".
func writeAt(t *testing.T, e *Engine, query string, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements[:len(elements)-1]...)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	return write(t, e, query, dir, elements[len(elements)-1])
}

func TestHiveKeys(t *testing.T) {
	t.Parallel()
	key := func(name, text string) hiveKey { return hiveKey{name: name, text: text, null: text == hiveNull} }
	for path, want := range map[string][]hiveKey{
		"a.parquet":                   nil,
		"/x=1/data/a.parquet":         nil,
		"x=1/a=b.parquet":             {key("x", "1")},
		"/data/y=2024/m=05/a.parquet": {key("y", "2024"), key("m", "05")},
		"d/k=a%2Fb%20c%3D/a.csv":      {key("k", "a/b c=")},
		"d/k%20x=50%/a.csv":           {key("k x", "50%")},
		"k=a=b/a.csv":                 {key("k", "a=b")},
		"k=/a.csv":                    {key("k", "")},
		"k=" + hiveNull + "/a.csv":    {key("k", hiveNull)},
		"=5/a.csv":                    nil,
		"k=%ff/a.csv":                 nil,
		"k=%00/a.csv":                 nil,
		"k=1/K=2/a.csv":               nil,
	} {
		require.Equal(t, want, hiveKeys(path), path)
	}
}

// hiveTable are files of all kinds below directories with keys.
func hiveTable(t *testing.T, plain bool) *Source {
	t.Helper()
	e, dir := newEngine(t), t.TempDir()
	for _, p := range []string{
		writeAt(t, e, "SELECT i AS id FROM range(3) r(i)", dir, "y=2024", "c=a%2Fb", "day=2024-01-31", "1.parquet"),
		writeAt(t, e, "SELECT 10 + i AS id FROM range(2) r(i)", dir, "y=-7", "c=5", "day="+hiveNull, "2.parquet"),
		writeAt(t, e, "SELECT 20::BIGINT AS id, 'own' AS c", dir, "y=007", "c=x", "day=1969-12-31", "3.parquet"),
		writeAt(t, e, "SELECT 30::BIGINT AS id, 9::BIGINT AS file_index", dir, "y=8", "c=", "day=2024-01-31", "4.parquet"),
		writeAt(t, e, "SELECT 40::BIGINT AS id", dir, "y="+hiveNull, "c=n", "day="+hiveNull, "5.csv"),
		writeAt(t, e, "SELECT 50::BIGINT AS id", dir, "y=1", "c=n", "day=2024-02-29", "6.jsonl"),
	} {
		settle(t, p)
	}
	s, err := New(Config{Engine: e, Glob: []string{dir + "/*/*/*/*"}, PlainPaths: plain})
	require.NoError(t, err)
	return s
}

func TestHive(t *testing.T) {
	t.Parallel()
	s := hiveTable(t, false)
	spec := tableSpec(t, s)
	schema := spec.OutputSchema()
	want := map[string][][2]string{ // by id
		"0": {{"c", "a/b"}, {"day", "2024-01-31"}, {"y", "2024"}}, "1": {{"c", "a/b"}, {"y", "2024"}}, "2": {{"c", "a/b"}, {"y", "2024"}},
		"10": {{"c", "5"}, {"day", "(null)"}, {"y", "-7"}}, "11": {{"c", "5"}, {"day", "(null)"}, {"y", "-7"}},
		"20": {{"c", "own"}, {"day", "1969-12-31"}, {"y", "7"}}, "30": {{"c", ""}, {"day", "2024-01-31"}, {"y", "8"}, {"file_index", "9"}},
		"40": {{"c", "n"}, {"day", "(null)"}, {"y", "(null)"}}, "50": {{"c", "n"}, {"day", "2024-02-29"}, {"y", "1"}},
	}
	got := rows(t, s, spec)
	require.Len(t, got, len(want))
	for _, row := range got {
		for _, cell := range want[row[schema.FieldIndices("id")[0]]] {
			require.Equal(t, cell[1], row[schema.FieldIndices(cell[0])[0]], "%s of %v", cell[0], row)
		}
	}
	require.Equal(t, arrow.PrimitiveTypes.Int64, schema.Field(schema.FieldIndices("y")[0]).Type)
	require.Equal(t, arrow.FixedWidthTypes.Date32, schema.Field(schema.FieldIndices("day")[0]).Type)
	require.Equal(t, arrow.BinaryTypes.String, schema.Field(schema.FieldIndices("c")[0]).Type)

	y := pushdown.Column{Name: "y", DataType: arrow.PrimitiveTypes.Int64}
	spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Equal, Left: y, Right: i64(2024)}}
	require.Len(t, rows(t, s, spec), 3)
	spec.Filter = nil
	spec = pushdown.Spec{Table: "t", Partitions: spec.Partitions, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "k0", Expr: y}}, Aggregates: []pushdown.Aggregate{{Name: "a0", Func: pushdown.CountStar}}}
	require.ElementsMatch(t, [][]string{{"2024", "3"}, {"-7", "2"}, {"7", "1"}, {"8", "1"}, {"(null)", "1"}, {"1", "1"}}, rows(t, s, spec))
}

func TestHivePromises(t *testing.T) {
	t.Parallel()
	parts := listParts(t, hiveTable(t, false))
	require.Len(t, parts, 6)
	for i, want := range []map[string]string{
		{"y": "2024", "c": "a/b", "day": "2024-01-31"}, {"y": "-7", "c": "5", "day": "null"}, {"y": "7", "day": "1969-12-31"},
		{"y": "8", "c": "", "day": "2024-01-31", "file_index": ""}, {"y": "null", "c": "n", "day": "null"}, {"y": "1", "c": "n", "day": "2024-02-29"},
	} {
		promised := parts[i].Promise.Values
		for name, value := range want {
			if name == "file_index" {
				continue
			}
			require.Len(t, promised[name], 1, "%d %s", i, name)
			require.Equal(t, value, promised[name][0].String(), "%d %s", i, name)
		}
		require.NotContains(t, promised, "id")
		require.NotContains(t, promised, "file_index")
	}
	require.NotContains(t, parts[2].Promise.Values, "c", "the file has the column itself")
	require.Equal(t, "2024 to 2024", boundsText(parts[0].Columns["y"]))
	require.True(t, parts[0].Columns["y"].Exact)
	require.EqualValues(t, 2, parts[1].Columns["day"].Nulls)
}

// TestPlainPaths: without keys the columns are only those of the files.
func TestPlainPaths(t *testing.T) {
	t.Parallel()
	s := hiveTable(t, true)
	schema, err := s.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, schema.NumFields(), schema) // id, c of one, file_index of one
	for _, p := range listParts(t, s) {
		require.True(t, p.Promise.Empty())
	}
}

// TestHiveOfSeveralFiles: a partition has the values of all its files, and a key
// that stops being a number is text from then on.
func TestHiveOfSeveralFiles(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	writeAt(t, e, "SELECT 1::BIGINT AS id", dir, "k=1", "a.parquet")
	writeAt(t, e, "SELECT 2::BIGINT AS id", dir, "k=2", "a.parquet")
	writeAt(t, e, "SELECT 3::BIGINT AS id", dir, "plain", "a.parquet")
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{{ID: "0", Files: []string{dir + "/*/a.parquet"}}}})
	require.NoError(t, err)
	p := listParts(t, s)[0]
	require.Equal(t, []scalar.Scalar{scalar.NewInt64Scalar(1), scalar.NewInt64Scalar(2), scalar.MakeNullScalar(arrow.PrimitiveTypes.Int64)}, p.Promise.Values["k"])
	require.ElementsMatch(t, [][]string{{"1", "1"}, {"2", "2"}, {"3", "(null)"}}, rows(t, s, tableSpec(t, s)))

	writeAt(t, e, "SELECT 4::BIGINT AS id", dir, "k=x", "a.parquet")
	p = listParts(t, s)[0]
	require.True(t, promises.Among(p.Promise.Values["k"], scalar.NewStringScalar("1")))
	require.ElementsMatch(t, [][]string{{"1", "1"}, {"2", "2"}, {"3", "(null)"}, {"4", "x"}}, rows(t, s, tableSpec(t, s)))
	writeAt(t, e, "SELECT 5::BIGINT AS id, 1.5 AS k", dir, "k=5", "a.parquet")
	_, err = s.Schema(t.Context())
	require.ErrorContains(t, err, `column "k" is `)
}

// TestHivePieces: the pieces of a divided file have its keys.
func TestHivePieces(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	for _, k := range []string{"k=1", "k=2"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, k), 0o755))
		require.NoError(t, e.exec(t.Context(), "COPY (SELECT i AS id FROM range(20000) r(i)) TO "+quoteText(filepath.Join(dir, k, "a.parquet"))+" (ROW_GROUP_SIZE 2048)"))
	}
	s, err := New(Config{Engine: e, PieceBytes: 1 << 15, Glob: []string{dir + "/*/*"}})
	require.NoError(t, err)
	spec := tableSpec(t, s)
	pieces, err := s.Split(t.Context(), spec, 2)
	require.NoError(t, err)
	require.Greater(t, len(pieces), 2)
	got, _, _ := pieceRows(t, pieces)
	require.Equal(t, sortedRows(rows(t, s, spec)), sortedRows(got))
}
