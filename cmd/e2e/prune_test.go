package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

// pruneFiles are the days of events: a file each, two directories, one scanner
// a directory. File i has the ids from 100 i to 100 i + 99.
type pruneFiles struct {
	addrs       []string
	dirs        [2]string
	coordinator *server.Coordinator
}

const pruneFileCount = 8

func (f *pruneFiles) path(i int) string {
	return filepath.Join(f.dirs[i%2], fmt.Sprintf("%d.parquet", i))
}

// write replaces a file, which then looks as if it had been there for long.
func (f *pruneFiles) write(t *testing.T, i int, rows string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new.parquet")
	execFile(t, "", "COPY ("+rows+") TO '"+path+"'")
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, old, old))
	require.NoError(t, os.Rename(path, f.path(i)))
}

func eventRows(i int) string {
	return fmt.Sprintf("SELECT id, DATE '2024-01-01' + (id // 100)::INTEGER AS day, (id %% 7)::DECIMAL(9,2) AS amount, "+
		"CASE WHEN id %% 10 = 0 THEN NULL ELSE 'name ' || id END AS name, CASE WHEN id >= 700 THEN id END AS late "+
		"FROM range(%d, %d) r(id)", 100*i, 100*i+100)
}

// newPruneFiles serves the files by scanners that withhold capabilities.
func newPruneFiles(t *testing.T, disabled ...[]string) *pruneFiles {
	t.Helper()
	f := &pruneFiles{dirs: [2]string{t.TempDir(), t.TempDir()}}
	for i := range pruneFileCount {
		f.write(t, i, eventRows(i))
	}
	nodes := make([]node, 2)
	for i := range nodes {
		eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: t.TempDir(), Threads: 1, Warm: 1})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, eng.Close()) })
		src, err := fileSource.FromGlob(eng, filepath.Join(f.dirs[i], "*.parquet"))
		require.NoError(t, err)
		nodes[i] = node{name: fmt.Sprintf("s%d", i), disable: disabled[i], tables: []scanner.Table{{Name: "events", Source: src}}}
	}
	for _, n := range nodes {
		f.addrs = append(f.addrs, startScanner(t, n, memory.DefaultAllocator))
	}
	f.coordinator = startCoordinator(t, server.Config{Scanners: f.addrs})
	return f
}

