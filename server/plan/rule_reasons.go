package plan

var _ Rule = stayReasons{}

// stayReasons gives a reason to each scan that other rules left without one
// although work above it stays at the coordinator. It changes nothing else.
type stayReasons struct{}

// Name is "reasons".
func (stayReasons) Name() string { return "reasons" }

// Apply explains every scan by the nearest operator above it that has a reason.
func (stayReasons) Apply(root Node) (Node, bool, error) {
	out := explainSilent(root, "")
	return out, differs(root, out), nil
}

func explainSilent(n Node, reason string) Node {
	switch n := n.(type) {
	case *Scan:
		if reason == "" || len(n.Reasons) > 0 || !rowScan(n) {
			return n
		}
		return withReason(n, reason)
	case *Aggregate, *Distinct, *TopN, *Limit:
		reason = "" // their rules have explained them, or they are pushed
	default:
		if stays := stayReason(n); stays != "" {
			reason = stays
		}
	}
	return WithInputs(n, mapSlice(n.Inputs(), func(in Node) Node { return explainSilent(in, reason) }))
}

// stayReason is why an operator never runs at a scanner, "" when others say so.
func stayReason(n Node) string {
	switch n := n.(type) {
	case *Join:
		return "join stays at the coordinator: a scan reads one table"
	case *Window:
		return "window functions stay at the coordinator: they look at rows of all scanners"
	case *Sort:
		return "ORDER BY stays at the coordinator: it has no LIMIT that would save rows"
	case *SetOp:
		if !unionAll(n) {
			return n.Op + " stays at the coordinator: it looks at rows of all scanners"
		}
	}
	return ""
}
