package exec_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// joined is a fixture of tables of one node each, and the plan that joins them
// by v: the first table is the smallest.
type joined struct {
	*fixture
	plan *plan.Plan
}

func newJoined(t *testing.T, cfg exec.Config, kind plan.JoinKind, nodes ...*node) *joined {
	t.Helper()
	cfg.Engine = newEngine(t)
	f := newFixture(t, cfg, nodes...)
	p := &plan.Plan{Kind: plan.Residual, Schema: arrow.NewSchema([]arrow.Field{field("n", arrow.PrimitiveTypes.Int64)}, nil)}
	var from []string
	for i, n := range nodes {
		spec := pushdown.Spec{Columns: []pushdown.Column{column("v"), column("k")}, Limit: pushdown.NoLimit}
		scan := scanOf(n, fmt.Sprintf("s%d", i+1), int64(i+1), spec)
		p.Scans = append(p.Scans, scan)
		leaf := &plan.Scan{Table: scan.Table, Output: []int{1, 0}, Types: []plan.Type{"BIGINT", "VARCHAR"}, Limit: pushdown.NoLimit}
		from = append(from, fmt.Sprintf("remote('s%d') t%d", i+1, i+1))
		if p.Root == nil {
			p.Root = leaf
			continue
		}
		p.Root = &plan.Join{Kind: kind, Left: p.Root, Right: leaf, Conditions: []plan.JoinCondition{
			{Op: "=", Left: &plan.Ref{Index: 0, RefType: "BIGINT"}, Right: &plan.Ref{Index: 0, RefType: "BIGINT"}},
		}}
	}
	word := map[plan.JoinKind]string{plan.InnerJoin: " JOIN ", plan.LeftJoin: " LEFT JOIN "}[kind]
	sql := from[0]
	for i := range from[1:] {
		sql += word + from[i+1] + fmt.Sprintf(" ON t1.c0 = t%d.c0", i+2)
	}
	p.Residual = "SELECT CAST(count(*) AS BIGINT) AS n FROM " + sql
	return &joined{f, p}
}

// scanOf reads all of one node as a table of its own.
func scanOf(n *node, id string, rows int64, spec pushdown.Spec) *plan.RemoteScan {
	table := &catalog.Table{Schema: "main", Name: id, Arrow: tableSchema, Partitions: []catalog.Partition{{ID: "0", Owners: []*catalog.Scanner{n.scanner}, Rows: rows, Bytes: -1}}}
	spec.Table, spec.Partitions = table.ID(), []string{"0"}
	return &plan.RemoteScan{
		ID: id, Table: table, Spec: spec,
		Targets: []plan.Target{{Scanner: n.scanner, Partitions: []string{"0"}, Split: pushdown.Split(spec, n.scanner.Capabilities)}},
	}
}

func (j *joined) always() exec.Options { return exec.Options{Adaptive: adapt.Always} }

// numbers are rows with the values from low to high.
func numbers(low, high int) [][]row {
	var out []row
	for v := low; v < high; v++ {
		out = append(out, row{"k", int64(v)})
	}
	return [][]row{out}
}

func tableNode(t *testing.T, name string, does behaviour, batches [][]row) *node {
	if does.caps.Names() == nil {
		does.caps = everything
	}
	return newNode(t, name, does, map[string][][]row{"0": batches})
}

