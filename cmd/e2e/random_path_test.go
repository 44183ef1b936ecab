package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/plan"
)

// paths counts streams of scanners by what they send: a mode of package plan.
type paths map[string]float64

// Lines of EXPLAIN: what a scanner runs, and what a scan asks of all of them.
var (
	targetLine = regexp.MustCompile(`(?m)^  scanner \S+ at \S+: \d+ partitions?, runs (.+)$`)
	rulesLine  = regexp.MustCompile(`(?m)^rules: (.+)$`)
	askedLine  = regexp.MustCompile(`(?m)^  (filter|group by|aggregates|order by|limit): `)
)

// pathsOf is what a plan's scanners are to send.
func pathsOf(explain string) paths {
	out := paths{}
	for _, m := range targetLine.FindAllStringSubmatch(explain, -1) {
		switch {
		case strings.Contains(m[1], "aggregate"):
			out[plan.ModeAggregate]++
		case m[1] == "rows":
			out[plan.ModeRows]++
		default:
			out[plan.ModeFilter]++
		}
	}
	return out
}

// allowed are the things that a rung asks of scanners; nil for any.
var allowed = map[string][]string{"filter": {"filter"}, "off": {}}

// pathFault says how the way that a statement went is not the one that its rung
// and its plan promise, "" for not at all.
func pathFault(v way, explain string, seen paths) string {
	if rung, limited := allowed[v.pushdown]; limited {
		for _, m := range askedLine.FindAllStringSubmatch(explain, -1) {
			if !slices.Contains(rung, m[1]) {
				return fmt.Sprintf("pushdown %s asks for %q", v.pushdown, m[1])
			}
		}
	}
	planned := pathsOf(explain)
	if v.adaptive != "off" {
		planned[plan.ModeFilter] += planned[plan.ModeRows] // by the keys of another scan
	}
	for mode := range seen {
		if mode != "none" && planned[mode] == 0 {
			return fmt.Sprintf("mode %s arrived, planned were %v", mode, planned)
		}
	}
	return ""
}

// streams are those that a coordinator has read so far.
func streams(t *testing.T, registry *prometheus.Registry) paths {
	t.Helper()
	return counters(t, registry, "tributary_coordinator_scans_total")
}

// counters are those of a family of metrics, by their label.
func counters(t *testing.T, registry *prometheus.Registry, name string) paths {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	out := paths{}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				out[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// since is what came after an earlier count.
func (p paths) since(earlier paths) paths {
	out := paths{}
	for mode, n := range p {
		if n > earlier[mode] {
			out[mode] = n - earlier[mode]
		}
	}
	return out
}

// tally counts the statements of a test and the ways that they went.
type tally struct {
	equal, refused, large int              // refused by the oracle too; too large to compare
	seen                  map[string]paths // by rung
	fired                 map[string]int   // plans by rule
	broadcasts            int              // plans that were chosen while they ran
	late                  int              // times that a running scan was narrowed
}

func newTally() *tally {
	return &tally{seen: map[string]paths{}, fired: map[string]int{}}
}

// add counts a statement at one rung.
func (a *tally) add(rung string, seen paths) {
	if a.seen[rung] == nil {
		a.seen[rung] = paths{}
	}
	for mode, n := range seen {
		a.seen[rung][mode] += n
	}
}

// plan counts a plan by the rules that made it.
func (a *tally) plan(explain string) {
	if m := rulesLine.FindStringSubmatch(explain); m != nil {
		for _, rule := range strings.Split(m[1], ", ") {
			a.fired[rule]++
		}
	}
}

// check requires that enough statements went every way that there is.
func (a *tally) check(t *testing.T) {
	t.Helper()
	t.Logf("%d statements equal, %d refused by both, %d too large; streams by rung: %v; plans by rule: %v, %d broadcast, %d narrowed running scans", a.equal, a.refused, a.large, a.seen, a.fired, a.broadcasts, a.late)
	if a.equal < 100 {
		return // too few to tell
	}
	ways := map[string][]string{
		"full":   {plan.ModeAggregate, plan.ModeFilter, plan.ModeRows},
		"filter": {plan.ModeFilter, plan.ModeRows},
		"off":    {plan.ModeRows},
	}
	for rung, seen := range a.seen {
		require.Subset(t, slices.Collect(maps.Keys(seen)), ways[rung], rung)
	}
}

func TestPathFault(t *testing.T) {
	t.Parallel()
	explain := "scan1: main.t, partial aggregate\n  aggregates: count(*)\n  scanner s0 at 127.0.0.1:1: 2 partitions, runs filter + aggregate\n" +
		"  scanner s1 at 127.0.0.1:2: reads nothing, confirms its statistics\n"
	rows := "scan1: main.t, rows\n  columns: a\n  scanner s0 at 127.0.0.1:1: 1 partition, runs rows\n"
	for _, c := range []struct {
		way     way
		explain string
		seen    paths
		want    string
	}{
		{way{pushdown: "full"}, explain, paths{"aggregate": 1, "none": 1}, ""},
		{way{pushdown: "full"}, explain, paths{"rows": 1}, "mode rows arrived"},
		{way{pushdown: "full", adaptive: "on"}, rows, paths{"filter": 1}, ""},
		{way{pushdown: "full", adaptive: "off"}, rows, paths{"filter": 1}, "mode filter arrived"},
		{way{pushdown: "filter"}, explain, paths{"aggregate": 1}, `asks for "aggregates"`},
		{way{pushdown: "off"}, rows + "  filter: a = 1\n", paths{"rows": 1}, `asks for "filter"`},
		{way{pushdown: "off", adaptive: "off"}, rows, paths{"rows": 2}, ""},
	} {
		got := pathFault(c.way, c.explain, c.seen)
		require.Contains(t, got, c.want)
		require.Equal(t, c.want == "", got == "", got)
	}
}
