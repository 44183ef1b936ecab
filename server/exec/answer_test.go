package exec_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// TestAnswersFromStatistics: they come with the rows of the other partitions once
// the scanner has confirmed them; a replica reads the partitions in their place.
func TestAnswersFromStatistics(t *testing.T) {
	t.Parallel()
	parts := map[string][][]row{"0": repeated(2, 10), "1": repeated(1, 3)}
	changed := behaviour{caps: everything, failWith: status.New(status.Aborted, "the table has changed")}
	for name, c := range map[string]struct {
		first   behaviour
		read    []string
		replica bool
	}{
		"all known":  {first: behaviour{caps: everything}},
		"some known": {first: behaviour{caps: everything}, read: []string{"0"}},
		"changed":    {first: changed, replica: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, exec.Config{Engine: newEngine(t)}, newNode(t, "x", c.first, parts), newNode(t, "y", behaviour{caps: everything}, parts))
			spec := pushdown.Spec{Aggregates: []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}, Limit: pushdown.NoLimit}
			scan := f.scan(spec)
			require.Len(t, scan.Targets, 1)
			target := &scan.Targets[0]
			target.Partitions, target.Version = c.read, "v1"
			target.Known, target.Answers = []string{"1"}, [][]scalar.Scalar{{scalar.NewInt64Scalar(3)}}
			if c.read == nil {
				target.Known, target.Answers = []string{"0", "1"}, [][]scalar.Scalar{{scalar.NewInt64Scalar(20)}, {scalar.NewInt64Scalar(3)}}
				target.Split.Remote = pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: []pushdown.Column{column("k")}, Limit: 0}
			}
			out := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
			sql := "SELECT CAST(sum(x0) AS BIGINT) AS n FROM remote('" + scan.ID + "') AS r(x0)"
			stream := f.run(residual(sql, out, scan), exec.Options{})
			got, err := collect(t.Context(), stream)
			require.NoError(t, err)
			require.Equal(t, []string{"23"}, got)
			require.Equal(t, "v1", f.nodes[0].requests()[0].TableVersion)
			if c.replica {
				require.Equal(t, []string{"0", "1"}, f.nodes[1].requests()[0].Spec.Partitions)
				require.True(t, f.nodes[1].requests()[0].Spec.Grouped())
			} else {
				require.Empty(t, f.nodes[1].requests())
			}
			if c.read == nil && !c.replica {
				require.Equal(t, plan.ModeStatistics, stream.Stats().Scans[0].Targets[0].Mode)
			}
			f.idle()
		})
	}
}

// TestReplicasDoNotReduce: when several scanners take over from one, none of them
// has whole groups; one alone has.
func TestReplicasDoNotReduce(t *testing.T) {
	t.Parallel()
	parts := map[string][][]row{"0": repeated(2, 10), "1": repeated(1, 3)}
	gone := behaviour{caps: everything, failWith: status.New(status.Unavailable, "shutting down")}
	for name, spread := range map[string][][]string{"several": {{"0"}, {"1"}}, "one": {{"0", "1"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := []*node{newNode(t, "x", gone, parts)}
			for i, ids := range spread {
				own := map[string][][]row{}
				for _, id := range ids {
					own[id] = parts[id]
				}
				nodes = append(nodes, newNode(t, "y"+string(rune('0'+i)), behaviour{caps: everything}, own))
			}
			f := newFixture(t, exec.Config{}, nodes...)
			spec := sums()
			spec.Reduce = &pushdown.Reduction{Limit: 1}
			scan := f.scan(spec)
			require.Len(t, scan.Targets, 1)
			require.NotNil(t, scan.Targets[0].Split.Remote.Reduce)
			_, err := collect(t.Context(), f.run(passThrough(scan), exec.Options{}))
			require.NoError(t, err)
			for _, n := range nodes[1:] {
				require.Len(t, n.requests(), 1)
				require.Equal(t, len(spread) == 1, n.requests()[0].Spec.Reduce != nil)
			}
		})
	}
}
