package plan

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/engine"
)

// treeGen draws trees that DuckDB's own plans seldom have: projections on every
// operator that can have one, columns that nobody reads, all kinds of joins.
type treeGen struct {
	*rapid.T
	snap *rulesEnv
	ctes []*CTERef
	ids  int
}

func (g *treeGen) n(label string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(g.T, label) }

func (g *treeGen) scan() Node {
	table := g.snap.snap.Tables["main.u"]
	columns := []Type{"INTEGER", "VARCHAR", "DOUBLE"}
	if g.n("table", 0, 1) == 0 {
		table = g.snap.snap.Tables["main.t"]
		columns = []Type{"INTEGER", "BIGINT", "VARCHAR", "DECIMAL(15,2)"}
	}
	s := &Scan{Table: table, Limit: pushdown.NoLimit}
	for i := range g.n("columns", 1, len(columns)) {
		s.Output, s.Types = append(s.Output, i), append(s.Types, columns[i])
	}
	if g.n("filtered", 0, 2) == 0 {
		s.Filter = []Expr{&Comparison{Op: ">", Left: &Ref{Index: 0, RefType: "INTEGER"}, Right: integer(int64(g.n("constant", 0, 8)))}}
	}
	return s
}

func integer(v int64) *Const {
	return &Const{SQL: fmt.Sprintf("CAST(%d AS INTEGER)", v), Value: v, ConstType: "INTEGER"}
}

func (g *treeGen) node(depth int) Node {
	if depth == 0 {
		if len(g.ctes) > 0 && g.n("leaf", 0, 2) == 0 {
			ref := *rapid.SampledFrom(g.ctes).Draw(g.T, "cte")
			return &ref
		}
		return g.scan()
	}
	switch g.n("operator", 0, 12) {
	case 0, 1:
		in := g.node(depth - 1)
		return &Filter{Input: in, Conjuncts: []Expr{g.predicate(in.Columns())}, Projection: g.projection(len(in.Columns()))}
	case 2, 3:
		in := g.node(depth - 1)
		return &Project{Input: in, Exprs: g.exprs(in.Columns())}
	case 4, 5:
		return g.aggregate(g.node(depth - 1))
	case 6:
		return &Distinct{Input: g.node(depth - 1)}
	case 7:
		in := g.node(depth - 1)
		return &Sort{Input: in, Keys: []SortKey{{Expr: g.ref(in.Columns())}}, Projection: g.projection(len(in.Columns()))}
	case 8:
		return g.union(depth)
	case 9:
		in := g.node(depth - 1)
		part := &WindowCall{Name: "count_star", Partition: []Expr{g.ref(in.Columns())}, Frame: "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", Result: "BIGINT"}
		return &Window{Input: in, Exprs: []Expr{part}}
	case 10:
		return g.cte(depth)
	}
	return g.join(depth)
}

func (g *treeGen) ref(types []Type) *Ref {
	i := g.n("column", 0, len(types)-1)
	return &Ref{Index: i, RefType: types[i]}
}

// projection is nil or a choice of columns, with repetitions.
func (g *treeGen) projection(width int) []int {
	if g.n("projected", 0, 1) == 0 {
		return nil
	}
	return rapid.SliceOfN(rapid.IntRange(0, width-1), 1, width).Draw(g.T, "projection")
}

func (g *treeGen) predicate(types []Type) Expr {
	ref := g.ref(types)
	switch {
	case ref.RefType == "INTEGER" && g.n("comparison", 0, 1) == 0:
		return &Comparison{Op: "<", Left: ref, Right: integer(int64(g.n("constant", 0, 9)))}
	case ref.RefType == "VARCHAR" && g.n("unpushable", 0, 2) == 0:
		return &Comparison{Op: "<>", Left: &Call{Name: "reverse", Args: []Expr{ref}, Result: "VARCHAR"}, Right: &Const{SQL: "'X'", Value: "X", ConstType: "VARCHAR"}}
	}
	return &Operator{Kind: "IS NOT NULL", Args: []Expr{ref}, Result: "BOOLEAN"}
}

func (g *treeGen) exprs(types []Type) []Expr {
	out := make([]Expr, g.n("width", 1, 4))
	for i := range out {
		if out[i] = Expr(g.ref(types)); g.n("computed", 0, 3) == 0 {
			out[i] = &Operator{Kind: "IS NULL", Args: []Expr{out[i]}, Result: "BOOLEAN"}
		}
	}
	return out
}

func (g *treeGen) aggregate(in Node) Node {
	a := &Aggregate{Input: in}
	for range g.n("keys", 0, 2) {
		a.Keys = append(a.Keys, g.ref(in.Columns()))
	}
	for range g.n("functions", 1, 3) {
		ref := g.ref(in.Columns())
		call := &AggCall{Name: "count", Args: []Expr{ref}, Result: "BIGINT"}
		switch g.n("function", 0, 3) {
		case 0:
			call = &AggCall{Name: "count_star", Result: "BIGINT"}
		case 1:
			call = &AggCall{Name: "max", Args: []Expr{ref}, Result: ref.RefType}
		case 2:
			call.Distinct = true
		}
		a.Aggregates = append(a.Aggregates, call)
	}
	return a
}

