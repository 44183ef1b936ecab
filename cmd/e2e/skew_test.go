package e2e

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

// scansOf counts the scans that scanners have served.
func scansOf(t *testing.T, registry *prometheus.Registry) (n uint64) {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "tributary_scanner_scan_seconds" {
			for _, m := range f.GetMetric() {
				n += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return n
}

// TestManySmallPartitions: 24 partitions of 1000 rows on three scanners are three
// streams a scan, each of which has merged the groups of its eight.
func TestManySmallPartitions(t *testing.T) {
	t.Parallel()
	d, registry := newDuck(t), prometheus.NewRegistry()
	var nodes []node
	for i := range 3 {
		var parts []memsource.Partition
		for p := i; p < 24; p += 3 {
			from := int64(p) * 1000
			parts = append(parts, memsource.Partition{ID: fmt.Sprint(p), Batches: []arrow.RecordBatch{numbered(t, from+1, from+1000)}})
		}
		src, err := memsource.New(numberedSchema, parts)
		require.NoError(t, err)
		n := node{name: fmt.Sprintf("s%d", i), tables: []scanner.Table{{Name: "t", Source: src}}}
		n.registry = prometheus.WrapRegistererWith(prometheus.Labels{"node": n.name}, registry)
		nodes = append(nodes, n)
	}
	c := startCluster(t, nodes, memory.DefaultAllocator)
	for sql, want := range map[string]struct {
		answer  string
		streams uint64
		rows    int // received, at most
	}{
		"SELECT count(*), sum(v) FROM t":                                      {"24000 288012000", 3, 3},
		"SELECT count(*) FROM (SELECT k FROM t GROUP BY k HAVING min(v) > 0)": {"7", 3, 3 * 7},
		"SELECT max(v) FROM (SELECT v FROM t ORDER BY v LIMIT 5)":             {"5", 3, 3 * 5},
		"SELECT count(*) FROM t a JOIN t b ON a.v = b.v WHERE a.v <= 9":       {"9", 6, 9 + 24000},
	} {
		within(t, 5*time.Second, "scans end", func() bool { return openScansOf(t, registry) == 0 })
		before := scansOf(t, registry)
		require.Equal(t, want.answer, answer(t, d, c, query.DefaultSettings(), sql), sql)
		within(t, 5*time.Second, "scans end", func() bool { return scansOf(t, registry) >= before+want.streams })
		require.Equal(t, before+want.streams, scansOf(t, registry), sql)
		_, text := rowsScanned(t, d, c, query.DefaultSettings(), sql)
		require.LessOrEqual(t, receivedRows(t, text), want.rows, text)
		require.Equal(t, int(want.streams), strings.Count(text, "    measured: "), text)
	}
}

// meeting is of the first who comes and of the one who comes while he waits.
type meeting struct {
	waits  atomic.Int32
	second chan struct{}
	met    atomic.Bool
}

func newMeeting() *meeting { return &meeting{second: make(chan struct{})} }

// come waits a while for another one.
func (m *meeting) come() {
	switch m.waits.Add(1) {
	case 1:
		select {
		case <-m.second:
			m.met.Store(true)
		case <-time.After(20 * time.Second):
		}
	case 2:
		close(m.second)
	}
}

// heavy is the partition with nine tenths of the rows.
const heavy = "heavy"

// meetingFiles lets the statements over pieces of the heavy partition meet.
type meetingFiles struct {
	*fileSource.Source
	meeting *meeting
}

// Split is that of the files.
func (m *meetingFiles) Split(ctx context.Context, spec pushdown.Spec, workers int) ([]scanner.Piece, error) {
	pieces, err := m.Source.Split(ctx, spec, workers)
	for i, p := range pieces {
		if p.Partition != heavy {
			continue
		}
		pieces[i].Scan = func(ctx context.Context) (scanner.Reader, error) {
			m.meeting.come()
			return p.Scan(ctx)
		}
	}
	return pieces, err
}

// meetingRows lets those meet who work on batches of the heavy partition.
type meetingRows struct {
	scanner.Source
	meeting *meeting
}

// Scan marks the batches of the heavy partition.
func (m *meetingRows) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	r, err := m.Source.Scan(ctx, spec)
	if err != nil || spec.Partitions[0] != heavy {
		return r, err
	}
	return meetingReader{r, m.meeting}, nil
}

type meetingReader struct {
	scanner.Reader
	meeting *meeting
}

// Next hands out a batch of which the work is noticed.
func (r meetingReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	b, err := r.Reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	return &meetingBatch{RecordBatch: b, meeting: r.meeting}, nil
}

// meetingBatch is looked at by its worker, which waits for another one to do so.
type meetingBatch struct {
	arrow.RecordBatch
	meeting *meeting
	once    sync.Once
}

// NumRows is what a worker asks first.
func (b *meetingBatch) NumRows() int64 {
	b.once.Do(b.meeting.come)
	return b.RecordBatch.NumRows()
}

// TestSkewIsSharedByWorkers: of a table with nine tenths of its rows in one
// partition, that one is worked on by several workers at once.
func TestSkewIsSharedByWorkers(t *testing.T) {
	t.Parallel()
	const heavyRows, lightRows = 90_000, 1_111
	light := func(p int) int64 { return heavyRows + int64(p)*lightRows }
	rows := func(from, n int64) string {
		return fmt.Sprintf("SELECT i AS v, i %% 7 AS k FROM range(%d, %d) r(i)", from+1, from+n+1)
	}
	for _, kind := range []string{"parquet", "table", "memory"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d, dir := newDuck(t), t.TempDir()
			var source scanner.Source
			met := newMeeting()
			var parts []fileSource.PartitionConfig
			switch kind {
			case "memory":
				held := []memsource.Partition{{ID: heavy}}
				for b := range int64(9) {
					held[0].Batches = append(held[0].Batches, numbered(t, b*10_000+1, (b+1)*10_000))
				}
				for p := range 9 {
					held = append(held, memsource.Partition{ID: fmt.Sprint(p), Batches: []arrow.RecordBatch{numbered(t, light(p)+1, light(p)+lightRows)}})
				}
				src, err := memsource.New(numberedSchema, held)
				require.NoError(t, err)
				source = &meetingRows{src, met}
			case "parquet":
				write := func(id string, from, n int64) {
					path := filepath.Join(dir, id+".parquet")
					execFile(t, "", "COPY ("+rows(from, n)+") TO '"+path+"' (ROW_GROUP_SIZE 10240)")
					parts = append(parts, fileSource.PartitionConfig{ID: id, Files: []string{path}})
				}
				write(heavy, 0, heavyRows)
				for p := range 9 {
					write(fmt.Sprint(p), light(p), lightRows)
				}
			case "table":
				file := filepath.Join(dir, "t.duckdb")
				create := func(id string, from, n int64) {
					execFile(t, file, "CREATE TABLE t"+id+" AS "+rows(from, n))
					parts = append(parts, fileSource.PartitionConfig{ID: id, Database: file, Table: "t" + id})
				}
				create(heavy, 0, heavyRows)
				for p := range 9 {
					create(fmt.Sprint(p), light(p), lightRows)
				}
			}
			if source == nil {
				eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: t.TempDir(), Threads: 2, Warm: 1})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, eng.Close()) })
				src, err := fileSource.New(fileSource.Config{Engine: eng, Partitions: parts, PieceBytes: 1 << 14})
				require.NoError(t, err)
				source = &meetingFiles{src, met}
			}
			s, err := scanner.New(scanner.Config{Name: "s", Tables: []scanner.Table{{Name: "t", Source: source}}, Workers: 3, Logger: zerolog.Nop()})
			require.NoError(t, err)
			lis, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			serveScanner(t, s, lis)
			c := startCoordinator(t, server.Config{Scanners: []string{lis.Addr().String()}})
			const all = heavyRows + 9*lightRows
			require.Equal(t, fmt.Sprintf("%d %d", all, all*(all+1)/2), answer(t, d, c, query.DefaultSettings(), "SELECT count(x), sum(x) FROM (SELECT v AS x FROM t WHERE v > 0 UNION ALL SELECT -v FROM t WHERE v < 0)"))
			require.Equal(t, fmt.Sprint(all), answer(t, d, c, query.DefaultSettings(), "SELECT count(*) FROM (SELECT v, row_number() OVER (ORDER BY v) AS n FROM t) WHERE n = v"))
			require.True(t, met.met.Load(), "two workers at once in the heavy partition")
		})
	}
}

// receivedRows is the number of rows that EXPLAIN ANALYZE counts in all.
func receivedRows(t *testing.T, text string) (rows int) {
	t.Helper()
	m := rowsReceivedTotal.FindStringSubmatch(text)
	require.NotNil(t, m, text)
	_, err := fmt.Sscan(m[1], &rows)
	require.NoError(t, err)
	return rows
}
