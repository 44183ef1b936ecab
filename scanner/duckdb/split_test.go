package duckdb

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

// pieceRows reads all pieces, each with its number of rows, and what they say to
// have read.
func pieceRows(t *testing.T, pieces []scanner.Piece) (all [][]string, sizes []int, scanned int64) {
	all = [][]string{}
	for _, p := range pieces {
		r, err := p.Scan(t.Context())
		require.NoError(t, err)
		n := len(all)
		for {
			b, err := r.Next(t.Context())
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			all = append(all, texts(b)...)
			b.Release()
		}
		sizes = append(sizes, len(all)-n)
		scanned += r.RowsScanned()
		require.NoError(t, r.Close())
	}
	return all, sizes, scanned
}

// mixed is a table of all kinds of partitions: Parquet files with row groups, a
// table with deleted rows, a view, CSV.
func mixed(t *testing.T) (*Engine, *Source) {
	e, dir := newEngine(t), t.TempDir()
	e.warm = 1
	seq := func(from, n int) string {
		return fmt.Sprintf("SELECT i AS id, 'name ' || i %% 7 AS name FROM range(%d, %d) r(i)", from, from+n)
	}
	for _, sql := range []string{
		"COPY (" + seq(0, 20_000) + ") TO " + quoteText(dir+"/a.parquet") + " (ROW_GROUP_SIZE 2048)",
		"COPY (" + seq(20_000, 10) + ") TO " + quoteText(dir+"/b.parquet"),
		"COPY (" + seq(30_000, 300) + ") TO " + quoteText(dir+"/c.csv"),
		"ATTACH " + quoteText(dir+"/x.duckdb") + " AS w",
		"CREATE TABLE w.t AS " + seq(40_000, 30_000), "DELETE FROM w.t WHERE id % 3 = 0 OR id BETWEEN 45000 AND 50000",
		"CREATE VIEW w.v AS " + seq(80_000, 5000),
		"CREATE TABLE w.named AS SELECT id, name, 1 AS rowid FROM (" + seq(90_000, 5000) + ")", "DETACH w",
	} {
		require.NoError(t, e.exec(t.Context(), sql))
	}
	s, err := New(Config{Engine: e, PieceBytes: 1 << 16, Glob: []string{dir + "/*.parquet", dir + "/*.csv"}, Partitions: []PartitionConfig{
		{ID: "t", Database: dir + "/x.duckdb", Table: "t"}, {ID: "v", Database: dir + "/x.duckdb", Table: "v"},
		{ID: "named", Database: dir + "/x.duckdb", Table: "named"},
	}})
	require.NoError(t, err)
	return e, s
}

// TestPiecesAreTheWhole: over all kinds of partitions, filters and columns, the
// rows of the pieces are those of one statement.
func TestPiecesAreTheWhole(t *testing.T) {
	t.Parallel()
	_, s := mixed(t)
	r := rand.New(rand.NewPCG(1, 2))
	whole := tableSpec(t, s)
	for range 20 {
		spec := whole
		spec.Partitions, spec.Filter = nil, nil
		for _, id := range whole.Partitions {
			if r.IntN(2) == 0 {
				spec.Partitions = append(spec.Partitions, id)
			}
		}
		spec.Columns = []pushdown.Column{col(whole, "name"), col(whole, "id")}[r.IntN(2):]
		if r.IntN(2) == 0 {
			spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Left: col(whole, "id"), Right: i64(int64(r.IntN(95_000)))}}
		}
		pieces, err := s.Split(t.Context(), spec, 1+r.IntN(6))
		require.NoError(t, err)
		if len(pieces) == 0 {
			continue
		}
		got, _, scanned := pieceRows(t, pieces)
		require.Equal(t, sortedRows(rows(t, s, spec)), sortedRows(got), spec.String())
		require.LessOrEqual(t, int64(len(got)), scanned)
	}
}

// TestPiecesAreEven: a heavy file and a heavy table are divided, each row group
// and range belongs to one piece.
func TestPiecesAreEven(t *testing.T) {
	t.Parallel()
	_, s := mixed(t)
	for id, least := range map[string]int{"a": 4, "t": 4, "v": 0, "named": 0, "c": 0} {
		spec := tableSpec(t, s)
		spec.Partitions = []string{id}
		pieces, err := s.Split(t.Context(), spec, 1)
		require.NoError(t, err)
		if least == 0 {
			require.Empty(t, pieces, id)
			continue
		}
		require.GreaterOrEqual(t, len(pieces), least, id)
		require.LessOrEqual(t, len(pieces), piecesPerWorker+1, id)
		all, sizes, scanned := pieceRows(t, pieces)
		require.Len(t, all, len(rows(t, s, spec)))
		require.Equal(t, int64(len(all)), scanned, id)
		for i, n := range sizes {
			require.Equal(t, id, pieces[i].Partition)
			require.Less(t, n, len(all)/2, "%s: %v", id, sizes)
		}
	}
}

// TestNotSplit: what one statement does as well.
func TestNotSplit(t *testing.T) {
	t.Parallel()
	e, s := mixed(t)
	first := tableSpec(t, s)
	first.Limit = 10
	pieces, err := s.Split(t.Context(), first, 4)
	require.NoError(t, err)
	require.Empty(t, pieces, "a plain LIMIT")
	small, err := New(Config{Engine: e, Glob: s.cfg.Glob})
	require.NoError(t, err)
	pieces, err = small.Split(t.Context(), tableSpec(t, small), 4)
	require.NoError(t, err)
	require.Empty(t, pieces, "a small table")
}

// TestSmallPartitionsShareAPiece: their number costs nothing.
func TestSmallPartitionsShareAPiece(t *testing.T) {
	t.Parallel()
	var all []*partition
	for i := range 1000 {
		all = append(all, &partition{id: fmt.Sprint(i), origins: []*described{{rows: 100}}})
	}
	heaps := divide(all, 10, 5000, 20)
	require.Len(t, heaps, 20)
	for _, h := range heaps {
		require.Len(t, h, 50)
		require.Empty(t, commonPartition(h))
	}
}

// TestFileReplacedWhileItIsRead: rows of two versions do not mix.
func TestFileReplacedWhileItIsRead(t *testing.T) {
	t.Parallel()
	e, dir := newEngine(t), t.TempDir()
	numbers := func(name string, from int) string {
		path := dir + "/" + name
		require.NoError(t, e.exec(t.Context(), fmt.Sprintf("COPY (SELECT range AS id FROM range(%d, %d)) TO %s (ROW_GROUP_SIZE 2048)", from, from+20_000, quoteText(path))))
		return path
	}
	path := numbers("a.parquet", 0)
	s, err := New(Config{Engine: e, Glob: []string{path}, PieceBytes: 1 << 14})
	require.NoError(t, err)
	pieces, err := s.Split(t.Context(), tableSpec(t, s), 2)
	require.NoError(t, err)
	require.NotEmpty(t, pieces)
	r, err := pieces[0].Scan(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close())
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, os.Rename(numbers("b.parquet", 50_000), path))
	_, err = pieces[1].Scan(t.Context())
	require.ErrorIs(t, err, &status.Error{Code: status.Aborted})
	require.ErrorContains(t, err, "repeat the query")
}
