package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

// Rule changes a plan by facts. It is a value without state: applying it twice
// changes nothing the second time.
type Rule interface {
	// Name is the rule's name in rounds and metrics.
	Name() string
	// Apply returns the changed plan, and whether its printed form differs.
	Apply(root plan.Node, facts Facts) (plan.Node, bool, error)
}

// Rules are all rules in the order in which they run.
func Rules() []Rule {
	return []Rule{
		// First: no value to join with makes a scan needless.
		semiJoinFilter{},
		lateFilter{},
		emptyPropagation{},
		// When it is known what need not be read at all.
		broadcastJoin{},
		// Last: it only checks.
		validPlan{},
	}
}

// apply runs rules and returns the names of those that changed the plan.
func apply(rules []Rule, root plan.Node, facts Facts) (plan.Node, []string, error) {
	var fired []string
	for _, r := range rules {
		next, changed, err := r.Apply(root, facts)
		if err != nil {
			return nil, nil, status.Wrap(status.Internal, err, "rule %s", r.Name())
		}
		if root = next; changed && !slices.Contains(fired, r.Name()) {
			fired = append(fired, r.Name())
		}
	}
	return root, fired, nil
}
