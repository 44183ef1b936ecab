package plan

var _ Rule = distinctPushdown{}

// distinctPushdown lets scanners remove the duplicates of a SELECT DISTINCT over
// one table; the Distinct stays for the duplicates between scanners.
type distinctPushdown struct{ left ungrouped }

// Name is "distinct_pushdown".
func (distinctPushdown) Name() string { return "distinct_pushdown" }

// Apply turns the rows below each plain Distinct into group keys.
func (r distinctPushdown) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		if d, ok := n.(*Distinct); ok {
			return pushDistinct(d, r.left)
		}
		return n
	})
	return out, differs(root, out), nil
}

func pushDistinct(d *Distinct, left ungrouped) Node {
	if len(d.On) > 0 {
		return &Distinct{Input: explainDistinct(d.Input, "it is DISTINCT ON"), On: d.On, OrderBy: d.OrderBy}
	}
	return &Distinct{Input: dedupe(d.Input, left), OrderBy: d.OrderBy}
}

func explainDistinct(n Node, why string) Node {
	return explainScans(n, "DISTINCT stays at the coordinator: "+why)
}

// dedupe lets the scans below n remove duplicates of n's rows, where they can.
func dedupe(n Node, left ungrouped) Node {
	if u, ok := n.(*SetOp); ok && unionAll(u) {
		return WithInputs(u, mapSlice(u.InputNodes, func(in Node) Node { return dedupe(in, left) }))
	}
	if deduped(n) {
		return n
	}
	out, err := distinctRows(n, left)
	if err != nil {
		return explainDistinct(n, err.Error())
	}
	return out
}

// deduped recognises what distinctRows makes.
func deduped(n Node) bool {
	if p, ok := n.(*Project); ok {
		n = p.Input
	}
	s, ok := n.(*Scan)
	return ok && s.Partial != nil
}

// distinctRows reads n's rows as group keys.
func distinctRows(n Node, left ungrouped) (Node, error) {
	v, why := viewOf(n)
	if v == nil {
		return nil, notPushed("%s", why)
	}
	b := newPartialBuilder(v)
	refs := make([]Expr, len(v.exprs))
	for i, e := range v.exprs {
		ref, err := b.key(&Ref{Index: i, RefType: e.Type()})
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	s := b.scan()
	spec, err := specOf(s)
	if err == nil {
		err = left.check(spec)
	}
	if err != nil {
		return nil, err
	}
	if len(b.partial.Keys) == len(refs) {
		return s, nil
	}
	return &Project{Input: s, Exprs: refs}, nil
}
