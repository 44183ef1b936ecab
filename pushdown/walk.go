package pushdown

// Children returns the direct operands of e. The literals of an [In] are not
// among them.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case Compare:
		return []Expr{e.Left, e.Right}
	case And:
		return e.Args
	case Or:
		return e.Args
	case Not:
		return []Expr{e.Arg}
	case IsNull:
		return []Expr{e.Arg}
	case In:
		return []Expr{e.Arg}
	case Like:
		return []Expr{e.Arg}
	case Arith:
		return []Expr{e.Left, e.Right}
	case Cast:
		return []Expr{e.Arg}
	case Case:
		return caseChildren(e)
	case Coalesce:
		return e.Args
	case Call:
		return e.Args
	}
	return nil
}

func caseChildren(e Case) []Expr {
	out := make([]Expr, 0, 2*len(e.Whens)+1)
	for _, w := range e.Whens {
		out = append(out, w.Cond, w.Then)
	}
	if e.Else != nil {
		out = append(out, e.Else)
	}
	return out
}

// Walk calls visit for e and, while visit returns true, for everything below.
func Walk(e Expr, visit func(Expr) bool) {
	if e == nil || !visit(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, visit)
	}
}
