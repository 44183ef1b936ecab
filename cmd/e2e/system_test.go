package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/cmd/system"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

// TestSystemTables: a coordinator's own queries can be queried, with every
// pushdown rung, joined with each other and with federated tables.
func TestSystemTables(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	history := &query.History{}
	own, err := system.Start(history)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Close()) })
	c := startCoordinator(t, server.Config{Scanners: f.addrs, Own: []string{system.Addr}, Dial: own.Dial(nil), History: history})
	set := query.DefaultSettings()
	require.NoError(t, set.Set("adaptive", "always"))
	const good = "SELECT a.id FROM events a JOIN events b ON a.id = b.id WHERE a.name = 'name 5'"
	answer(t, d, c, set, good)
	_, err = run(c, set, "SELECT CAST(name AS INTEGER) FROM events")
	require.Error(t, err)

	for _, rung := range []string{"full", "filter", "off"} {
		require.NoError(t, set.Set("pushdown", rung))
		for _, tc := range []struct{ sql, want string }{
			{"SELECT count(*), min(sql) FROM system.queries WHERE sql LIKE 'SELECT a.id%' AND outcome = 'ok'", "1 " + good},
			{"SELECT outcome, mode, error IS NOT NULL FROM system.queries WHERE sql LIKE 'SELECT CAST(name%'", "invalid argument residual true"},
			{"SELECT outcome, result_rows FROM system.queries WHERE sql LIKE '%this one%' AND outcome = 'running'", "running NULL"},
			{`SELECT count(*) > 1, bool_or(r.rules LIKE '%semi_join_filter%'), bool_and(r.plan_before LIKE '%events%') FROM "SYSTEM".queries q JOIN system.query_rounds r USING (query_id) WHERE q.sql LIKE 'SELECT a.id%'`, "true true true"},
			{"SELECT s.table_name, count(*) >= 2, sum(s.rows_scanned) > 0 FROM system.queries q, system.scans s WHERE q.query_id = s.query_id AND q.sql LIKE 'SELECT a.id%' GROUP BY 1", "main.events true true"},
			{"SELECT count(*) > 2 FROM system.queries USING SAMPLE 100%", "true"},
			{"SELECT count(DISTINCT e.id) FROM events e, system.queries q WHERE q.outcome = 'ok' AND e.id = 7", "1"},
		} {
			require.Equal(t, tc.want, answer(t, d, c, set, tc.sql), "%s: %s", rung, tc.sql)
		}
	}
	_, text := rowsScanned(t, d, c, query.DefaultSettings(), "SELECT outcome, count(*) FROM system.queries GROUP BY outcome")
	require.Contains(t, text, "scanner @coordinator at in-process:system: 1 partition, runs aggregate", text)
	require.Len(t, c.Catalog().Snapshot().Scanners, len(f.addrs)+1)
}
