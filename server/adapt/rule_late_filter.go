package adapt

import "github.com/tributary-db/tributary/server/plan"

var _ Rule = lateFilter{}

// lateFilter gives the join keys of a finished scan to the scans that it is joined
// with and that run already: because it was not worth waiting for, or was late.
type lateFilter struct{}

// Name is "late_filter".
func (lateFilter) Name() string { return "late_filter" }

// maxLate bounds the filters that a running scan gets: each has a slot of its own,
// and scanners heed no more.
const maxLate = 15

// Apply adds a late filter for each edge from a finished scan to a running one.
func (lateFilter) Apply(root plan.Node, facts Facts) (plan.Node, bool, error) {
	out, changed := narrowAll(root, facts, Running, func(n *narrowing, f plan.RuntimeFilter) {
		if len(n.runtime.Late) < maxLate {
			n.runtime.Late = append(n.runtime.Late, f)
		}
	})
	return out, changed, nil
}
