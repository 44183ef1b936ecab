package plan

var _ Rule = topNPushdown{}

// topNPushdown lets each scanner send only its first rows in the order of a
// TopN; the TopN stays to merge them.
type topNPushdown struct{}

// Name is "topn_pushdown".
func (topNPushdown) Name() string { return "topn_pushdown" }

// Apply orders and limits the scan directly below each TopN.
func (topNPushdown) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		if t, ok := n.(*TopN); ok {
			c := *t
			c.Input = orderedInput(t)
			return &c
		}
		return n
	})
	return out, differs(root, out), nil
}

func orderedInput(t *TopN) Node {
	if topNPushed(t.Input) {
		return t.Input
	}
	v, why := viewOf(t.Input)
	if v == nil {
		return explainScans(t.Input, "top-N stays at the coordinator: "+why)
	}
	ordered, err := orderedScan(v, t)
	if err != nil {
		return explainScans(t.Input, "top-N stays at the coordinator: "+err.Error())
	}
	return Transform(t.Input, func(n Node) Node {
		if _, ok := n.(*Scan); ok {
			return ordered
		}
		return n
	})
}

// topNPushed recognises a scan that is ordered already.
func topNPushed(n Node) bool {
	for {
		switch in := n.(type) {
		case *Project:
			n = in.Input
		case *Filter:
			n = in.Input
		case *Scan:
			return len(in.OrderBy) > 0
		default:
			return false
		}
	}
}

func orderedScan(v *view, t *TopN) (*Scan, error) {
	rows, ok := rowsWanted(t.Limit, t.Offset)
	if !ok {
		return nil, notPushed("it has no limit")
	}
	c := *v.scan
	for _, k := range t.Keys {
		e := v.inline(k.Expr)
		ref, ok := e.(*Ref)
		if !ok {
			return nil, notPushed("a key is not a column of the table")
		}
		if _, err := (converter{c.Table}).column(ref); err != nil {
			return nil, err
		}
		c.OrderBy = append(c.OrderBy, SortKey{Expr: ref, Descending: k.Descending, NullsFirst: k.NullsFirst})
	}
	c.Limit = rows
	_, err := specOf(&c)
	return &c, err
}
