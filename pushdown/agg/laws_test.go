package agg_test

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
)

// groupedSpec draws specs until one aggregates. The filter is dropped: it is not
// the aggregator's.
func groupedSpec(t *rapid.T, schema *arrow.Schema) pushdown.Spec {
	for {
		if spec := pushdowntest.Spec(t, schema); spec.Grouped() && len(spec.Lookups) == 0 {
			spec.Filter = nil
			return spec
		}
	}
}

// law runs check over random batches and an aggregate that does not fail.
func law(t *testing.T, check func(t *rapid.T, mem memory.Allocator, l lawCase)) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		l := lawCase{schema: pushdowntest.Schema(t)}
		l.batches = pushdowntest.Batches(t, mem, l.schema, 40)
		l.spec = groupedSpec(t, l.schema)
		var err error
		if l.want, err = pushdowntest.Reference(l.spec, l.batches...); err == nil {
			t.Logf("%s", l.spec.String())
			check(t, mem, l)
		}
		pushdowntest.ReleaseAll(l.batches)
		mem.AssertSize(t, 0)
	})
}

type lawCase struct {
	schema  *arrow.Schema
	batches []arrow.RecordBatch
	spec    pushdown.Spec
	want    [][]any
}

func (l *lawCase) aggregator(t *rapid.T, mem memory.Allocator) *agg.Aggregator {
	mask := rapid.SampledFrom([]uint64{0, 1, 1 << 63}).Draw(t, "hash mask")
	a, err := agg.New(&l.spec, l.schema, agg.Options{Alloc: mem, HashMask: mask})
	require.NoError(t, err)
	return a
}

func emit(t require.TestingT, a *agg.Aggregator) []arrow.RecordBatch {
	out, err := a.Emit()
	require.NoError(t, err)
	return out
}

// Every row goes to one of several aggregators; their results are merged in a
// random tree. The answer is that of one aggregator over all rows.
func TestAnySplitAndMergeTreeEqualsWhole(t *testing.T) {
	law(t, func(t *rapid.T, mem memory.Allocator, l lawCase) {
		parts := make([][]arrow.RecordBatch, rapid.IntRange(1, 4).Draw(t, "parts"))
		aggs := make([]*agg.Aggregator, len(parts))
		for i := range aggs {
			aggs[i] = l.aggregator(t, mem)
			defer aggs[i].Release()
		}
		for _, b := range l.batches {
			for i, sel := range deal(t, int(b.NumRows()), len(aggs)) {
				require.NoError(t, aggs[i].Update(b, sel))
			}
		}
		for i, a := range aggs {
			parts[i] = emit(t, a)
		}
		for len(parts) > 1 {
			i := rapid.IntRange(1, len(parts)-1).Draw(t, "merge")
			if rapid.Bool().Draw(t, "swap") {
				parts[0], parts[i] = parts[i], parts[0]
			}
			merged := mergeAll(t, l.aggregator(t, mem), append(parts[0], parts[i]...))
			pushdowntest.ReleaseAll(append(parts[0], parts[i]...))
			parts = append(append([][]arrow.RecordBatch{merged}, parts[1:i]...), parts[i+1:]...)
		}
		defer pushdowntest.ReleaseAll(parts[0])
		pushdowntest.RequireSameRows(t, l.want, pushdowntest.Rows(parts[0]...))
	})
}

// deal gives every row to one of k selections.
func deal(t *rapid.T, rows, k int) [][]int32 {
	out := make([][]int32, k)
	for i := range out {
		out[i] = []int32{}
	}
	for row := range int32(rows) {
		i := rapid.IntRange(0, k-1).Draw(t, "part")
		out[i] = append(out[i], row)
	}
	return out
}

func mergeAll(t *rapid.T, a *agg.Aggregator, batches []arrow.RecordBatch) []arrow.RecordBatch {
	defer a.Release()
	for _, b := range batches {
		require.NoError(t, a.Merge(b))
	}
	return emit(t, a)
}

