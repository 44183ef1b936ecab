package adapt_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// TestRules runs testdata/*. The commands, each over one SQL statement:
//
//	edges
//	    prints which scan's column narrows which
//	finish scan=s1 [rows=n] [running=s2]
//	    prints the rules that fire when a scan has yielded n rows (none), with
//	    the integers below n as the keys, while another one runs, and the scans of
//	    the plan after
func TestRules(t *testing.T) {
	t.Parallel()
	e := newEnv(t, smallTables(t)...)
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := e.plan(t, d.Input)
			switch d.Cmd {
			case "edges":
				return edgesText(p)
			case "finish":
				return finish(t, p, d)
			}
			t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			return ""
		})
	})
}

var checks = map[adapt.Check]string{adapt.OneRow: " if it has one row", adapt.OneValue: " if it has one value"}

func edgesText(p *plan.Plan) string {
	out := plan.Print(p.Root)
	for _, e := range adapt.Edges(p.Root) {
		out += fmt.Sprintf("%s.c%d narrows %s.%s", scanName(p, e.From), e.FromColumn, scanName(p, e.To), p.Scans[e.To].Table.Arrow.Field(e.Column).Name)
		if e.Op != pushdown.Equal {
			out += " by " + e.Op.String()
		}
		out += checks[e.Check]
		if e.OrNull {
			out += " where it is not NULL"
		}
		out += "\n"
	}
	return out
}

func finish(t *testing.T, p *plan.Plan, d *datadriven.TestData) string {
	facts := factsOf(p)
	rows := 0
	if d.HasArg("rows") {
		d.ScanArgs(t, "rows", &rows)
	}
	var scan, running string
	d.ScanArgs(t, "scan", &scan)
	if d.HasArg("running") {
		d.ScanArgs(t, "running", &running)
	}
	for i := range facts {
		switch facts[i].ID {
		case scan:
			facts.finish(t, p, i, rows)
		case running:
			facts[i].State = adapt.Running
		}
	}
	root, fired := applyAll(t, p.Root, adapt.Facts(facts))
	out := "rules: " + strings.Join(fired, ", ") + "\n"
	for i, s := range plan.Scans(root) {
		out += p.Scans[i].ID + ": " + plan.Line(s) + "\n"
	}
	return out
}

// factsMaker makes facts of a test.
type factsMaker adapt.Facts

func factsOf(p *plan.Plan) factsMaker {
	var out factsMaker
	joins := adapt.JoinsOf(p)
	for i, s := range p.Scans {
		out = append(out, adapt.ScanFacts{ID: s.ID, State: adapt.Planned, Broadcast: joins[i], Keys: map[int]*adapt.Keys{}})
	}
	return out
}

// finish gives a scan rows whose keys are the integers below their number, but the
// last, which is one more so that they are no range; and one NULL. It is where the
// type can be made from integers.
func (f factsMaker) finish(t *testing.T, p *plan.Plan, i, rows int) {
	f[i].State, f[i].Rows = adapt.Finished, int64(rows)
	for _, e := range adapt.Edges(p.Root) {
		if e.From != i || f[i].Keys[e.FromColumn] != nil {
			continue
		}
		b := array.NewBuilder(memory.DefaultAllocator, p.Scans[i].Spec.OutputSchema().Field(e.FromColumn).Type)
		for n := range rows {
			if n == rows-1 && n > 0 {
				n++
			}
			require.NoError(t, b.AppendValueFromString(strconv.Itoa(n)))
		}
		b.AppendNull()
		values := b.NewArray()
		f[i].Keys[e.FromColumn] = adapt.NewKeys(values.DataType())
		f[i].Keys[e.FromColumn].Add(values)
		values.Release()
		b.Release()
	}
}

func applyAll(t *testing.T, root plan.Node, facts adapt.Facts) (plan.Node, []string) {
	var fired []string
	for _, r := range adapt.Rules() {
		next, changed, err := r.Apply(root, facts)
		require.NoError(t, err)
		require.Equal(t, plan.Print(next) != plan.Print(root), changed, "%s lies about its change", r.Name())
		if root = next; changed {
			fired = append(fired, r.Name())
		}
	}
	return root, fired
}

// TestRulesAreIdempotent: no rule, and not the list, changes a plan twice, the
// plan that they are given, or its columns, whatever is known.
func TestRulesAreIdempotent(t *testing.T) {
	t.Parallel()
	tables, statements := tpch(t)
	e := newEnv(t, tables...)
	r := rand.New(rand.NewPCG(1, 2))
	fired := map[string]int{}
	for _, sql := range statements {
		p := e.plan(t, sql)
		before := plan.Print(p.Root)
		for range 20 {
			requireIdempotent(t, p, randomFacts(t, r, p), sql, fired)
		}
		require.Equal(t, before, plan.Print(p.Root), sql)
	}
	require.Greater(t, fired["semi_join_filter"], 20)
	require.Greater(t, fired["empty_propagation"], 20)
	require.Greater(t, fired["late_filter"], 20)
	require.Greater(t, fired["broadcast_join"], 4)
}

// TestRuleNames pins the order.
func TestRuleNames(t *testing.T) {
	t.Parallel()
	var names []string
	for _, r := range adapt.Rules() {
		names = append(names, r.Name())
	}
	require.Equal(t, []string{"semi_join_filter", "late_filter", "empty_propagation", "broadcast_join", "check"}, names)
}
