package exec_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

var eventSchema = arrow.NewSchema([]arrow.Field{
	field("k", arrow.BinaryTypes.String),
	field("e", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}),
	field("v", arrow.PrimitiveTypes.Int64),
	field("i", arrow.PrimitiveTypes.Int32),
	field("d", &arrow.Decimal128Type{Precision: 12, Scale: 2}),
	field("f", arrow.PrimitiveTypes.Float64),
	field("b", arrow.FixedWidthTypes.Boolean),
	field("day", arrow.FixedWidthTypes.Date32),
	field("ts", &arrow.TimestampType{Unit: arrow.Microsecond}),
}, nil)

// events are n random rows; doubles are such that sums are exact.
func events(r *rand.Rand, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, eventSchema)
	defer b.Release()
	for range n {
		null := func(col int) bool {
			if r.IntN(10) > 0 {
				return false
			}
			b.Field(col).AppendNull()
			return true
		}
		if !null(0) {
			b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("key-%d", r.IntN(12)))
		}
		if !null(1) {
			_ = b.Field(1).(*array.BinaryDictionaryBuilder).AppendString([]string{"low", "mid", "high"}[r.IntN(3)])
		}
		if !null(2) {
			b.Field(2).(*array.Int64Builder).Append(r.Int64N(1<<62) - 1<<61)
		}
		if !null(3) {
			b.Field(3).(*array.Int32Builder).Append(r.Int32N(50) - 10)
		}
		if !null(4) {
			b.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(r.Int64N(100_000) - 20_000))
		}
		if !null(5) {
			b.Field(5).(*array.Float64Builder).Append(float64(r.IntN(4000)-1000) / 4)
		}
		if !null(6) {
			b.Field(6).(*array.BooleanBuilder).Append(r.IntN(2) == 0)
		}
		if !null(7) {
			b.Field(7).(*array.Date32Builder).Append(arrow.Date32(19_000 + r.IntN(90)))
		}
		if !null(8) {
			b.Field(8).(*array.TimestampBuilder).Append(arrow.Timestamp(1_700_000_000_000_000 + r.Int64N(1<<41)))
		}
	}
	return b.NewRecordBatch()
}

// questions are asked at every rung, of every cluster, over every split.
var questions = []string{
	`SELECT k, count(*) FROM events GROUP BY k`,
	`SELECT e, count(*), count(v), sum(v), min(i), max(i), avg(i), sum(d), min(d), avg(f) FROM events GROUP BY e`,
	`SELECT count(*), sum(v), min(k), max(day), sum(f) FROM events`,
	`SELECT count(*), sum(i) FROM events WHERE k = 'no such key'`,
	`SELECT k, e, sum(i) FILTER (WHERE b), count(DISTINCT i) FROM events WHERE i > 0 OR k IS NULL GROUP BY k, e`,
	`SELECT k, i FROM events WHERE i BETWEEN 3 AND 9 AND e IN ('low', 'high')`,
	`SELECT DISTINCT e, b FROM events`,
	`SELECT k, v, ts FROM events ORDER BY v DESC NULLS LAST, k, ts LIMIT 17`,
	`SELECT count(*) FROM (SELECT * FROM events LIMIT 100)`,
	`SELECT date_trunc('month', day) AS m, sum(d) FROM events WHERE k LIKE 'key-1%' GROUP BY m HAVING count(*) > 3`,
	`SELECT a.k, count(*) FROM events a JOIN (SELECT k, max(i) AS top FROM events GROUP BY k) b ON a.k = b.k AND a.i = b.top GROUP BY a.k`,
	`SELECT k, i, row_number() OVER (PARTITION BY k ORDER BY v, ts) AS n FROM events QUALIFY n <= 2`,
	`SELECT * FROM events WHERE i = 7`,
	`SELECT f, e FROM events WHERE NOT b AND f >= 500`,
	`SELECT k FROM events WHERE i > (SELECT avg(i) FROM events) AND day >= DATE '2022-03-01'`,
	`WITH t AS (SELECT k, sum(i) AS s FROM events GROUP BY k) SELECT x.k, y.s FROM t x JOIN t y ON x.s = y.s`,
	`SELECT CASE WHEN i < 0 THEN 'neg' ELSE 'pos' END AS sign, count(*) FROM events GROUP BY ALL`,
	`SELECT e, sum(i) AS s FROM events GROUP BY e UNION ALL SELECT k, max(i) FROM events GROUP BY k`,
	`SELECT lower(k) || '!', abs(i) FROM events WHERE i < -8`,
	`SELECT k, e, count(*) FROM events GROUP BY GROUPING SETS ((k), (e), ())`,
}

