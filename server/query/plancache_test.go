package query

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/plan"
)

func TestTimeless(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		"SELECT * FROM t LIMIT 100":                               true,
		"SELECT a, COUNT(*), sum (b) FROM t WHERE c IN (1, 2)":    true,
		"SELECT CAST(a AS DECIMAL(10, 2)) FROM (SELECT * FROM t)": true,
		"SELECT now()":                               false,
		"SELECT NOW /* x */ ()":                      false,
		`SELECT "now"()`:                             false,
		"SELECT 'x'.now()":                           false,
		"SELECT random() FROM t":                     false,
		"SELECT get_current_time()":                  false,
		"SELECT Current_Date":                        false,
		"SELECT localtimestamp, 1":                   false,
		`SELECT "current_date"`:                      false,
		"SELECT user_id, local_time, current FROM t": true,
		"SELECT user":                                false,
		"SELECT a FROM t WHERE b = 'user-1'":         true,
		"SELECT 'at (now)' FROM t":                   true,
	} {
		require.Equal(t, want, timeless(sql), sql)
	}
}

func TestPlanCache(t *testing.T) {
	t.Parallel()
	c := newPlanCache(nil)
	one := planKey{sql: "SELECT 1"}
	c.put(one, &plan.Plan{Snapshot: 3})
	require.NotNil(t, c.get(one, 3))
	require.Nil(t, c.get(planKey{"SELECT 1", plan.Options{Pushdown: plan.PushdownOff}}, 3), "other options")
	require.Nil(t, c.get(one, 4), "another snapshot")

	c.put(planKey{sql: "SELECT 2"}, &plan.Plan{Snapshot: 2})
	require.Len(t, c.plans, 1, "a plan for an older snapshot is not kept")
	c.put(planKey{sql: "SELECT 2"}, &plan.Plan{Snapshot: 4})
	require.Nil(t, c.get(one, 4), "a newer snapshot ends all plans before it")

	for i := range 2 * maxCachedPlans {
		c.put(planKey{sql: fmt.Sprint(i)}, &plan.Plan{Snapshot: 4})
		require.LessOrEqual(t, len(c.plans), maxCachedPlans)
	}
}
