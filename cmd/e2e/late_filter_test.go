package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

// paced is a source whose first batch comes at once, and whose others wait.
type paced struct {
	scanner.Source
	started atomic.Bool
	pause   time.Duration
}

func (p *paced) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	r, err := p.Source.Scan(ctx, spec)
	return &pacedReader{Reader: r, source: p}, err
}

type pacedReader struct {
	scanner.Reader
	source *paced
	begun  bool
}

func (r *pacedReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if r.begun {
		select {
		case <-time.After(r.source.pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r.begun = true
	r.source.started.Store(true)
	return r.Reader.Next(ctx)
}

// following is a source that begins when another one has.
type following struct {
	scanner.Source
	first *paced
}

func (f *following) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	for !f.first.started.Load() && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	return f.Source.Scan(ctx, spec)
}

// memoryTable holds the rows of a query in batches of its own size.
func memoryTable(t *testing.T, d *duck, sql string, size int64) scanner.Source {
	t.Helper()
	rows, err := d.query(sql, nil)
	require.NoError(t, err)
	defer rows.release()
	var batches []arrow.RecordBatch
	for _, b := range rows.batches {
		for at := int64(0); at < b.NumRows(); at += size {
			batches = append(batches, b.NewSlice(at, min(at+size, b.NumRows())))
		}
	}
	src, err := memsource.New(rows.schema, []memsource.Partition{{ID: "0", Batches: batches}})
	require.NoError(t, err)
	for _, b := range batches {
		b.Release()
	}
	t.Cleanup(src.Release)
	return src
}

var droppedOf = regexp.MustCompile(`total: .*, (\d+) rows dropped by filters that came later`)

// rowsDropped is what EXPLAIN ANALYZE says in all.
func rowsDropped(t *testing.T, text string) int {
	m := droppedOf.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err)
	return n
}

// TestLateFilters: a slow scan runs when the other side of its join has been read;
// its later batches are narrowed, whoever cannot heed that sends all, and the answers
// are the same at every rung.
func TestLateFilters(t *testing.T) {
	t.Parallel()
	const size = 40_000
	for _, heeds := range []bool{true, false} {
		d := newDuck(t)
		slow := &paced{Source: memoryTable(t, d, fmt.Sprintf("SELECT range %% 5000 AS k, range AS v FROM range(%d)", size), 2000), pause: 8 * time.Millisecond}
		quick := &following{memoryTable(t, d, "SELECT 7 + 11 * range AS k, 'name ' || range AS s FROM range(20)", 100), slow}
		nodes := []node{{name: "a", tables: []scanner.Table{{Name: "slow", Source: slow}}}, {name: "b", tables: []scanner.Table{{Name: "quick", Source: quick}}}}
		nodes[0].disable = []string{"agg"} // of rows it is known how many were dropped
		if !heeds {
			nodes[0].disable = append(nodes[0].disable, "dynamic_filter")
		}
		c := startCluster(t, nodes, memory.DefaultAllocator)
		off, late, without := query.DefaultSettings(), query.DefaultSettings(), query.DefaultSettings()
		require.NoError(t, off.Set("adaptive", "off"))
		require.NoError(t, late.Set("adaptive", "late"))
		require.NoError(t, without.Set("adaptive", "late"))
		require.NoError(t, without.Set("disabled_rules", "late_filter"))
		for _, sql := range []string{
			"SELECT q.s, g.m FROM quick q JOIN (SELECT k, median(v) AS m FROM slow GROUP BY k) g ON q.k = g.k ORDER BY 1",
			"SELECT q.s, sum(x.v) FROM quick q LEFT JOIN slow x ON q.k = x.k GROUP BY q.s ORDER BY 1",
			"SELECT count(*), sum(x.v) FROM slow x WHERE x.k IN (SELECT k FROM quick)",
		} {
			slow.started.Store(true)
			want := answer(t, d, c, off, sql)
			for _, rung := range []plan.Pushdown{plan.PushdownFull, plan.PushdownFilter, plan.PushdownOff} {
				set := late
				set.Pushdown = rung
				require.Equal(t, want, answer(t, d, c, set, sql), "%s at %s", sql, rung)
			}
			slow.started.Store(false)
			text := answer(t, d, c, late, "EXPLAIN ANALYZE "+sql)
			dropped := rowsDropped(t, text)
			if !heeds {
				require.Zero(t, dropped, text)
				continue
			}
			require.Contains(t, text, "narrowed while running: scan", text)
			require.Contains(t, text, "late=k in 20 values of scan", text)
			require.Greater(t, dropped, size/4, text)
			rows := received(t, text) // the last is the total
			require.Equal(t, size, dropped+slices.Max(rows[:len(rows)-1]), text)

			slow.started.Store(false)
			text = answer(t, d, c, without, "EXPLAIN ANALYZE "+sql)
			require.NotContains(t, text, "narrowed while running", text)
			require.Zero(t, rowsDropped(t, text), text)
		}
	}
}
