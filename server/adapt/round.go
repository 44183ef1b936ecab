package adapt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributary-db/tributary/server/plan"
)

// maxText bounds the text of a plan that a round keeps.
const maxText = 4 << 10

// Round is one decision: what became known and what followed from it.
type Round struct {
	// At is when; After the start of the query.
	At      time.Time     `json:"at"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Fact is what became known; empty when stages were started.
	Fact string `json:"fact,omitempty"`
	// Fired are the rules that changed the plan.
	Fired []string `json:"fired,omitempty"`
	// Before and After are the plan as text, After only of a round with a fact.
	Before string `json:"before"`
	After  string `json:"after,omitempty"`
	// Started, Cancelled, Removed and Narrowed name scans, and Told those that were
	// narrowed while they ran.
	Started   []string `json:"started,omitempty"`
	Cancelled []string `json:"cancelled,omitempty"`
	Removed   []string `json:"removed,omitempty"`
	Narrowed  []string `json:"narrowed,omitempty"`
	Told      []string `json:"told,omitempty"`
	// Why gives the reasons.
	Why []string `json:"why,omitempty"`
}

// newRound is a round of a query that began at a time.
func newRound(begun time.Time, before plan.Node, fact string) Round {
	now := time.Now()
	return Round{At: now, Elapsed: now.Sub(begun), Fact: fact, Before: clip(plan.Print(before))}
}

func (g *Graph) round(fact string) Round { return newRound(g.begun, g.root, fact) }

// record keeps a round with what changed.
func (g *Graph) record(r Round, c Change) {
	names := func(at []int) (out []string) {
		for _, i := range at {
			out = append(out, g.facts[i].ID)
		}
		return out
	}
	r.Cancelled, r.Removed, r.Narrowed, r.Told = names(c.Stop), names(c.Removed), names(c.Narrowed), names(c.Told)
	g.rounds = append(g.rounds, r)
}

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "…\n"
}

func sortedColumns(m map[int]*Keys) []int { return slices.Sorted(maps.Keys(m)) }

// Text prints rounds for EXPLAIN ANALYZE.
func Text(rounds []Round) string {
	var b strings.Builder
	for i, r := range rounds {
		fmt.Fprintf(&b, "round %d at %s:", i+1, r.Elapsed.Round(10*time.Microsecond))
		if r.Fact != "" {
			b.WriteString(" " + r.Fact)
		}
		b.WriteString("\n")
		line := func(name string, what []string, sep string) {
			if len(what) > 0 {
				b.WriteString("  " + name + ": " + strings.Join(what, sep) + "\n")
			}
		}
		line("rules", r.Fired, ", ")
		line("started", r.Started, ", ")
		line("cancelled", r.Cancelled, ", ")
		line("removed", r.Removed, ", ")
		line("narrowed", r.Narrowed, ", ")
		line("narrowed while running", r.Told, ", ")
		line("why", r.Why, "; ")
		if r.After != "" && r.After != r.Before {
			b.WriteString("  plan after:\n")
			for text := range strings.Lines(r.After) {
				b.WriteString("    " + text)
			}
		}
	}
	return b.String()
}
