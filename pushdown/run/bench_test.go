package run_test

import (
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/pushdown/run"
)

// Rows per second of whole specs; selectivity is that of the filter.
func BenchmarkRunner(b *testing.B) {
	const rows = 64 << 10
	few := keys(memory.DefaultAllocator, rows, func(i int) int { return i * 2654435761 % 1000 })
	defer few.Release()
	unique := keys(memory.DefaultAllocator, rows, func(i int) int { return i })
	defer unique.Release()
	below := func(k int64) []pushdown.Expr {
		limit := pushdown.Literal{Value: pushdowntest.Scalar(keyColumn.DataType, big.NewInt(k))}
		return []pushdown.Expr{pushdown.Compare{Op: pushdown.Less, Left: keyColumn, Right: limit}}
	}
	for _, c := range []struct {
		name   string
		spec   pushdown.Spec
		filter []pushdown.Expr
		unique bool
	}{
		{"spec=group/selectivity=100", sumByKey(), nil, false},
		{"spec=group/selectivity=50", sumByKey(), below(500), false},
		{"spec=group/selectivity=1", sumByKey(), below(10), false},
		{"spec=scan/selectivity=50", rowScan(pushdown.NoLimit, keyColumn, valueColumn), below(500), false},
		{"spec=passthrough/selectivity=100", sumByKey(), nil, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.spec.Filter = c.filter
			batch := few
			opts := run.Options{}
			if c.unique {
				batch, opts.ProbeRows = unique, rows
			}
			r, err := run.New(c.spec, keySchema, opts)
			require.NoError(b, err)
			defer r.Release()
			for b.Loop() {
				out, err := r.Push(batch)
				require.NoError(b, err)
				pushdowntest.ReleaseAll(out)
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
