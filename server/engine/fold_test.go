package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

// TestFolding: constants that would fill the memory in planning are refused,
// and usual calls are not.
func TestFolding(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	for _, sql := range []string{
		"select repeat('x', 2000000000)",
		"select length(repeat(repeat('xyxyxyxyxy', 10000), 10000))",
		"select a from t where \"B c\" = rpad('x', 1000000000, 'y')",
		"select repeat('x', 10 ** 9)",
		"select repeat('x', 1000 * 1000 * 1000)",
		"select repeat('x', '2000000000'::bigint)",
		"select list_sum(range(300000000))",
		"select unnest(generate_series(1, 1000000000))",
		"select list_transform([1], x -> repeat('x', 1000000000))",
		"from range(len(range(1000000000)))",
		"select replace('" + strings.Repeat("x", 10000) + "', 'x', '" + strings.Repeat("y", 10000) + "')",
		"select repeat('x', 170141183460469231731687303715884105727)",
	} {
		_, err := b.Bind(t.Context(), sql)
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%.80s: %v", sql, err)
	}
	for _, sql := range []string{
		"select repeat('ab', 100), lpad('x', 20, '0'), rpad(\"B c\", 30, ' ') from t",
		"select * from range(1000000000)",
		"select i from range(1, 1000000000000, 7) t(i) limit 3",
		"select len(range(1700000000, 1700000100))",
		"select generate_series(date '2020-01-01', date '2024-01-01', interval 1 day)",
		"select repeat(\"B c\", a * 1000000) from t",
		"select printf('%5d', a), format('{:.2f}', 12345.678), replace(\"B c\", 'a', 'b') from t",
		"select regexp_replace(\"B c\", '^https?://(?:www\\.)?([^/]+)/.*$', '\\1') from t",
	} {
		_, err := b.Bind(t.Context(), sql)
		require.NoError(t, err, sql)
	}
}
