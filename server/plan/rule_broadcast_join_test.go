package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/run"
	"github.com/tributary-db/tributary/server/engine"
)

// executeBroadcast runs the other way of a plan, its small tables read as in the first.
func (w *world) executeBroadcast(t testing.TB, p *Plan) []string {
	b := p.Broadcast
	inputs := map[string]engine.Input{}
	for i, s := range b.Plan.Scans {
		var rows []*pushdown.Relation
		for j, at := range b.Small[i] {
			r, err := run.Relation(s.Spec.Lookups[j].Columns, w.scan(t, p.Scans[at]).batches)
			require.NoError(t, err)
			rows = append(rows, r)
		}
		inputs[s.ID] = w.scan(t, s.WithRelations(rows))
	}
	return w.run(t, engine.Query{SQL: b.Plan.Residual, Inputs: inputs, Schema: p.Schema})
}

// TestRandomBroadcastJoins: looking rows up gives DuckDB's answer.
func TestRandomBroadcastJoins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	planner := New(w.binder)
	all, joined := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		sql := randomJoinedAggregate(rt)
		p, err := planner.Plan(t.Context(), sql, w.snap, Options{})
		require.NoError(rt, err, sql)
		if all++; p.Broadcast == nil {
			return
		}
		joined++
		want := w.oracle(t, sql)
		slices.Sort(want)
		got := w.executeBroadcast(t, p)
		slices.Sort(got)
		require.Equal(rt, want, got, "%s\n%s", sql, p.Broadcast.Plan.Explain())
	})
	require.Greater(t, 5*joined, all, "of %d statements", all)
	t.Logf("%d of %d statements", joined, all)
}

func TestBroadcastJoin(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	for sql, want := range map[string]string{
		"SELECT y.s, count(*), sum(x.d) FROM fact x JOIN dim y ON x.k = y.k GROUP BY y.s":                             "lookup(k = 0.k) in Scan main.dim [k, s]",
		"SELECT y.s, max(z.x) FROM fact x JOIN dim y ON x.k = y.k JOIN dim z ON z.g = y.g AND z.k = x.g GROUP BY y.s": "partial keys=[0.s]",
		"SELECT count(*) FROM fact x JOIN dim y ON x.k = y.k AND y.x > x.g WHERE y.s = 'x'":                           "",
		"SELECT count(*) FROM fact x LEFT JOIN dim y ON x.k = y.k":                                                    "none",
		"SELECT count(*) FROM fact x JOIN dim y ON x.k < y.k":                                                         "none",
		"SELECT count(*) FROM fact x JOIN dim y ON x.k = y.k AND random() < 0.5":                                      "none",
		"SELECT count(*) FROM fact x JOIN dim y ON x.f = y.k":                                                         "none",
		"SELECT x.k, y.s FROM fact x JOIN dim y ON x.k = y.k":                                                         "none",
		"SELECT median(x.k) FROM fact x JOIN dim y ON x.k = y.k":                                                      "none",
		"SELECT count(*) FROM fact x JOIN dim y ON x.k = y.k, u":                                                      "none",
	} {
		p, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{})
		require.NoError(t, err, sql)
		if want == "none" {
			require.Nil(t, p.Broadcast, sql)
			continue
		}
		require.NotNil(t, p.Broadcast, sql)
		text := Print(p.Broadcast.Plan.Root)
		require.Contains(t, text, want, sql)
		require.NotContains(t, text, "Join", sql)
		require.Len(t, p.Broadcast.Small[0], strings.Count(text, "lookup("))
		requireIdempotent(t, p.Broadcast.Plan.Root, rules(PushdownFull), sql)

		without, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{Disabled: Disable(BroadcastJoin)})
		require.NoError(t, err)
		require.Nil(t, without.Broadcast)
		require.Equal(t, p.Residual, without.Residual)
	}
}
