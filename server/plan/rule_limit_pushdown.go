package plan

import "math"

var _ Rule = limitPushdown{}

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
