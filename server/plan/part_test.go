package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// versionedEnv has a table p of four partitions on two scanners, with versions,
// and a table q without.
func versionedEnv(t *testing.T) *rulesEnv {
	full := pushdown.AllCapabilities()
	s1, s2 := testScanner("s1", full), testScanner("s2", full.Without("all"))
	env := &rulesEnv{binder: newEngineBinder(t), snap: &catalog.Snapshot{
		Version: 1, Tables: map[string]*catalog.Table{}, Scanners: map[string]*catalog.Scanner{"s1": s1, "s2": s2},
	}}
	p, q := prunedTable(t, 4, s1, s2), testTable(t, "q", "a BIGINT, l LIST", 2, s1, s2)
	p.Versioned = map[string]bool{"s1": true, "s2": true}
	for _, table := range []*catalog.Table{p, q, testTable(t, "e", "x INTEGER", 0, s1)} {
		env.snap.Tables[table.ID()] = table
	}
	return env
}

func (e *rulesEnv) parts(t *testing.T, sql string, each bool) (*Plan, []Part, error) {
	t.Helper()
	p, err := New(e.binder).Plan(t.Context(), sql, e.snap, Options{})
	require.NoError(t, err, sql)
	parts, err := p.Parts(each)
	return p, parts, err
}

func TestPartsOfRowByRowPlans(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	for sql, want := range map[string]int{
		"SELECT * FROM p": 4, "SELECT s, a FROM p": 4, "SELECT a + 1, upper(s) FROM p WHERE a % 2 = 0": 4,
		"SELECT a FROM p WHERE a < 15": 2, "SELECT a FROM (SELECT a, f FROM p WHERE f > 0) WHERE a > 3": 4,
		"SELECT random(), now() FROM p": 4, "SELECT unnest([a, a + 1]) FROM p": 4, "SELECT s FROM p WHERE s SIMILAR TO '(a|b)+'": 4,
	} {
		p, parts, err := env.parts(t, sql, true)
		require.NoError(t, err, sql)
		require.Len(t, parts, want, sql)
		_, byScanner, err := env.parts(t, sql, false)
		require.NoError(t, err, sql)
		require.Len(t, byScanner, 2, sql)
		seen := map[string]bool{}
		for _, part := range parts {
			require.Len(t, part.Spec.Partitions, 1, sql)
			require.False(t, seen[part.Spec.Partitions[0]], "read twice: %s", sql)
			seen[part.Spec.Partitions[0]] = true
			again, err := part.Plan(env.snap)
			require.NoError(t, err, sql)
			require.Equal(t, p.Kind, again.Kind, sql)
			require.Equal(t, p.Residual, again.Residual, "%s\n%s", sql, p.Residual)
			require.Equal(t, p.Schema, again.Schema)
			require.True(t, again.Scans[0].Targets[0].Pinned)
			require.Equal(t, "v of "+part.Scanner, again.Scans[0].Targets[0].Version)
			if p.Kind == PassThrough {
				want, _ := passedColumns(p.Root)
				have, ok := passedColumns(again.Root)
				require.True(t, ok, sql)
				require.Equal(t, want, have, sql)
			}
		}
	}
}

func TestPlansWithoutParts(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	for sql, why := range map[string]string{
		"SELECT count(*), max(f) FROM p": "nothing proves", "SELECT DISTINCT s FROM p": "nothing proves", "SELECT s, count(*) FROM p GROUP BY s": "nothing proves", "SELECT d, count(*) FROM p GROUP BY d": "nothing proves",
		"SELECT a % 2 AS k, count(*) FROM p GROUP BY k": "nothing proves", "SELECT a, s, count(*) FROM p GROUP BY CUBE (a, s)": "grouping sets", "SELECT s, count(DISTINCT a) FROM p GROUP BY s": "nothing proves",
		"SELECT DISTINCT ON (a) s FROM p": "DISTINCT ON", "SELECT a, count(*) FROM p GROUP BY a LIMIT 3": "Limit", "SELECT a, list(s) FROM p GROUP BY a": "not formed by the scanners",
		"SELECT a, count(*) AS n FROM p GROUP BY a ORDER BY n LIMIT 2": "depend on each other", "SELECT sum(n) FROM (SELECT a, count(*) AS n FROM p GROUP BY a)": "not formed by the scanners",
		"SELECT * FROM p LIMIT 3": "depend on each other", "SELECT * FROM p OFFSET 1": "Limit", "SELECT * FROM p ORDER BY a": "Sort",
		"SELECT * FROM p ORDER BY a LIMIT 2": "depend on each other", "SELECT row_number() OVER () FROM p": "Window",
		"SELECT x.a FROM p x JOIN p y ON x.a = y.a": "it reads 2 tables", "SELECT a FROM p UNION ALL SELECT a FROM p": "it reads 2 tables",
		"SELECT a FROM p WHERE a IN (SELECT a FROM q)": "it reads 2 tables", "SELECT 1": "it reads 0 tables", "SHOW TABLES": "answers alone", "SELECT a FROM q": "does not know a version",
		"SELECT x FROM e": "no partitions", "SELECT p.a FROM p, range(3)": "Join",
	} {
		_, parts, err := env.parts(t, sql, false)
		require.Equal(t, status.Unimplemented, status.CodeOf(err), sql)
		require.ErrorContains(t, err, why, sql)
		require.Nil(t, parts, sql)
	}
}

func TestPartOfAChangedFederation(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	_, parts, err := env.parts(t, "SELECT a FROM p", false)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(*catalog.Snapshot)
		code   status.Code
	}{
		"the scanner restarted": {func(s *catalog.Snapshot) {
			restarted := *s.Scanners["s1"]
			restarted.Epoch = "2"
			s.Scanners["s1"] = &restarted
		}, status.Aborted},
		"the scanner is down": {func(s *catalog.Snapshot) {
			down := *s.Scanners["s1"]
			down.Err = status.New(status.Unavailable, "refused")
			s.Scanners["s1"] = &down
		}, status.Unavailable},
		"another federation": {func(s *catalog.Snapshot) { delete(s.Scanners, "s1") }, status.Unavailable},
		"the table is gone":  {func(s *catalog.Snapshot) { delete(s.Tables, "main.p") }, status.Aborted},
		"the table is broken": {func(s *catalog.Snapshot) {
			broken := *s.Tables["main.p"]
			broken.Err = status.New(status.FailedPrecondition, "its schemas differ")
			s.Tables["main.p"] = &broken
		}, status.FailedPrecondition},
	} {
		snap := &catalog.Snapshot{Version: 2, Tables: map[string]*catalog.Table{}, Scanners: map[string]*catalog.Scanner{}}
		for k, v := range env.snap.Tables {
			snap.Tables[k] = v
		}
		for k, v := range env.snap.Scanners {
			snap.Scanners[k] = v
		}
		c.change(snap)
		_, err := parts[0].Plan(snap)
		require.Equal(t, c.code, status.CodeOf(err), "%s: %v", name, err)
	}
}
