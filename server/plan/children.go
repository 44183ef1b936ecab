package plan

// Inputs returns nil: a Scan is a leaf.
func (*Scan) Inputs() []Node { return nil }

// Inputs returns the filtered node.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the projected node.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the aggregated node.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the node whose duplicates go.
func (n *Distinct) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the left and the right side.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs returns nil: a DelimGet is a leaf.
func (*DelimGet) Inputs() []Node { return nil }

// Inputs returns the operands.
func (n *SetOp) Inputs() []Node { return n.InputNodes }

// Inputs returns the sorted node.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the sorted node.
func (n *TopN) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the limited node.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the node that the window columns are appended to.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

// Inputs returns the definition, then the body.
func (n *CTE) Inputs() []Node { return []Node{n.Definition, n.Body} }

// Inputs returns nil: a CTERef is a leaf.
func (*CTERef) Inputs() []Node { return nil }

// Inputs returns the base, then the step.
func (n *RecursiveCTE) Inputs() []Node { return []Node{n.Base, n.Step} }

// Inputs returns the node that the unnested columns are appended to.
func (n *Unnest) Inputs() []Node { return []Node{n.Input} }

// Inputs returns nil: Values is a leaf.
func (*Values) Inputs() []Node { return nil }

// Inputs returns nil: a TableCall is a leaf.
func (*TableCall) Inputs() []Node { return nil }

// WithInputs returns a shallow copy of n over other inputs, of which there are
// as many as n.Inputs() has. A leaf, or a node that has these inputs already,
// is returned as it is.
func WithInputs(n Node, in []Node) Node {
	if sameNodes(n.Inputs(), in) {
		return n
	}
	switch n := n.(type) {
	case *Filter:
		c := *n
		c.Input = in[0]
		return &c
	case *Project:
		c := *n
		c.Input = in[0]
		return &c
	case *Aggregate:
		c := *n
		c.Input = in[0]
		return &c
	case *Distinct:
		c := *n
		c.Input = in[0]
		return &c
	case *Join:
		c := *n
		c.Left, c.Right = in[0], in[1]
		return &c
	case *SetOp:
		c := *n
		c.InputNodes = in
		return &c
	case *Sort:
		c := *n
		c.Input = in[0]
		return &c
	case *TopN:
		c := *n
		c.Input = in[0]
		return &c
	case *Limit:
		c := *n
		c.Input = in[0]
		return &c
	case *Window:
		c := *n
		c.Input = in[0]
		return &c
	case *CTE:
		c := *n
		c.Definition, c.Body = in[0], in[1]
		return &c
	case *RecursiveCTE:
		c := *n
		c.Base, c.Step = in[0], in[1]
		return &c
	case *Unnest:
		c := *n
		c.Input = in[0]
		return &c
	}
	return n
}

func sameNodes(a, b []Node) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Walk visits n and its inputs in pre-order; where f returns false it does not
// descend.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	for _, in := range n.Inputs() {
		Walk(in, f)
	}
}

// Transform rebuilds a tree bottom-up: f gets each node with its inputs already
// transformed. A subtree that f leaves alone keeps its identity.
func Transform(n Node, f func(Node) Node) Node {
	old := n.Inputs()
	in := make([]Node, len(old))
	for i := range old {
		in[i] = Transform(old[i], f)
	}
	return f(WithInputs(n, in))
}

// Scans returns the scans of a tree, left to right.
func Scans(n Node) []*Scan {
	var out []*Scan
	Walk(n, func(n Node) bool {
		if s, ok := n.(*Scan); ok {
			out = append(out, s)
		}
		return true
	})
	return out
}