// answer is the result as text, rows joined by spaces and sorted by the query.
func answer(t *testing.T, d *duck, c *server.Coordinator, set query.Settings, sql string) string {
	t.Helper()
	r, err := run(c, set, sql)
	require.NoError(t, err, sql)
	defer r.release()
	var lines []string
	for _, row := range d.text(t, r) {
		var cells []string
		for _, cell := range row {
			if cell == nil {
				cells = append(cells, "NULL")
				continue
			}
			cells = append(cells, *cell)
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}

var scannedTotal = regexp.MustCompile(`total: (\d+) rows scanned`)

func rowsScanned(t *testing.T, d *duck, c *server.Coordinator, set query.Settings, sql string) (rows int, text string) {
	t.Helper()
	text = answer(t, d, c, set, "EXPLAIN ANALYZE "+sql)
	m := scannedTotal.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	rows, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	return rows, text
}

// TestPruning compares answers and work with those of the lowest rung.
func TestPruning(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, disabled := range map[string][][]string{"all do all": {nil, nil}, "rows only": {{"all"}, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPruneFiles(t, disabled...)
			off := query.DefaultSettings()
			off.Pushdown = plan.PushdownOff
			for _, c := range []struct {
				where string
				files int // read, at most
			}{
				{"id < 0", 0}, {"id = 512", 1}, {"id BETWEEN 250 AND 349", 2}, {"day >= DATE '2024-01-07'", 2},
				{"day = DATE '2024-01-03' OR id IN (5, 7)", 3}, {"late IS NOT NULL", 1}, {"late IS NULL", 7}, {"late > 750", 1},
				{"name IS NULL", 8}, {"amount > 100", 0}, {"amount > 5", 8}, {"NOT (id < 700)", 1}, {"id IS DISTINCT FROM 4", 8},
			} {
				for _, sql := range []string{
					"SELECT count(*), sum(id), min(name), max(amount) FROM events WHERE " + c.where,
					"SELECT id, name, late FROM events WHERE " + c.where + " ORDER BY id",
					"SELECT day, count(*), sum(amount) FROM events WHERE " + c.where + " GROUP BY day ORDER BY day",
					"SELECT id, day FROM events WHERE " + c.where + " ORDER BY id DESC LIMIT 3",
				} {
					want := answer(t, d, f.coordinator, off, sql)
					require.Equal(t, want, answer(t, d, f.coordinator, query.DefaultSettings(), sql), sql)
				}
				sql := "SELECT sum(id) FROM events WHERE " + c.where
				rows, text := rowsScanned(t, d, f.coordinator, query.DefaultSettings(), sql)
				require.LessOrEqual(t, rows, 100*c.files, text)
				if c.files == 0 {
					require.Contains(t, text, "reads nothing, confirms its statistics")
				}
				require.Equal(t, c.files < pruneFileCount, strings.Contains(text, "pruned by"), text)
				all, _ := rowsScanned(t, d, f.coordinator, off, sql)
				require.Equal(t, 100*pruneFileCount, all)
			}
		})
	}
}

// TestReplacedFileIsNotPruned: the catalog still has the statistics of a file
// that was replaced, or removed, or written to; its rows are found all the same.
func TestReplacedFileIsNotPruned(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	set := query.DefaultSettings()
	for step, sql := range []string{
		"SELECT count(*) FROM events WHERE id >= 5000",
		"SELECT id FROM events WHERE id >= 5000",
		"SELECT day, count(*) FROM events WHERE id >= 5000 GROUP BY day",
	} {
		file, id := 2+step, 5000+step
		before, err := f.coordinator.Service().Prepare(t.Context(), sql, set)
		require.NoError(t, err)
		f.write(t, file, fmt.Sprintf("SELECT * REPLACE (%d::BIGINT AS id) FROM (%s) LIMIT 1", id, eventRows(file)))
		stream, err := f.coordinator.Service().Execute(t.Context(), before)
		require.NoError(t, err)
		rows := int64(0)
		for {
			b, err := stream.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, sql)
			rows += b.NumRows()
			b.Release()
		}
		require.NoError(t, stream.Close())
		require.Positive(t, rows, sql)
		require.Equal(t, strconv.Itoa(step+1), answer(t, d, f.coordinator, set, "SELECT count(*) FROM events WHERE id >= 5000"))
		f.write(t, 7, strings.Replace(eventRows(7), "SELECT id", fmt.Sprintf("SELECT id + %d AS id", 1000*(step+1)), 1))
		want := strconv.Itoa(1000*(step+1) + 700)
		require.Equal(t, want, answer(t, d, f.coordinator, set, fmt.Sprintf("SELECT min(id) FROM events WHERE id BETWEEN %s AND 4999", want)))
	}
	f.write(t, 5, eventRows(5)+" LIMIT 50")
	rowsScanned(t, d, f.coordinator, set, "SELECT sum(id) FROM events WHERE id BETWEEN 500 AND 520") // EXPLAIN ANALYZE plans again too
	require.NoError(t, os.Remove(f.path(6)))
	require.Equal(t, "0", answer(t, d, f.coordinator, set, "SELECT count(*) FROM events WHERE id BETWEEN 600 AND 699"))
	require.NoError(t, f.coordinator.Catalog().Refresh(t.Context()))
	_, text := rowsScanned(t, d, f.coordinator, set, "SELECT count(*) FROM events WHERE id = 5001")
	require.Contains(t, text, "partitions: 0 of 7 (6 pruned by id, 1 from statistics)")
}