func TestKeysNarrowTheNextScan(t *testing.T) {
	t.Parallel()
	gap := [][]row{{{"k", 5}, {"k", 6}, {"k", 8}}}
	for name, c := range map[string]struct {
		caps pushdown.Capabilities
		keys [][]row
		sent int64
	}{
		"a scanner that filters":           {everything, gap, 3},
		"one that does not know IN":        {everything.Without("filter.in"), gap, 1000},
		"one that does not, keys in a row": {everything.Without("filter.in"), numbers(5, 8), 3},
		"one that sends rows":              {everything.Without("all"), numbers(5, 8), 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJoined(t, exec.Config{}, plan.InnerJoin,
				tableNode(t, "dim", behaviour{}, c.keys), newNode(t, "fact", behaviour{caps: c.caps}, map[string][][]row{"0": numbers(0, 1000)}))
			stream := j.run(j.plan, j.always())
			require.Equal(t, []string{"3"}, all(t, stream))
			require.NoError(t, stream.Close())
			require.Equal(t, c.sent, j.nodes[1].sent.Load())
			require.Equal(t, int64(3), j.nodes[0].sent.Load())
			require.Len(t, stream.Rounds(), 2)
			require.EqualValues(t, 1, j.metric("adaptive_rules_total"))

			off := j.run(j.plan, exec.Options{})
			require.Equal(t, []string{"3"}, all(t, off))
			require.NoError(t, off.Close())
			require.Empty(t, off.Rounds())
			require.Equal(t, c.sent+1000, j.nodes[1].sent.Load())
			j.idle()
		})
	}
}

func TestAnEmptySideIsTheEnd(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin,
		tableNode(t, "empty", behaviour{}, nil), tableNode(t, "slow", behaviour{stall: true}, nil), tableNode(t, "other", behaviour{endless: true}, numbers(0, 10)))
	stream := j.run(j.plan, j.always())
	require.Equal(t, []string{"0"}, all(t, stream))
	require.NoError(t, stream.Close())
	require.Empty(t, j.nodes[1].requests(), "never opened")
	require.Empty(t, j.nodes[2].requests())
	j.idle()
}

// TestALeftSideKeepsItsRows: an empty right side is no reason to stop.
func TestALeftSideKeepsItsRows(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.LeftJoin, tableNode(t, "left", behaviour{}, numbers(0, 4)), tableNode(t, "right", behaviour{}, nil))
	stream := j.run(j.plan, j.always())
	require.Equal(t, []string{"4"}, all(t, stream))
	require.NoError(t, stream.Close())
	require.Len(t, j.nodes[1].requests(), 1)
}

// TestAnEmptySideCancelsWhatRuns: without keys both sides run at once.
func TestAnEmptySideCancelsWhatRuns(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin,
		tableNode(t, "empty", behaviour{}, nil), tableNode(t, "endless", behaviour{endless: true}, numbers(0, 10)), tableNode(t, "never", behaviour{}, numbers(0, 10)))
	plan.Walk(j.plan.Root, func(n plan.Node) bool {
		if join, ok := n.(*plan.Join); ok {
			join.Conditions[0].Op = "<>"
		}
		return true
	})
	j.plan.Residual = strings.ReplaceAll(j.plan.Residual, "=", "<>")
	stream := j.run(j.plan, j.always())
	require.Equal(t, []string{"0"}, all(t, stream))
	require.NoError(t, stream.Close())
	require.Empty(t, j.nodes[2].requests())
	rounds := stream.Rounds()
	last := rounds[len(rounds)-1]
	require.Equal(t, []string{"s2"}, last.Cancelled)
	require.Equal(t, []string{"s3"}, last.Removed)
	j.idle()
}

// TestMoreThanMayBeHeldStreams: what was held comes first, the rest follows, and
// a scan that is read twice is opened again.
func TestMoreThanMayBeHeldStreams(t *testing.T) {
	t.Parallel()
	for _, twice := range []bool{false, true} {
		j := newJoined(t, exec.Config{HeldBytes: 1000}, plan.InnerJoin,
			tableNode(t, "large", behaviour{}, repeated(20, 100)), tableNode(t, "fact", behaviour{}, numbers(0, 50)))
		want := []string{"2000"}
		j.plan.Residual = "SELECT CAST(count(*) AS BIGINT) AS n FROM remote('s1')"
		if twice {
			j.plan.Residual = "SELECT CAST(count(*) AS BIGINT) AS n FROM (SELECT c0 FROM remote('s1') UNION ALL SELECT c0 FROM remote('s1'))"
			want = []string{"4000"}
		}
		stream := j.run(j.plan, j.always())
		require.Equal(t, want, all(t, stream))
		require.NoError(t, stream.Close())
		rounds := stream.Rounds()
		require.Contains(t, rounds[len(rounds)-1].Why[0], "more than may be held")
		require.Zero(t, j.metric("inflight_bytes"))
		j.idle()
	}
}

