package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/plan"
)

// parseDisabledRules reads names of rules with commas between.
func parseDisabledRules(v string) (plan.Disabled, error) {
	known := slices.Concat(plan.OptionalRules(), adapt.OptionalRules())
	var names []string
	for name := range strings.SplitSeq(strings.ToLower(v), ",") {
		name = strings.TrimSpace(name)
		switch why := cmp.Or(plan.NeededRule(name), adapt.NeededRule(name)); {
		case name == "":
		case why != "":
			return "", status.New(status.InvalidArgument, "rule %q cannot be disabled: %s; those that can are %s", name, why, strings.Join(known, ", "))
		case !slices.Contains(known, name):
			return "", status.New(status.InvalidArgument, "there is no rule %q; those that can be disabled are %s", name, strings.Join(known, ", "))
		default:
			names = append(names, name)
		}
	}
	return plan.Disable(names...), nil
}
