package catalog

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
)

func between(lo, hi int64) codec.ColumnStats {
	return codec.ColumnStats{Min: scalar.NewInt64Scalar(lo), Max: scalar.NewInt64Scalar(hi), Exact: true}
}

func versioned(version string, columns map[string]codec.ColumnStats) codec.Table {
	p := part("0", 3)
	p.Columns = columns
	t := table("t", schemaOf(idCol, field("same", idCol.Type), field("bounds", idCol.Type), field("nulls", idCol.Type),
		field("bound", idCol.Type), field("mine", idCol.Type), field("theirs", idCol.Type)), p)
	t.Version = version
	return t
}

func TestStatisticsNeedAVersion(t *testing.T) {
	t.Parallel()
	columns := map[string]codec.ColumnStats{"id": between(1, 2)}
	got := merge([]view{seen("a", "a:1", versioned("v1", columns))}).Tables["main.t"]
	require.Equal(t, map[string]string{"a": "v1"}, got.Versions)
	require.Equal(t, columns, got.Partitions[0].Columns)
	got = merge([]view{seen("a", "a:1", versioned("", columns))}).Tables["main.t"]
	require.Empty(t, got.Versions)
	require.Nil(t, got.Partitions[0].Columns)
}

func TestReplicasMustAgreeOnStatistics(t *testing.T) {
	t.Parallel()
	mine := map[string]codec.ColumnStats{
		"same": between(1, 2), "bounds": between(1, 2), "nulls": {Nulls: 1}, "bound": between(1, 2), "mine": {},
	}
	theirs := map[string]codec.ColumnStats{
		"same": between(1, 2), "bounds": between(1, 3), "nulls": {Nulls: 2}, "bound": {}, "theirs": {},
	}
	both := func(version string) Partition {
		return merge([]view{
			seen("a", "a:1", versioned("v1", mine)), seen("b", "b:1", versioned(version, theirs)),
		}).Tables["main.t"].Partitions[0]
	}
	require.Equal(t, map[string]codec.ColumnStats{"same": between(1, 2)}, both("v2").Columns)
	require.Nil(t, both("").Columns)
}
