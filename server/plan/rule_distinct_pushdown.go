package plan

var _ Rule = distinctPushdown{}

// distinctPushdown lets scanners remove the duplicates of a SELECT DISTINCT over
// one table; the Distinct stays for the duplicates between scanners.
type distinctPushdown struct{}

// Name is "distinct_pushdown".
func (distinctPushdown) Name() string { return "distinct_pushdown" }

// Apply turns the rows below each plain Distinct into group keys.
func (distinctPushdown) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		if d, ok := n.(*Distinct); ok {
			return pushDistinct(d)
		}
		return n
	})
	return out, differs(root, out), nil
}

func pushDistinct(d *Distinct) Node {
	if distinctPushed(d.Input) {
		return d
	}
	input, err := distinctInput(d)
	if err != nil {
		input = explainScans(d.Input, "DISTINCT stays at the coordinator: "+err.Error())
	}
	return &Distinct{Input: input, On: d.On, OrderBy: d.OrderBy}
}

// distinctPushed recognises what distinctInput makes.
func distinctPushed(n Node) bool {
	if p, ok := n.(*Project); ok {
		n = p.Input
	}
	s, ok := n.(*Scan)
	return ok && s.Partial != nil
}

func distinctInput(d *Distinct) (Node, error) {
	if len(d.On) > 0 {
		return nil, notPushed("it is DISTINCT ON")
	}
	v, why := viewOf(d.Input)
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
	if _, err := specOf(s); err != nil {
		return nil, err
	}
	if len(b.partial.Keys) == len(refs) {
		return s, nil
	}
	return &Project{Input: s, Exprs: refs}, nil
}
