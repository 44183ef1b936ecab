package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoScanIsSilent: whatever does more than a scan, and is not pushed, has a
// reason; what is pushed, or cannot be, has none.
func TestNoScanIsSilent(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	for sql, want := range map[string][]string{
		"SELECT a, row_number() OVER (ORDER BY a) FROM t":                      {"window functions stay"},
		"SELECT t.a, u.v FROM t JOIN u ON t.a = u.a":                           {"join stays", "join stays"},
		"SELECT a FROM t ORDER BY a":                                           {"ORDER BY stays"},
		"SELECT a FROM t EXCEPT ALL SELECT a FROM u":                           {"EXCEPT stays", "EXCEPT stays"},
		"SELECT a FROM t INTERSECT ALL SELECT a FROM u":                        {"INTERSECT stays", "INTERSECT stays"},
		"SELECT a FROM (SELECT t.a FROM t JOIN u ON t.a = u.a) ORDER BY a":     {"join stays", "join stays"},
		"SELECT a FROM t WHERE a IN (SELECT a FROM u) ORDER BY a":              {"join stays", "join stays"},
		"SELECT t.a FROM t, u WHERE t.a = u.a AND reverse(t.s) = 'x'":          {"filter stays", "join stays"},
		"SELECT count(*) FROM t JOIN u ON t.a = u.a":                           {"aggregate stays", "aggregate stays"},
		"SELECT u.v FROM u JOIN (SELECT a FROM t GROUP BY a) g ON g.a = u.a":   {"join stays"},
		"SELECT u.v FROM u JOIN (SELECT a FROM t LIMIT 3) g ON g.a = u.a":      {"join stays"},
		"SELECT s, count(*) AS n FROM t GROUP BY s ORDER BY n":                 {},
		"SELECT a FROM t ORDER BY a LIMIT 3":                                   {},
		"SELECT a FROM t UNION ALL SELECT a FROM u":                            {},
		"SELECT reverse(s) FROM t":                                             {},
		"SELECT sum(b) OVER () FROM (SELECT b FROM t UNION ALL SELECT 1 AS b)": {"window functions stay"},
	} {
		root, fired, err := applyRules(env.bind(t, sql), rules(PushdownFull))
		require.NoError(t, err, sql)
		got := reasonsOf(root)
		require.Len(t, got, len(want), "%s: %q", sql, got)
		for i := range want {
			require.Contains(t, got[i], want[i], sql)
		}
		require.NotContains(t, fired, "reasons")
	}
}