// union has inputs of the same types: projections of the same node's columns.
func (g *treeGen) union(depth int) Node {
	in := g.node(depth - 1)
	types := in.Columns()
	other := g.exprsOf(g.node(depth-1), types)
	op := rapid.SampledFrom([]string{"UNION", "UNION", "INTERSECT", "EXCEPT"}).Draw(g.T, "op")
	return &SetOp{Op: op, All: op == "UNION" && g.n("all", 0, 2) > 0, InputNodes: []Node{in, other}, OutputTypes: types}
}

// exprsOf projects n to the given types, with NULLs where it has none.
func (g *treeGen) exprsOf(n Node, types []Type) Node {
	have := n.Columns()
	exprs := mapSlice(types, func(t Type) Expr {
		if at := slices.Index(have, t); at >= 0 {
			return &Ref{Index: at, RefType: t}
		}
		return &Const{SQL: "CAST(NULL AS " + string(t) + ")", ConstType: t}
	})
	return &Project{Input: n, Exprs: exprs}
}

func (g *treeGen) cte(depth int) Node {
	g.ids++
	id := g.ids
	definition := g.node(depth - 1)
	g.ctes = append(g.ctes, &CTERef{ID: id, Types: definition.Columns()})
	body := g.node(depth - 1)
	g.ctes = g.ctes[:len(g.ctes)-1]
	return &CTE{ID: id, Definition: definition, Body: body}
}

func (g *treeGen) join(depth int) Node {
	j := &Join{Left: g.node(depth - 1), Right: g.node(depth - 1)}
	j.Kind = rapid.SampledFrom([]JoinKind{InnerJoin, LeftJoin, RightJoin, OuterJoin, SemiJoin, AntiJoin, RightSemiJoin, RightAntiJoin, MarkJoin}).Draw(g.T, "kind")
	left, right := j.Left.Columns(), j.Right.Columns()
	l := g.ref(left)
	at := slices.Index(right, l.RefType)
	if at < 0 {
		j.Kind = InnerJoin
	} else {
		j.Conditions = []JoinCondition{{Op: "=", Left: l, Right: &Ref{Index: at, RefType: l.RefType}}}
	}
	if j.Kind == InnerJoin && g.n("residual", 0, 2) == 0 {
		r := g.ref(append(slices.Clone(left), right...))
		j.Conditions = append(j.Conditions, JoinCondition{Left: &Operator{Kind: "IS NOT NULL", Args: []Expr{r}, Result: "BOOLEAN"}})
	}
	if j.Kind != RightSemiJoin && j.Kind != RightAntiJoin {
		j.LeftProjection = g.projection(len(left))
	}
	if slices.Contains([]JoinKind{InnerJoin, LeftJoin, RightJoin, OuterJoin, RightSemiJoin, RightAntiJoin}, j.Kind) {
		j.RightProjection = g.projection(len(right))
	}
	return j
}

// runTree renders a tree and runs it.
func (w *world) runTree(t testing.TB, root Node) ([]string, error) {
	p := &Plan{Root: root}
	if err := p.remote(); err != nil {
		return nil, err
	}
	sql, err := Render(root, numbered(len(root.Columns())), p.scanSQL)
	if err != nil {
		return nil, err
	}
	inputs := map[string]engine.Input{}
	for _, s := range p.Scans {
		inputs[s.ID] = w.scan(t, s)
	}
	rows := w.run(t, engine.Query{SQL: sql, Inputs: inputs})
	slices.Sort(rows)
	return rows, nil
}

// TestRandomTrees: the rules keep the answer of any tree, are idempotent on it,
// and leave nothing that the check refuses.
func TestRandomTrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	compared := 0
	rapid.Check(t, func(rt *rapid.T) {
		g := &treeGen{T: rt, snap: w.rulesEnv}
		root := g.node(3)
		text := Print(root)
		if rows := estimate(root); rows > 1e6 {
			return // joins of joins of everything
		}
		level := rapid.SampledFrom(levels()).Draw(rt, "level")
		requireIdempotent(rt, root, rules(level), text)
		out, _, err := applyRules(root, rules(level))
		require.NoError(rt, err, text)
		want, err := w.runTree(t, root)
		if status.CodeOf(err) == status.Unimplemented {
			return
		}
		require.NoError(rt, err, text)
		got, err := w.runTree(t, out)
		require.NoError(rt, err, text)
		require.Equal(rt, want, got, "%s\nlevel %s\n%s", text, level, Print(out))
		compared++
	})
	require.Greater(t, compared, 30, "too many trees were left out")
}

// estimate multiplies what joins may multiply.
func estimate(n Node) float64 {
	switch n := n.(type) {
	case *Scan:
		return 240
	case *CTERef:
		return 500
	case *Join:
		return estimate(n.Left) * estimate(n.Right) / 4
	}
	rows := 0.0
	for _, in := range n.Inputs() {
		rows += estimate(in)
	}
	return rows
}
