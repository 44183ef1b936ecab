package adapt_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

var randomPlans = flag.Int("random.plans", 400, "plans that TestRulesAreIdempotentOnRandomPlans takes")

// draw composes statements over the small tables: joins of every kind, nested
// under whatever keeps or forbids a filter on their inputs.
type draw struct {
	*rand.Rand
	names int
}

func (d *draw) pick(from ...string) string { return from[d.IntN(len(from))] }

// source yields columns a, b, s, f.
func (d *draw) source(depth int) string {
	if depth == 0 {
		return d.pick("t", "u", "v")
	}
	in := d.source(depth - 1)
	switch d.IntN(9) {
	case 0:
		return fmt.Sprintf("(SELECT * FROM %s WHERE %s)", in, d.pick("a > 3", "s LIKE 'x%'", "b IS NULL", "f < 1"))
	case 1:
		return fmt.Sprintf("(SELECT a, sum(b)::BIGINT AS b, s, max(f) AS f FROM %s GROUP BY a, s)", in)
	case 2:
		return fmt.Sprintf("(SELECT * FROM %s ORDER BY a, b, s, f LIMIT %d)", in, 1+d.IntN(20))
	case 3:
		return fmt.Sprintf("(SELECT * FROM %s UNION ALL SELECT * FROM %s)", in, d.source(depth-1))
	case 4:
		return fmt.Sprintf("(SELECT DISTINCT a, b, s, f FROM %s)", in)
	case 5:
		return fmt.Sprintf("(SELECT * FROM %s WHERE %s %s (SELECT %s FROM %s))", in, d.pick("a", "a + 1"), d.pick("IN", "NOT IN"), d.pick("a", "b"), d.source(depth-1))
	case 6:
		return fmt.Sprintf("(SELECT a, b, s, row_number() OVER (PARTITION BY %s ORDER BY b)::DOUBLE AS f FROM %s)", d.pick("a", "s"), in)
	case 7:
		d.names++
		return fmt.Sprintf("(WITH c%d AS (SELECT * FROM %s) SELECT x.* FROM c%[1]d x JOIN c%[1]d y ON x.a = y.b)", d.names, in)
	}
	return fmt.Sprintf("(SELECT x.a, %s.b, x.s, y.f FROM %s x %s JOIN %s y ON %s)", d.pick("x", "y"), in, d.pick("", "", "LEFT", "RIGHT", "FULL"), d.source(depth-1), d.on())
}

func (d *draw) on() string {
	return d.pick("x.a = y.a", "x.a = y.a AND x.s = y.s", "x.b = y.a", "x.s = y.s AND x.a < y.a", "x.a IS NOT DISTINCT FROM y.a", "x.f = y.f")
}

func (d *draw) statement() string {
	x, y := d.source(d.IntN(3)), d.source(d.IntN(3))
	switch d.IntN(4) {
	case 0:
		return fmt.Sprintf("SELECT x.* FROM %s x WHERE %s EXISTS (SELECT 1 FROM %s y WHERE %s)", x, d.pick("", "NOT"), y, d.on())
	case 1:
		return fmt.Sprintf("SELECT x.s, count(*), sum(y.b) FROM %s x %s JOIN %s y ON %s GROUP BY x.s", x, d.pick("", "LEFT"), y, d.on())
	case 2:
		return fmt.Sprintf("SELECT x.a, y.s FROM %s x JOIN %s y ON %s WHERE x.b > (SELECT min(b) FROM %s)", x, y, d.on(), d.source(1))
	}
	return fmt.Sprintf("SELECT x.a, x.f FROM %s x %s JOIN %s y ON %s", x, d.pick("", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"), y, d.on())
}

// TestRulesAreIdempotentOnRandomPlans: whatever the plan and whatever is known, no
// rule changes it twice, its columns, or the plan that it is given.
func TestRulesAreIdempotentOnRandomPlans(t *testing.T) {
	t.Parallel()
	e := newEnv(t, smallTables(t)...)
	d := &draw{Rand: rand.New(rand.NewPCG(7, 11))}
	fired := map[string]int{}
	for range *randomPlans {
		sql := d.statement()
		p := e.plan(t, sql)
		before := plan.Print(p.Root)
		for range 3 {
			requireIdempotent(t, p, randomFacts(t, d.Rand, p), sql, fired)
		}
		require.Equal(t, before, plan.Print(p.Root), sql)
	}
	t.Logf("%d plans, changed by %v", *randomPlans, fired)
	for _, r := range []string{"semi_join_filter", "late_filter", "empty_propagation"} {
		require.Greater(t, fired[r], *randomPlans/20, r)
	}
}

// randomFacts has some scans finished, with no rows or with keys, and some running.
func randomFacts(t *testing.T, r *rand.Rand, p *plan.Plan) adapt.Facts {
	facts := factsOf(p)
	for i := range facts {
		switch r.IntN(6) {
		case 0, 1:
			facts.finish(t, p, i, r.IntN(3))
		case 2:
			facts[i].State = adapt.Running
		}
	}
	return adapt.Facts(facts)
}

// requireIdempotent applies all rules twice, and counts those that changed the plan.
func requireIdempotent(t *testing.T, p *plan.Plan, facts adapt.Facts, sql string, fired map[string]int) {
	once, names := applyAll(t, p.Root, facts)
	twice, again := applyAll(t, once, facts)
	require.Empty(t, again, sql)
	require.Equal(t, plan.Print(once), plan.Print(twice), sql)
	require.Equal(t, p.Root.Columns(), once.Columns(), sql)
	for _, n := range names {
		fired[n]++
	}
}
