package adapt

import (
	"slices"

	"github.com/tributary-db/tributary/server/plan"
)

var _ Rule = emptyPropagation{}

// emptyPropagation removes the scans below a side of a join that does not matter
// because the other side is empty.
type emptyPropagation struct{}

// Name is "empty_propagation".
func (emptyPropagation) Name() string { return "empty_propagation" }

// Apply removes scans that have not finished until no more become needless.
func (emptyPropagation) Apply(root plan.Node, facts Facts) (plan.Node, bool, error) {
	changed := false
	for {
		needless := findNeedless(root, facts)
		next, more := amend(root, func(i int, _ *plan.Scan, r plan.Runtime) plan.Runtime {
			r.Removed = r.Removed || needless[i]
			return r
		})
		if !more {
			return root, changed, nil
		}
		root, changed = next, true
	}
}

// findNeedless returns the scans that some empty side makes needless.
func findNeedless(root plan.Node, facts Facts) map[int]bool {
	e := emptiness{facts: facts, at: map[*plan.Scan]int{}, ctes: map[int]bool{}, needless: map[int]bool{}}
	for i, s := range plan.Scans(root) {
		e.at[s] = i
	}
	e.empty(root)
	return e.needless
}

// emptiness computes which nodes yield no row and, on the way, which scans do
// not matter.
type emptiness struct {
	facts    Facts
	at       map[*plan.Scan]int
	ctes     map[int]bool // by id: the definition is empty
	needless map[int]bool
}

// Which sides of a join being empty makes its result empty.
var (
	emptyByLeft = []plan.JoinKind{plan.InnerJoin, plan.LeftJoin, plan.SemiJoin, plan.RightSemiJoin, plan.AntiJoin, plan.MarkJoin,
		plan.SingleJoin, plan.AsofJoin, plan.AsofLeftJoin}
	emptyByRight = []plan.JoinKind{plan.InnerJoin, plan.RightJoin, plan.SemiJoin, plan.RightSemiJoin, plan.RightAntiJoin, plan.AsofJoin}
)

// empty reports whether n certainly yields no row.
func (e *emptiness) empty(n plan.Node) bool {
	if c, ok := n.(*plan.CTE); ok {
		e.ctes[c.ID] = e.empty(c.Definition)
		return e.empty(c.Body)
	}
	if _, ok := n.(*plan.RecursiveCTE); ok {
		return false // its step reads what is not there yet
	}
	inputs := make([]bool, len(n.Inputs()))
	for i, in := range n.Inputs() {
		inputs[i] = e.empty(in)
	}
	switch n := n.(type) {
	case *plan.Scan:
		i := e.at[n]
		return runtimeOf(n).Removed || e.facts[i].State == Finished && e.facts[i].Rows == 0
	case *plan.CTERef:
		return e.ctes[n.ID]
	case *plan.Values:
		return len(n.Rows) == 0
	case *plan.Aggregate:
		return inputs[0] && len(n.Keys) > 0 && n.Sets == nil
	case *plan.SetOp:
		return emptySet(n, inputs)
	case *plan.Join:
		return e.join(n, inputs[0], inputs[1])
	case *plan.Filter, *plan.Project, *plan.Distinct, *plan.Sort, *plan.TopN, *plan.Limit, *plan.Window, *plan.Unnest:
		return inputs[0]
	}
	return false
}

func emptySet(n *plan.SetOp, inputs []bool) bool {
	switch n.Op {
	case "UNION":
		return !slices.Contains(inputs, false)
	case "INTERSECT":
		return slices.Contains(inputs, true)
	case "EXCEPT":
		return inputs[0]
	}
	return false
}

// join removes the side that cannot add to the result. The sides of a
// correlated join read each other.
func (e *emptiness) join(n *plan.Join, left, right bool) bool {
	byLeft := left && slices.Contains(emptyByLeft, n.Kind)
	byRight := right && slices.Contains(emptyByRight, n.Kind)
	if n.Delim == nil && byLeft {
		e.drop(n.Right)
	}
	if n.Delim == nil && byRight {
		e.drop(n.Left)
	}
	return byLeft || byRight || left && right && n.Kind != plan.PositionalJoin
}

// drop marks the scans below n that may still be stopped.
func (e *emptiness) drop(n plan.Node) {
	for _, s := range plan.Scans(n) {
		if i := e.at[s]; !e.facts[i].State.ended() {
			e.needless[i] = true
		}
	}
}
