package plan

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// TestBind runs testdata/bind/*. The commands, each over one SQL statement:
//
//	read     prints the tree of the bound plan
//	render   prints the SQL that is written back, a table t read as «t»
//	refuse   prints why the plan is not read or written
func TestBind(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	datadriven.Walk(t, "testdata/bind", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			bound, err := env.binder.Bind(t.Context(), d.Input)
			require.NoError(t, err, d.Pos)
			root, err := Read(bound.PlanJSON, env.snap)
			if d.Cmd == "read" {
				require.NoError(t, err, d.Pos)
				return Print(root)
			}
			text := ""
			if err == nil {
				text, err = Render(root, mapSlice(bound.Schema.Fields(), func(f arrow.Field) string { return f.Name }), tableMark)
			}
			if d.Cmd == "render" {
				require.NoError(t, err, d.Pos)
				return text + "\n"
			}
			require.Equal(t, status.Unimplemented, status.CodeOf(err), d.Pos)
			return err.Error() + "\n"
		})
	})
}

// tableMark stands for the SELECT of a scan.
func tableMark(s *Scan) string {
	columns := mapSlice(s.Output, func(i int) string { return scanColumn(s, i) })
	out := "«" + s.Table.Name + ": " + strings.Join(columns, ", ")
	if len(s.Filter) > 0 {
		out += " where " + exprList(" and ", s.Filter)
	}
	return out + "»"
}

func TestReadRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	snap := &catalog.Snapshot{Tables: map[string]*catalog.Table{}}
	ref := `{"expression_class":"BOUND_REF","return_type":{"id":"INTEGER"},"index":3}`
	for name, text := range map[string]string{
		"not JSON":          `{"plans":[`,
		"an error":          `{"error":true,"error_message":"no"}`,
		"no plan":           `{"error":false,"plans":[]}`,
		"two plans":         `{"plans":[{"type":"LOGICAL_DUMMY_SCAN"},{"type":"LOGICAL_DUMMY_SCAN"}]}`,
		"operator":          `{"plans":[{"type":"LOGICAL_NEW"}]}`,
		"inputs":            `{"plans":[{"type":"LOGICAL_FILTER"}]}`,
		"join inputs":       `{"plans":[{"type":"LOGICAL_DELIM_JOIN","join_type":"INNER"}]}`,
		"table":             `{"plans":[{"type":"LOGICAL_GET","name":"seq_scan","function_data":{"schema":"main","table":"gone"}}]}`,
		"table function":    `{"plans":[{"type":"LOGICAL_GET","name":"read_csv"}]}`,
		"stray delim scan":  `{"plans":[{"type":"LOGICAL_DELIM_GET"}]}`,
		"recurring":         `{"plans":[{"type":"LOGICAL_CTE_REF","is_recurring":true}]}`,
		"chunk":             `{"plans":[{"type":"LOGICAL_CHUNK_GET"}]}`,
		"ref out of range":  projection1(ref),
		"expression":        projection1(`{"expression_class":"BOUND_NEW"}`),
		"expressions":       `{"plans":[{"type":"LOGICAL_PROJECTION","children":[{"type":"LOGICAL_DUMMY_SCAN"}],"expressions":7}]}`,
		"operator type":     projection1(`{"expression_class":"BOUND_OPERATOR","type":"OPERATOR_NEW"}`),
		"comparison":        projection1(`{"expression_class":"BOUND_COMPARISON","type":"COMPARE_NEW"}`),
		"bind data":         projection1(`{"expression_class":"BOUND_FUNCTION","name":"f","has_serialize":true,"return_type":{"id":"DATE"}}`),
		"lost arguments":    projection1(`{"expression_class":"BOUND_FUNCTION","name":"f","arguments":[{"id":"DATE"}],"return_type":{"id":"DATE"}}`),
		"type":              projection1(`{"expression_class":"BOUND_FUNCTION","name":"f","return_type":{"id":"NEW"}}`),
		"column reference":  projection1(`{"expression_class":"BOUND_COLUMN_REF","return_type":{"id":"DATE"},"binding":{"table_index":1}}`),
		"window function":   projection1(`{"expression_class":"BOUND_WINDOW","type":"WINDOW_NEW","return_type":{"id":"DATE"}}`),
		"aggregate data":    projection1(`{"expression_class":"BOUND_AGGREGATE","name":"new","has_serialize":true,"function_data":{"x":1},"return_type":{"id":"DATE"}}`),
		"missing parts":     projection1(`{"expression_class":"BOUND_CAST","return_type":{"id":"DATE"}}`),
		"constant":          projection1(`{"expression_class":"BOUND_CONSTANT"}`),
		"set operation":     `{"plans":[{"type":"LOGICAL_EXCEPT","children":[{"type":"LOGICAL_DUMMY_SCAN"}]}]}`,
		"distinct kind":     `{"plans":[{"type":"LOGICAL_DISTINCT","distinct_type":"NEW","children":[{"type":"LOGICAL_DUMMY_SCAN"}]}]}`,
		"projection map":    `{"plans":[{"type":"LOGICAL_FILTER","projection_map":[4],"children":[{"type":"LOGICAL_DUMMY_SCAN"}]}]}`,
		"grouping set":      `{"plans":[{"type":"LOGICAL_AGGREGATE_AND_GROUP_BY","grouping_sets":[[2],[1]],"children":[{"type":"LOGICAL_DUMMY_SCAN"}]}]}`,
		"values over input": `{"plans":[{"type":"LOGICAL_EXPRESSION_GET","children":[{"type":"LOGICAL_DELIM_GET"}]}]}`,
	} {
		_, err := Read([]byte(text), snap)
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%s: %v", name, err)
	}
}

