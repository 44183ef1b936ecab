package exec_test

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

const mergeSQL = `SELECT k, CAST(sum(n) AS BIGINT) AS n, CAST(sum(s) AS BIGINT) AS s
FROM (SELECT CAST(c0 AS VARCHAR) AS k, c1 AS n, c2 AS s FROM remote('s1')) GROUP BY k ORDER BY k`

var mergeSchema = arrow.NewSchema([]arrow.Field{
	field("k", arrow.BinaryTypes.String), field("n", arrow.PrimitiveTypes.Int64), field("s", arrow.PrimitiveTypes.Int64),
}, nil)

func TestEngineMergesEveryMode(t *testing.T) {
	t.Parallel()
	pool := newEngine(t)
	for name, does := range behaviours {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, exec.Config{Engine: pool},
				newNode(t, "x", does[0], map[string][][]row{"0": {{{"a", 1}, {"b", 2}}, {{"a", 3}}}}),
				newNode(t, "y", does[1], map[string][][]row{"1": {{{"b", 10}}}, "2": {{{"c", -1}}}}))
			stream := f.run(residual(mergeSQL, mergeSchema, f.scan(sums())), exec.Options{})
			require.Equal(t, []string{"a 2 4", "b 2 12", "c 1 -1"}, all(t, stream))
			require.NoError(t, stream.Close())
			f.idle()
		})
	}
}

func TestEngineAsksForTheColumnsItNeeds(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{field("s", arrow.PrimitiveTypes.Int64)}, nil)
	const sql = `SELECT CAST(sum(c1) AS BIGINT) AS s FROM remote('s1')`
	for name, caps := range map[string]pushdown.Capabilities{"everything": everything, "rows only": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, exec.Config{Engine: newEngine(t)}, newNode(t, "x", behaviour{caps: caps}, map[string][][]row{"0": {{{"a", 1}, {"b", 2}}}}))
			spec := rows()
			spec.Filter = []pushdown.Expr{atLeast(2)}
			require.Equal(t, []string{"2"}, all(t, f.run(residual(sql, schema, f.scan(spec)), exec.Options{})))
			for _, request := range f.nodes[0].requests() {
				require.Equal(t, []pushdown.Column{column("v")}, request.Spec.Columns)
			}
			// A partial aggregate is projected here.
			require.Equal(t, []string{"2"}, all(t, f.run(residual(sql, schema, f.scan(sums())), exec.Options{})))
		})
	}
}

func TestOriginalSQLReadsViews(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{Engine: newEngine(t)}, newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": {{{"a", 1}, {"b", 2}}}}))
	p := &plan.Plan{
		Kind: plan.Original, SQL: `SELECT l.v FROM t l JOIN t r ON l.k = r.k WHERE l.v > 1`, Scans: []*plan.RemoteScan{f.scan(rows())},
		Schema: arrow.NewSchema([]arrow.Field{field("v", arrow.PrimitiveTypes.Int64)}, nil),
	}
	require.Equal(t, []string{"2"}, all(t, f.run(p, exec.Options{})))
	require.EqualValues(t, 1, f.metric("fallbacks_total"))
}

func TestEngineReportsTheScannersFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{Engine: newEngine(t)},
		newNode(t, "bad", behaviour{caps: everything, failWith: errBroken, failAt: 2}, map[string][][]row{"0": repeated(3, 10)}),
		newNode(t, "good", behaviour{caps: everything, endless: true}, map[string][][]row{"1": repeated(1, 10)}))
	stream, err := f.exec.Run(t.Context(), "q", residual(mergeSQL, mergeSchema, f.scan(sums())), exec.Options{})
	if err == nil {
		_, err = collect(t.Context(), stream)
		require.NoError(t, stream.Close())
	}
	require.Equal(t, status.DataLoss, status.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, `"bad"`)
	f.idle()
}

