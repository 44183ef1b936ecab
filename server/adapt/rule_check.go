package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/plan"
)

var _ Rule = validPlan{}

// validPlan changes nothing: it refuses a plan that other rules have spoilt.
type validPlan struct{}

// Name is "check".
func (validPlan) Name() string { return "check" }

// Apply fails when a scan has a filter that scanners cannot be asked for, or one
// that would change the rows that it does not drop.
func (validPlan) Apply(root plan.Node, facts Facts) (plan.Node, bool, error) {
	scans := plan.Scans(root)
	if len(scans) != len(facts) {
		return nil, false, status.New(status.Internal, "a plan of %d scans has facts about %d", len(scans), len(facts))
	}
	for _, s := range scans {
		if err := checkScan(s); err != nil {
			return nil, false, err
		}
	}
	return root, false, nil
}

func checkScan(s *plan.Scan) error {
	filters := slices.Concat(runtimeOf(s).Filters, runtimeOf(s).Late)
	if len(filters) > 0 && (s.Limit != pushdown.NoLimit || len(s.OrderBy) > 0) {
		return status.New(status.Internal, "the limited scan of %s has a runtime filter", s.Table.ID())
	}
	for _, f := range filters {
		if f.Column < 0 || f.Column >= s.Table.Arrow.NumFields() {
			return status.New(status.Internal, "a runtime filter reads column %d of %s", f.Column, s.Table.ID())
		}
		if s.Partial != nil && !isKey(s.Partial, f.Column) {
			return status.New(status.Internal, "a runtime filter of %s would change its partial aggregate", s.Table.ID())
		}
		if err := pushdown.Supported(f.Expr); err != nil {
			return err
		}
	}
	return nil
}

func isKey(p *plan.Partial, column int) bool {
	for _, k := range p.Keys {
		if ref, ok := k.(*plan.Ref); ok && ref.Index == column {
			return true
		}
	}
	return false
}