// Passing rows through and grouping the partial rows equals grouping the rows.
func TestPassThroughIsMergeStable(t *testing.T) {
	law(t, func(t *rapid.T, mem memory.Allocator, l lawCase) {
		if len(l.spec.GroupBy) == 0 {
			return
		}
		a := l.aggregator(t, mem)
		defer a.Release()
		for _, b := range l.batches {
			for _, sel := range deal(t, int(b.NumRows()), 2) {
				partial, err := a.PassThrough(b, sel)
				require.NoError(t, err)
				for _, p := range partial {
					require.True(t, l.spec.OutputSchema().Equal(p.Schema()))
					require.NoError(t, a.Merge(p))
				}
				pushdowntest.ReleaseAll(partial)
			}
		}
		out := emit(t, a)
		defer pushdowntest.ReleaseAll(out)
		pushdowntest.RequireSameRows(t, l.want, pushdowntest.Rows(out...))
	})
}

// An aggregator that was emptied counts from nothing, whatever it held before.
func TestReuseAfterEmit(t *testing.T) {
	law(t, func(t *rapid.T, mem memory.Allocator, l lawCase) {
		a := l.aggregator(t, mem)
		defer a.Release()
		for range 2 {
			for _, b := range l.batches {
				require.NoError(t, a.Update(b, nil))
			}
			out := emit(t, a)
			pushdowntest.RequireSameRows(t, l.want, pushdowntest.Rows(out...))
			pushdowntest.ReleaseAll(out)
		}
	})
}

// Batches longer than a window, tables that grow and strings that are replaced.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	r := rand.New(rand.NewPCG(7, 11))
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint16, ValueType: arrow.BinaryTypes.String}
	schema := schemaOf(arrow.BinaryTypes.String, dict, arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String)
	rows := make([][]any, 50_000)
	for i := range rows {
		text := string([]byte("a long common prefix of the string values")[:r.IntN(40)]) + string(rune('a'+r.IntN(26)))
		rows[i] = []any{text, string(rune('a' + r.IntN(26))), r.IntN(40), text}
		if r.IntN(10) == 0 {
			rows[i][r.IntN(4)] = nil
		}
	}
	batch := pushdowntest.Batch(mem, schema, rows...)
	defer batch.Release()
	spec := groupSpec(schema, 3, pushdown.CountStar, pushdown.Count, pushdown.Min, pushdown.Max)
	a := newAggregator(t, spec, schema, agg.Options{Alloc: mem})
	require.NoError(t, a.Update(batch, nil))
	require.Greater(t, a.Groups(), 20_000)
	out := emit(t, a)
	defer agg.Release(out)
	want, err := pushdowntest.Reference(*spec, batch)
	require.NoError(t, err)
	pushdowntest.RequireResult(t, *spec, want, out...)
}

// The arena of string extremes is compacted without losing any.
func TestStringExtremesCompact(t *testing.T) {
	t.Parallel()
	mem := checked(t)
	schema := schemaOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String)
	a := newAggregator(t, groupSpec(schema, 1, pushdown.Max), schema, agg.Options{Alloc: mem})
	for size := 1 << 10; size <= 1<<18; size += 1 << 12 {
		text := make([]byte, size) // longer is greater
		kb, vb := array.NewInt64Builder(mem), array.NewStringBuilder(mem)
		for k := range int64(4) {
			kb.Append(k)
			vb.Append(string(text[:size-int(k)]))
		}
		cols := []arrow.Array{kb.NewArray(), vb.NewArray()}
		batch := array.NewRecordBatch(schema, cols, 4)
		require.NoError(t, a.Update(batch, nil))
		for _, x := range []interface{ Release() }{kb, vb, cols[0], cols[1], batch} {
			x.Release()
		}
	}
	require.Less(t, a.Bytes(), int64(8<<20))
	for _, row := range pushdowntest.Rows(emitReleased(t, a)...) {
		require.Len(t, row[1], 1<<18-1<<12+1<<10-int(row[0].(interface{ Int64() int64 }).Int64()))
	}
}

// emitReleased releases the batches when the test ends.
func emitReleased(t *testing.T, a *agg.Aggregator) []arrow.RecordBatch {
	out := emit(t, a)
	t.Cleanup(func() { agg.Release(out) })
	return out
}