// TestAnswersFromStatistics: aggregates of which the statistics know the answer
// read nothing, unless a file has changed since.
func TestAnswersFromStatistics(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, disabled := range map[string][][]string{"all do all": {nil, nil}, "rows only": {{"all"}, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPruneFiles(t, disabled...)
			off := query.DefaultSettings()
			off.Pushdown = plan.PushdownOff
			for _, c := range []struct {
				sql   string
				files int // read
			}{
				{"SELECT count(*) FROM events", 0},
				{"SELECT count(*), count(late), count(amount), min(id), max(day), min(amount), max(late) FROM events", 0},
				{"SELECT count(*), min(day) FROM events WHERE id >= 250 AND id IS NOT NULL", 1},
				{"SELECT count(*) FILTER (WHERE day < DATE '2024-01-03'), count(*) FROM events", 0},
				{"SELECT max(id) - min(id), (SELECT count(*) FROM events WHERE late IS NULL) FROM events", 0},
				{"SELECT count(*) FROM events WHERE amount >= 0 AND id < 800", 0},
				{"SELECT count(*), max(id) FROM events WHERE id < 0", 0},
				{"SELECT sum(id), count(*) FROM events", 8},
				{"SELECT count(name), min(name) FROM events", 8},
			} {
				want := answer(t, d, f.coordinator, off, c.sql)
				require.Equal(t, want, answer(t, d, f.coordinator, query.DefaultSettings(), c.sql), c.sql)
				rows, text := rowsScanned(t, d, f.coordinator, query.DefaultSettings(), c.sql)
				require.Equal(t, 100*c.files, rows, text)
				require.Equal(t, c.files < pruneFileCount, strings.Contains(text, "from statistics)") || strings.Contains(text, "pruned by"), text)
			}
			before, err := f.coordinator.Service().Prepare(t.Context(), "SELECT count(*), max(id) FROM events", query.DefaultSettings())
			require.NoError(t, err)
			f.write(t, 3, eventRows(3)+" LIMIT 1")
			stream, err := f.coordinator.Service().Execute(t.Context(), before)
			require.NoError(t, err)
			b, err := stream.Next(t.Context())
			require.NoError(t, err)
			require.Equal(t, "701", b.Column(0).ValueStr(0))
			b.Release()
			require.NoError(t, stream.Close())
		})
	}
}

// restless is a source that says at every look that its rows have changed.
type restless struct {
	scanner.Source
	looks atomic.Int64
}

func (s *restless) Partitions(ctx context.Context) ([]scanner.Partition, error) {
	out, err := s.Source.Partitions(ctx)
	for i := range out {
		out[i].Version = fmt.Sprint(s.looks.Add(1))
	}
	return out, err
}

// TestRestlessTable: plans that need statistics are always stale; the last one
// does without.
func TestRestlessTable(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	var nodes []node
	for i := range 2 {
		rows := d.rows(t, fmt.Sprintf("SELECT i AS id, i %% 3 AS k FROM range(%d, %d) r(i)", 10*i, 10*i+10))
		src, err := memsource.New(rows.schema, []memsource.Partition{{ID: fmt.Sprint(i), Batches: rows.batches}})
		require.NoError(t, err)
		nodes = append(nodes, node{name: fmt.Sprintf("s%d", i), tables: []scanner.Table{{Name: "t", Source: &restless{Source: src}}}})
	}
	c := startCluster(t, nodes, memory.DefaultAllocator)
	for sql, want := range map[string]string{
		"SELECT count(*), min(id) FROM t":                                                 "20 0",
		"SELECT id FROM t WHERE id = 7":                                                   "7",
		"SELECT count(*) FROM t a JOIN t b USING (id) WHERE a.id > 15":                    "4",
		"SELECT id // 10 AS h, count(*) FROM t GROUP BY h HAVING count(*) > 5 ORDER BY h": "0 10\n1 10",
	} {
		require.Equal(t, want, answer(t, d, c, query.DefaultSettings(), sql), sql)
	}
	text := answer(t, d, c, query.DefaultSettings(), "EXPLAIN SELECT id FROM t WHERE id = 7")
	require.Contains(t, text, "pruned by id", "what makes the plans stale")
}
