package adapt_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

func TestBroadcastJoin(t *testing.T) {
	t.Parallel()
	e := newEnv(t, []*catalog.Table{
		table(t, "large", "a INTEGER, b BIGINT, s VARCHAR", 1_000_000_000), table(t, "small", "a INTEGER, s VARCHAR", 1000),
		table(t, "other", "b BIGINT, s VARCHAR", 100), table(t, "wide", "a INTEGER, s VARCHAR", 60_000),
	}...)
	const star = "SELECT y.s, count(*) FROM large x JOIN small y ON x.a = y.a GROUP BY y.s"
	for name, c := range map[string]struct {
		sql         string
		mode        adapt.Mode
		rows, bytes int64 // of each small scan
		disabled    string
		why         string // "" for taken
	}{
		"few rows":             {star, adapt.On, 1000, 20_000, "", ""},
		"always":               {star, adapt.Always, 1000, 20_000, "", ""},
		"two tables":           {"SELECT y.s, z.s, count(*) FROM large x JOIN small y ON x.a = y.a JOIN other z ON x.b = z.b GROUP BY ALL", adapt.On, 100, 2000, "", ""},
		"many rows":            {star, adapt.On, 100_000, 800_000, "", "has 100000 rows"},
		"long rows":            {star, adapt.Always, 1000, 4 << 20, "", "4194304 bytes"},
		"as many groups":       {"SELECT x.s, count(*) FROM large x JOIN small y ON x.a = y.a GROUP BY x.s", adapt.On, 1000, 20_000, "", "rows move, and"},
		"few bytes":            {"SELECT y.s, count(*) FROM wide x JOIN small y ON x.a = y.a GROUP BY y.s", adapt.On, 1000, 20_000, "", "not worth it"},
		"disabled":             {star, adapt.On, 1000, 20_000, plan.BroadcastJoin, "not asked for"},
		"nothing to aggregate": {"SELECT y.s FROM large x JOIN small y ON x.a = y.a", adapt.Always, 1000, 20_000, "", "no alternative"},
	} {
		p, err := e.planner.Plan(t.Context(), c.sql, e.snap, plan.Options{Disabled: plan.Disable(strings.Fields(c.disabled)...)})
		require.NoError(t, err)
		var estimates []int64
		for _, s := range p.Scans {
			estimates = append(estimates, s.EstimatedRows())
		}
		g := adapt.New(p, c.mode, estimates)
		if c.why == "not worth it" {
			require.True(t, g == nil || g.Done(), name)
			continue
		}
		require.NotNil(t, g, name)
		finishSmalls(t, g, p, c.rows, c.bytes)
		require.Equal(t, c.why == "", g.Broadcast(), "%s: %s", name, adapt.Text(g.Rounds()))
		if text := adapt.Text(g.Rounds()); c.why == "" {
			require.True(t, g.Done())
			require.Regexp(t, "rules: .*"+plan.BroadcastJoin, text)
			require.Contains(t, text, "are looked up by its scanners")
			require.Contains(t, text, "broadcast=[")
		} else if c.disabled != "" {
			require.NotContains(t, text, "broadcast", name)
		} else if p.Broadcast != nil {
			require.Contains(t, text, "nothing is broadcast to scan", name)
			require.Contains(t, text, c.why, name)
		}
	}
}

// finishSmalls runs what is ready, which yields many different keys.
func finishSmalls(t *testing.T, g *adapt.Graph, p *plan.Plan, rows, bytes int64) {
	t.Helper()
	for range p.Scans {
		ready := g.Ready()
		g.Start(ready)
		for _, i := range ready {
			require.NotEqual(t, "large", p.Scans[i].Table.Name)
			for _, keys := range g.Keys(i) {
				b := array.NewBuilder(memory.DefaultAllocator, keys.Type)
				require.NoError(t, b.AppendValueFromString("0"))
				require.NoError(t, b.AppendValueFromString("1000"))
				values := b.NewArray()
				keys.Add(values)
				values.Release()
				b.Release()
			}
			_, err := g.Finish(i, rows, bytes)
			require.NoError(t, err)
		}
	}
}
