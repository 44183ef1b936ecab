package agg_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/status"
)

// TestIndexEqualsComparison: a tuple is found where a row has equal values, none of
// them NULL, whatever the hashes.
func TestIndexEqualsComparison(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		build, probe := keyColumns(t)
		x, err := agg.NewIndex(build, rapid.SampledFrom([]uint64{0, 1, 6}).Draw(t, "hash mask"))
		require.NoError(t, err)
		out := make([]uint32, probe[0].Len())
		require.NoError(t, x.Find(out, probe))
		left, right := values(build), values(probe)
		unique := true
		for i, tuple := range out {
			var want []uint32
			for j := range left {
				if equalTuples(left[j], right[i]) {
					want = append(want, uint32(j))
				}
			}
			unique = unique && len(want) < 2
			if len(want) == 0 {
				require.Equal(t, agg.Missing, tuple)
			} else {
				require.Equal(t, want, x.Rows(tuple))
			}
		}
		require.True(t, unique || !x.Unique())
	})
}

// keyColumns draws columns to index, and columns of the same values to look up, which may be
// dictionaries.
func keyColumns(t *rapid.T) (build, probe []arrow.Array) {
	var types, plain []arrow.Field
	for range rapid.IntRange(1, 3).Draw(t, "columns") {
		dt := rapid.SampledFrom(pushdowntest.Types()).Draw(t, "type")
		if f, _ := pushdown.FamilyOf(dt); f == pushdown.FamilyFloat {
			dt = arrow.BinaryTypes.String
		}
		types, plain = append(types, arrow.Field{Type: dt}), append(plain, arrow.Field{Type: pushdown.ValueType(dt)})
	}
	mem := memory.DefaultAllocator
	build = pushdowntest.RandomBatch(t, mem, arrow.NewSchema(plain, nil), rapid.IntRange(0, 30).Draw(t, "rows")).Columns()
	return build, pushdowntest.RandomBatch(t, mem, arrow.NewSchema(types, nil), rapid.IntRange(0, 30).Draw(t, "probes")).Columns()
}

func values(columns []arrow.Array) [][]any {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i].Type = c.DataType()
	}
	return pushdowntest.Rows(array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len())))
}

func equalTuples(a, b []any) bool {
	for i := range a {
		if a[i] == nil || b[i] == nil || pushdowntest.Compare(a[i], b[i]) != 0 {
			return false
		}
	}
	return true
}

func TestIndexRefusesFloats(t *testing.T) {
	t.Parallel()
	for _, dt := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
		_, err := agg.NewIndex([]arrow.Array{array.MakeArrayOfNull(memory.DefaultAllocator, dt, 1)}, 0)
		require.Equal(t, status.Unimplemented, status.CodeOf(err))
	}
}
