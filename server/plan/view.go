package plan

// view is the output of a chain of projections over a row scan, written over
// the table's columns.
type view struct {
	scan  *Scan
	exprs []Expr
}

// maxViewSize bounds what inlining nested projections may multiply up to.
const maxViewSize = 4096

// viewOf looks through projections. Of another tree it returns why it is not
// one, for EXPLAIN.
func viewOf(n Node) (*view, string) {
	switch n := n.(type) {
	case *Scan:
		return viewOfScan(n)
	case *Project:
		in, why := viewOf(n.Input)
		if in == nil {
			return nil, why
		}
		return in.project(n.Exprs)
	case *Filter:
		in, why := viewOf(n.Input)
		if in == nil {
			return nil, why
		}
		if len(n.Conjuncts) > 0 {
			return nil, "a filter below it stays at the coordinator"
		}
		return in.choose(n.Projection), ""
	}
	return nil, "it reads " + describe(n) + ", not a table"
}

func describe(n Node) string {
	switch n := n.(type) {
	case *Join:
		return "a join"
	case *Aggregate:
		return "an aggregate"
	case *Distinct:
		return "DISTINCT"
	case *SetOp:
		return n.Op
	case *Sort, *TopN:
		return "an ordered subquery"
	case *Limit:
		return "a subquery with LIMIT"
	case *Window:
		return "window functions"
	case *CTE, *CTERef:
		return "a common table expression"
	}
	return "something computed"
}

func viewOfScan(s *Scan) (*view, string) {
	if s.Partial != nil {
		return nil, "it reads an aggregate, not a table"
	}
	if reducedScan(s) {
		return nil, "it reads a subquery with LIMIT, not a table"
	}
	v := &view{scan: s}
	for i, c := range s.Output {
		v.exprs = append(v.exprs, &Ref{Index: c, RefType: s.Types[i]})
	}
	return v, ""
}

// reducedScan: the scan already yields only some of its rows.
func reducedScan(s *Scan) bool { return s.Limit >= 0 || len(s.OrderBy) > 0 }

func (v *view) choose(projection []int) *view {
	if projection == nil {
		return v
	}
	out := &view{scan: v.scan}
	for _, p := range projection {
		out.exprs = append(out.exprs, v.exprs[p])
	}
	return out
}

func (v *view) project(exprs []Expr) (*view, string) {
	out := &view{scan: v.scan}
	for _, e := range exprs {
		inlined := v.inline(e)
		if inlined == nil {
			return nil, "the expressions below it are too large to be combined"
		}
		out.exprs = append(out.exprs, inlined)
	}
	return out, ""
}

// inline writes e over the table's columns, or returns nil when that would
// grow out of bounds.
func (v *view) inline(e Expr) Expr {
	size := 0
	WalkExpr(e, func(e Expr) bool {
		if size++; size > maxViewSize {
			return false
		}
		if r, ok := e.(*Ref); ok {
			size += sizeOf(v.exprs[r.Index])
		}
		return true
	})
	if size > maxViewSize {
		return nil
	}
	return mapRefs(e, func(r *Ref) Expr { return v.exprs[r.Index] })
}

func sizeOf(e Expr) int {
	size := 0
	WalkExpr(e, func(Expr) bool {
		size++
		return size <= maxViewSize
	})
	return size
}
