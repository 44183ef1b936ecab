package scanner

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
)

// TestAWorkerThatGoesToAnotherPartition tries grouping again there, unless the
// source knows better.
func TestAWorkerThatGoesToAnotherPartition(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	spec := pushdown.Spec{Table: "main.t", Partitions: []string{"a"}, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: pushdown.Column{Name: "k", DataType: arrow.PrimitiveTypes.Int64}}}}
	push := func(w *worker, key int64) (rows int64) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.Int64Builder).Append(key)
		out, err := w.runner.Push(b.NewRecordBatch())
		require.NoError(t, err)
		for _, o := range out {
			rows += o.NumRows()
		}
		return rows
	}
	for _, c := range []struct {
		to     string
		unique bool
		passed int64
	}{{"b", false, 80}, {"a", false, 500}, {"", false, 500}, {"b", true, 500}} {
		r, err := run.New(spec, schema, run.Options{ProbeRows: 10})
		require.NoError(t, err)
		w := &worker{job: &job{unique: c.unique}, runner: r}
		w.visit("a")
		for i := range int64(10 + 80 + 10 + 160 + 10 + 320 + 10) { // then 640 pass
			push(w, i)
		}
		w.visit(c.to)
		passed := int64(0)
		for range 500 {
			passed += push(w, 1)
		}
		require.Equal(t, c.passed, passed, "%+v", c)
		w.release()
	}
}