// held serves batches to the engine: the oracle's whole table.
type held struct{ batch arrow.RecordBatch }

func (h held) Schema() *arrow.Schema { return h.batch.Schema() }
func (h held) Rows() (int64, bool)   { return h.batch.NumRows(), false }

func (h held) Open(_ context.Context, columns []int) (engine.Reader, error) {
	r := &heldReader{}
	fields, arrays := make([]arrow.Field, len(columns)), make([]arrow.Array, len(columns))
	for i, c := range columns {
		fields[i], arrays[i] = h.batch.Schema().Field(c), h.batch.Column(c)
	}
	r.batch.Store(&heldBatch{array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, h.batch.NumRows())})
	return r, nil
}

type heldBatch struct{ arrow.RecordBatch }

type heldReader struct{ batch atomic.Pointer[heldBatch] }

func (r *heldReader) Next(context.Context) (arrow.RecordBatch, error) {
	if b := r.batch.Swap(nil); b != nil {
		return b.RecordBatch, nil
	}
	return nil, io.EOF
}

func (r *heldReader) Close() error {
	if b := r.batch.Swap(nil); b != nil {
		b.Release()
	}
	return nil
}

// answers asks the engine itself, over the unsplit table.
func answers(t *testing.T, pool *engine.Pool, whole arrow.RecordBatch) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, sql := range questions {
		result, err := pool.Run(t.Context(), engine.Query{
			SQL: sql, Inputs: map[string]engine.Input{"t": held{whole}},
			Views: []engine.View{{Schema: "main", Name: "events", Input: "t"}},
		})
		require.NoError(t, err, sql)
		var rows []string
		for {
			batch, err := result.Next(t.Context())
			if err == io.EOF {
				break
			}
			require.NoError(t, err, sql)
			rows = append(rows, text(batch)...)
			batch.Release()
		}
		require.NoError(t, result.Close())
		slices.Sort(rows)
		out[sql] = rows
	}
	return out
}

// split deals the rows out to partitions in the given proportions and over two
// scanners, which withhold some capabilities.
func split(t *testing.T, whole arrow.RecordBatch, disable [2]string, parts []int) (addrs []string) {
	t.Helper()
	var held [2][]memsource.Partition
	from, sum := int64(0), int64(0)
	for _, p := range parts {
		sum += int64(p)
	}
	for i, p := range parts {
		to := from + int64(p)*whole.NumRows()/sum
		if i == len(parts)-1 {
			to = whole.NumRows()
		}
		part := memsource.Partition{ID: fmt.Sprint(i)}
		for at := from; at < to; at += 500 {
			part.Batches = append(part.Batches, whole.NewSlice(at, min(at+500, to)))
		}
		held[i%2] = append(held[i%2], part)
		from = to
	}
	for i := range held {
		addrs = append(addrs, serve(t, string(rune('a'+i)), disable[i], held[i]))
	}
	return addrs
}

// serve runs a real scanner over rows in memory.
func serve(t *testing.T, name, disable string, parts []memsource.Partition) string {
	t.Helper()
	source, err := memsource.New(eventSchema, parts)
	require.NoError(t, err)
	cfg := scanner.Config{Name: name, Tables: []scanner.Table{{Name: "events", Source: source}}}
	if disable != "" {
		cfg.Disable = strings.Split(disable, ",")
	}
	s, err := scanner.New(cfg)
	require.NoError(t, err)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, s.Close())
		source.Release()
	})
	return lis.Addr().String()
}

