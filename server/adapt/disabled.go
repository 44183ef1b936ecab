package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/server/plan"
)

// OptionalRules are the names of the rules that a session can do without.
func OptionalRules() []string {
	names := []string{plan.PartialAggregation} // a choice between plans, no rule over one
	for _, r := range Rules() {
		if NeededRule(r.Name()) == "" {
			names = append(names, r.Name())
		}
	}
	slices.Sort(names)
	return names
}

// NeededRule is why a rule cannot be disabled, empty for one that can.
func NeededRule(name string) string {
	if name == (validPlan{}).Name() {
		return "it finds wrong plans before they run"
	}
	return ""
}

// enabled are the rules that a session uses, none when none of them would change
// a plan.
func enabled(d plan.Disabled) []Rule {
	rules := slices.DeleteFunc(Rules(), func(r Rule) bool { return d.Has(r.Name()) })
	if !slices.ContainsFunc(rules, func(r Rule) bool { return NeededRule(r.Name()) == "" }) {
		return nil
	}
	return rules
}
