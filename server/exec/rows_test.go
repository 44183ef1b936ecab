package exec_test

import (
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec/codectest"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

var everything = pushdown.AllCapabilities()

func atLeast(v int64) pushdown.Expr {
	return pushdown.Compare{Op: pushdown.GreaterEqual, Left: column("v"), Right: pushdown.Literal{Value: scalar.NewInt64Scalar(v)}}
}

// behaviours are the ways in which nodes may answer; the result is the same.
var behaviours = map[string][2]behaviour{
	"everything":       {{caps: everything}, {caps: everything}},
	"rows only":        {{}, {}},
	"mixed":            {{caps: everything}, {}},
	"filter only":      {{caps: everything.Without("agg", "limit", "topn")}, {caps: everything}},
	"raw":              {{caps: everything, raw: func(int) bool { return true }}, {caps: everything}},
	"raw and partial":  {{caps: everything, raw: func(i int) bool { return i%2 == 0 }}, {caps: everything}},
	"amnesiac":         {{caps: everything, raw: func(int) bool { return true }, fault: codectest.Fault{Kind: codectest.Amnesia}}, {}},
	"partial then raw": {{caps: everything, raw: func(i int) bool { return i > 2 }}, {}},
}

func TestEveryModeGivesTheSameRows(t *testing.T) {
	t.Parallel()
	left, right := repeated(4, 5), [][]row{{{"a", 100}, {"z", -5}}, {}, {{"c", 7}}}
	filtered := sums()
	filtered.Filter = []pushdown.Expr{atLeast(2)}
	keep := func(batches [][]row) (kept [][]row) {
		for _, b := range batches {
			var out []row
			for _, r := range b {
				if r.v >= 2 {
					out = append(out, r)
				}
			}
			kept = append(kept, out)
		}
		return kept
	}
	for name, does := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, exec.Config{},
				newNode(t, "x", does[0], map[string][][]row{"0": left, "1": right}),
				newNode(t, "y", does[1], map[string][][]row{"2": left, "3": {}}))
			require.Equal(t, want(left, right, left), total(t, f.run(passThrough(f.scan(sums())), exec.Options{})))
			require.Equal(t, want(keep(left), keep(right), keep(left)), total(t, f.run(passThrough(f.scan(filtered)), exec.Options{})))

			plain := rows()
			plain.Filter = []pushdown.Expr{atLeast(5)}
			require.Equal(t, []string{"a 100", "c 7"}, all(t, f.run(passThrough(f.scan(plain)), exec.Options{})))
			f.idle()
		})
	}
}

func TestModeSeen(t *testing.T) {
	t.Parallel()
	for name, modes := range map[string][2]string{
		"everything":  {plan.ModeAggregate, plan.ModeAggregate},
		"rows only":   {plan.ModeRows, plan.ModeRows},
		"mixed":       {plan.ModeAggregate, plan.ModeRows},
		"filter only": {plan.ModeFilter, plan.ModeAggregate},
		"raw":         {plan.ModeRows, plan.ModeAggregate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			does := behaviours[name]
			f := newFixture(t, exec.Config{},
				newNode(t, "x", does[0], map[string][][]row{"0": repeated(2, 300)}), newNode(t, "y", does[1], map[string][][]row{"1": repeated(2, 300)}))
			spec := sums()
			spec.Filter = []pushdown.Expr{atLeast(2)}
			stream := f.run(passThrough(f.scan(spec)), exec.Options{})
			total(t, stream)
			stats := stream.Stats()
			require.Len(t, stats.Scans, 1)
			require.Equal(t, "main.t", stats.Scans[0].Table)
			for i, target := range stats.Scans[0].Targets {
				require.Equal(t, modes[i], target.Mode)
				require.EqualValues(t, 600, target.RowsScanned)
				require.Positive(t, target.BytesReceived)
				require.Positive(t, target.Batches)
				require.Positive(t, target.FirstBatch)
				require.GreaterOrEqual(t, target.Duration, target.FirstBatch)
			}
			require.EqualValues(t, 1200, stats.Total().RowsScanned)
			require.EqualValues(t, 1200, f.metric("rows_scanned_total"))
			require.EqualValues(t, stats.Total().RowsReceived, f.metric("rows_received_total"))
			require.EqualValues(t, stats.Total().BytesReceived, f.metric("bytes_received_total"))
			require.EqualValues(t, stats.Total().BytesSaved, f.metric("bytes_saved_total"))
			require.EqualValues(t, 2, f.metric("scans_total"))
			require.Zero(t, f.metric("inflight_bytes"))
			soon(t, "scans are closed", func() bool { return f.metric("open_scans") == 0 })
		})
	}
}

