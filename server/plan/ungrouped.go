package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

// PartialAggregation is the name, in EXPLAIN and of what a session may disable, of reading
// rows in place of groups that are about as many.
const PartialAggregation = "partial_aggregation"

// ungrouped are the groupings, by what they read and the keys, that are not pushed
// because they would not reduce the rows.
type ungrouped map[uint64]bool

func (u ungrouped) check(spec pushdown.Spec) error {
	if u[groupingOf(spec)] {
		return notPushed("there is about a group per row")
	}
	return nil
}

func groupingOf(spec pushdown.Spec) uint64 {
	only := pushdown.Spec{Table: spec.Table, Filter: spec.Filter, GroupBy: spec.GroupBy, Limit: pushdown.NoLimit}
	return only.Hash()
}

// Reducible reports whether the scan yields groups that another scan of its rows
// could do without.
func (r *RemoteScan) Reducible() bool {
	s := &r.Spec
	return len(s.GroupBy) > 0 && s.Reduce == nil && s.Limit == pushdown.NoLimit && len(s.Lookups) == 0
}

// Ungrouped is a plan of the same statement that reads rows in the place of the groups
// of some scans, nil where there is none.
func (p *Plan) Ungrouped(scans []int) *Plan {
	if p.middle == nil || p.Kind != Residual || len(scans) == 0 || p.Options.Disabled.Has(PartialAggregation) {
		return nil
	}
	left := ungrouped{}
	for _, i := range scans {
		left[groupingOf(p.Scans[i].Spec)] = true
	}
	before, rules := phases(p.Options.rules())
	for i, r := range rules {
		switch r.(type) {
		case aggregatePushdown:
			rules[i] = aggregatePushdown{left}
		case distinctPushdown:
			rules[i] = distinctPushdown{left}
		}
	}
	out := &Plan{SQL: p.SQL, Schema: p.Schema, Snapshot: p.Snapshot, Options: p.Options, middle: p.middle}
	out.Fired = slices.DeleteFunc(slices.Clone(p.Fired), func(name string) bool {
		return !slices.ContainsFunc(before, func(r Rule) bool { return r.Name() == name })
	})
	if err := out.finish(rules); err != nil || slices.ContainsFunc(out.Scans, func(r *RemoteScan) bool { return r.Reducible() && left[groupingOf(r.Spec)] }) {
		return nil // something else groups by them
	}
	return out
}
