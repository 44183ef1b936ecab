package exec_test

import (
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec/codectest"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// benchRows in benchParts partitions on one scanner.
const benchRows, benchParts = 1 << 20, 4

func benchBatches() []arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{field("k", arrow.BinaryTypes.String), field("v", arrow.PrimitiveTypes.Int64)}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	keys := []string{"invocation", "inbox", "state", "lock", "timer"}
	var out []arrow.RecordBatch
	for range benchParts * 4 {
		for i := range benchRows / benchParts / 4 {
			b.Field(0).(*array.StringBuilder).Append(keys[i%len(keys)])
			b.Field(1).(*array.Int64Builder).Append(int64(i))
		}
		out = append(out, b.NewRecordBatch())
	}
	return out
}

// BenchmarkRun reads a table of 1 Mi rows from one scanner in this process.
func BenchmarkRun(b *testing.B) {
	batches := benchBatches()
	s := &codectest.Scanner{Name: "a", Epoch: "1", Table: [2]string{"main", "t"}, Schema: batches[0].Schema(), Partitions: map[string][]arrow.RecordBatch{"0": batches}}
	cat := catalog.New(catalog.Config{Scanners: []string{s.Serve(b, codectest.Fault{})}})
	b.Cleanup(cat.Close)
	require.NoError(b, cat.Refresh(b.Context()))
	pool, err := engine.New(engine.Config{Threads: 2, Warm: 1})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, pool.Close()) })
	e := exec.New(exec.Config{Engine: pool, Catalog: cat})
	for name, caps := range map[string]pushdown.Capabilities{"all": pushdown.AllCapabilities(), "none": {}} {
		for shape, p := range benchPlans(cat.Snapshot(), caps) {
			b.Run("caps="+name+"/plan="+shape, func(b *testing.B) {
				for b.Loop() {
					benchDrain(b, e, p)
				}
				b.ReportMetric(benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

func benchPlans(snap *catalog.Snapshot, caps pushdown.Capabilities) map[string]*plan.Plan {
	table := snap.Tables["main.t"]
	col := func(i int) pushdown.Column {
		return pushdown.Column{Name: table.Arrow.Field(i).Name, DataType: table.Arrow.Field(i).Type}
	}
	scan := func(spec pushdown.Spec) *plan.RemoteScan {
		spec.Table, spec.Partitions, spec.Limit = "main.t", []string{"0"}, pushdown.NoLimit
		return &plan.RemoteScan{
			ID: "s1", Table: table, Spec: spec,
			Targets: []plan.Target{{Scanner: snap.Scanners["a"], Partitions: spec.Partitions, Split: pushdown.Split(spec, caps)}},
		}
	}
	rows := pushdown.Spec{Columns: []pushdown.Column{col(0), col(1)}}
	groups := pushdown.Spec{
		GroupBy:    []pushdown.NamedExpr{{Name: "k", Expr: col(0)}},
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}, {Name: "s", Func: pushdown.Sum, Arg: col(1)}},
	}
	count := arrow.NewSchema([]arrow.Field{field("n", arrow.PrimitiveTypes.Int64)}, nil)
	return map[string]*plan.Plan{
		"pass":   passThrough(scan(rows)),
		"groups": residual(`SELECT CAST(sum(c1) AS BIGINT) AS n FROM remote('s1') GROUP BY c0`, count, scan(groups)),
		"engine": residual(`SELECT count(*) AS n FROM remote('s1') GROUP BY c0`, count, scan(rows)),
	}
}

func benchDrain(b *testing.B, e *exec.Executor, p *plan.Plan) {
	stream, err := e.Run(b.Context(), "q", p, exec.Options{})
	require.NoError(b, err)
	for {
		batch, err := stream.Next(b.Context())
		if err == io.EOF {
			break
		}
		require.NoError(b, err)
		batch.Release()
	}
	require.NoError(b, stream.Close())
}
