package catalog

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/partition"
)

func promising(t arrow.DataType, p partition.Promise) codec.Table {
	part := part("0", -1)
	part.Promise = p
	out := table("t", schemaOf(field("k", t)), part)
	out.PromiseVersion = "p"
	return out
}

// TestPromisesAreWidened: to what the table makes of the values, if they then
// have the same canonical bytes.
func TestPromisesAreWidened(t *testing.T) {
	t.Parallel()
	null := scalar.MakeNullScalar(arrow.Null)
	offered := partition.Promise{
		Values:  map[string][]scalar.Scalar{"k": {scalar.NewInt32Scalar(5), null}},
		Buckets: &partition.Buckets{Hash: partition.Hash{Columns: []string{"k"}, Of: 4}, Holds: []int{1}},
	}
	over := func(other arrow.DataType) partition.Promise {
		wide := table("t", schemaOf(field("k", other)), part("1", 0))
		got := merge([]view{seen("a", "a:1", promising(arrow.PrimitiveTypes.Int32, offered)), seen("b", "b:1", wide)}).Tables["main.t"]
		require.NoError(t, got.Err)
		require.Equal(t, map[string]string{"a": "p"}, got.PromiseVersions)
		require.True(t, got.Partitions[1].Promise.Empty())
		return got.Partitions[0].Promise
	}
	money := &arrow.Decimal128Type{Precision: 12, Scale: 2}
	require.Equal(t, scalar.NewInt64Scalar(5), over(arrow.PrimitiveTypes.Int64).Values["k"][0])
	require.Equal(t, offered.Buckets, over(arrow.PrimitiveTypes.Int64).Buckets)
	require.Equal(t, scalar.NewDecimal128Scalar(decimal128.FromI64(500), money).Value, over(money).Values["k"][0].(*scalar.Decimal128).Value)
	require.False(t, over(money).Values["k"][1].IsValid())
	promised := over(arrow.PrimitiveTypes.Float64)
	require.True(t, promised.Empty(), "5 and 5.0 have other bytes")
}

func TestReplicasMustAgreeOnPromises(t *testing.T) {
	t.Parallel()
	of := func(v int64) partition.Promise {
		return partition.Promise{Values: map[string][]scalar.Scalar{"k": {scalar.NewInt64Scalar(v)}}}
	}
	both := func(a, b partition.Promise) partition.Promise {
		return merge([]view{seen("a", "a:1", promising(arrow.PrimitiveTypes.Int64, a)), seen("b", "b:1", promising(arrow.PrimitiveTypes.Int64, b))}).
			Tables["main.t"].Partitions[0].Promise
	}
	require.Equal(t, of(1), both(of(1), of(1)))
	for _, other := range []partition.Promise{of(2), {}} {
		promised := both(of(1), other)
		require.True(t, promised.Empty())
	}
}