// TestHeldRowsAreReadAgain: a finished scan is not opened twice.
func TestHeldRowsAreReadAgain(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "a", behaviour{}, numbers(0, 5)), tableNode(t, "b", behaviour{}, numbers(0, 50)))
	j.plan.Residual = "SELECT CAST(count(c0) AS BIGINT) AS n FROM (SELECT c0 FROM remote('s1') UNION ALL SELECT c0 FROM remote('s1'))"
	stream := j.run(j.plan, j.always())
	require.Equal(t, []string{"10"}, all(t, stream))
	require.NoError(t, stream.Close())
	require.Len(t, j.nodes[0].requests(), 1)
}

func TestAFailureWhileOthersWait(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin,
		tableNode(t, "bad", behaviour{failWith: errBroken, failAt: 2}, repeated(3, 10)), tableNode(t, "fact", behaviour{}, numbers(0, 10)))
	stream := j.run(j.plan, j.always())
	_, err := collect(t.Context(), stream)
	require.Equal(t, status.DataLoss, status.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, `"bad"`)
	_, again := stream.Next(t.Context())
	require.Equal(t, err, again, "a failed stream stays failed")
	require.NoError(t, stream.Close())
	require.Empty(t, j.nodes[1].requests())
	require.Len(t, stream.Rounds(), 1, "the rounds of a failed query are kept")
	j.idle()
}

// TestCancelWhileOthersWait, by the query's context, by that of Next, and by
// closing the stream.
func TestCancelWhileOthersWait(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"query", "next", "close"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "stalls", behaviour{stall: true}, nil), tableNode(t, "fact", behaviour{}, numbers(0, 10)))
			queryCtx, cancelQuery := context.WithCancel(t.Context())
			defer cancelQuery()
			nextCtx, cancelNext := context.WithCancel(t.Context())
			defer cancelNext()
			stream, err := j.exec.Run(queryCtx, "q", j.plan, j.always())
			require.NoError(t, err)
			ended := make(chan error, 1)
			go func() {
				_, err := collect(nextCtx, stream)
				ended <- err
			}()
			soon(t, "the scan runs", func() bool { return j.nodes[0].active.Load() == 1 })
			map[string]func(){"query": cancelQuery, "next": cancelNext, "close": func() { require.NoError(t, stream.Close()) }}[how]()
			select {
			case err := <-ended:
				require.Equal(t, status.Canceled, status.CodeOf(err), "%v", err)
			case <-time.After(5 * time.Second):
				t.Fatal("the wait did not end")
			}
			require.NoError(t, stream.Close())
			require.Empty(t, j.nodes[1].requests())
			j.idle()
		})
	}
}

// TestCloseBeforeTheFirstRow: nothing has started then.
func TestCloseBeforeTheFirstRow(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "a", behaviour{}, numbers(0, 5)), tableNode(t, "b", behaviour{}, numbers(0, 5)))
	stream := j.run(j.plan, j.always())
	require.NoError(t, stream.Close())
	_, err := stream.Next(t.Context())
	require.Equal(t, status.Canceled, status.CodeOf(err))
	require.Empty(t, j.nodes[0].requests())
}

// TestTheEngineRefuses what is left once the first scans have run.
func TestTheEngineRefuses(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "a", behaviour{}, numbers(0, 5)), tableNode(t, "b", behaviour{}, numbers(0, 50)))
	j.plan.Residual = "SELECT nothing FROM remote('s1')"
	stream := j.run(j.plan, j.always())
	for range 2 {
		_, err := stream.Next(t.Context())
		require.ErrorContains(t, err, "nothing")
	}
	require.NoError(t, stream.Close())
	j.idle()
}
