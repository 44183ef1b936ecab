package pushdown

import (
	"slices"
	"strings"
)

// SplitResult is a spec divided in two.
type SplitResult struct {
	// Remote is the part that the capabilities cover.
	Remote Spec
	// Residual is what is left to do over Remote's rows, nil for nothing. It has
	// the same table and partitions; its columns are Remote's output columns.
	Residual *Spec
	// Reasons say why something is left, for people.
	Reasons []string
}

// Split divides s between a source with the given capabilities and the kernels:
// running Residual over what Remote yields gives exactly what s gives.
//
// What is left is decided in this order: conjuncts one by one, and with any of
// them the aggregate, top-N and limit; then the aggregate, the top-N, the limit.
// A conjunct that can raise an error is pushed only when every conjunct that
// cannot is pushed too, since those must run first. What follows lookups is left
// with them.
//
// When Remote becomes a row scan it yields the columns that Residual reads. A
// partial aggregate that reads none, such as count(*), yields its carrier
// column: call [Spec.WithCarrier] first.
func Split(s Spec, caps Capabilities) SplitResult {
	x := splitter{spec: s, caps: caps}
	before, after := s.FilterParts()
	pushed, left := x.conjuncts(before)
	whole := x.tail(len(left) == 0, s.requiredByLookups(), "the lookup", len(s.Lookups) > 0)
	whole = x.tail(whole, s.requiredByAggregate(), "the aggregate", s.Grouped())
	whole = x.tail(whole, s.requiredByLimit(), x.limitName(), s.Limit != NoLimit)
	out := SplitResult{Remote: s, Reasons: x.reasons}
	if whole {
		if !caps.Has(CapReduce) {
			out.Remote.Reduce = nil // whoever merges the groups drops them
		}
		return out
	}
	residual := s
	residual.Filter = slices.Concat(left, after)
	out.Residual = &residual
	out.Remote = Spec{
		Table: s.Table, Partitions: s.Partitions, Filter: pushed, Limit: NoLimit,
		Columns: residual.carried(s),
	}
	return out
}

// carried returns the columns that the residual needs in its input.
func (s *Spec) carried(whole Spec) []Column {
	if cols := s.InputColumns(); len(cols) > 0 {
		return cols
	}
	if len(s.Columns) > 0 {
		return s.Columns
	}
	cols := whole.InputColumns()
	return cols[:min(1, len(cols))]
}

type splitter struct {
	spec    Spec
	caps    Capabilities
	reasons []string
}

// conjuncts divides the filter into what is pushed and what is left.
func (x *splitter) conjuncts(filter []Expr) (pushed, left []Expr) {
	var risky []Expr
	for _, e := range filter {
		switch {
		case !Infallible(e):
			risky = append(risky, e)
		case x.can("filter "+ExprString(e), requiredByFilter(e)):
			pushed = append(pushed, e)
		default:
			left = append(left, e)
		}
	}
	blocked := len(left) > 0
	for _, e := range risky {
		text := "filter " + ExprString(e)
		if blocked {
			x.reasons = append(x.reasons, text+" stays: it can fail on rows that an earlier filter removes")
			left = append(left, e)
		} else if x.can(text, requiredByFilter(e)) {
			pushed = append(pushed, e)
		} else {
			left = append(left, e)
		}
	}
	return pushed, left
}

// tail reports whether everything up to a part that follows the filter is
// pushed; present says that s has the part at all.
func (x *splitter) tail(whole bool, need []Capability, what string, present bool) bool {
	if !present {
		return whole
	}
	if !whole {
		x.reasons = append(x.reasons, what+" stays: a part before it stays")
		return false
	}
	return x.can(what, need)
}

func (x *splitter) limitName() string {
	if len(x.spec.OrderBy) > 0 {
		return "the top-N"
	}
	return "the limit"
}

func (x *splitter) can(what string, need []Capability) bool {
	var missing []string
	for _, c := range need {
		if !x.caps.Has(c) && !slices.Contains(missing, string(c)) {
			missing = append(missing, string(c))
		}
	}
	if len(missing) == 0 {
		return true
	}
	x.reasons = append(x.reasons, what+" stays: the source lacks "+strings.Join(missing, ", "))
	return false
}
