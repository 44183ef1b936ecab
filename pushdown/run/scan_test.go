package run_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

func rowScan(limit int64, columns ...pushdown.Column) pushdown.Spec {
	return pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: columns, Limit: limit}
}

func TestLimitStops(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := newRunner(t, rowScan(5, keyColumn), keySchema, run.Options{Alloc: mem})
	id := func(i int) int { return i }
	require.Len(t, push(t, r, keys(mem, 3, id)), 3)
	require.False(t, r.Done())
	require.Len(t, push(t, r, keys(mem, 3, id)), 2)
	require.True(t, r.Done())
	require.Empty(t, push(t, r, keys(mem, 3, id)))
	out, err := r.Finish()
	require.Empty(t, taken(t, out, err))
}

func TestLimitZeroIsDoneAtOnce(t *testing.T) {
	t.Parallel()
	spec := rowScan(0, keyColumn)
	require.True(t, newRunner(t, spec, keySchema, run.Options{}).Done())
	spec.OrderBy = []pushdown.SortKey{{Column: keyColumn}}
	require.True(t, newRunner(t, spec, keySchema, run.Options{}).Done())
}

// A column that kernels know nothing about still passes, filtered and ranked.
func TestForeignTypesPass(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
	}, nil)
	rb := array.NewRecordBuilder(mem, schema)
	defer rb.Release()
	for i := range int64(10) {
		rb.Field(0).(*array.Int64Builder).Append(i)
		list := rb.Field(1).(*array.ListBuilder)
		list.Append(true)
		list.ValueBuilder().(*array.Int64Builder).AppendValues([]int64{i, i}, nil)
	}
	batch := rb.NewRecordBatch()
	defer batch.Release()
	spec := rowScan(2, pushdown.Column{Name: "l", DataType: schema.Field(1).Type})
	spec.OrderBy = []pushdown.SortKey{{Column: keyColumn, Descending: true}}
	r := newRunner(t, spec, schema, run.Options{Alloc: mem})
	for range 2 {
		out, err := r.Push(batch)
		require.NoError(t, err)
		require.Empty(t, out)
	}
	out, err := r.Finish()
	require.NoError(t, err)
	defer pushdowntest.ReleaseAll(out)
	require.Len(t, out, 1)
	require.Equal(t, "[[9 9] [9 9]]", fmt.Sprint(out[0].Column(0)))
}

func TestInvalidSpecsAndBatchesAreErrors(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	_, err := run.New(rowScan(pushdown.NoLimit, pushdown.Column{Name: "nope", DataType: arrow.PrimitiveTypes.Int64}), keySchema, run.Options{})
	require.ErrorContains(t, err, `"nope"`)
	other := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.BinaryTypes.String}}, nil)
	batch := pushdowntest.Batch(mem, other, []any{"a"})
	defer batch.Release()
	topn := rowScan(1, keyColumn)
	topn.OrderBy = []pushdown.SortKey{{Column: valueColumn}}
	for _, spec := range []pushdown.Spec{rowScan(pushdown.NoLimit, keyColumn), topn, sumByKey()} {
		r := newRunner(t, spec, keySchema, run.Options{Alloc: mem})
		_, err = r.Push(batch)
		require.ErrorContains(t, err, "of the batch is not of the declared type")
		_, err = r.Merge(batch)
		require.ErrorContains(t, err, "partial rows")
	}
}

// Rows whose sort key is not among the columns cannot be ranked again.
func TestTopNMergePassesWhatItCannotRank(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	spec := rowScan(1, keyColumn)
	spec.OrderBy = []pushdown.SortKey{{Column: valueColumn}}
	r := newRunner(t, spec, keySchema, run.Options{Alloc: mem})
	batch := pushdowntest.Batch(mem, spec.OutputSchema(), []any{1}, []any{2})
	defer batch.Release()
	out, err := r.Merge(batch)
	require.Len(t, taken(t, out, err), 2)
}

var topNSchema = arrow.NewSchema([]arrow.Field{
	{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
}, nil)

func topNColumn(i int) pushdown.Column {
	return pushdown.Column{Name: topNSchema.Field(i).Name, DataType: topNSchema.Field(i).Type}
}

func randomRows(r *rand.Rand, n int) [][]any {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{r.IntN(5000) - 2500, fmt.Sprintf("%x", r.IntN(1<<20)), fmt.Sprint("v", r.IntN(200))}
		if r.IntN(20) == 0 {
			rows[i][r.IntN(3)] = nil
		}
	}
	return rows
}

// Many batches with a dictionary each, more values in all than the index type
// holds, and a limit that makes the kept rows be compacted.
func TestTopNOverManyBatches(t *testing.T) {
	t.Parallel()
	for _, limit := range []int64{1, 10, 1000, 20_000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			mem := checked(t)
			r := rand.New(rand.NewPCG(3, uint64(limit)))
			spec := rowScan(limit, topNColumn(0), topNColumn(1), topNColumn(2))
			spec.OrderBy = []pushdown.SortKey{{Column: topNColumn(0), Descending: true, NullsFirst: true}, {Column: topNColumn(2)}, {Column: topNColumn(1), Descending: true}}
			runner := newRunner(t, spec, topNSchema, run.Options{Alloc: mem})
			var batches []arrow.RecordBatch
			for range 300 {
				b := pushdowntest.Batch(mem, topNSchema, randomRows(r, 40)...)
				batches = append(batches, b)
				_, err := runner.Push(b)
				require.NoError(t, err)
			}
			defer pushdowntest.ReleaseAll(batches)
			out, err := runner.Finish()
			require.NoError(t, err)
			defer pushdowntest.ReleaseAll(out)
			want, err := pushdowntest.Reference(spec, batches...)
			require.NoError(t, err)
			pushdowntest.RequireResult(t, spec, want, out...)
		})
	}
}

// When every batch displaces the one before, what is held stays bounded.
func TestTopNOfRisingInput(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	spec := rowScan(500, keyColumn)
	spec.OrderBy = []pushdown.SortKey{{Column: keyColumn, Descending: true}}
	r := newRunner(t, spec, keySchema, run.Options{Alloc: mem})
	const batches = 150
	for b := range batches {
		require.Empty(t, push(t, r, keys(mem, 500, func(i int) int { return 500*b + i })))
	}
	require.Less(t, mem.(*memory.CheckedAllocator).CurrentAlloc(), 1<<20)
	out, err := r.Finish()
	rows := taken(t, out, err)
	require.Len(t, rows, 500)
	for i, row := range rows {
		require.Equal(t, fmt.Sprint(500*batches-1-i), pushdowntest.Text(row[0]))
	}
}

func BenchmarkTopN(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	batch := pushdowntest.Batch(memory.DefaultAllocator, topNSchema, randomRows(r, 64<<10)...)
	defer batch.Release()
	for _, c := range []int{0, 1, 2} {
		b.Run(fmt.Sprintf("type=%s", topNSchema.Field(c).Type.ID()), func(b *testing.B) {
			spec := rowScan(100, topNColumn(0))
			spec.OrderBy = []pushdown.SortKey{{Column: topNColumn(c)}}
			runner, err := run.New(spec, topNSchema, run.Options{})
			require.NoError(b, err)
			defer runner.Release()
			for b.Loop() {
				_, err := runner.Push(batch)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.N)*float64(batch.NumRows())/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
