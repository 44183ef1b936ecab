package run_test

import (
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

var keySchema = arrow.NewSchema([]arrow.Field{
	{Name: "k", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
}, nil)

var (
	keyColumn   = pushdown.Column{Name: "k", DataType: arrow.PrimitiveTypes.Int64}
	valueColumn = pushdown.Column{Name: "x", DataType: arrow.PrimitiveTypes.Int32}
)

func sumByKey() pushdown.Spec {
	return pushdown.Spec{
		Table: "main.t", Partitions: []string{"0"}, Limit: pushdown.NoLimit,
		GroupBy: []pushdown.NamedExpr{{Name: "k", Expr: keyColumn}},
		Aggregates: []pushdown.Aggregate{
			{Name: "n", Func: pushdown.CountStar}, {Name: "s", Func: pushdown.Sum, Arg: valueColumn},
		},
	}
}

func checked(t *testing.T) memory.Allocator {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

func newRunner(t *testing.T, spec pushdown.Spec, schema *arrow.Schema, opts run.Options) *run.Runner {
	r, err := run.New(spec, schema, opts)
	require.NoError(t, err)
	t.Cleanup(r.Release)
	return r
}

// keys builds rows whose key is key(i) and whose value is 1.
func keys(mem memory.Allocator, n int, key func(int) int) arrow.RecordBatch {
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{key(i), 1}
	}
	return pushdowntest.Batch(mem, keySchema, rows...)
}

// push pushes and releases batch, and returns the rows that came out.
func push(t *testing.T, r *run.Runner, batch arrow.RecordBatch) [][]any {
	defer batch.Release()
	out, err := r.Push(batch)
	return taken(t, out, err)
}

func taken(t *testing.T, out []arrow.RecordBatch, err error) [][]any {
	require.NoError(t, err)
	defer pushdowntest.ReleaseAll(out)
	return pushdowntest.Rows(out...)
}

func TestFullTableIsEmittedEarly(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := newRunner(t, sumByKey(), keySchema, run.Options{Alloc: mem, MaxGroups: 10})
	mod := func(m int) func(int) int { return func(i int) int { return i % m } }
	require.Empty(t, push(t, r, keys(mem, 100, mod(9))))
	require.Len(t, push(t, r, keys(mem, 100, mod(12))), 12)
	require.Empty(t, push(t, r, keys(mem, 100, mod(5))))
	out, err := r.Finish()
	require.Len(t, taken(t, out, err), 5)
}

func TestRowsPassThroughWhileGroupingDoesNotReduce(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	const probe = 100
	r := newRunner(t, sumByKey(), keySchema, run.Options{Alloc: mem, ProbeRows: probe})
	next := 0
	distinct := func(int) int { next++; return next }
	one := func(int) int { return 1 }
	require.Empty(t, push(t, r, keys(mem, probe/2, distinct)), "too early to tell")
	require.Zero(t, r.Passed())
	require.Len(t, push(t, r, keys(mem, probe/2, distinct)), probe, "the table goes out")
	require.EqualValues(t, probe, r.Passed())
	for range 8 { // equal rows pass as well: nobody looks at them
		require.Len(t, push(t, r, keys(mem, probe, one)), probe)
	}
	require.EqualValues(t, 9*probe, r.Passed())
	require.Empty(t, push(t, r, keys(mem, probe, one)), "grouping is tried again")
	require.EqualValues(t, 9*probe, r.Passed())
	require.Empty(t, push(t, r, keys(mem, probe, distinct)), "it has been found to reduce")
	out, err := r.Finish()
	require.Len(t, taken(t, out, err), probe+1)
}

// TestGroupingIsTriedAgainElsewhere: a table of which one partition has unique keys and
// the next repeats them. What passes there is bounded, however long rows of the
// first would have passed.
func TestGroupingIsTriedAgainElsewhere(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	const probe = 10
	for elsewhere, want := range map[bool]int{true: 8*probe + 1, false: 1000} {
		r := newRunner(t, sumByKey(), keySchema, run.Options{Alloc: mem, ProbeRows: probe})
		next, passed := 0, 0
		for range probe * (1 + 8 + 1 + 16 + 1 + 32 + 1 + 64 + 1) { // a hundred and more probes to pass
			passed += len(push(t, r, keys(mem, 1, func(int) int { next++; return next })))
		}
		if elsewhere {
			r.Elsewhere()
		}
		passed = 0
		for range 1000 {
			passed += len(push(t, r, keys(mem, 1, func(int) int { return 1 })))
		}
		out, err := r.Finish()
		require.Equal(t, want, passed+len(taken(t, out, err)))
	}
}

// TestPassFirst: where the source expects nothing of grouping, it is tried later.
func TestPassFirst(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := newRunner(t, sumByKey(), keySchema, run.Options{Alloc: mem, ProbeRows: 10, Pass: true})
	for range 80 {
		require.Len(t, push(t, r, keys(mem, 1, func(int) int { return 1 })), 1)
	}
	require.Empty(t, push(t, r, keys(mem, 1, func(int) int { return 1 })), "it was wrong")
	held := newRunner(t, sumByKey(), keySchema, run.Options{Alloc: mem, ProbeRows: 10, Pass: true, Hold: true})
	require.Empty(t, push(t, held, keys(mem, 5, func(i int) int { return i })), "whole groups are wanted")
}

func TestPassingBacksOff(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := newRunner(t, sumByKey(), keySchema, run.Options{Alloc: mem, ProbeRows: 10})
	next := 0
	distinct := func(int) int { next++; return next }
	held := 0
	for range 10 + 80 + 10 + 160 + 10 + 300 {
		if len(push(t, r, keys(mem, 1, distinct))) == 0 {
			held++
		}
	}
	require.Equal(t, 27, held, "nine rows of each probe are held")
}

func TestPartialRowsPassThroughAsTheyAre(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	spec := sumByKey()
	r := newRunner(t, spec, keySchema, run.Options{Alloc: mem, ProbeRows: 2})
	require.Len(t, push(t, r, keys(mem, 2, func(i int) int { return i })), 2)
	partial := pushdowntest.Batch(mem, spec.OutputSchema(), []any{7, 70, 700}, []any{7, 1, nil})
	defer partial.Release()
	out, err := r.Merge(partial)
	require.Equal(t, []string{"7 | 70 | 700", "7 | 1 | NULL"}, texts(taken(t, out, err)))
}

func texts(rows [][]any) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = pushdowntest.RowText(row)
	}
	return out
}

// A batch beyond the size of a piece is looked at in pieces, selected or not.
func TestLargeBatchesGoInPieces(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	const n = 70_000
	batch := keys(mem, n, func(i int) int { return i })
	defer batch.Release()
	for name, filter := range map[string][]pushdown.Expr{
		"all":  nil,
		"most": {pushdown.Compare{Op: pushdown.NotEqual, Left: keyColumn, Right: pushdown.Literal{Value: pushdowntest.Scalar(keyColumn.DataType, big.NewInt(5))}}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := sumByKey()
			spec.Filter = filter
			r := newRunner(t, spec, keySchema, run.Options{Alloc: mem, MaxGroups: 60_000})
			ready, err := r.Push(batch)
			require.NoError(t, err)
			defer pushdowntest.ReleaseAll(ready)
			require.NotEmpty(t, ready, "the table was full in between")
			rest, err := r.Finish()
			require.NoError(t, err)
			defer pushdowntest.ReleaseAll(rest)
			want, err := pushdowntest.Reference(spec, batch)
			require.NoError(t, err)
			pushdowntest.RequireResult(t, spec, want, append(ready, rest...)...)
		})
	}
}
