// Package kernels measures the kernels of pushdown beside DuckDB with one
// thread, over the same Arrow batches in one run:
//
//	go test -bench . ./bench/kernels
package kernels

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/server/engine"
)

const (
	batchRows = 64 << 10
	batches   = 64
	millions  = float64(batchRows*batches) / 1e6
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "s", Type: arrow.BinaryTypes.String},
	{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}},
	{Name: "k", Type: arrow.PrimitiveTypes.Int32},
	{Name: "x", Type: arrow.PrimitiveTypes.Int64},
	{Name: "wide", Type: arrow.PrimitiveTypes.Int64},
	{Name: "y", Type: arrow.PrimitiveTypes.Float64},
}, nil)

// data has 4 million rows: text of 40 values, plain and as a dictionary; 40
// integers; and a million.
func data(b *testing.B) []arrow.RecordBatch {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]arrow.RecordBatch, batches)
	for i := range out {
		rb := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range batchRows {
			scope := fmt.Sprintf("scope-%d", r.IntN(40))
			rb.Field(0).(*array.StringBuilder).Append(scope)
			require.NoError(b, rb.Field(1).(*array.BinaryDictionaryBuilder).AppendString(scope))
			rb.Field(2).(*array.Int32Builder).Append(int32(r.IntN(40)))
			rb.Field(3).(*array.Int64Builder).Append(r.Int64N(1000))
			rb.Field(4).(*array.Int64Builder).Append(r.Int64N(1_000_000))
			rb.Field(5).(*array.Float64Builder).Append(r.Float64())
		}
		out[i] = rb.NewRecordBatch()
		rb.Release()
	}
	return out
}

func column(name string) pushdown.Column {
	return pushdown.Column{Name: name, DataType: schema.Field(schema.FieldIndices(name)[0]).Type}
}

func keys(names ...string) (out []pushdown.NamedExpr) {
	for _, n := range names {
		out = append(out, pushdown.NamedExpr{Name: n, Expr: column(n)})
	}
	return out
}

func aggregates(of string, funcs ...pushdown.AggFunc) (out []pushdown.Aggregate) {
	for i, f := range funcs {
		a := pushdown.Aggregate{Name: fmt.Sprint("a", i), Func: f}
		if f != pushdown.CountStar {
			a.Arg = column(of)
		}
		out = append(out, a)
	}
	return out
}

func compare(op pushdown.CompareOp, name string, value scalar.Scalar) pushdown.Expr {
	return pushdown.Compare{Op: op, Left: column(name), Right: pushdown.Literal{Value: value}}
}

// workload is one piece of work for both.
type workload struct {
	name string
	spec pushdown.Spec
	sql  string // over remote('t')
}

func workloads() []workload {
	group := func(by []pushdown.NamedExpr, aggs []pushdown.Aggregate) pushdown.Spec {
		return pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, GroupBy: by, Aggregates: aggs, Limit: pushdown.NoLimit}
	}
	filtered := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: []pushdown.Column{column("x"), column("wide")}, Limit: pushdown.NoLimit,
		Filter: []pushdown.Expr{ // a half, a half and two fifths: a tenth
			compare(pushdown.Less, "x", scalar.NewInt64Scalar(500)),
			compare(pushdown.Less, "k", scalar.NewInt32Scalar(20)),
			compare(pushdown.Less, "y", scalar.NewFloat64Scalar(0.4)),
		}}
	count := aggregates("", pushdown.CountStar)
	all := aggregates("x", pushdown.Sum, pushdown.Min, pushdown.Max)
	return []workload{
		{"count by dictionary", group(keys("d"), count), "SELECT d, count(*) FROM remote('t') GROUP BY d"},
		{"count by utf8", group(keys("s"), count), "SELECT s, count(*) FROM remote('t') GROUP BY s"},
		{"sum min max by two keys", group(keys("s", "k"), all), "SELECT s, k, sum(x), min(x), max(x) FROM remote('t') GROUP BY s, k"},
		{"sum min max by dictionary and key", group(keys("d", "k"), all), "SELECT d, k, sum(x), min(x), max(x) FROM remote('t') GROUP BY d, k"},
		{"filter a tenth", filtered, "SELECT x, wide FROM remote('t') WHERE x < 500 AND k < 20 AND y < 0.4"},
		{"count by a million keys", group(keys("wide"), count), "SELECT wide, count(*) FROM remote('t') GROUP BY wide"},
	}
}

func BenchmarkKernels(b *testing.B) {
	batches := data(b)
	pool, err := engine.New(engine.Config{Threads: 1, Warm: 1})
	require.NoError(b, err)
	defer func() { require.NoError(b, pool.Close()) }()
	for _, w := range workloads() {
		b.Run(w.name+"/kernels", func(b *testing.B) {
			measure(b, func() { runKernels(b, w.spec, batches) })
		})
		b.Run(w.name+"/duckdb", func(b *testing.B) {
			measure(b, func() { runDuckDB(b, pool, w.sql, batches) })
		})
	}
}

// measure reports rows per second of processor time, which other work on the
// machine hardly changes, and of the clock.
func measure(b *testing.B, f func()) {
	before := used(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(millions*float64(b.N)/(used(b)-before).Seconds(), "Mrows/cpu-s")
	b.ReportMetric(millions*float64(b.N)/b.Elapsed().Seconds(), "Mrows/s")
}

// used is the processor time of the process.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// runKernels groups whatever the reduction is: passing rows through, as a scan of
// nearly unique keys would, is no grouping.
func runKernels(b *testing.B, spec pushdown.Spec, batches []arrow.RecordBatch) {
	r, err := run.New(spec, schema, run.Options{ProbeRows: math.MaxInt64, MaxGroups: 2 << 20})
	require.NoError(b, err)
	defer r.Release()
	drop := func(out []arrow.RecordBatch, err error) {
		require.NoError(b, err)
		for _, o := range out {
			o.Release()
		}
	}
	for _, batch := range batches {
		drop(r.Push(batch))
	}
	drop(r.Finish())
}

func runDuckDB(b *testing.B, pool *engine.Pool, sql string, batches []arrow.RecordBatch) {
	res, err := pool.Run(b.Context(), engine.Query{SQL: sql, Inputs: map[string]engine.Input{"t": input(batches)}})
	require.NoError(b, err)
	for {
		out, err := res.Next(b.Context())
		if errors.Is(err, io.EOF) {
			require.NoError(b, res.Close())
			return
		}
		require.NoError(b, err)
		out.Release()
	}
}

// input is the batches as a table of the engine, which reads them in place.
type input []arrow.RecordBatch

// Schema is that of the batches.
func (input) Schema() *arrow.Schema { return schema }

// Rows is their number.
func (in input) Rows() (int64, bool) { return int64(len(in)) * batchRows, true }

// Open reads some columns.
func (in input) Open(_ context.Context, columns []int) (engine.Reader, error) {
	return &reader{batches: in, columns: columns}, nil
}

type reader struct {
	mu      sync.Mutex
	batches []arrow.RecordBatch
	columns []int
}

// Next is the next batch.
func (r *reader) Next(context.Context) (arrow.RecordBatch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	batch := r.batches[0]
	r.batches = r.batches[1:]
	fields, cols := make([]arrow.Field, len(r.columns)), make([]arrow.Array, len(r.columns))
	for i, c := range r.columns {
		fields[i], cols[i] = schema.Field(c), batch.Column(c)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, batch.NumRows()), nil
}

// Close does nothing.
func (r *reader) Close() error { return nil }
