package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

// joinOf joins n copies of t, all of them by the same key.
func joinOf(n int) string {
	var tables, conditions []string
	for i := range n {
		tables = append(tables, fmt.Sprintf("t t%d", i))
		conditions = append(conditions, fmt.Sprintf("t0.a = t%d.a", i))
	}
	return "SELECT count(*) FROM " + strings.Join(tables, ", ") + " WHERE " + strings.Join(conditions, " AND ")
}

// TestBindRefusesWhatExplodes: short statements whose plans would never be done.
func TestBindRefusesWhatExplodes(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	doubled := "WITH c0 AS (SELECT * FROM t)"
	for i := range 30 {
		doubled += fmt.Sprintf(", c%d AS (SELECT * FROM c%d a, c%d b)", i+1, i, i)
	}
	for name, c := range map[string][2]string{
		"nested stars":  {strings.Repeat("SELECT *, * FROM (", 40) + "SELECT a FROM t" + strings.Repeat(")", 40), "stars"},
		"columns":       {strings.Repeat("SELECT COLUMNS(*), * FROM (", 40) + "SELECT a FROM t" + strings.Repeat(")", 40), "stars"},
		"doubling ctes": {doubled + " SELECT 1 FROM C30", "stars"},
		"in a subquery": {"SELECT (SELECT count(*) FROM (" + doubled + " SELECT * FROM c30)) FROM t", "stars"},
		"lambdas":       {"SELECT " + strings.Repeat("list_transform([a], x -> ", 60) + "1" + strings.Repeat(")", 60) + " FROM t", "lambdas"},
		"joins":         {joinOf(200), "joins 200 tables"},
		"joined":        {"SELECT 1 FROM t" + strings.Repeat(" JOIN t USING (a)", 60), "joins 61 tables"},
	} {
		begun := time.Now()
		_, err := b.Bind(t.Context(), c[0])
		require.Equal(t, status.InvalidArgument, status.CodeOf(err), "%s: %v", name, err)
		require.ErrorContains(t, err, c[1], name)
		require.Less(t, time.Since(begun), 20*time.Second, name)
	}
}

// What people write is within the bounds.
func TestBindAcceptsWideStatements(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	for _, sql := range []string{
		"SELECT *, *, t.* FROM t",
		"SELECT * FROM (SELECT * FROM (SELECT *, a + 1 AS x FROM t))",
		strings.Repeat("SELECT * FROM t UNION ALL ", 100) + "SELECT * FROM t",
		"WITH q AS (SELECT * FROM t) " + strings.Repeat("SELECT * FROM q UNION ALL ", 50) + "SELECT * FROM q",
		joinOf(20),
		"SELECT list_transform([[a]], x -> list_transform(x, y -> y + 1)) FROM t",
		"SELECT count(*) FROM t t0" + strings.Repeat(" LEFT JOIN t USING (a)", 60),
	} {
		_, err := b.Bind(t.Context(), sql)
		require.NoError(t, err, "%.80s", sql)
	}
}