func TestGlobalAggregateOverNothing(t *testing.T) {
	t.Parallel()
	spec := sums()
	spec.GroupBy = nil
	for name, does := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, exec.Config{}, newNode(t, "x", does[0], map[string][][]row{"0": {}}))
			require.Equal(t, []string{"0 (null)"}, all(t, f.run(passThrough(f.scan(spec)), exec.Options{})))
		})
	}
	t.Run("no partitions", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, exec.Config{})
		require.Equal(t, []string{"0 (null)"}, all(t, f.run(passThrough(f.scan(spec)), exec.Options{})))
		require.Empty(t, all(t, f.run(passThrough(f.scan(sums())), exec.Options{})))
		require.Empty(t, all(t, f.run(passThrough(f.scan(rows())), exec.Options{})))
	})
}

func TestPassThroughShapes(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{}, newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": {{{"a", 1}, {"b", 2}}, {{"c", 3}}}}))
	p := passThrough(f.scan(rows()))
	ref := func(i int) plan.Expr { return &plan.Ref{Index: i} }
	p.Root = &plan.Project{Input: p.Root, Exprs: []plan.Expr{ref(1), &plan.Cast{Arg: ref(0)}, ref(1)}}
	p.Root = &plan.Limit{Input: p.Root, Offset: 1, Count: 2}
	p.Root = &plan.Project{Input: p.Root, Exprs: []plan.Expr{ref(1), ref(0), ref(2)}}
	p.Root = &plan.Limit{Input: p.Root, Count: pushdown.NoLimit}
	p.Schema = arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "v", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	require.Equal(t, []string{"b 2 2", "c 3 3"}, all(t, f.run(p, exec.Options{})))

	p.Root = &plan.Limit{Input: p.Root, Offset: 5, Count: 1}
	require.Empty(t, all(t, f.run(p, exec.Options{})))
}

func TestLimitIsSharedAndStopsEarly(t *testing.T) {
	t.Parallel()
	for name, caps := range map[string]pushdown.Capabilities{"pushed": everything, "not pushed": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			does := behaviour{caps: caps, endless: true}
			f := newFixture(t, exec.Config{},
				newNode(t, "x", does, map[string][][]row{"0": repeated(1, 7)}), newNode(t, "y", does, map[string][][]row{"1": repeated(1, 11)}))
			spec := rows()
			spec.Limit = 100
			p := passThrough(f.scan(spec))
			require.Len(t, all(t, f.run(p, exec.Options{})), 100)
			f.idle()
			p.Root = &plan.Limit{Input: p.Root, Offset: 60, Count: 30}
			require.Len(t, all(t, f.run(p, exec.Options{})), 30)
			f.idle()
		})
	}
}

func TestTopNKeepsEveryStream(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{},
		newNode(t, "x", behaviour{caps: everything}, map[string][][]row{"0": {{{"a", 1}, {"b", 9}}}}),
		newNode(t, "y", behaviour{}, map[string][][]row{"1": {{{"c", 3}, {"d", 4}}}}))
	spec := rows()
	spec.OrderBy, spec.Limit = []pushdown.SortKey{{Column: column("v"), Descending: true}}, 1
	require.Equal(t, []string{"b 9", "d 4"}, all(t, f.run(passThrough(f.scan(spec)), exec.Options{})))
}

func TestUnknownPlans(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{}, newNode(t, "x", behaviour{}, map[string][][]row{"0": {}}))
	for name, p := range map[string]*plan.Plan{
		"kind":     {Kind: "other"},
		"local":    {Kind: plan.Local, SQL: "SELECT 1"},
		"residual": {Kind: plan.Residual, Residual: "SELECT 1"},
		"no scan":  {Kind: plan.PassThrough},
		"a filter": {Kind: plan.PassThrough, Scans: []*plan.RemoteScan{f.scan(rows())}, Root: &plan.Filter{}, Schema: tableSchema},
		"columns":  {Kind: plan.PassThrough, Scans: []*plan.RemoteScan{f.scan(rows())}, Root: &plan.Scan{}, Schema: tableSchema},
	} {
		_, err := f.exec.Run(t.Context(), "q", p, exec.Options{})
		require.Error(t, err, name)
	}
	stream := f.run(passThrough(f.scan(rows())), exec.Options{})
	_, err := stream.Next(t.Context())
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, stream.Close())
	require.NoError(t, stream.Close())
}
