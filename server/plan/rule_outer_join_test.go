package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func outer(t *testing.T, kind JoinKind) *Join {
	t.Helper()
	on := JoinCondition{Op: "=", Left: column(0, "INTEGER"), Right: column(0, "INTEGER")}
	return &Join{Kind: kind, Left: smallScan(t), Right: smallScan(t), Conditions: []JoinCondition{on}}
}

// Columns 0 to 2 are of the left side, 3 to 5 of the right.
func TestOuterJoinByFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   JoinKind
		filter Expr
		want   JoinKind
	}{
		{LeftJoin, greater(column(3, "INTEGER"), 3), InnerJoin},
		{LeftJoin, greater(column(0, "INTEGER"), 3), LeftJoin},
		{RightJoin, greater(column(0, "INTEGER"), 3), InnerJoin},
		{RightJoin, greater(column(3, "INTEGER"), 3), RightJoin},
		{OuterJoin, greater(column(0, "INTEGER"), 3), LeftJoin},
		{OuterJoin, greater(column(3, "INTEGER"), 3), RightJoin},
		{OuterJoin, &Comparison{Op: "<", Left: column(1, "INTEGER"), Right: column(3, "INTEGER")}, InnerJoin},
		{LeftJoin, greater(&Cast{Arg: column(3, "INTEGER"), Target: "BIGINT"}, 3), InnerJoin},
		{LeftJoin, &Operator{Kind: "IS NOT NULL", Args: []Expr{column(3, "INTEGER")}, Result: "BOOLEAN"}, InnerJoin},
		{LeftJoin, &Operator{Kind: "IN", Args: []Expr{column(3, "INTEGER"), integer(1)}, Result: "BOOLEAN"}, InnerJoin},
		{LeftJoin, &Between{Arg: column(3, "INTEGER"), Low: integer(1), High: integer(2)}, InnerJoin},
		{LeftJoin, &Conjunction{Args: []Expr{greater(column(0, "INTEGER"), 3), greater(column(3, "INTEGER"), 3)}}, InnerJoin},
		// True of NULL, or of some NULLs.
		{LeftJoin, &Operator{Kind: "IS NULL", Args: []Expr{column(3, "INTEGER")}, Result: "BOOLEAN"}, LeftJoin},
		{LeftJoin, &Operator{Kind: "NOT IN", Args: []Expr{column(3, "INTEGER")}, Result: "BOOLEAN"}, LeftJoin},
		{LeftJoin, &Conjunction{Or: true, Args: []Expr{greater(column(0, "INTEGER"), 3), greater(column(3, "INTEGER"), 3)}}, LeftJoin},
		{LeftJoin, &Comparison{Op: "IS DISTINCT FROM", Left: column(3, "INTEGER"), Right: integer(1)}, LeftJoin},
		{LeftJoin, &Comparison{Op: "IS NOT DISTINCT FROM", Left: column(3, "INTEGER"), Right: column(0, "INTEGER")}, LeftJoin},
		{LeftJoin, greater(&Operator{Kind: "COALESCE", Args: []Expr{column(3, "INTEGER"), integer(9)}, Result: "INTEGER"}, 3), LeftJoin},
	} {
		in := &Filter{Input: outer(t, c.kind), Conjuncts: []Expr{c.filter}}
		out, changed, err := outerJoin{}.Apply(in)
		require.NoError(t, err)
		require.Equal(t, c.want, out.(*Filter).Input.(*Join).Kind, Print(in))
		require.Equal(t, c.want != c.kind, changed)
	}
}

func TestOuterJoinBelowOthers(t *testing.T) {
	t.Parallel()
	isRight := greater(column(0, "INTEGER"), 3)
	project := func(in Node) Node { return &Project{Input: in, Exprs: []Expr{column(3, "INTEGER")}} }
	for name, c := range map[string]struct {
		between func(in Node) Node
		want    JoinKind
	}{
		"projection": {project, InnerJoin},
		"computed":   {func(in Node) Node { return &Project{Input: in, Exprs: []Expr{integer(1)}} }, LeftJoin},
		"sort":       {func(in Node) Node { return &Sort{Input: project(in), Keys: []SortKey{{Expr: column(0, "INTEGER")}}} }, InnerJoin},
		"distinct":   {func(in Node) Node { return &Distinct{Input: project(in)} }, InnerJoin},
		"group key":  {func(in Node) Node { return &Aggregate{Input: in, Keys: []Expr{column(3, "INTEGER")}} }, InnerJoin},
		"aggregate": {func(in Node) Node {
			return &Aggregate{Input: in, Aggregates: []Expr{&AggCall{Name: "max", Args: []Expr{column(3, "INTEGER")}, Result: "INTEGER"}}}
		}, LeftJoin},
		"grouping sets": {func(in Node) Node {
			return &Aggregate{Input: in, Keys: []Expr{column(3, "INTEGER")}, Sets: [][]int{{0}, {}}}
		}, LeftJoin},
		"limit": {func(in Node) Node { return &Limit{Input: project(in), Count: 3} }, LeftJoin},
		"top-N": {func(in Node) Node {
			return &TopN{Input: project(in), Keys: []SortKey{{Expr: column(0, "INTEGER")}}, Limit: 3}
		}, LeftJoin},
	} {
		out, _, err := outerJoin{}.Apply(&Filter{Input: c.between(outer(t, LeftJoin)), Conjuncts: []Expr{isRight}})
		require.NoError(t, err)
		Walk(out, func(n Node) bool {
			if j, ok := n.(*Join); ok {
				require.Equal(t, c.want, j.Kind, name)
			}
			return true
		})
	}
}

// The condition of a join above says of which rows it needs: those of the side
// that it drops when they have no partner.
func TestOuterJoinByJoin(t *testing.T) {
	t.Parallel()
	below := func(kind JoinKind) *Join {
		return &Join{Kind: kind, Left: outer(t, LeftJoin), Right: smallScan(t),
			Conditions: []JoinCondition{{Op: "=", Left: column(3, "INTEGER"), Right: column(0, "INTEGER")}}}
	}
	for kind, want := range map[JoinKind]JoinKind{
		InnerJoin: InnerJoin, RightJoin: InnerJoin, SemiJoin: InnerJoin,
		LeftJoin: LeftJoin, OuterJoin: LeftJoin, AntiJoin: LeftJoin, MarkJoin: LeftJoin, SingleJoin: LeftJoin,
	} {
		out, _, err := outerJoin{}.Apply(below(kind))
		require.NoError(t, err)
		require.Equal(t, want, out.(*Join).Left.(*Join).Kind, kind)
	}
	delim := below(InnerJoin)
	delim.Delim = &Delim{ID: 1}
	nullSafe := below(InnerJoin)
	nullSafe.Conditions[0].Op = "IS NOT DISTINCT FROM"
	for _, n := range []Node{delim, nullSafe} {
		out, changed, err := outerJoin{}.Apply(n)
		require.NoError(t, err)
		require.False(t, changed)
		require.Same(t, n, out)
	}
}
