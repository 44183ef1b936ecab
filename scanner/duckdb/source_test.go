package duckdb

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

func sortedRows(all [][]string) [][]string {
	slices.SortFunc(all, func(a, b []string) int { return strings.Compare(strings.Join(a, "\x00"), strings.Join(b, "\x00")) })
	return all
}

func TestFormats(t *testing.T) {
	t.Parallel()
	const query = "SELECT i AS id, 'row ' || i AS name, DATE '2020-01-01' + i::INTEGER AS day FROM range(3) r(i)"
	for _, name := range []string{"a.parquet", "a.csv", "a.csv.gz", "a.json", "a.jsonl", "odd [1] *?' name.parquet", "odd [1] *?' name.csv"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, dir := newEngine(t), t.TempDir()
			// COPY takes a name as it is, so it is written plainly and renamed.
			path := write(t, e, query, dir, "plain"+compressedExtension(name))
			require.NoError(t, os.Rename(path, filepath.Join(dir, name)))
			s := globSource(t, e, filepath.Join(dir, "*"))
			spec := tableSpec(t, s)
			require.Equal(t, []string{strings.TrimSuffix(name, compressedExtension(name))}, spec.Partitions)
			require.Equal(t, "schema:\n  fields: 3\n    - id: type=int64, nullable\n    - name: type=utf8, nullable\n    - day: type=date32, nullable",
				spec.OutputSchema().String())
			require.Equal(t, [][]string{
				{"0", "row 0", "2020-01-01"}, {"1", "row 1", "2020-01-02"}, {"2", "row 2", "2020-01-03"},
			}, sortedRows(rows(t, s, spec)))
		})
	}
}

func TestCSVQuotesAfterTheSample(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	text := "id,name\n" + strings.Repeat("1,plain\n", 40000) + "2,\"a, \"\"quoted\"\" one\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.csv"), []byte(text), 0o600))
	s := globSource(t, e, dir+"/*.csv")
	spec := tableSpec(t, s)
	spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Equal, Left: col(spec, "id"), Right: i64(2)}}
	require.Equal(t, [][]string{{"2", `a, "quoted" one`}}, rows(t, s, spec))
}

func TestPartitionsOfFilesAndDatabases(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	e.warm = 1
	for _, sql := range []string{
		"ATTACH " + quoteText(dir+"/x.duckdb") + " AS w",
		"CREATE SCHEMA w.s", "CREATE TABLE w.s.orders AS SELECT i AS id FROM range(5) r(i)",
		"CREATE VIEW w.more AS SELECT 7::BIGINT AS id", "DETACH w",
	} {
		require.NoError(t, e.exec(t.Context(), sql))
	}
	write(t, e, "SELECT 10::BIGINT AS id", dir, "o-1.parquet")
	write(t, e, "SELECT 11::BIGINT AS id", dir, "o-2.parquet")
	write(t, e, "SELECT 12::BIGINT AS id", dir, "p.csv")
	s, err := New(Config{Engine: e, Glob: []string{dir + "/p.*"}, Partitions: []PartitionConfig{
		{ID: "0", Files: []string{dir + "/o-*.parquet"}},
		{ID: "1", Database: dir + "/x.duckdb", Table: "s.orders"},
		{ID: "2", Database: dir + "/x.duckdb", Table: "more"},
	}})
	require.NoError(t, err)
	partitions, err := s.Partitions(t.Context())
	require.NoError(t, err)
	for i := range partitions {
		partitions[i].Bytes = 0
	}
	require.Equal(t, []scanner.Partition{{ID: "0", Rows: 2}, {ID: "1", Rows: 5}, {ID: "2", Rows: 1}, {ID: "p", Rows: -1}}, partitions)
	spec := tableSpec(t, s)
	require.Len(t, rows(t, s, spec), 9)
	spec.Partitions = []string{"0", "2"}
	require.Equal(t, [][]string{{"10"}, {"11"}, {"7"}}, sortedRows(rows(t, s, spec)))
	count := pushdown.Spec{Table: "t", Partitions: []string{"0", "1", "p"}, Limit: pushdown.NoLimit,
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}}
	require.Equal(t, [][]string{{"8"}}, rows(t, s, count))
}

func TestPartitionIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ paths, ids []string }{
		{[]string{"d/a.parquet", "d/b.parquet"}, []string{"a", "b"}},
		{[]string{"d/a.csv.gz", "d/a.b.csv"}, []string{"a", "a.b"}},
		{[]string{"x/1/a.csv", "x/2/a.csv"}, []string{"1/a", "2/a"}},
		{[]string{"d/a.csv", "d/a.parquet"}, []string{"d/a.csv", "d/a.parquet"}},
	} {
		require.Equal(t, c.ids, partitionIDs(c.paths))
	}
}

func TestPartitionsThatDisagree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ first, second, want string }{
		"type": {"1::BIGINT AS id", "'1' AS id", `column "id" is VARCHAR in partition "b" (file `},
		"case": {"1 AS id", "1 AS ID", `column "ID" of partition "b" (file `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, dir := newEngine(t), t.TempDir()
			write(t, e, "SELECT "+c.first, dir, "a.parquet")
			write(t, e, "SELECT "+c.second, dir, "b.parquet")
			_, err := globSource(t, e, dir+"/*.parquet").Schema(t.Context())
			require.ErrorIs(t, err, &status.Error{Code: status.FailedPrecondition})
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestColumnOrderMeansNothing(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT 1 AS id, 10 AS n", dir, "a.parquet")
	write(t, e, "SELECT 20 AS n, 2 AS id", dir, "b.parquet")
	write(t, e, "SELECT 30::INTEGER AS n, 3::INTEGER AS id", dir, "c.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	require.Equal(t, [][]string{{"1", "10"}, {"2", "20"}, {"3", "30"}}, sortedRows(rows(t, s, tableSpec(t, s))))
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	junk := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	require.NoError(t, os.Mkdir(dir+"/dir.parquet", 0o700))
	for pattern, want := range map[string]string{
		junk("junk.parquet", "this is not a parquet file at all"): "junk.parquet",
		junk("empty.parquet", ""):                                 "empty.parquet",
		junk("what.xyz", "?"):                                     "cannot tell the format",
		junk("bad.json", "{{{"):                                   "bad.json",
		dir + "/none-*.parquet":                                   "no file matches",
		dir + "/dir.parquet":                                      "is a directory",
	} {
		_, err := globSource(t, e, pattern).Schema(t.Context())
		require.ErrorContains(t, err, want)
		require.NotEqual(t, status.Internal, status.CodeOf(err), err)
	}
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{{ID: "p", Database: dir + "/junk.parquet", Table: "x"}}})
	require.NoError(t, err)
	_, err = s.Schema(t.Context())
	require.ErrorContains(t, err, "cannot open the database")
	require.ErrorContains(t, err, `partition "p"`)
}

func TestErrorWhileReading(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	text := "id\n" + strings.Repeat("1\n", 30000) + "oops\n"
	require.NoError(t, os.WriteFile(dir+"/a.csv", []byte(text), 0o600))
	s := globSource(t, e, dir+"/a.csv")
	_, err := tryRows(t.Context(), s, tableSpec(t, s))
	require.ErrorIs(t, err, &status.Error{Code: status.DataLoss})
	require.ErrorContains(t, err, "30002")
	require.ErrorContains(t, err, dir+"/a.csv")
	require.NotContains(t, err.Error(), "Possible")
}

func TestChangedFiles(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT 1 AS id", dir, "a.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	require.Equal(t, [][]string{{"1"}}, rows(t, s, tableSpec(t, s)))
	write(t, e, "SELECT 2 AS id", dir, "b.parquet")
	require.Equal(t, [][]string{{"1"}, {"2"}}, sortedRows(rows(t, s, tableSpec(t, s))))
	old := tableSpec(t, s)
	write(t, e, "SELECT 'x' AS id FROM range(2)", dir, "a.parquet")
	_, err := s.Schema(t.Context())
	require.ErrorContains(t, err, `column "id" is INTEGER in partition "b"`)
	require.ErrorContains(t, err, `but VARCHAR in partition "a"`)
	require.NoError(t, os.Remove(dir+"/b.parquet"))
	require.Equal(t, [][]string{{"x"}, {"x"}}, rows(t, s, tableSpec(t, s)))
	_, err = s.Scan(t.Context(), old)
	require.ErrorIs(t, err, &status.Error{Code: status.Aborted})
	old.Columns = tableSpec(t, s).Columns
	_, err = s.Scan(t.Context(), old)
	require.ErrorIs(t, err, &status.Error{Code: status.NotFound})
	require.ErrorContains(t, err, `"b"`)
}

func TestReplacedDatabase(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	e.warm = 1
	put := func(sql string) {
		for _, s := range []string{"ATTACH " + quoteText(dir+"/new") + " AS w", "CREATE TABLE w.t AS " + sql, "DETACH w"} {
			require.NoError(t, e.exec(t.Context(), s))
		}
		require.NoError(t, os.Rename(dir+"/new", dir+"/x.duckdb"))
	}
	put("SELECT 1 AS id")
	s, err := New(Config{Engine: e, Partitions: []PartitionConfig{{ID: "p", Database: dir + "/x.duckdb", Table: "t"}}})
	require.NoError(t, err)
	require.Equal(t, [][]string{{"1"}}, rows(t, s, tableSpec(t, s)))
	put("SELECT 2 AS id, 'x' AS c FROM range(3)")
	require.Equal(t, [][]string{{"2", "x"}, {"2", "x"}, {"2", "x"}}, rows(t, s, tableSpec(t, s)))
}

func TestNoPartitions(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	write(t, e, "SELECT 1 AS id, [1] AS l", dir, "a.parquet")
	s := globSource(t, e, dir+"/*.parquet")
	spec := tableSpec(t, s)
	spec.Partitions = nil
	require.Empty(t, rows(t, s, spec))
	spec.Columns = nil
	spec.Aggregates = []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar},
		{Name: "m", Func: pushdown.Min, Arg: pushdown.Column{Name: "id", DataType: arrow.PrimitiveTypes.Int32}}}
	require.Equal(t, [][]string{{"0", "(null)"}}, rows(t, s, spec))
}

