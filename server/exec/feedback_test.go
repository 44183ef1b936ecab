package exec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// TestWhatWasSeenChangesTheOrder: statistics say that the first scan is the
// smallest. It is not, which the second query knows.
func TestWhatWasSeenChangesTheOrder(t *testing.T) {
	t.Parallel()
	j := newJoined(t, exec.Config{}, plan.InnerJoin, tableNode(t, "many", behaviour{}, numbers(0, 1000)), tableNode(t, "few", behaviour{}, numbers(0, 5)))
	first := func(mode adapt.Mode) []string {
		stream := j.run(j.plan, exec.Options{Adaptive: mode})
		require.Equal(t, []string{"5"}, all(t, stream))
		require.NoError(t, stream.Close())
		if rounds := stream.Rounds(); len(rounds) > 0 {
			return rounds[0].Started
		}
		return nil
	}
	require.Empty(t, first(adapt.Off))
	require.Empty(t, j.exec.Remembered(j.plan, adapt.On), "a static query teaches nothing")
	require.Equal(t, []string{"s1"}, first(adapt.Always))
	text := "s1: 1000 rows expected by earlier scans, 1 by statistics\n"
	require.Equal(t, text, j.exec.Remembered(j.plan, adapt.On), "and the narrowed s2 is not remembered")
	require.Empty(t, j.exec.Remembered(j.plan, adapt.Off))
	require.Equal(t, text, j.exec.Remembered(j.plan, adapt.Late))
	require.Equal(t, []string{"s2"}, first(adapt.Always))
	require.Equal(t, text+"s2: 5 rows expected by earlier scans, 2 by statistics\n", j.exec.Remembered(j.plan, adapt.On))

	j.plan.Scans[0].Table.Partitions[0].Rows = 3
	require.NotContains(t, j.exec.Remembered(j.plan, adapt.On), "s1", "the table changed")
}

// TestPartsTeachNothing: of scans that ended early it is not known what they would
// have yielded.
func TestPartsTeachNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, exec.Config{}, newNode(t, "a", behaviour{caps: everything}, map[string][][]row{"0": repeated(5, 100)}),
		newNode(t, "b", behaviour{caps: everything, failWith: errBroken, failAt: 2}, map[string][][]row{"1": repeated(2, 100)}))
	scan := f.scan(rows())
	p := passThrough(scan)
	on := exec.Options{Adaptive: adapt.On}
	_, err := collect(t.Context(), f.run(p, on))
	require.Error(t, err)
	require.Empty(t, f.exec.Remembered(p, adapt.On), "it failed")

	f.idle()
	f.nodes[1].does.failWith, f.nodes[1].does.failAt, f.nodes[0].does.endless = nil, 0, true
	stream := f.run(p, on)
	batch, err := stream.Next(t.Context())
	require.NoError(t, err)
	batch.Release()
	require.NoError(t, stream.Close())
	f.idle()
	f.nodes[0].does.endless = false
	limited := rows()
	limited.Limit = 10
	require.Len(t, all(t, f.run(passThrough(f.scan(limited)), on)), 10)
	f.idle()
	require.Empty(t, f.exec.Remembered(passThrough(f.scan(limited)), adapt.On), "it had enough")

	require.Len(t, all(t, f.run(p, on)), 700)
	require.Equal(t, "s1: 700 rows expected by earlier scans, 700 by statistics\n", f.exec.Remembered(p, adapt.On))
	grouped := passThrough(f.scan(sums()))
	require.Empty(t, f.exec.Remembered(grouped, adapt.On))
	require.Len(t, all(t, f.run(grouped, on)), 6)
	require.Equal(t, "s1: 6 rows expected by earlier scans, 700 by statistics\n", f.exec.Remembered(grouped, adapt.On))
}
