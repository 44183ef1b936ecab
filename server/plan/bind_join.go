package plan

// joinKinds are the kinds of LOGICAL_COMPARISON_JOIN and its relatives.
var joinKinds = map[string]JoinKind{
	"INNER": InnerJoin, "LEFT": LeftJoin, "RIGHT": RightJoin, "FULL": OuterJoin, "OUTER": OuterJoin,
	"SEMI": SemiJoin, "ANTI": AntiJoin, "RIGHT_SEMI": RightSemiJoin, "RIGHT_ANTI": RightAntiJoin,
	"MARK": MarkJoin, "SINGLE": SingleJoin,
}

func (r *reader) join(n *jsonNode) (Node, error) {
	out, err := r.joinInputs(n)
	if err != nil {
		return nil, err
	}
	if out.Kind, err = joinKind(n); err != nil {
		return nil, err
	}
	for i := range n.Conditions {
		c, err := condition(&n.Conditions[i], out)
		if err != nil {
			return nil, err
		}
		out.Conditions = append(out.Conditions, c...)
	}
	if n.Condition != nil {
		c, err := wholeCondition(n.Condition, out)
		if err != nil {
			return nil, err
		}
		out.Conditions = append(out.Conditions, c...)
	}
	if out.LeftProjection, err = projection(n.LeftProjection, out.Left); err != nil {
		return nil, err
	}
	out.RightProjection, err = projection(n.RightProjection, out.Right)
	return out, err
}

func joinKind(n *jsonNode) (JoinKind, error) {
	switch n.Type {
	case "LOGICAL_CROSS_PRODUCT":
		return InnerJoin, nil
	case "LOGICAL_POSITIONAL_JOIN":
		return PositionalJoin, nil
	}
	kind, ok := joinKinds[n.JoinType]
	if ok && n.Type == "LOGICAL_ASOF_JOIN" {
		return asofKind(kind)
	}
	if !ok {
		return "", unsupported("a join of kind %s", n.JoinType)
	}
	return kind, nil
}

func asofKind(kind JoinKind) (JoinKind, error) {
	switch kind {
	case InnerJoin:
		return AsofJoin, nil
	case LeftJoin:
		return AsofLeftJoin, nil
	}
	return "", unsupported("an ASOF join of kind %s", kind)
}

// joinInputs reads both sides. Of a correlated join, the scans of correlated
// values in the side that is not the source belong to this join.
func (r *reader) joinInputs(n *jsonNode) (*Join, error) {
	if n.Type != "LOGICAL_DELIM_JOIN" {
		left, right, err := r.children(n)
		return &Join{Left: left, Right: right}, err
	}
	if len(n.Children) != 2 {
		return nil, unsupported("%s with %d inputs", n.Type, len(n.Children))
	}
	src, dst := &n.Children[0], &n.Children[1]
	if n.DelimFlipped {
		src, dst = dst, src
	}
	source, err := r.node(src)
	if err != nil {
		return nil, err
	}
	columns, err := scopeOf(source).exprs(n.DelimColumns)
	if err != nil {
		return nil, err
	}
	delim := &Delim{ID: r.nextDelim, Columns: columns, Flipped: n.DelimFlipped}
	r.nextDelim++
	r.delims = append(r.delims, delim.ID)
	other, err := r.node(dst)
	r.delims = r.delims[:len(r.delims)-1]
	if n.DelimFlipped {
		source, other = other, source
	}
	return &Join{Left: source, Right: other, Delim: delim}, err
}

func condition(c *jsonCondition, j *Join) ([]JoinCondition, error) {
	if c.Comparison == "" {
		e := c.Expression
		if e == nil {
			e = c.Left
		}
		return wholeCondition(e, j)
	}
	op, ok := comparisons[c.Comparison]
	if !ok || c.Left == nil || c.Right == nil {
		return nil, unsupported("a join condition of kind %q", c.Comparison)
	}
	left, err := scopeOf(j.Left).expr(c.Left)
	if err != nil {
		return nil, err
	}
	right, err := scopeOf(j.Right).expr(c.Right)
	return []JoinCondition{{Op: op, Left: left, Right: right}}, err
}

// wholeCondition reads a boolean over the columns of both sides.
func wholeCondition(e *jsonExpr, j *Join) ([]JoinCondition, error) {
	if e == nil {
		return nil, unsupported("a join condition without an expression")
	}
	expr, err := scopeOf(j.Left, j.Right).expr(e)
	if err != nil {
		return nil, err
	}
	parts := flattenAnd([]Expr{expr})
	return mapSlice(parts, func(e Expr) JoinCondition { return JoinCondition{Left: e} }), nil
}
