package plan

// scope is what the references of an expression mean.
type scope struct {
	columns []Type
	// refs, when not nil, stand for the references instead of positions.
	// Those that are parameters may be of any type.
	refs []Expr
	// depth is the number of lambdas around.
	depth int
	// table, when not nil, admits unresolved references to that table.
	table *uint64
}

// scopeOf is the scope over the columns of nodes, one after the other.
func scopeOf(nodes ...Node) scope {
	var s scope
	for _, n := range nodes {
		s.columns = append(s.columns, n.Columns()...)
	}
	return s
}

// unresolved is the scope of expressions that name the columns of a leaf by
// table and column instead of by position.
func unresolved(source *jsonNode, in Node) scope {
	s := scopeOf(in)
	s.table = &source.TableIndex
	return s
}

func (s scope) exprs(list []jsonExpr) ([]Expr, error) {
	out := make([]Expr, len(list))
	for i := range list {
		e, err := s.expr(&list[i])
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

func (s scope) expr(e *jsonExpr) (Expr, error) {
	if e == nil {
		return nil, unsupported("an expression that is missing")
	}
	switch e.Class {
	case "BOUND_REF":
		return s.ref(e, e.Index)
	case "BOUND_COLUMN_REF":
		if s.table == nil || e.Binding == nil || e.Binding.Table != *s.table || e.Depth != 0 {
			return nil, unsupported("an unresolved column")
		}
		return s.ref(e, e.Binding.Column)
	case "BOUND_CONSTANT":
		return constExpr(e)
	case "BOUND_CAST":
		return s.cast(e)
	case "BOUND_COMPARISON":
		return s.comparison(e)
	case "BOUND_CONJUNCTION":
		args, err := s.exprs(e.Children)
		return &Conjunction{Or: e.Type == "CONJUNCTION_OR", Args: args}, err
	case "BOUND_BETWEEN":
		return s.between(e)
	case "BOUND_CASE":
		return s.caseExpr(e)
	case "BOUND_OPERATOR":
		return s.operator(e)
	case "BOUND_FUNCTION":
		return s.function(e)
	case "BOUND_AGGREGATE":
		return s.aggregate(e)
	case "BOUND_WINDOW":
		return s.window(e)
	case "BOUND_UNNEST":
		return s.unnest(e)
	}
	return nil, unsupported("the expression %s", e.Class)
}

// optional is expr for a part that may be missing.
func (s scope) optional(e *jsonExpr) (Expr, error) {
	if e == nil {
		return nil, nil
	}
	return s.expr(e)
}

func constExpr(e *jsonExpr) (Expr, error) {
	c, err := readConst(e.Value)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s scope) ref(e *jsonExpr, index int) (Expr, error) {
	t, err := readType(e.ReturnType)
	if err != nil {
		return nil, err
	}
	if index >= 0 && index < len(s.refs) {
		if p, ok := s.refs[index].(*LambdaParam); ok {
			return &LambdaParam{Name: p.Name, RefType: t}, nil
		}
	}
	if index < 0 || index >= len(s.columns) || s.columns[index] != t {
		return nil, unsupported("a reference to column %d of type %s: the input has %v", index, t, s.columns)
	}
	if s.refs != nil {
		return s.refs[index], nil
	}
	return &Ref{Index: index, RefType: t}, nil
}

func (s scope) cast(e *jsonExpr) (Expr, error) {
	arg, err := s.expr(e.Child)
	if err != nil {
		return nil, err
	}
	t, err := readType(e.ReturnType)
	return &Cast{Arg: arg, Try: e.TryCast, Target: t}, err
}

// comparisons are DuckDB's comparison types as SQL.
var comparisons = map[string]string{
	"COMPARE_EQUAL": "=", "COMPARE_NOTEQUAL": "<>", "COMPARE_LESSTHAN": "<", "COMPARE_GREATERTHAN": ">",
	"COMPARE_LESSTHANOREQUALTO": "<=", "COMPARE_GREATERTHANOREQUALTO": ">=",
	"COMPARE_NOT_DISTINCT_FROM": "IS NOT DISTINCT FROM", "COMPARE_DISTINCT_FROM": "IS DISTINCT FROM",
}

func (s scope) comparison(e *jsonExpr) (Expr, error) {
	op, ok := comparisons[e.Type]
	if !ok {
		return nil, unsupported("the comparison %s", e.Type)
	}
	left, err := s.expr(e.Left)
	if err != nil {
		return nil, err
	}
	right, err := s.expr(e.Right)
	return &Comparison{Op: op, Left: left, Right: right}, err
}

func (s scope) between(e *jsonExpr) (Expr, error) {
	out := &Between{LowInclusive: e.LowerIncl, HighInclusive: e.UpperIncl}
	var err error
	if out.Arg, err = s.expr(e.Input); err != nil {
		return nil, err
	}
	if out.Low, err = s.expr(e.Lower); err != nil {
		return nil, err
	}
	out.High, err = s.expr(e.Upper)
	return out, err
}

func (s scope) caseExpr(e *jsonExpr) (Expr, error) {
	out := &Case{}
	var err error
	if out.Result, err = readType(e.ReturnType); err != nil {
		return nil, err
	}
	for i := range e.CaseChecks {
		var w When
		if w.Cond, err = s.expr(&e.CaseChecks[i].When); err != nil {
			return nil, err
		}
		if w.Then, err = s.expr(&e.CaseChecks[i].Then); err != nil {
			return nil, err
		}
		out.Whens = append(out.Whens, w)
	}
	out.Else, err = s.optional(e.ElseExpr)
	return out, err
}

// operators are DuckDB's operator types by the names of [Operator].
var operators = map[string]string{
	"COMPARE_IN": "IN", "COMPARE_NOT_IN": "NOT IN", "OPERATOR_NOT": "NOT", "OPERATOR_IS_NULL": "IS NULL",
	"OPERATOR_IS_NOT_NULL": "IS NOT NULL", "OPERATOR_COALESCE": "COALESCE", "OPERATOR_TRY": "TRY",
}

func (s scope) operator(e *jsonExpr) (Expr, error) {
	kind, ok := operators[e.Type]
	if !ok || len(e.Children) == 0 {
		return nil, unsupported("the operator %s", e.Type)
	}
	args, err := s.exprs(e.Children)
	if err != nil {
		return nil, err
	}
	t, err := readType(e.ReturnType)
	return &Operator{Kind: kind, Args: args, Result: t}, err
}

func (s scope) unnest(e *jsonExpr) (Expr, error) {
	arg, err := s.expr(e.Child)
	if err != nil {
		return nil, err
	}
	t, err := readType(e.ReturnType)
	if err != nil {
		return nil, err
	}
	if element, ok := elementType(arg.Type()); !ok || element != t {
		return nil, unsupported("unnest of %s", arg.Type())
	}
	return &Call{Name: "unnest", Args: []Expr{arg}, Result: t}, nil
}

func (s scope) keys(list []jsonSortKey) ([]SortKey, error) {
	var out []SortKey
	for i := range list {
		k := &list[i]
		e, err := s.expr(&k.Expression)
		if err != nil {
			return nil, err
		}
		if k.Type != "ASCENDING" && k.Type != "DESCENDING" || k.NullOrder != "NULLS FIRST" && k.NullOrder != "NULLS LAST" {
			return nil, unsupported("the order %s %s", k.Type, k.NullOrder)
		}
		out = append(out, SortKey{Expr: e, Descending: k.Type == "DESCENDING", NullsFirst: k.NullOrder == "NULLS FIRST"})
	}
	return out, nil
}
