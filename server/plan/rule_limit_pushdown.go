package plan

import "math"

var (
	_ Rule = limitPushdown{}
	_ Rule = topNPushdown{}
)

// limitPushdown lets each scanner stop after as many rows as a LIMIT needs; the
// Limit stays, because every scanner may send that many.
type limitPushdown struct{}

// Name is "limit_pushdown".
func (limitPushdown) Name() string { return "limit_pushdown" }

// Apply limits the scans directly below each Limit.
func (limitPushdown) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		l, ok := n.(*Limit)
		if !ok {
			return n
		}
		rows, ok := rowsWanted(l.Count, l.Offset)
		if !ok {
			return n
		}
		c := *l
		c.Input = limitScans(l.Input, rows)
		return &c
	})
	return out, differs(root, out), nil
}

// rowsWanted is LIMIT + OFFSET, unless there is no limit or the sum overflows.
func rowsWanted(count, offset int64) (int64, bool) {
	if count < 0 || offset < 0 || count > math.MaxInt64-offset {
		return 0, false
	}
	return count + offset, true
}

// limitScans descends through what neither removes nor reorders rows.
func limitScans(n Node, rows int64) Node {
	switch n := n.(type) {
	case *Project:
		return &Project{Input: limitScans(n.Input, rows), Exprs: n.Exprs}
	case *SetOp:
		if !unionAll(n) {
			return n
		}
		return WithInputs(n, mapSlice(n.InputNodes, func(in Node) Node { return limitScans(in, rows) }))
	case *Scan:
		return limitScan(n, rows)
	}
	return explainScans(n, "LIMIT stays at the coordinator: it is above "+describeAbove(n))
}

func limitScan(s *Scan, rows int64) *Scan {
	if s.Partial != nil || len(s.OrderBy) > 0 || s.Limit >= 0 && s.Limit <= rows {
		return s
	}
	c := *s
	c.Limit = rows
	return &c
}

func describeAbove(n Node) string {
	if _, ok := n.(*Filter); ok {
		return "a filter that stays there"
	}
	return describe(n)
}

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
