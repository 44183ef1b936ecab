package memory_test

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/sketch"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/scanner/memory"
)

func onePartition(t require.TestingT, s *memory.Source) scanner.Partition {
	parts, err := s.Partitions(context.Background())
	require.NoError(t, err)
	require.Len(t, parts, 1)
	return parts[0]
}

func TestVersions(t *testing.T) {
	t.Parallel()
	mem := arrowmem.NewCheckedAllocator(arrowmem.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	b := batch(mem, 4, -2, 9)
	defer b.Release()
	put := memory.Partition{ID: "a", Batches: []arrow.RecordBatch{b, b}}
	s, err := memory.New(schema, []memory.Partition{put})
	require.NoError(t, err)
	defer s.Release()
	first := onePartition(t, s)
	require.Equal(t, first, onePartition(t, s))
	stats := first.Columns["i"]
	require.Equal(t, scalar.NewInt64Scalar(-2), stats.Min)
	require.Equal(t, scalar.NewInt64Scalar(9), stats.Max)
	require.True(t, stats.Exact)
	require.EqualValues(t, 3, stats.Distinct)
	require.InDelta(t, 3, sketch.Parse(stats.Sketch).Count(), 0.1)
	s.Remove("a")
	require.NoError(t, s.Put(put))
	require.NotEqual(t, first.Version, onePartition(t, s).Version, "the same rows, but nobody compared them")
}

// TestStatistics compares the statistics of random columns with their values.
func TestStatistics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, arrowmem.DefaultAllocator, schema, 20)
		defer pushdowntest.ReleaseAll(batches)
		s, err := memory.New(schema, []memory.Partition{{ID: "a", Batches: batches}})
		require.NoError(t, err)
		defer s.Release()
		p := onePartition(t, s)
		rows := pushdowntest.Rows(batches...)
		require.EqualValues(t, len(rows), p.Rows)
		for i, f := range schema.Fields() {
			stats, nulls, seenMin, seenMax := p.Columns[f.Name], int64(0), false, false
			for _, row := range rows {
				if row[i] == nil {
					nulls++
					continue
				}
				if stats.Min != nil {
					lo, hi := value(stats.Min), value(stats.Max)
					require.LessOrEqual(t, pushdowntest.Compare(lo, row[i]), 0)
					require.GreaterOrEqual(t, pushdowntest.Compare(hi, row[i]), 0)
					seenMin = seenMin || pushdowntest.Compare(lo, row[i]) == 0
					seenMax = seenMax || pushdowntest.Compare(hi, row[i]) == 0
				}
			}
			require.Equal(t, nulls, stats.Nulls, f)
			require.Equal(t, stats.Min != nil, seenMin && seenMax)
			require.Equal(t, stats.Exact, seenMin)
		}
	})
}

func value(s scalar.Scalar) any {
	a, err := scalar.MakeArrayFromScalar(s, 1, arrowmem.DefaultAllocator)
	if err != nil {
		panic(err)
	}
	defer a.Release()
	return pushdowntest.ValueAt(a, 0)
}