func TestEngineStopsScannersWhenItHasEnough(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{Engine: newEngine(t)}, newNode(t, "x", behaviour{caps: everything, endless: true}, map[string][][]row{"0": repeated(1, 5000)}))
	schema := arrow.NewSchema([]arrow.Field{field("v", arrow.PrimitiveTypes.Int64)}, nil)
	stream := f.run(residual(`SELECT c1 AS v FROM remote('s1') LIMIT 5`, schema, f.scan(rows())), exec.Options{})
	require.Len(t, all(t, stream), 5)
	require.NoError(t, stream.Close())
	f.idle()
}

func TestEngineCancel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{Engine: newEngine(t)}, newNode(t, "x", behaviour{caps: everything, stall: true}, map[string][][]row{"0": {}}))
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := f.exec.Run(ctx, "q", residual(mergeSQL, mergeSchema, f.scan(sums())), exec.Options{})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := collect(t.Context(), stream)
		ended <- err
	}()
	soon(t, "the scan runs", func() bool { return f.nodes[0].active.Load() == 1 })
	cancel()
	require.Equal(t, status.Canceled, status.CodeOf(<-ended))
	require.NoError(t, stream.Close())
	f.idle()
}

func TestLocal(t *testing.T) {
	t.Parallel()
	binder, err := engine.NewBinder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, binder.Close()) })
	f := newFixture(t, exec.Config{Local: binder})
	p := &plan.Plan{Kind: plan.Local, SQL: `SELECT 'x' AS x`, Schema: arrow.NewSchema([]arrow.Field{field("x", arrow.BinaryTypes.String)}, nil)}
	stream, err := f.exec.Run(t.Context(), "q", p, exec.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, all(t, stream))
	require.NoError(t, stream.Close())
}

// TestLimitDoesNotWaitForAStream: the rows of one scanner are enough, while a
// thread of the engine waits for another scanner that never sends any.
func TestLimitDoesNotWaitForAStream(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{Engine: newEngine(t)},
		newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": repeated(1, 7)}),
		newNode(t, "y", behaviour{caps: everything, stall: true}, map[string][][]row{"1": repeated(1, 7)}))
	schema := arrow.NewSchema([]arrow.Field{field("v", arrow.PrimitiveTypes.Int64)}, nil)
	p := residual(`SELECT c1 AS v FROM remote('s1') LIMIT 5`, schema, f.scan(rows()))
	p.Root = &plan.Limit{Input: &plan.Scan{}, Count: 5}
	begun := time.Now()
	require.Len(t, all(t, f.run(p, exec.Options{})), 5)
	require.Less(t, time.Since(begun), 10*time.Second)
	f.idle()
}

// TestUnionSharesOneLimit: the second scan is not read when the first has enough,
// and what each has is counted together.
func TestUnionSharesOneLimit(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{field("v", arrow.PrimitiveTypes.Int64)}, nil)
	for _, tc := range []struct {
		have   [2]int // rows in the first and the second scan
		second bool   // is read
	}{{[2]int{20, 5}, false}, {[2]int{7, 5}, true}, {[2]int{0, 50}, true}} {
		f := newFixture(t, exec.Config{Engine: newEngine(t)},
			newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": repeated(1, tc.have[0])}),
			newNode(t, "y", behaviour{caps: everything}, map[string][][]row{"1": repeated(1, tc.have[1])}))
		spec := rows()
		spec.Limit = 10
		first, second := f.scan(spec), f.scan(spec)
		second.ID = "s2"
		first.Targets, second.Targets = first.Targets[:1], second.Targets[1:]
		p := residual(`(SELECT c1 AS v FROM remote('s1')) UNION ALL (SELECT c1 FROM remote('s2')) LIMIT 10`, schema, first, second)
		p.Root = &plan.Limit{Count: 10, Input: &plan.SetOp{Op: "UNION", All: true, InputNodes: []plan.Node{
			&plan.Project{Input: &plan.Scan{}}, &plan.Scan{},
		}}}
		require.Len(t, all(t, f.run(p, exec.Options{})), 10)
		f.idle()
		require.Equal(t, tc.second, len(f.nodes[1].requests()) > 0)
	}
}
