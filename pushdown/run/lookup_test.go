package run_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

var (
	factSchema = arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	factKey    = pushdown.Column{Name: "k", DataType: arrow.PrimitiveTypes.Int64}
	dimKey     = pushdown.Column{Name: "d.k", DataType: arrow.PrimitiveTypes.Int64}
	dimName    = pushdown.Column{Name: "d.n", DataType: arrow.PrimitiveTypes.Int64}
)

// numbers is a batch of two columns of numbers, by their row.
func numbers(t testing.TB, schema *arrow.Schema, n int, of func(i int) (a, b int64)) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range n {
		x, y := of(i)
		b.Field(0).(*array.Int64Builder).Append(x)
		b.Field(1).(*array.Int64Builder).Append(y)
	}
	return b.NewRecordBatch()
}

func dimension(t testing.TB, n int, of func(i int) (k, name int64)) pushdown.Lookup {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: dimKey.DataType}, {Name: "b", Type: dimName.DataType}}, nil)
	r, err := pushdown.NewRelation(numbers(t, schema, n, of))
	require.NoError(t, err)
	return pushdown.Lookup{Keys: []pushdown.Expr{factKey}, Columns: []pushdown.Column{dimKey, dimName}, On: []int{0}, Relation: r}
}

func counted(lookups ...pushdown.Lookup) pushdown.Spec {
	return pushdown.Spec{
		Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit, Lookups: lookups,
		Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}, {Name: "s", Func: pushdown.Sum, Arg: dimName}},
	}
}

// TestManyMatches: one row of a batch may have more matches than are held at once.
func TestManyMatches(t *testing.T) {
	t.Parallel()
	const rows, same = 40, 50_000
	spec := counted(dimension(t, same, func(i int) (int64, int64) { return 7, 1 }))
	batch := numbers(t, factSchema, rows, func(i int) (int64, int64) { return 6 + int64(i%2), 0 })
	got, err := execute(spec, factSchema, run.Options{}, []arrow.RecordBatch{batch})
	require.NoError(t, err)
	require.Equal(t, "1000000", pushdowntest.RowText(pushdowntest.Rows(got[0])[0][:1]))
}

// TestFailuresAfterLookups: what can fail sees only rows that have a match.
func TestFailuresAfterLookups(t *testing.T) {
	t.Parallel()
	v := pushdown.Column{Name: "v", DataType: arrow.PrimitiveTypes.Int64}
	double := pushdown.Arith{Op: pushdown.Add, Left: v, Right: v, DataType: v.DataType}
	spec := counted(dimension(t, 1, func(int) (int64, int64) { return 1, 1 }))
	spec.GroupBy = []pushdown.NamedExpr{{Name: "g", Expr: double}}
	late := pushdown.Arith{Op: pushdown.Add, Left: dimName, Right: double, DataType: v.DataType}
	spec.Filter = []pushdown.Expr{pushdown.Compare{Op: pushdown.Greater, Left: late, Right: pushdown.Column{Name: "d.k", DataType: v.DataType}}}
	batch := numbers(t, factSchema, 2, func(i int) (int64, int64) { return int64(i), 1 << 62 })
	_, err := execute(spec, factSchema, run.Options{}, []arrow.RecordBatch{batch})
	require.Error(t, err)
	ok := numbers(t, factSchema, 2, func(i int) (int64, int64) { return int64(i), 1 << 62 >> (60 * i) })
	got, err := execute(spec, factSchema, run.Options{}, []arrow.RecordBatch{ok})
	require.NoError(t, err)
	require.EqualValues(t, 1, got[0].NumRows())
}

func BenchmarkLookups(b *testing.B) {
	const rows = 1 << 16
	batch := numbers(b, factSchema, rows, func(i int) (int64, int64) { return int64(i*7919) % 80_000, 1 })
	spec := counted(dimension(b, 30_000, func(i int) (int64, int64) { return int64(i), int64(i % 12) }))
	spec.GroupBy = []pushdown.NamedExpr{{Name: "g", Expr: dimName}}
	r, err := run.New(spec, factSchema, run.Options{})
	require.NoError(b, err)
	defer r.Release()
	for b.Loop() {
		out, err := r.Push(batch)
		require.NoError(b, err)
		require.Empty(b, out)
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// TestRelation: batches become one relation, decoded.
func TestRelation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, mem, schema, 20)
		var columns []pushdown.Column
		for _, f := range schema.Fields() {
			columns = append(columns, pushdown.Column{Name: "x" + f.Name, DataType: pushdown.ValueType(f.Type)})
		}
		r, err := run.Relation(columns, batches)
		require.NoError(t, err)
		var want [][]any
		for _, b := range batches {
			want = append(want, pushdowntest.Rows(b)...)
		}
		got := pushdowntest.Rows(r.Rows())
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, pushdowntest.RowText(want[i]), pushdowntest.RowText(got[i]))
		}
		pushdowntest.ReleaseAll(batches)
		mem.AssertSize(t, 0)
	})
}