func TestPlannedQueriesAgreeAtEveryRung(t *testing.T) {
	t.Parallel()
	pool := newEngine(t)
	whole := events(rand.New(rand.NewPCG(7, 11)), 4000)
	want := answers(t, pool, whole)
	for _, tc := range []struct {
		name    string
		disable [2]string
		parts   []int
	}{
		{"even", [2]string{}, []int{1, 1, 1, 1}},
		{"skewed and mixed", [2]string{"", "all"}, []int{1, 50, 0, 1, 2}},
		{"filters, rows", [2]string{"agg,topn,limit", "all"}, []int{3, 1, 0}},
		{"one partition", [2]string{}, []int{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(t, pool, split(t, whole, tc.disable, tc.parts))
			for _, rung := range []plan.Pushdown{plan.PushdownFull, plan.PushdownFilter, plan.PushdownOff} {
				for _, sql := range questions {
					got, _ := c.ask(t, sql, rung)
					require.Equal(t, want[sql], got, "%s at %s", sql, rung)
				}
			}
		})
	}
}

// cluster is everything between SQL text and rows.
type cluster struct {
	fixture *fixture
	catalog *catalog.Catalog
	planner *plan.Planner
}

func newCluster(t *testing.T, pool *engine.Pool, addrs []string) *cluster {
	t.Helper()
	return newClusterWith(t, addrs, exec.Config{Engine: pool})
}

func newClusterWith(t *testing.T, addrs []string, cfg exec.Config) *cluster {
	t.Helper()
	cat := catalog.New(catalog.Config{Scanners: addrs})
	t.Cleanup(cat.Close)
	require.NoError(t, cat.Refresh(t.Context()))
	require.NoError(t, cat.Snapshot().Usable())
	binder, err := engine.NewBinder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, binder.Close()) })
	f := &fixture{t: t, mem: memory.NewCheckedAllocator(memory.NewGoAllocator())}
	t.Cleanup(func() { f.mem.AssertSize(t, 0) })
	cfg.Local, cfg.Catalog, cfg.Alloc = binder, cat, f.mem
	f.exec = exec.New(cfg)
	return &cluster{fixture: f, catalog: cat, planner: plan.New(query.NewBinder(binder))}
}

func (c *cluster) ask(t *testing.T, sql string, rung plan.Pushdown) (rows []string, modes string) {
	t.Helper()
	p, err := c.planner.Plan(t.Context(), sql, c.catalog.Snapshot(), plan.Options{Pushdown: rung})
	require.NoError(t, err, sql)
	stream, err := c.fixture.exec.Run(t.Context(), "q", p, exec.Options{})
	require.NoError(t, err, sql)
	rows, err = collect(t.Context(), stream)
	require.NoError(t, err, "%s\n%s", sql, p.Explain())
	require.NoError(t, stream.Close())
	slices.Sort(rows)
	var seen []string
	for _, s := range stream.Stats().Scans {
		for _, target := range s.Targets {
			seen = append(seen, target.Mode)
		}
	}
	return rows, string(p.Kind) + ": " + strings.Join(seen, " ")
}

func TestTheIntendedPathRan(t *testing.T) {
	t.Parallel()
	pool := newEngine(t)
	whole := events(rand.New(rand.NewPCG(1, 2)), 1000)
	full := newCluster(t, pool, split(t, whole, [2]string{}, []int{1, 1}))
	mixed := newCluster(t, pool, split(t, whole, [2]string{"", "all"}, []int{1, 1}))
	const groups, filtered = `SELECT k, count(*) FROM events GROUP BY k`, `SELECT k, i FROM events WHERE i = 7`
	for _, tc := range []struct {
		on   *cluster
		sql  string
		rung plan.Pushdown
		want string
	}{
		{full, groups, plan.PushdownFull, "residual: aggregate aggregate"},
		{full, groups, plan.PushdownFilter, "residual: rows rows"},
		{full, groups, plan.PushdownOff, "residual: rows rows"},
		{mixed, groups, plan.PushdownFull, "residual: aggregate rows"},
		{full, filtered, plan.PushdownFull, "pass-through: filter filter"},
		{full, filtered, plan.PushdownFilter, "pass-through: filter filter"},
		{full, filtered, plan.PushdownOff, "residual: rows rows"},
		{mixed, filtered, plan.PushdownFull, "pass-through: filter rows"},
		{full, `SELECT 1`, plan.PushdownFull, "residual: "},
	} {
		_, path := tc.on.ask(t, tc.sql, tc.rung)
		require.Equal(t, tc.want, path, "%s at %s", tc.sql, tc.rung)
	}
}
