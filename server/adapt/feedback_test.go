package adapt

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

var (
	remembered = pushdown.Column{Name: "a", DataType: arrow.PrimitiveTypes.Int64}
	schemaOfA  = arrow.NewSchema([]arrow.Field{{Name: "a", Type: remembered.DataType}}, nil)
)

// scanLike reads a table of 1000 rows, of which statistics let 200 pass.
func scanLike(pattern string, change func(*plan.RemoteScan)) *plan.RemoteScan {
	s := &catalog.Scanner{Name: "s", Epoch: "1"}
	r := &plan.RemoteScan{
		ID: "scan1",
		Table: &catalog.Table{Schema: "main", Name: "t", Arrow: schemaOfA, Versions: map[string]string{"s": "v1"},
			Partitions: []catalog.Partition{{ID: "0", Rows: 1000, Owners: []*catalog.Scanner{s}}}},
		Targets: []plan.Target{{Scanner: s, Partitions: []string{"0"}}},
	}
	r.Spec = pushdown.Spec{Table: "main.t", Partitions: []string{"0"}, Columns: []pushdown.Column{remembered}, Limit: pushdown.NoLimit,
		Filter: []pushdown.Expr{pushdown.Like{Arg: remembered, Kind: pushdown.LikePattern, Pattern: pattern}}}
	if change != nil {
		change(r)
	}
	return r
}

func grouped(r *plan.RemoteScan) {
	r.Spec.Columns, r.Spec.GroupBy = nil, []pushdown.NamedExpr{{Name: "k0", Expr: remembered}}
}

func TestWhatIsRemembered(t *testing.T) {
	t.Parallel()
	restricted := func(r *plan.RemoteScan) {
		mine := pushdown.Compare{Op: pushdown.Equal, Left: remembered, Right: pushdown.Literal{Value: scalar.NewInt64Scalar(1)}}
		r.Table.Restriction = &catalog.Restriction{Arrow: schemaOfA, Filter: []pushdown.Expr{mine}}
	}
	for name, c := range map[string]struct {
		pattern string
		change  func(*plan.RemoteScan)
		want    int64 // -1 for nothing
	}{
		"the same scan":         {"x", nil, 8},
		"other constants":       {"y", nil, 40}, // half way, of one scan
		"other columns":         {"x", func(r *plan.RemoteScan) { r.Spec.Columns = append(r.Spec.Columns, remembered) }, 8},
		"a limit":               {"x", func(r *plan.RemoteScan) { r.Spec.Limit = 5 }, 8},
		"another filter":        {"x", func(r *plan.RemoteScan) { r.Spec.Filter = nil }, -1},
		"groups":                {"x", grouped, -1},
		"other rows":            {"x", func(r *plan.RemoteScan) { r.Table.Versions["s"] = "v2" }, -1},
		"a scanner that is new": {"x", func(r *plan.RemoteScan) { r.Targets[0].Scanner.Epoch = "2" }, -1},
		"more rows":             {"x", func(r *plan.RemoteScan) { r.Table.Partitions[0].Rows++ }, -1},
		"a user who sees less":  {"x", restricted, -1},
		"lookups":               {"x", func(r *plan.RemoteScan) { r.Spec.Lookups = make([]pushdown.Lookup, 1) }, -1},
	} {
		f := NewFeedback()
		f.Learn(scanLike("x", nil), 8)
		got, ok := f.Expect(scanLike(c.pattern, c.change))
		require.Equal(t, c.want >= 0, ok, name)
		if ok {
			require.Equal(t, c.want, got, name)
		}
	}
}

func TestGroupsAreRememberedByTheirKeys(t *testing.T) {
	t.Parallel()
	f := NewFeedback()
	f.Learn(scanLike("x", grouped), 3)
	got, ok := f.Expect(scanLike("x", grouped))
	require.True(t, ok)
	require.EqualValues(t, 3, got)
	_, ok = f.Expect(scanLike("x", nil))
	require.False(t, ok)
}

// TestTablesOfUnknownSize have no statistics that could be corrected.
func TestTablesOfUnknownSize(t *testing.T) {
	t.Parallel()
	unknown := func(r *plan.RemoteScan) { r.Table.Partitions[0].Rows = -1 }
	f := NewFeedback()
	f.Learn(scanLike("x", unknown), 8)
	got, ok := f.Expect(scanLike("y", unknown))
	require.True(t, ok)
	require.EqualValues(t, 8, got)
	require.Contains(t, f.Text(&plan.Plan{Scans: []*plan.RemoteScan{scanLike("x", unknown)}}), "unknown by statistics")
}

// TestMoreScansAreBelievedMore: the correction of statistics approaches what was
// seen, and follows when that changes.
func TestMoreScansAreBelievedMore(t *testing.T) {
	t.Parallel()
	f := NewFeedback()
	before := int64(200)
	for i := range 6 {
		f.Learn(scanLike("x", nil), 2)
		now, ok := f.Expect(scanLike("y", nil))
		require.True(t, ok)
		require.LessOrEqual(t, now, before, "%d", i)
		before = now
	}
	require.InDelta(t, 2, before, 2)
	for range 3 * maxSeen {
		f.Learn(scanLike("x", nil), 800)
	}
	now, _ := f.Expect(scanLike("y", nil))
	require.InDelta(t, 700, now, 150)
	f.Learn(scanLike("x", nil), 0)
	now, ok := f.Expect(scanLike("x", nil))
	require.True(t, ok)
	require.Zero(t, now)
}

// TestLimitedScansTeachNothing: nor do those with an order, or lookups.
func TestLimitedScansTeachNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*plan.RemoteScan){
		"limit":   func(r *plan.RemoteScan) { r.Spec.Limit = 5 },
		"order":   func(r *plan.RemoteScan) { r.Spec.OrderBy = []pushdown.SortKey{{Column: remembered}} },
		"lookups": func(r *plan.RemoteScan) { r.Spec.Lookups = make([]pushdown.Lookup, 1) },
		"one row": func(r *plan.RemoteScan) {
			r.Spec.Columns, r.Spec.Aggregates = nil, []pushdown.Aggregate{{Name: "n", Func: pushdown.CountStar}}
		},
	} {
		f := NewFeedback()
		f.Learn(scanLike("x", change), 5)
		require.Empty(t, f.known, name)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	f := newFeedback(4)
	for i := range 20 {
		f.Learn(scanLike(string(rune('a'+i)), nil), int64(i))
		_, ok := f.Expect(scanLike("a", nil))
		require.True(t, ok, "what is used stays")
		require.LessOrEqual(t, len(f.known), 4)
		require.Equal(t, f.recent.Len(), len(f.known))
	}
	got, ok := f.Expect(scanLike("a", nil))
	require.True(t, ok)
	require.Zero(t, got, "exactly this scan is known")
	require.Equal(t, "scan1: 0 rows expected by earlier scans, 200 by statistics\n", f.Text(&plan.Plan{Scans: []*plan.RemoteScan{scanLike("a", nil)}}))
}
