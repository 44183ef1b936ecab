package exec_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// soon waits at most a second.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, time.Second, 2*time.Millisecond, what)
}

// idle waits until no scan runs on the nodes.
func (f *fixture) idle() {
	f.t.Helper()
	for _, n := range f.nodes {
		soon(f.t, "scans of "+n.name+" end", func() bool { return n.active.Load() == 0 })
	}
}

// fixture is an executor over test nodes whose allocator is checked at the end.
type fixture struct {
	t        *testing.T
	mem      *memory.CheckedAllocator
	conns    *connections
	registry *prometheus.Registry
	exec     *exec.Executor
	nodes    []*node
}

func newFixture(t *testing.T, cfg exec.Config, nodes ...*node) *fixture {
	t.Helper()
	f := &fixture{t: t, mem: memory.NewCheckedAllocator(memory.NewGoAllocator()), registry: prometheus.NewRegistry(), nodes: nodes}
	t.Cleanup(func() { f.mem.AssertSize(t, 0) })
	f.conns = newConnections(t)
	cfg.Catalog, cfg.Alloc, cfg.Registry = f.conns, f.mem, f.registry
	f.exec = exec.New(cfg)
	return f
}

func newEngine(t *testing.T) *engine.Pool {
	t.Helper()
	pool, err := engine.New(engine.Config{Threads: 2})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

// table lists the nodes' partitions.
func (f *fixture) table() *catalog.Table {
	t := &catalog.Table{Schema: "main", Name: "t", Arrow: tableSchema}
	for _, n := range f.nodes {
		for id, batches := range n.parts {
			at := slices.IndexFunc(t.Partitions, func(p catalog.Partition) bool { return p.ID == id })
			if at < 0 {
				at = len(t.Partitions)
				t.Partitions = append(t.Partitions, catalog.Partition{ID: id, Bytes: -1})
			}
			p := &t.Partitions[at]
			p.Owners, p.Rows = append(p.Owners, n.scanner), int64(len(slices.Concat(batches...)))
		}
	}
	slices.SortFunc(t.Partitions, func(a, b catalog.Partition) int { return cmp.Compare(a.ID, b.ID) })
	return t
}

// scan plans spec over the table; the first owner of a partition serves it.
func (f *fixture) scan(spec pushdown.Spec) *plan.RemoteScan {
	table := f.table()
	spec.Table = table.ID()
	scan := &plan.RemoteScan{ID: "s1", Table: table}
	for _, p := range table.Partitions {
		spec.Partitions = append(spec.Partitions, p.ID)
		at := slices.IndexFunc(scan.Targets, func(t plan.Target) bool { return t.Scanner == p.Owners[0] })
		if at < 0 {
			at = len(scan.Targets)
			scan.Targets = append(scan.Targets, plan.Target{Scanner: p.Owners[0]})
		}
		scan.Targets[at].Partitions = append(scan.Targets[at].Partitions, p.ID)
	}
	scan.Spec = spec.WithCarrier(tableSchema)
	for i := range scan.Targets {
		t := &scan.Targets[i]
		part := scan.Spec
		part.Partitions = t.Partitions
		t.Split = pushdown.Split(part, t.Scanner.Capabilities)
	}
	return scan
}

// rows plans `SELECT k, v … ` as it is.
func rows() pushdown.Spec {
	return pushdown.Spec{Columns: []pushdown.Column{column("k"), column("v")}, Limit: pushdown.NoLimit}
}

// sums plans `SELECT k, count(*), sum(v) … WHERE v >= low GROUP BY k`.
func sums() pushdown.Spec {
	return pushdown.Spec{
		GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: column("k")}},
		Aggregates: []pushdown.Aggregate{
			{Name: "n", Func: pushdown.CountStar}, {Name: "s", Func: pushdown.Sum, Arg: column("v")},
		},
		Limit: pushdown.NoLimit,
	}
}

// passThrough is a plan whose result is the scan's output.
func passThrough(scan *plan.RemoteScan) *plan.Plan {
	out := scan.Spec.OutputSchema()
	node := &plan.Scan{Table: scan.Table, Limit: scan.Spec.Limit, Types: make([]plan.Type, out.NumFields())}
	fields := out.Fields()
	for i := range fields {
		fields[i].Type = pushdown.ValueType(fields[i].Type)
	}
	return &plan.Plan{Kind: plan.PassThrough, Root: node, Scans: []*plan.RemoteScan{scan}, Schema: arrow.NewSchema(fields, nil)}
}

func residual(sql string, schema *arrow.Schema, scans ...*plan.RemoteScan) *plan.Plan {
	return &plan.Plan{Kind: plan.Residual, Residual: sql, Scans: scans, Schema: schema}
}

func (f *fixture) run(p *plan.Plan, opts exec.Options) *exec.Stream {
	f.t.Helper()
	stream, err := f.exec.Run(f.t.Context(), "q", p, opts)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, stream.Close()) })
	return stream
}

// all reads a stream to its end, as text sorted by row.
func all(t *testing.T, stream *exec.Stream) []string {
	t.Helper()
	got, err := collect(t.Context(), stream)
	require.NoError(t, err)
	slices.Sort(got)
	return got
}

func collect(ctx context.Context, stream *exec.Stream) (got []string, err error) {
	for {
		batch, err := stream.Next(ctx)
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if !batch.Schema().Equal(stream.Schema()) {
			return got, fmt.Errorf("schema %s, promised %s", batch.Schema(), stream.Schema())
		}
		got = append(got, text(batch)...)
		batch.Release()
	}
}

// text is one line for each row.
func text(batch arrow.RecordBatch) []string {
	lines := make([]string, batch.NumRows())
	for _, c := range batch.Columns() {
		for i := range lines {
			if lines[i] != "" {
				lines[i] += " "
			}
			lines[i] += c.ValueStr(i)
		}
	}
	return lines
}

// total adds up partial rows (k, n, s) of a stream by key.
func total(t *testing.T, stream *exec.Stream) map[string][2]int64 {
	t.Helper()
	sum := map[string][2]int64{}
	for {
		batch, err := stream.Next(t.Context())
		if err == io.EOF {
			return sum
		}
		require.NoError(t, err)
		keys, counts := batch.Column(0).(*array.String), batch.Column(1).(*array.Int64)
		sums := batch.Column(2).(*array.Decimal128)
		for i := range int(batch.NumRows()) {
			was := sum[keys.Value(i)]
			sum[keys.Value(i)] = [2]int64{was[0] + counts.Value(i), was[1] + int64(sums.Value(i).LowBits())}
		}
		batch.Release()
	}
}

// repeated is n batches of size rows with keys a, b, c.
func repeated(n, size int) [][]row {
	var out [][]row
	for range n {
		batch := make([]row, size)
		for i := range batch {
			batch[i] = row{string(rune('a' + i%3)), int64(i)}
		}
		out = append(out, batch)
	}
	return out
}

// want is what total should give over batches.
func want(batches ...[][]row) map[string][2]int64 {
	sum := map[string][2]int64{}
	for _, r := range slices.Concat(slices.Concat(batches...)...) {
		was := sum[r.k]
		sum[r.k] = [2]int64{was[0] + 1, was[1] + r.v}
	}
	return sum
}

func (f *fixture) metric(name string) float64 {
	f.t.Helper()
	families, err := f.registry.Gather()
	require.NoError(f.t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() != "tributary_coordinator_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}
