package query

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQualified(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, out string }{
		{"SELECT * FROM system.queries", "SELECT * FROM tributary.system.queries"},
		{`select 1 from "System" . "QUERIES" q`, `select 1 from tributary."System" . "QUERIES" q`},
		{"FROM system.scans JOIN /* here */ system.query_rounds USING (query_id)", "FROM tributary.system.scans JOIN /* here */ tributary.system.query_rounds USING (query_id)"},
		{"SELECT * FROM t, (system.scans)", "SELECT * FROM t, (tributary.system.scans)"},
		{"DESCRIBE system.scans", "DESCRIBE tributary.system.scans"},
		{"SELECT * FROM tributary.system.queries", "SELECT * FROM tributary.system.queries"},
		{"SELECT * FROM system.orders", "SELECT * FROM system.orders"},
		{"SELECT system.queries FROM t AS system", "SELECT system.queries FROM t AS system"},
		{"SELECT 'from system.queries' -- from system.queries", "SELECT 'from system.queries' -- from system.queries"},
		{"SELECT * FROM system", "SELECT * FROM system"},
		{"", ""},
	} {
		require.Equal(t, tc.out, qualified(tc.in))
		require.Equal(t, tc.out, qualified(qualified(tc.in)), "twice")
	}
}
