package plan

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/sketch"
	"github.com/tributary-db/tributary/server/catalog"
)

// counted is a partition of 1000 rows with the values from low to high.
func counted(low, high int, sketched bool) catalog.Partition {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for v := low; v < high; v++ {
		b.Append(int64(v))
	}
	stats := codec.ColumnStats{Distinct: int64(high - low)}
	if sketched {
		stats.Sketch = sketch.Of([]arrow.Array{b.NewArray()}).Bytes()
	}
	return catalog.Partition{Rows: 1000, Columns: map[string]codec.ColumnStats{"a": stats}}
}

func TestDistinctValues(t *testing.T) {
	t.Parallel()
	nulls := catalog.Partition{Rows: 5, Columns: map[string]codec.ColumnStats{"a": {Nulls: 5}}}
	for name, c := range map[string]struct {
		parts []catalog.Partition
		want  float64
	}{
		"none":                   {nil, 0},
		"one":                    {[]catalog.Partition{counted(0, 50, false)}, 50},
		"the same values":        {[]catalog.Partition{counted(0, 50, true), counted(0, 50, true)}, 50},
		"other values":           {[]catalog.Partition{counted(0, 50, true), counted(50, 100, true)}, 100},
		"without a sketch":       {[]catalog.Partition{counted(0, 50, true), counted(0, 50, false)}, 100},
		"empty, and only NULL":   {[]catalog.Partition{counted(0, 50, true), nulls, {Rows: 0}}, 50},
		"one that did not count": {[]catalog.Partition{counted(0, 50, true), {Rows: 9}}, math.Inf(1)},
	} {
		got := DistinctValues(&catalog.Table{Partitions: c.parts}, "a")
		if math.IsInf(c.want, 1) {
			require.Equal(t, c.want, got, name)
			continue
		}
		require.InDelta(t, c.want, got, 0.15*c.want, name)
	}
}

// TestGroupsOfCountedValues: texts have no bounds that tell how many there are.
func TestGroupsOfCountedValues(t *testing.T) {
	t.Parallel()
	part := counted(0, 50, true)
	v := &values{parts: []*catalog.Partition{&part}}
	text := pushdown.Column{Name: "a", DataType: arrow.BinaryTypes.String}
	require.InDelta(t, 50, v.of(text), 8)
	part.Columns["a"] = codec.ColumnStats{}
	require.Equal(t, math.Inf(1), v.of(text))
}
