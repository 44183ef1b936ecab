package plan

import (
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// BenchmarkPlan measures the steps between a bound plan and the SQL written back.
func BenchmarkPlan(b *testing.B) {
	for _, query := range []string{"tpch/q01", "tpch/q21", "tpcds/q64"} {
		suite, _, _ := strings.Cut(query, "/")
		env := benchmarkEnv(b, suite)
		text, err := os.ReadFile("testdata/" + query + ".sql")
		require.NoError(b, err)
		bound, err := env.binder.Bind(b.Context(), string(text))
		require.NoError(b, err)
		root, err := Read(bound.PlanJSON, env.snap)
		require.NoError(b, err)
		names := mapSlice(bound.Schema.Fields(), func(f arrow.Field) string { return f.Name })
		b.Run("step=read/query="+query, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bound.PlanJSON)))
			for b.Loop() {
				_, err := Read(bound.PlanJSON, env.snap)
				require.NoError(b, err)
			}
		})
		b.Run("step=render/query="+query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := Render(root, names, plainScan)
				require.NoError(b, err)
			}
		})
	}
}
