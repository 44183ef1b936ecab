package plan

import (
	"hash/maphash"
	"reflect"
	"slices"
)

var _ Rule = shareCommonSubplans{}

// shareCommonSubplans computes once what stands in a plan several times: equal
// groupings become a shared table expression. Only what is grouped is shared: its
// rows have been in a table of groups, so that they fit where they are held.
type shareCommonSubplans struct{}

// Name is "share_common_subplans".
func (shareCommonSubplans) Name() string { return "share_common_subplans" }

// Apply shares the largest equal subplans first, until there are none.
func (shareCommonSubplans) Apply(root Node) (Node, bool, error) {
	out := root
	for {
		common := commonSubplan(out)
		if common == nil {
			return out, out != root, nil
		}
		out = asTable(out, common)
	}
}

// asTable defines the first of equal subplans as a table expression, which all of
// them read.
func asTable(root Node, common []Node) Node {
	id := unusedCTE(root)
	ref := &CTERef{ID: id, Types: common[0].Columns()}
	return &CTE{ID: id, Definition: common[0], Body: replaceNodes(root, common, ref)}
}

func replaceNodes(n Node, old []Node, by Node) Node {
	if slices.Contains(old, n) {
		return by
	}
	return WithInputs(n, mapSlice(n.Inputs(), func(in Node) Node { return replaceNodes(in, old, by) }))
}

func unusedCTE(root Node) int {
	next := 0
	Walk(root, func(n Node) bool {
		switch n := n.(type) {
		case *CTE:
			next = max(next, n.ID+1)
		case *RecursiveCTE:
			next = max(next, n.ID+1)
		}
		return true
	})
	return next
}

// commonSubplan finds the topmost subplans that are equal and worth sharing, nil
// when there are none.
func commonSubplan(root Node) []Node {
	p := printer{seed: maphash.MakeSeed(), prints: map[Node]uint64{}}
	groups := map[uint64][]Node{}
	var order []uint64 // pre-order: what is larger comes first
	Walk(root, func(n Node) bool {
		if _, recursive := n.(*RecursiveCTE); recursive {
			return false // its step runs several times
		}
		if yieldsGroups(n) && shareable(n) {
			at := p.of(n)
			if groups[at] == nil {
				order = append(order, at)
			}
			groups[at] = append(groups[at], n)
		}
		return true
	})
	for _, at := range order {
		common := sameAs(groups[at][0], groups[at])
		if len(common) > 1 && !narrowedOutside(root, common) {
			return common
		}
	}
	return nil
}

// printer has the hashes of subplans, which equal ones have in common.
type printer struct {
	seed   maphash.Seed
	prints map[Node]uint64
}

func (p *printer) of(n Node) uint64 {
	if h, ok := p.prints[n]; ok {
		return h
	}
	var h maphash.Hash
	h.SetSeed(p.seed)
	h.WriteString(Line(n))
	for _, in := range n.Inputs() {
		maphash.WriteComparable(&h, p.of(in))
	}
	p.prints[n] = h.Sum64()
	return p.prints[n]
}

// sameAs are those of some nodes that do the same as n in every detail.
func sameAs(n Node, among []Node) []Node {
	want := withoutReasons(n)
	var out []Node
	for _, o := range among {
		if o == n || reflect.DeepEqual(want, withoutReasons(o)) {
			out = append(out, o)
		}
	}
	return out
}

func withoutReasons(n Node) Node {
	return Transform(n, func(n Node) Node {
		s, ok := n.(*Scan)
		if !ok || s.Reasons == nil {
			return n
		}
		c := *s
		c.Reasons = nil
		return &c
	})
}

// yieldsGroups: n yields groups, possibly fewer or with more columns.
func yieldsGroups(n Node) bool {
	switch n := n.(type) {
	case *Aggregate:
		return true
	case *Distinct:
		return len(n.On) == 0
	case *Filter:
		return yieldsGroups(n.Input)
	case *Project:
		return yieldsGroups(n.Input)
	case *Window:
		return yieldsGroups(n.Input)
	case *Join:
		return yieldsGroups(n.Left) && oneRow(n.Right) || oneRow(n.Left) && yieldsGroups(n.Right)
	}
	return false
}

// oneRow: n yields at most one row.
func oneRow(n Node) bool {
	switch n := n.(type) {
	case *Aggregate:
		return len(n.Keys) == 0 && n.Sets == nil
	case *Filter:
		return oneRow(n.Input)
	case *Project:
		return oneRow(n.Input)
	}
	return false
}

// shareable: n reads tables and gives the same rows whenever it runs, wherever it
// stands. Rows that a limit takes without an order may be others each time.
func shareable(n Node) bool {
	reads, fixed := false, true
	Walk(n, func(n Node) bool {
		switch n := n.(type) {
		case *Scan:
			reads = true
		case *CTE, *CTERef, *RecursiveCTE, *DelimGet, *TableCall, *Limit:
			fixed = false
		case *Join:
			fixed = fixed && n.Delim == nil
		}
		WalkExprs(n, func(e Expr) { fixed = fixed && !isVolatile(e) })
		return fixed
	})
	return reads && fixed
}