func projection1(expr string) string {
	return `{"plans":[{"type":"LOGICAL_PROJECTION","children":[{"type":"LOGICAL_DUMMY_SCAN"}],"expressions":[` + expr + `]}]}`
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	in := &Values{Types: []Type{"INTEGER"}}
	ref := &Ref{RefType: "INTEGER"}
	mark := func(ops ...string) Node {
		j := &Join{Kind: MarkJoin, Left: in, Right: in}
		for _, op := range ops {
			j.Conditions = append(j.Conditions, JoinCondition{Op: op, Left: ref, Right: ref})
		}
		return &Project{Input: j, Exprs: []Expr{&Ref{Index: 1, RefType: "BOOLEAN"}}}
	}
	one := func(e Expr) Node { return &Project{Input: in, Exprs: []Expr{e}} }
	for name, n := range map[string]Node{
		"stray delim scan":    &DelimGet{ID: 9, Types: []Type{"INTEGER"}},
		"join kind":           &Join{Kind: "NEW", Left: in, Right: &Values{}},
		"mark of comparisons": mark("=", "<"),
		"mark of expression":  mark(""),
		"reference":           one(&Ref{Index: 5, RefType: "INTEGER"}),
		"unnamed struct":      one(&Cast{Arg: ref, Target: "ROW(INTEGER)"}),
		"empty IN":            one(&Operator{Kind: "IN", Args: []Expr{ref}}),
		"operator":            one(&Operator{Kind: "NEW", Args: []Expr{ref}}),
		"frame":               one(&WindowCall{Name: "sum", Args: []Expr{ref}, Frame: "ROWS BETWEEN %s PRECEDING AND CURRENT ROW"}),
		"volatile between":    one(&Between{Arg: &Call{Name: "random", Volatile: true}, Low: ref, High: ref}),
	} {
		_, err := Render(n, []string{"x"}, plainScan)
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%s: %v", name, err)
	}
}

// FuzzRead: whatever the engine writes, reading it is a plan or an error, and so
// is writing and printing that plan.
func FuzzRead(f *testing.F) {
	env := newRulesEnv(f)
	for _, sql := range append(moreStatements(), "SELECT a, (SELECT max(v) FROM u WHERE u.a < t.a), {'k': [1, NULL], 'm': row('x')} FROM t") {
		bound, err := env.binder.Bind(f.Context(), sql)
		require.NoError(f, err)
		f.Add(bound.PlanJSON)
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		root, err := Read(text, env.snap)
		if err != nil {
			return
		}
		_ = Print(root)
		_, _ = Render(root, numbered(len(root.Columns())), plainScan)
	})
}
