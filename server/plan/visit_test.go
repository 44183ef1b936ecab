package plan

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

func testRef(i int) *Ref { return &Ref{Index: i, RefType: "INTEGER"} }

// sampleExprs has every kind of expression, each over the columns 0 to 4.
func sampleExprs() []Expr {
	key := SortKey{Expr: testRef(1), Descending: true, NullsFirst: true}
	return []Expr{
		testRef(0),
		&Const{SQL: "'1'::INTEGER", Value: int64(1), ConstType: "INTEGER"},
		&Cast{Arg: testRef(0), Try: true, Target: "BIGINT"},
		&Comparison{Op: "<", Left: testRef(0), Right: testRef(1)},
		&Conjunction{Or: true, Args: []Expr{testRef(0), testRef(1)}},
		&Between{Arg: testRef(0), Low: testRef(1), High: testRef(2), LowInclusive: true},
		&Case{Whens: []When{{Cond: testRef(0), Then: testRef(1)}}, Else: testRef(2), Result: "INTEGER"},
		&Operator{Kind: "IN", Args: []Expr{testRef(0), testRef(1)}, Result: "BOOLEAN"},
		&Call{Name: "struct_pack", Args: []Expr{testRef(0)}, ArgNames: []string{"x"}, Result: `STRUCT("x" INTEGER)`},
		&Call{Name: "list_filter", Result: "INTEGER[]", Args: []Expr{testRef(0), &Lambda{Params: []string{"x"}, Body: &Comparison{
			Op: "<", Left: &LambdaParam{Name: "x", RefType: "INTEGER"}, Right: testRef(1),
		}}}},
		&AggCall{Name: "sum", Args: []Expr{testRef(0)}, Distinct: true, Filter: testRef(1), OrderBy: []SortKey{key}, Result: "HUGEINT"},
		&WindowCall{
			Name: "lag", Args: []Expr{testRef(0)}, IgnoreNulls: true, Filter: testRef(1), Partition: []Expr{testRef(2)},
			OrderBy: []SortKey{key}, ArgOrders: []SortKey{key}, Frame: "ROWS BETWEEN %s PRECEDING AND CURRENT ROW",
			FrameArgs: []Expr{testRef(3)}, Exclude: " EXCLUDE TIES", Result: "INTEGER",
		},
	}
}

func testScan() *Scan {
	table := &catalog.Table{Schema: "main", Name: "t", Arrow: arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int32}, {Name: "b", Type: arrow.PrimitiveTypes.Int32},
	}, nil)}
	return &Scan{
		Table: table, Output: []int{0, 1, -1}, Types: []Type{"INTEGER", "INTEGER", "BIGINT"}, Limit: 7,
		Filter: []Expr{&Comparison{Op: "=", Left: testRef(0), Right: testRef(1)}}, OrderBy: []SortKey{{Expr: testRef(1)}},
	}
}

// sampleNodes has every kind of node.
func sampleNodes() []Node {
	in := func() Node { return testScan() }
	keys := []SortKey{{Expr: testRef(0)}}
	partial := testScan()
	partial.Output, partial.Types, partial.OrderBy, partial.Limit = nil, nil, nil, pushdown.NoLimit
	partial.Partial = &Partial{Keys: []Expr{testRef(0)}, Aggregates: []PartialAggregate{
		{Func: pushdown.Sum, Arg: testRef(1), Filter: testRef(0), Type: "HUGEINT"}, {Func: pushdown.CountStar, Type: "BIGINT"},
	}}
	return []Node{
		testScan(), partial,
		&Filter{Input: in(), Conjuncts: []Expr{testRef(0)}, Projection: []int{1}},
		&Project{Input: in(), Exprs: sampleExprs()[:10]},
		&Aggregate{Input: in(), Keys: []Expr{testRef(0)}, Aggregates: []Expr{sampleExprs()[10]}, Sets: [][]int{{0}, {}}, Groupings: [][]int{{0}}},
		&Distinct{Input: in()},
		&Distinct{Input: in(), On: []Expr{testRef(0)}, OrderBy: keys},
		&Join{
			Kind: MarkJoin, Left: in(), Right: in(), Conditions: []JoinCondition{{Op: "=", Left: testRef(0), Right: testRef(1)}, {Left: testRef(4)}},
			Delim: &Delim{ID: 3, Columns: []Expr{testRef(0)}, Flipped: true}, LeftProjection: []int{0},
		},
		&DelimGet{ID: 3, Types: []Type{"INTEGER"}},
		&SetOp{Op: "UNION", All: true, InputNodes: []Node{in(), in()}, OutputTypes: []Type{"INTEGER", "INTEGER", "BIGINT"}},
		&Sort{Input: in(), Keys: keys, Projection: []int{1, 0}},
		&TopN{Input: in(), Keys: keys, Limit: 3, Offset: 1},
		&Limit{Input: in(), Count: pushdown.NoLimit, Offset: 2},
		&Window{Input: in(), Exprs: []Expr{sampleExprs()[11]}},
		&CTE{ID: 1, Definition: in(), Body: in()},
		&CTERef{ID: 1, Types: []Type{"INTEGER"}},
		&RecursiveCTE{ID: 2, All: true, Base: in(), Step: in()},
		&Unnest{Input: in(), Exprs: []Expr{&Call{Name: "unnest", Args: []Expr{testRef(0)}, Result: "INTEGER"}}},
		&Values{Rows: [][]Expr{{testRef(0)}}, Types: []Type{"INTEGER"}},
		&TableCall{SQL: "SELECT c0 FROM range(3) AS s(c0)", Types: []Type{"BIGINT"}},
	}
}

