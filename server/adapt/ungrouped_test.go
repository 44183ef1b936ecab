package adapt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/plan"
)

func TestUngroupedSoFar(t *testing.T) {
	t.Parallel()
	sized := func(rows int64) *plan.RemoteScan {
		return scanLike("x", func(r *plan.RemoteScan) {
			grouped(r)
			r.Spec.Filter, r.Table.Partitions[0].Rows = nil, rows
		})
	}
	for name, c := range map[string]struct {
		expected, arrived, passed int64
		want                      bool
	}{
		"a group per row":             {1 << 20, 100_000, 100_000, true},
		"nobody knows how many":       {-1, 100_000, 100_000, true},
		"too few to tell":             {1 << 20, 60_000, 60_000, false},
		"most was grouped":            {1 << 20, 1_000_000, 100_000, false},
		"hardly anything is to come":  {190_000, 100_000, 100_000, false},
		"nothing passed, all grouped": {1 << 20, 500_000, 0, false},
	} {
		require.Equal(t, c.want, UngroupedSoFar(sized(c.expected), c.arrived, c.passed), name)
	}
}

// TestUngroupedIsRemembered by the scan exactly: other constants may leave rows that
// grouping reduces.
func TestUngroupedIsRemembered(t *testing.T) {
	t.Parallel()
	f := NewFeedback()
	f.LearnUngrouped(scanLike("x", grouped))
	known := func(r *plan.RemoteScan) []int { return f.Ungrouped(&plan.Plan{Scans: []*plan.RemoteScan{r}}) }
	require.Equal(t, []int{0}, known(scanLike("x", grouped)))
	require.Empty(t, known(scanLike("y", grouped)), "another constant")
	require.Empty(t, known(scanLike("x", nil)), "rows")
	require.Empty(t, known(scanLike("x", func(r *plan.RemoteScan) {
		grouped(r)
		r.Table.Versions["s"] = "v2"
	})), "other rows")
	require.Empty(t, known(scanLike("x", func(r *plan.RemoteScan) {
		grouped(r)
		r.Spec.Reduce = &pushdown.Reduction{}
	})), "groups that are reduced")
	_, ok := f.Expect(scanLike("x", grouped))
	require.False(t, ok, "nothing is known of their number")
}

// TestCompleteScansTell whether grouping saved something, where no filter hides how
// many rows there were.
func TestCompleteScansTell(t *testing.T) {
	t.Parallel()
	whole := func(r *plan.RemoteScan) {
		grouped(r)
		r.Spec.Filter = nil
	}
	for name, c := range map[string]struct {
		change          func(*plan.RemoteScan)
		scanned, groups int64
		want            bool
	}{
		"a group per row":    {whole, 300_000, 299_000, true},
		"a group of three":   {whole, 300_000, 100_000, false},
		"few rows":           {whole, 30_000, 30_000, false},
		"some were filtered": {grouped, 300_000, 200_000, false},
		"rows":               {nil, 300_000, 300_000, false},
	} {
		f := NewFeedback()
		s := scanLike("x", c.change)
		f.LearnGroups(s, c.scanned, c.groups)
		require.Equal(t, c.want, len(f.Ungrouped(&plan.Plan{Scans: []*plan.RemoteScan{s}})) == 1, name)
	}
}
