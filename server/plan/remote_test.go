package plan

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

func part(id string, rows int64, owners ...*catalog.Scanner) catalog.Partition {
	return catalog.Partition{ID: id, Rows: rows, Owners: owners}
}

func TestAssign(t *testing.T) {
	t.Parallel()
	all := pushdown.AllCapabilities()
	a, b, down := testScanner("a", all), testScanner("b", all), testScanner("c", all)
	down.Err = errors.New("connection refused")
	cases := []struct {
		name  string
		parts []catalog.Partition
		want  string
	}{
		{"one owner each", []catalog.Partition{part("0", 5, a), part("1", 5, b)}, "a:0 b:1"},
		{"replicas spread by count", []catalog.Partition{part("0", -1, a, b), part("1", 9, a, b), part("2", 9, a, b), part("3", 9, a, b)}, "a:0,2 b:1,3"},
		{"the large one alone", []catalog.Partition{part("0", 10, a, b), part("1", 10, a, b), part("2", 900, a, b)}, "a:2 b:0,1"},
		{"not to one that is down", []catalog.Partition{part("0", 5, down, b), part("1", 5, b, down)}, "b:0,1"},
		{"no partitions", nil, ""},
	}
	for _, c := range cases {
		table := testTable(t, "x", "a INTEGER", 0)
		table.Partitions = c.parts
		targets, err := targetsOf(table, pushdown.Spec{Table: "main.x", Limit: pushdown.NoLimit})
		require.NoError(t, err, c.name)
		got := mapSlice(targets, func(t Target) string { return t.Scanner.Name + ":" + strings.Join(t.Partitions, ",") })
		require.Equal(t, c.want, strings.Join(got, " "), c.name)
		for _, target := range targets {
			require.Equal(t, target.Partitions, target.Split.Remote.Partitions, c.name)
		}
	}
}

func TestNoOwner(t *testing.T) {
	t.Parallel()
	down := testScanner("c", pushdown.Capabilities{})
	down.Err = errors.New("connection refused")
	table := testTable(t, "x", "a INTEGER", 0)
	table.Partitions = []catalog.Partition{part("p7", 5, down)}
	_, err := targetsOf(table, pushdown.Spec{})
	require.Equal(t, status.Unavailable, status.CodeOf(err))
	require.EqualError(t, err, "partition p7 of table main.x has no scanner that answers (scanner c at c:1: connection refused)")
}

// TestScanSQL: casts only where the engine would import another type.
func TestScanSQL(t *testing.T) {
	t.Parallel()
	table := testTable(t, "t", allTypes, 1, testScanner("s1", pushdown.AllCapabilities()))
	rows := func(output []int, types ...Type) *Scan {
		return &Scan{Table: table, Output: output, Types: types, Limit: pushdown.NoLimit}
	}
	cases := []struct {
		scan *Scan
		want string
	}{
		{rows([]int{2, 0}, "VARCHAR", "INTEGER"), "SELECT x0 AS c0, x1 AS c1 FROM remote('scan1') AS r(x0, x1)"},
		{rows([]int{0, 2, 0}, "INTEGER", "VARCHAR", "INTEGER"), "SELECT x0 AS c0, x1 AS c1, x0 AS c2 FROM remote('scan1') AS r(x0, x1)"},
		{rows([]int{6, 13, 15}, "HUGEINT", "VARCHAR", "INTEGER[]"), "SELECT CAST(x0 AS HUGEINT) AS c0, x1 AS c1, x2 AS c2 FROM remote('scan1') AS r(x0, x1, x2)"},
		{rows([]int{-1}, "BIGINT"), "SELECT CAST(0 AS BIGINT) AS c0 FROM remote('scan1') AS r(x0)"},
		{rows(nil), "SELECT x0 AS c0 FROM remote('scan1') AS r(x0)"},
		{
			&Scan{Table: table, Limit: pushdown.NoLimit, Partial: &Partial{
				Keys:       []Expr{&Ref{Index: 2, RefType: "VARCHAR"}},
				Aggregates: []PartialAggregate{{Func: pushdown.Sum, Arg: &Ref{Index: 0, RefType: "INTEGER"}, Type: "HUGEINT"}, {Func: pushdown.CountStar, Type: "BIGINT"}},
			}},
			"SELECT x0 AS c0, CAST(x1 AS HUGEINT) AS c1, x2 AS c2 FROM remote('scan1') AS r(x0, x1, x2)",
		},
	}
	for _, c := range cases {
		p := &Plan{Root: c.scan}
		require.NoError(t, p.remote())
		require.Equal(t, c.want, p.scanSQL(c.scan))
		require.Len(t, p.Scans[0].Types, p.Scans[0].Spec.OutputSchema().NumFields())
	}
}

// TestCheckFindsMistakes: the last rule refuses broken trees.
func TestCheckFindsMistakes(t *testing.T) {
	t.Parallel()
	scan := &Scan{Table: testTable(t, "t", "a INTEGER, s VARCHAR, l LIST", 1), Output: []int{0}, Types: []Type{"INTEGER"}, Limit: pushdown.NoLimit}
	bad := &Ref{Index: 1, RefType: "INTEGER"}
	wrong := &Ref{Index: 0, RefType: "VARCHAR"}
	list := *scan
	list.Filter = []Expr{&Ref{Index: 2, RefType: "INTEGER[]"}}
	notBoolean := *scan
	notBoolean.Filter = []Expr{&Ref{Index: 0, RefType: "INTEGER"}}
	trees := map[string]Node{
		"out of range":      &Project{Input: scan, Exprs: []Expr{bad}},
		"wrong type":        &Filter{Input: scan, Conjuncts: []Expr{wrong}},
		"projection":        &Filter{Input: scan, Projection: []int{1}},
		"join":              &Join{Kind: InnerJoin, Left: scan, Right: scan, Conditions: []JoinCondition{{Op: "=", Left: bad, Right: bad}}},
		"join's other side": &Join{Kind: InnerJoin, Left: scan, Right: scan, Conditions: []JoinCondition{{Op: "=", Left: &Ref{RefType: "INTEGER"}, Right: bad}}},
		"any join":          &Join{Kind: InnerJoin, Left: scan, Right: scan, Conditions: []JoinCondition{{Left: &Ref{Index: 2, RefType: "BOOLEAN"}}}},
		"join projection":   &Join{Kind: LeftJoin, Left: scan, Right: scan, RightProjection: []int{3}},
		"union":             &SetOp{Op: "UNION", InputNodes: []Node{scan}, OutputTypes: []Type{"INTEGER", "INTEGER"}},
		"unpushable filter": &list,
		"filter's type":     &notBoolean,
	}
	for name, tree := range trees {
		_, changed, err := planCheck{}.Apply(tree)
		require.Error(t, err, name)
		require.False(t, changed, name)
	}
	_, _, err := planCheck{}.Apply(&Project{Input: scan, Exprs: []Expr{&Ref{Index: 0, RefType: "INTEGER"}}})
	require.NoError(t, err)
}
