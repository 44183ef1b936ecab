package plan

// Columns are the keys and partial aggregates, or the types of Output.
func (n *Scan) Columns() []Type {
	if n.Partial == nil {
		return n.Types
	}
	out := exprTypes(n.Partial.Keys)
	for _, a := range n.Partial.Aggregates {
		out = append(out, a.Type)
	}
	return out
}

// Columns are the input's, or those that Projection selects.
func (n *Filter) Columns() []Type { return selectTypes(n.Input.Columns(), n.Projection) }

// Columns are the expressions' types.
func (n *Project) Columns() []Type { return exprTypes(n.Exprs) }

// Columns are keys, aggregates and one BIGINT for each GROUPING().
func (n *Aggregate) Columns() []Type {
	out := append(exprTypes(n.Keys), exprTypes(n.Aggregates)...)
	for range n.Groupings {
		out = append(out, "BIGINT")
	}
	return out
}

// Columns are the input's.
func (n *Distinct) Columns() []Type { return n.Input.Columns() }

// Columns are those of both sides, of one side (SEMI, ANTI), or of the left
// side and the mark.
func (n *Join) Columns() []Type {
	left := selectTypes(n.Left.Columns(), n.LeftProjection)
	right := selectTypes(n.Right.Columns(), n.RightProjection)
	switch n.Kind {
	case SemiJoin, AntiJoin:
		return left
	case RightSemiJoin, RightAntiJoin:
		return right
	case MarkJoin:
		return append(left[:len(left):len(left)], "BOOLEAN")
	default:
		return append(left[:len(left):len(left)], right...)
	}
}

// Columns are the types of the correlated columns.
func (n *DelimGet) Columns() []Type { return n.Types }

// Columns are OutputTypes.
func (n *SetOp) Columns() []Type { return n.OutputTypes }

// Columns are the input's, or those that Projection selects.
func (n *Sort) Columns() []Type { return selectTypes(n.Input.Columns(), n.Projection) }

// Columns are the input's.
func (n *TopN) Columns() []Type { return n.Input.Columns() }

// Columns are the input's.
func (n *Limit) Columns() []Type { return n.Input.Columns() }

// Columns are the input's, then the window expressions.
func (n *Window) Columns() []Type { return appendTypes(n.Input, n.Exprs) }

// Columns are the body's.
func (n *CTE) Columns() []Type { return n.Body.Columns() }

// Columns are the definition's.
func (n *CTERef) Columns() []Type { return n.Types }

// Columns are the base's.
func (n *RecursiveCTE) Columns() []Type { return n.Base.Columns() }

// Columns are the input's, then the unnested elements.
func (n *Unnest) Columns() []Type { return appendTypes(n.Input, n.Exprs) }

// Columns are Types.
func (n *Values) Columns() []Type { return n.Types }

// Columns are Types.
func (n *TableCall) Columns() []Type { return n.Types }

func exprTypes(exprs []Expr) []Type {
	out := make([]Type, len(exprs))
	for i, e := range exprs {
		out[i] = e.Type()
	}
	return out
}

func selectTypes(in []Type, positions []int) []Type {
	if positions == nil {
		return in
	}
	out := make([]Type, len(positions))
	for i, p := range positions {
		out[i] = in[p]
	}
	return out
}

func appendTypes(n Node, exprs []Expr) []Type {
	in := n.Columns()
	return append(in[:len(in):len(in)], exprTypes(exprs)...)
}
