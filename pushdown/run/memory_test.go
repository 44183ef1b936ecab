package run_test

import (
	"flag"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

var distinctKeys = flag.Int64("distinct", 1_500_000, "keys of TestMemoryIsBounded; 100000000 takes a minute")

// numberBatch has the values of two columns.
func numberBatch(n int, key func(i int) int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, keySchema)
	defer b.Release()
	for i := range n {
		b.Field(0).(*array.Int64Builder).Append(key(i))
		b.Field(1).(*array.Int32Builder).Append(1)
	}
	return b.NewRecordBatch()
}

// TestMemoryIsBounded groups far more keys than the table may hold: unique ones,
// which pass through, and pairs, which fill the table again and again. Every row
// is counted once, and the table keeps to its budget.
func TestMemoryIsBounded(t *testing.T) {
	for name, repeats := range map[string]int64{"unique": 1, "pairs": 2} {
		t.Run(name, func(t *testing.T) {
			const rows = 64 << 10
			r := newRunner(t, sumByKey(), keySchema, run.Options{})
			base, most := held(), uint64(0)
			var pushed, counted, emitted int64
			take := func(out []arrow.RecordBatch, err error) {
				require.NoError(t, err)
				for _, b := range out {
					emitted += b.NumRows()
					for _, n := range b.Column(1).(*array.Int64).Int64Values() {
						counted += n
					}
				}
				pushdowntest.ReleaseAll(out)
			}
			for n := 0; pushed < repeats**distinctKeys; n++ {
				batch := numberBatch(rows, func(i int) int64 { return (pushed + int64(i)) / repeats * 0x9E3779B97F4A7C1 })
				take(r.Push(batch))
				pushed += batch.NumRows()
				batch.Release()
				if n%16 == 0 {
					most = max(most, held()-min(base, held()))
				}
			}
			take(r.Finish())
			require.Equal(t, pushed, counted)
			require.GreaterOrEqual(t, emitted, pushed/repeats)
			require.Less(t, most, uint64(run.DefaultMaxBytes+8<<20), "memory held by the table")
			if repeats == 2 {
				require.Less(t, emitted, pushed*3/5, "pairs are grouped")
			}
		})
	}
}

// held is the memory in use.
func held() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Long keys count too: the table is emitted before their bytes exceed the budget.
func TestLongKeysAreBounded(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String}}, nil)
	spec := pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit,
		GroupBy:    []pushdown.NamedExpr{{Name: "k", Expr: pushdown.Column{Name: "k", DataType: arrow.BinaryTypes.String}}},
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}}
	r := newRunner(t, spec, schema, run.Options{MaxBytes: 1 << 20})
	emitted := 0
	for i := range 100 {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		text := make([]byte, 50_000)
		text[0] = byte(i)
		b.Append(string(text))
		column := b.NewArray()
		batch := array.NewRecordBatch(schema, []arrow.Array{column}, 1)
		out, err := r.Push(batch)
		require.NoError(t, err)
		for _, o := range out {
			require.LessOrEqual(t, o.NumRows(), int64(25))
			emitted += int(o.NumRows())
		}
		pushdowntest.ReleaseAll(out)
		batch.Release()
		column.Release()
		b.Release()
	}
	require.GreaterOrEqual(t, emitted, 75)
}
