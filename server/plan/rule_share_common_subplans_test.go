package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func countsBy(in Node, key int) Node {
	return &Aggregate{Input: in, Keys: []Expr{column(key, "INTEGER")}, Aggregates: []Expr{&AggCall{Name: "count_star", Result: "BIGINT"}}}
}

func unionOf(in ...Node) Node {
	return &SetOp{Op: "UNION", All: true, InputNodes: in, OutputTypes: in[0].Columns()}
}

func TestShareCommonSubplans(t *testing.T) {
	t.Parallel()
	groups := func() Node { return countsBy(smallScan(t), 0) }
	explained := smallScan(t)
	explained.Reasons = []string{"it is only said here"}
	another := smallScan(t)
	another.Types = append([]Type{}, another.Types...)
	another.Types[1] = "UINTEGER"
	for name, c := range map[string]struct {
		in   Node
		want int // table expressions
	}{
		"twice":               {unionOf(groups(), groups()), 1},
		"one node twice":      {func() Node { n := groups(); return unionOf(n, n) }(), 1},
		"only reasons":        {unionOf(groups(), countsBy(explained, 0)), 1},
		"another key":         {unionOf(groups(), countsBy(smallScan(t), 1)), 0},
		"another type":        {unionOf(groups(), countsBy(another, 0)), 0},
		"rows":                {unionOf(smallScan(t), smallScan(t)), 0},
		"without a table":     {unionOf(countsBy(&Values{Rows: [][]Expr{{integer(1)}}, Types: []Type{"INTEGER"}}, 0), countsBy(&Values{Rows: [][]Expr{{integer(1)}}, Types: []Type{"INTEGER"}}, 0)), 0},
		"of an expression":    {&CTE{ID: 4, Definition: smallScan(t), Body: unionOf(countsBy(&CTERef{ID: 4, Types: smallScan(t).Columns()}, 0), countsBy(&CTERef{ID: 4, Types: smallScan(t).Columns()}, 0))}, 1},
		"beside expressions":  {&CTE{ID: 4, Definition: groups(), Body: unionOf(&CTERef{ID: 4, Types: groups().Columns()}, groups())}, 2},
		"in a recursive step": {unionOf(groups(), &RecursiveCTE{ID: 0, Base: unionOf(groups()), Step: groups()}), 0},
		"two kinds":           {unionOf(groups(), groups(), countsBy(smallScan(t), 1), countsBy(smallScan(t), 1)), 2},
		"one in the other":    {unionOf(countsBy(groups(), 0), countsBy(groups(), 0), groups()), 2},
	} {
		out, changed, err := shareCommonSubplans{}.Apply(c.in)
		require.NoError(t, err, name)
		ids := map[int]bool{}
		Walk(out, func(n Node) bool {
			if cte, ok := n.(*CTE); ok {
				require.False(t, ids[cte.ID], name)
				ids[cte.ID] = true
			}
			return true
		})
		require.Len(t, ids, c.want, "%s\n%s", name, Print(out))
		require.Equal(t, Print(c.in) != Print(out), changed, name)
		require.Equal(t, c.in.Columns(), out.Columns(), name)
		again, changed, err := shareCommonSubplans{}.Apply(out)
		require.NoError(t, err, name)
		require.False(t, changed, name)
		require.Equal(t, Print(out), Print(again), name)
	}
}

// Columns 0 to 2 are of the left side, the key and the count of the right one.
func TestSharedSubplansAreNotNarrowedOutside(t *testing.T) {
	t.Parallel()
	filtered := smallScan(t)
	filtered.Filter = []Expr{greater(column(1, "INTEGER"), 3)}
	on := func(l, r int) []JoinCondition {
		return []JoinCondition{{Op: "=", Left: column(l, "INTEGER"), Right: column(r, "INTEGER")}}
	}
	groups := func() Node { return countsBy(smallScan(t), 0) }
	for name, c := range map[string]struct {
		left Node
		on   []JoinCondition
		want bool
	}{
		"all rows":              {smallScan(t), on(0, 0), false},
		"few rows":              {filtered, on(0, 0), true},
		"few rows, but no key":  {filtered, []JoinCondition{{Op: "=", Left: &Cast{Arg: column(0, "INTEGER"), Target: "BIGINT"}, Right: column(1, "BIGINT")}}, false},
		"few rows, another":     {filtered, nil, false},
		"joined with few rows":  {&Join{Kind: InnerJoin, Left: smallScan(t), Right: filtered, Conditions: on(1, 1)}, on(0, 0), true},
		"few rows, compared":    {filtered, []JoinCondition{{Op: "<", Left: column(0, "INTEGER"), Right: column(0, "INTEGER")}}, false},
		"few rows behind a CTE": {&CTE{ID: 1, Definition: filtered, Body: &CTERef{ID: 1, Types: filtered.Columns()}}, on(0, 0), true},
	} {
		common := []Node{groups(), groups()}
		joined := &Join{Kind: InnerJoin, Left: c.left, Right: common[0], Conditions: c.on}
		root := &Join{Kind: InnerJoin, Left: joined, Right: common[1]}
		require.Equal(t, c.want, narrowedOutside(root, common), "%s\n%s", name, Print(root))
	}
}
