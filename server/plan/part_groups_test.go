package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
)

// TestPartsOfWholeGroups: a is on one scanner each by its bounds.
func TestPartsOfWholeGroups(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	for _, sql := range []string{
		"SELECT a, count(*) FROM p GROUP BY a", "SELECT s, a + 1, sum(f) FROM p WHERE a > 5 GROUP BY s, a", "SELECT a FROM p GROUP BY a HAVING count(*) > 1 AND a > 3",
		"SELECT DISTINCT a, s FROM p", "SELECT DISTINCT s, upper(s), a FROM p WHERE f > 0", "SELECT a, count(DISTINCT s) FROM p GROUP BY a", "SELECT n * 2 FROM (SELECT a, count(*) AS n FROM p GROUP BY a) WHERE n > 1",
	} {
		p, parts, err := env.parts(t, sql, true)
		require.NoError(t, err, sql)
		require.Len(t, parts, 2, "by scanner: %s", sql)
		for _, part := range parts {
			require.Len(t, part.Spec.Partitions, 2, sql)
			require.Empty(t, part.Location, "partial groups need a coordinator")
			again, err := part.Plan(env.snap)
			require.NoError(t, err, sql)
			require.Equal(t, Residual, again.Kind)
			require.Equal(t, p.Residual, again.Residual, sql)
			require.True(t, again.Scans[0].Targets[0].Pinned)
		}
	}
	table := env.snap.Tables["main.p"]
	table.Partitions[0].Columns["a"] = codec.ColumnStats{Min: int64Stats(0, 35, 0).Min, Max: int64Stats(0, 35, 0).Max}
	_, _, err := env.parts(t, "SELECT a, count(*) FROM p GROUP BY a", false)
	require.ErrorContains(t, err, "nothing proves", "bounds that overlap")
	table.Partitions[0].Columns["a"] = int64Stats(0, 9, 1)
	_, _, err = env.parts(t, "SELECT a, count(*) FROM p GROUP BY a", false)
	require.ErrorContains(t, err, "nothing proves", "NULL may be on both")
}

// TestPartsThatScannersServe: only rows as they are, of a scanner that says where.
func TestPartsThatScannersServe(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	for _, s := range env.snap.Scanners {
		s.Advertise = "grpc://" + s.Name + ":1"
	}
	for sql, want := range map[string][]string{
		"SELECT a, s FROM p": {"grpc://s1:1", "grpc://s2:1"}, "SELECT a FROM p WHERE a > 3": {"grpc://s1:1", ""},
		"SELECT a + 1 FROM p": {"", ""}, "SELECT a, count(*) FROM p GROUP BY a": {"", ""}, "SELECT a FROM p WHERE a = 1": {"grpc://s1:1", ""},
	} {
		_, parts, err := env.parts(t, sql, false)
		require.NoError(t, err, sql)
		var have []string
		for _, p := range parts {
			have = append(have, p.Location)
		}
		require.Equal(t, want, have, sql)
	}
}

// TestPartsKeepToTheRules: what a user may read has changed since.
func TestPartsKeepToTheRules(t *testing.T) {
	t.Parallel()
	env := versionedEnv(t)
	_, parts, err := env.parts(t, "SELECT a FROM p", false)
	require.NoError(t, err)
	parts[0].Rules = "others"
	_, err = parts[0].Plan(env.snap)
	require.ErrorContains(t, err, "what may be read of table main.p has changed")
}