func shifted(e Expr) Expr {
	return MapExpr(e, func(e Expr) Expr {
		if r, ok := e.(*Ref); ok {
			return &Ref{Index: r.Index + 100, RefType: r.RefType}
		}
		return e
	})
}

func TestMapExpr(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range sampleExprs() {
		text := ExprString(e)
		require.False(t, seen[text], text)
		seen[text] = true
		require.NotEmpty(t, e.Type())
		require.Same(t, e, MapExpr(e, func(e Expr) Expr { return e }), text)
		moved := shifted(e)
		require.Equal(t, text, ExprString(e), "the original changed")
		before, after := refsIn(e), refsIn(moved)
		require.Len(t, after, len(before))
		for i := range before {
			require.Equal(t, before[i]+100, after[i], text)
		}
	}
	require.Nil(t, MapExpr(nil, func(e Expr) Expr { return e }))
}

// refsIn lists the positions that e refers to; it counts the places where each
// kind of expression can have a part.
func refsIn(e Expr) []int {
	var out []int
	WalkExpr(e, func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			out = append(out, r.Index)
		}
		return true
	})
	return out
}

func TestWalkExprStops(t *testing.T) {
	t.Parallel()
	visited := 0
	WalkExpr(sampleExprs()[3], func(Expr) bool {
		visited++
		return false
	})
	require.Equal(t, 1, visited)
}

func TestRewriteNodes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, n := range sampleNodes() {
		text := Print(n)
		require.False(t, seen[text], text)
		seen[text] = true
		require.Same(t, n, WithInputs(n, n.Inputs()), text)
		require.Same(t, n, MapExprs(n, func(e Expr) Expr { return e }), text)
		require.Same(t, n, Transform(n, func(n Node) Node { return n }), text)
		require.NotEmpty(t, n.Columns(), text)
		checkNewInputs(t, n)
		checkMappedExprs(t, n)
		require.Equal(t, text, Print(n), "the original changed")
	}
}

// checkNewInputs replaces the inputs and finds them in the copy.
func checkNewInputs(t *testing.T, n Node) {
	in := n.Inputs()
	if len(in) == 0 {
		return
	}
	fresh := make([]Node, len(in))
	for i := range fresh {
		fresh[i] = &CTERef{ID: 40 + i, Types: in[i].Columns()}
	}
	changed := WithInputs(n, fresh)
	require.NotSame(t, n, changed)
	require.Equal(t, fresh, changed.Inputs())
	require.Equal(t, n.Columns(), changed.Columns())
	require.Equal(t, Line(n), Line(changed))
}

// checkMappedExprs shifts the references of a node's own expressions.
func checkMappedExprs(t *testing.T, n Node) {
	var before, after []int
	WalkExprs(n, func(e Expr) { before = append(before, refsIn(e)...) })
	changed := MapExprs(n, shifted)
	WalkExprs(changed, func(e Expr) { after = append(after, refsIn(e)...) })
	require.Len(t, after, len(before))
	for i := range before {
		require.Equal(t, before[i]+100, after[i], Line(n))
	}
	require.Equal(t, n.Inputs(), changed.Inputs())
}

func TestTransformIsBottomUp(t *testing.T) {
	t.Parallel()
	plan := &Filter{Input: &Limit{Input: testScan(), Count: 1}, Conjuncts: []Expr{testRef(0)}}
	order := ""
	out := Transform(plan, func(n Node) Node {
		order += fmt.Sprintf("%T ", n)
		if l, ok := n.(*Limit); ok {
			return l.Input
		}
		return n
	})
	require.Equal(t, "*plan.Scan *plan.Limit *plan.Filter ", order)
	require.IsType(t, &Scan{}, out.(*Filter).Input)
	require.Len(t, Scans(plan), 1)
	visited := 0
	Walk(plan, func(Node) bool {
		visited++
		return false
	})
	require.Equal(t, 1, visited)
}

func TestColumnsOfJoins(t *testing.T) {
	t.Parallel()
	left := &Values{Types: []Type{"INTEGER", "VARCHAR"}}
	right := &Values{Types: []Type{"DATE"}}
	for kind, want := range map[JoinKind][]Type{
		InnerJoin: {"INTEGER", "VARCHAR", "DATE"}, LeftJoin: {"INTEGER", "VARCHAR", "DATE"}, SingleJoin: {"INTEGER", "VARCHAR", "DATE"},
		SemiJoin: {"INTEGER", "VARCHAR"}, AntiJoin: {"INTEGER", "VARCHAR"}, RightSemiJoin: {"DATE"}, RightAntiJoin: {"DATE"},
		MarkJoin: {"INTEGER", "VARCHAR", "BOOLEAN"},
	} {
		require.Equal(t, want, (&Join{Kind: kind, Left: left, Right: right}).Columns(), kind)
	}
	require.Equal(t, []Type{"VARCHAR", "DATE"}, (&Join{Kind: InnerJoin, Left: left, Right: right, LeftProjection: []int{1}}).Columns())
}