func TestPlainLimitReadsOnePartition(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	for name, n := range map[string]string{"a": "5", "b": "1000", "c": "20"} {
		write(t, e, "SELECT '"+name+"' AS p FROM range("+n+")", dir, name+".parquet")
	}
	s := globSource(t, e, dir+"/*.parquet")
	spec := tableSpec(t, s)
	for limit, want := range map[int64]string{0: "", 3: "a", 6: "c", 21: "b"} {
		spec.Limit = limit
		got := rows(t, s, spec)
		require.Len(t, got, int(limit))
		for _, r := range got {
			require.Equal(t, want, r[0])
		}
	}
	spec.Limit = 1010
	require.Len(t, rows(t, s, spec), 1010)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for want, cfg := range map[string]Config{
		"needs an engine":             {Glob: []string{"x"}},
		"needs files or partitions":   {Engine: e},
		"the id is missing":           {Engine: e, Partitions: []PartitionConfig{{Files: []string{"x"}}}},
		"exclude each other":          {Engine: e, Partitions: []PartitionConfig{{ID: "p", Files: []string{"x"}, Database: "y"}}},
		"files or a database are":     {Engine: e, Partitions: []PartitionConfig{{ID: "p"}}},
		"the database needs a table":  {Engine: e, Partitions: []PartitionConfig{{ID: "p", Database: "y"}}},
		`partition "p" is configured`: {Engine: e, Partitions: []PartitionConfig{{ID: "p", Files: []string{"x"}}, {ID: "p", Files: []string{"x"}}}},
	} {
		_, err := New(cfg)
		require.ErrorContains(t, err, want)
	}
}
