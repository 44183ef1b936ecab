package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

var _ Rule = impliedFilter{}

// impliedFilter gives a scan what a disjunction over several tables says of its
// rows alone: of (a AND x) OR (b AND y), where a and b read one table only, that
// table's rows must meet a OR b. The disjunction itself stays.
type impliedFilter struct{}

// Name is "implied_filter".
func (impliedFilter) Name() string { return "implied_filter" }

// Apply adds a filter to each scan of which some disjunction says something.
func (impliedFilter) Apply(root Node) (Node, bool, error) {
	implied := map[*Scan][]Expr{}
	Walk(root, func(n Node) bool {
		if f, ok := n.(*Filter); ok {
			for _, e := range flattenAnd(f.Conjuncts) {
				imply(f.Input, e, implied)
			}
		}
		return true
	})
	seen := map[*Scan]int{}
	for _, s := range Scans(root) {
		seen[s]++
	}
	out := Transform(root, func(n Node) Node {
		s, ok := n.(*Scan)
		if !ok || len(implied[s]) == 0 || seen[s] > 1 {
			return n
		}
		c := *s
		c.Filter = canonicalSet(slices.Concat(s.Filter, implied[s]))
		return &c
	})
	return out, differs(root, out), nil
}

// imply notes what a conjunct over n says of single scans.
func imply(n Node, e Expr, implied map[*Scan][]Expr) {
	or, ok := e.(*Conjunction)
	if !ok || !or.Or || isVolatile(e) {
		return
	}
	scans := scansRead(n, e)
	if len(scans) < 2 {
		return // it goes down whole
	}
	for _, s := range scans {
		if s == nil || !rowScan(s) {
			continue
		}
		if part := partOf(s, n, or); part != nil {
			implied[s] = append(implied[s], part)
		}
	}
}

// partOf is what each branch of a disjunction says of a scan's rows, over the
// table's columns; nil when some branch says nothing.
func partOf(s *Scan, n Node, or *Conjunction) Expr {
	out := &Conjunction{Or: true}
	for _, branch := range or.Args {
		var own []Expr
		for _, e := range flattenAnd([]Expr{branch}) {
			if read := scansRead(n, e); len(read) == 1 && read[0] == s {
				if e = overOrigin(n, e); safe(s, e) {
					own = append(own, e)
				}
			}
		}
		switch len(own) {
		case 0:
			return nil
		case 1:
			out.Args = append(out.Args, own[0])
		default:
			out.Args = append(out.Args, &Conjunction{Args: own})
		}
	}
	return out
}

// safe: scanners evaluate the condition, and it never fails.
func safe(s *Scan, e Expr) bool {
	converted, err := pushable(s.Table, e)
	return err == nil && pushdown.Infallible(converted)
}

// scansRead are the scans whose columns an expression over n reads, each once,
// with nil for what is no plain column of one.
func scansRead(n Node, e Expr) []*Scan {
	var out []*Scan
	WalkExpr(e, func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			if s, _ := origin(n, r.Index); !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
		return true
	})
	return out
}

// overOrigin is an expression that reads one scan, over its table's columns.
func overOrigin(n Node, e Expr) Expr {
	return mapRefs(e, func(r *Ref) Expr {
		_, at := origin(n, r.Index)
		return &Ref{Index: at, RefType: r.RefType}
	})
}

// origin is the scan and the table's column that a column of n is, if a row of n
// needs a row of that scan: below inner joins and filters.
func origin(n Node, column int) (*Scan, int) {
	switch n := n.(type) {
	case *Scan:
		if rowScan(n) && n.Output[column] >= 0 {
			return n, n.Output[column]
		}
	case *Filter:
		return origin(n.Input, Projected(n.Projection, column))
	case *Join:
		if n.Kind != InnerJoin || n.Delim != nil {
			return nil, 0
		}
		left, at, _ := n.Side(column)
		if left {
			return origin(n.Left, at)
		}
		return origin(n.Right, at)
	}
	return nil, 0
}
