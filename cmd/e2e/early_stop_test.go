package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

const (
	bigRows    = 10_000_000
	bigPart    = bigRows / 10
	bigQuery   = "SELECT range AS v, range %% 1000 AS k FROM range(%d)"
	smallQuery = "SELECT range AS k, 'n' || range AS name FROM range(%d)"
)

// bigTable is a table t of ten million rows on two scanners, and a small one.
type bigTable struct {
	coordinator *server.Coordinator
	registry    *prometheus.Registry
}

func (b *bigTable) start(t *testing.T, tables ...[]scanner.Table) *bigTable {
	b.registry = prometheus.NewRegistry()
	var nodes []node
	for i, served := range tables {
		n := node{name: fmt.Sprintf("s%d", i), tables: served}
		n.registry = prometheus.WrapRegistererWith(prometheus.Labels{"node": n.name}, b.registry)
		nodes = append(nodes, n)
	}
	b.coordinator = startCluster(t, nodes, memory.DefaultAllocator)
	return b
}

// inMemory holds ten partitions of the same rows.
func bigInMemory(t *testing.T, d *duck) *bigTable {
	big, err := d.query(fmt.Sprintf(bigQuery, bigPart), nil)
	require.NoError(t, err)
	defer big.release()
	small, err := d.query(fmt.Sprintf(smallQuery, 1000), nil)
	require.NoError(t, err)
	defer small.release()
	source := func(r *result, ids ...int) *memsource.Source {
		s, err := memsource.New(r.schema, nil)
		require.NoError(t, err)
		t.Cleanup(s.Release)
		for _, id := range ids {
			require.NoError(t, s.Put(memsource.Partition{ID: fmt.Sprint(id), Batches: r.batches}))
		}
		return s
	}
	return new(bigTable).start(t,
		[]scanner.Table{{Name: "t", Source: source(big, 0, 1, 2, 3, 4)}, {Name: "small", Source: source(small, 0)}},
		[]scanner.Table{{Name: "t", Source: source(big, 5, 6, 7, 8, 9)}})
}

func bigInFiles(t *testing.T) *bigTable {
	eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: t.TempDir(), Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	dir := t.TempDir()
	source := func(name, rows string) *fileSource.Source {
		execFile(t, "", "COPY ("+rows+") TO '"+filepath.Join(dir, name)+"'")
		src, err := fileSource.New(fileSource.Config{Engine: eng, Glob: []string{filepath.Join(dir, name)}, IDPrefix: name})
		require.NoError(t, err)
		return src
	}
	return new(bigTable).start(t,
		[]scanner.Table{{Name: "t", Source: source("a.parquet", fmt.Sprintf(bigQuery, bigRows/2))}, {Name: "small", Source: source("small.parquet", fmt.Sprintf(smallQuery, 1000))}},
		[]scanner.Table{{Name: "t", Source: source("b.parquet", fmt.Sprintf(bigQuery, bigRows/2))}})
}

// scanned is what the scanners themselves say to have read.
func (b *bigTable) scanned(t *testing.T) (rows int) {
	families, err := b.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "tributary_scanner_rows_scanned_total" {
			for _, m := range f.GetMetric() {
				rows += int(m.GetCounter().GetValue())
			}
		}
	}
	return rows
}

// TestLimitStopsEarly: a LIMIT reads a small part of a large table, by the word of
// the coordinator and of the scanners.
func TestLimitStopsEarly(t *testing.T) {
	d := newDuck(t)
	for name, big := range map[string]*bigTable{"memory": bigInMemory(t, d), "files": bigInFiles(t)} {
		t.Run(name, func(t *testing.T) {
			set := query.DefaultSettings()
			for _, sql := range []string{
				"SELECT v FROM t WHERE k = 77 LIMIT 10",
				"SELECT v + 1 FROM t WHERE v % 3 = 1 LIMIT 10",
				"(SELECT v FROM t WHERE k = 3) UNION ALL (SELECT v FROM t WHERE v % 1000 = k + 1) LIMIT 10",
				"(SELECT k FROM t WHERE k < 500) UNION ALL (SELECT v FROM t WHERE v % 1000 = k + 1) LIMIT 10 OFFSET 5",
				"SELECT t.v, small.name FROM t JOIN small ON t.k = small.k WHERE t.k < 900 LIMIT 10",
			} {
				lines := answer(t, d, big.coordinator, set, sql)
				require.Len(t, strings.Split(lines, "\n"), 10, sql)
				within(t, 5*time.Second, "scans end", func() bool { return openScansOf(t, big.registry) == 0 })
				before := big.scanned(t)
				rows, text := rowsScanned(t, d, big.coordinator, set, sql)
				within(t, 5*time.Second, "scans end", func() bool { return openScansOf(t, big.registry) == 0 })
				require.Positive(t, rows, text)
				require.Less(t, rows, bigRows/20, "%s\n%s", sql, text)
				require.Less(t, big.scanned(t)-before, bigRows/20, "%s\n%s", sql, text)
			}
			rows, text := rowsScanned(t, d, big.coordinator, set, "SELECT count(*) FROM t WHERE k <> 5")
			require.Equal(t, bigRows, rows, text)
		})
	}
}
