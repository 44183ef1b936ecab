package plan

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestRules runs testdata/rules/*. The commands, each over one SQL statement:
//
//	plan [level=full|filter|off] [expect=rule] [expect-not=rule] [reasons]
//	    prints the tree after the rules, and with "reasons" what scans learned
//	steps [level=…]
//	    prints the tree as read and after each rule that changed it
//	explain [level=…]
//	    prints EXPLAIN of the whole plan
//	spec [level=…]
//	    prints the specification of each scan, and why it is not more
//	error
//	    prints the error of planning
func TestRules(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			level := Pushdown(argOf(d, "level", string(PushdownFull)))
			switch d.Cmd {
			case "plan":
				return env.planCommand(t, d, level)
			case "steps":
				return env.stepsCommand(t, d, level)
			case "explain":
				p, err := New(env.binder).Plan(t.Context(), d.Input, env.snap, Options{Pushdown: level})
				require.NoError(t, err)
				return p.Explain()
			case "spec":
				return env.specCommand(t, d, level)
			case "error":
				_, err := New(env.binder).Plan(t.Context(), d.Input, env.snap, Options{Pushdown: level})
				require.Error(t, err)
				return err.Error() + "\n"
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

func argOf(d *datadriven.TestData, key, fallback string) string {
	for _, arg := range d.CmdArgs {
		if arg.Key == key {
			return arg.Vals[0]
		}
	}
	return fallback
}

func (env *rulesEnv) planCommand(t *testing.T, d *datadriven.TestData, level Pushdown) string {
	root, fired, err := applyRules(env.bind(t, d.Input), rules(level))
	require.NoError(t, err, d.Pos)
	for _, arg := range d.CmdArgs {
		for _, rule := range arg.Vals {
			switch arg.Key {
			case "expect":
				require.Contains(t, fired, rule, d.Pos)
			case "expect-not":
				require.NotContains(t, fired, rule, d.Pos)
			}
		}
	}
	out := Print(root)
	if d.HasArg("reasons") {
		for _, s := range Scans(root) {
			for _, r := range s.Reasons {
				out += "reason " + s.Table.Name + ": " + r + "\n"
			}
		}
	}
	return out
}

func (env *rulesEnv) stepsCommand(t *testing.T, d *datadriven.TestData, level Pushdown) string {
	root := env.bind(t, d.Input)
	out := "as read\n" + Print(root)
	for _, r := range rules(level) {
		next, changed, err := r.Apply(root)
		require.NoError(t, err)
		if changed {
			out += "after " + r.Name() + "\n" + Print(next)
		}
		root = next
	}
	return out
}

func (env *rulesEnv) specCommand(t *testing.T, d *datadriven.TestData, level Pushdown) string {
	p, err := New(env.binder).Plan(t.Context(), d.Input, env.snap, Options{Pushdown: level})
	require.NoError(t, err, d.Pos)
	out := string(p.Kind) + "\n"
	for _, s := range p.Scans {
		out += s.ID + ": " + s.Spec.String() + "\n"
		for _, r := range s.Reasons {
			out += "  reason: " + r + "\n"
		}
	}
	return out
}

// goldenStatements are all statements of testdata/rules that bind, and TPC-H.
func goldenStatements(t testing.TB) []string {
	var out []string
	files, err := filepath.Glob("testdata/rules/*")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, block := range strings.Split(string(text), "\n\n") {
			head, rest, _ := strings.Cut(strings.TrimLeft(block, "\n"), "\n")
			sql, _, isCase := strings.Cut(rest, "\n----")
			if isCase && !strings.HasPrefix(head, "#") && !strings.HasPrefix(head, "error") {
				out = append(out, sql)
			}
		}
	}
	return append(out, suiteStatements(t, "tpch")...)
}

// suiteStatements are the queries of a suite, in order.
func suiteStatements(t testing.TB, suite string) []string {
	var out []string
	files, err := filepath.Glob("testdata/" + suite + "/q*.sql")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		out = append(out, string(text))
	}
	require.NotEmpty(t, out)
	return out
}

func levels() []Pushdown { return []Pushdown{PushdownFull, PushdownFilter, PushdownOff} }

// TestRulesAreIdempotent: each rule, and the whole list, changes nothing the
// second time, and "changed" says the truth.
func TestRulesAreIdempotent(t *testing.T) {
	t.Parallel()
	requireAllIdempotent(t, newRulesEnv(t), goldenStatements(t))
	requireAllIdempotent(t, newSuiteEnv(t, "tpcds"), suiteStatements(t, "tpcds"))
}

func requireAllIdempotent(t *testing.T, env *rulesEnv, statements []string) {
	for _, sql := range statements {
		bound, err := env.binder.Bind(t.Context(), sql)
		require.NoError(t, err, sql)
		root, err := Read(bound.PlanJSON, env.snap)
		if err != nil {
			continue // the ladder's lower rungs have no tree
		}
		for _, level := range levels() {
			requireIdempotent(t, root, rules(level), sql)
		}
	}
}

func requireIdempotent(t require.TestingT, root Node, list []Rule, sql string) {
	before := Print(root)
	out := root
	for _, r := range list {
		if r != Rule(planCheck{}) {
			requireTwice(t, root, r, sql) // alone
		}
		out = requireTwice(t, out, r, sql)
	}
	require.Equal(t, before, Print(root), "%s: the rules modified their input", sql)
	again, fired, err := applyRules(out, list)
	require.NoError(t, err, sql)
	require.Empty(t, fired, sql)
	require.Equal(t, Print(out), Print(again), sql)
}

// requireTwice returns what a rule makes of a plan, and nothing else of that.
func requireTwice(t require.TestingT, root Node, r Rule, sql string) Node {
	next, changed, err := r.Apply(root)
	require.NoError(t, err, "%s\n%s", sql, r.Name())
	require.Equal(t, Print(next) != Print(root), changed, "%s: %s lies about its change", sql, r.Name())
	again, changed, err := r.Apply(next)
	require.NoError(t, err, sql)
	require.False(t, changed, "%s: %s changes twice", sql, r.Name())
	require.Equal(t, Print(next), Print(again), "%s: %s", sql, r.Name())
	require.Equal(t, reasonsOf(next), reasonsOf(again), "%s: %s", sql, r.Name())
	return next
}

func reasonsOf(n Node) []string {
	var out []string
	for _, s := range Scans(n) {
		out = append(out, s.Reasons...)
	}
	return out
}

// TestRuleNames pins the list and that names are unique.
func TestRuleNames(t *testing.T) {
	t.Parallel()
	names := func(level Pushdown) []string {
		return mapSlice(rules(level), func(r Rule) string { return r.Name() })
	}
	require.Equal(t, []string{
		"column_pruning", "outer_join", "implied_filter", "filter_pushdown", "column_pruning", "eager_aggregation", "aggregate_pushdown", "distinct_pushdown", "topn_pushdown", "limit_pushdown",
		"reduce_pushdown", "share_common_subplans", "reasons", "check",
	}, names(PushdownFull))
	require.Equal(t, []string{"column_pruning", "outer_join", "implied_filter", "filter_pushdown", "column_pruning", "share_common_subplans", "check"}, names(PushdownFilter))
	require.Equal(t, []string{"column_pruning", "filter_lift", "column_pruning", "check"}, names(PushdownOff))
	require.Empty(t, names("sideways"))
	all := append(names(PushdownFull), "filter_lift")
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 14)
}

// TestTPCHPushdown: the queries over one table push their whole aggregate, and
// so do the inner blocks listed.
func TestTPCHPushdown(t *testing.T) {
	t.Parallel()
	env := newRulesEnv(t)
	var got []string
	for i, sql := range suiteStatements(t, "tpch") {
		root, _, err := applyRules(env.bind(t, sql), rules(PushdownFull))
		require.NoError(t, err, "q%d", i+1)
		for _, s := range Scans(root) {
			if s.Partial != nil {
				got = append(got, "q"+string(rune('0'+(i+1)/10))+string(rune('0'+(i+1)%10))+" "+s.Table.Name)
			}
		}
	}
	require.Contains(t, got, "q01 lineitem")
	require.Contains(t, got, "q06 lineitem")
	require.Equal(t, []string{"q01 lineitem", "q06 lineitem", "q15 lineitem", "q18 lineitem", "q22 customer"}, got)
}
