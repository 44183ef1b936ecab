package plan

// Type is a SQL type as DuckDB spells it, for example "INTEGER",
// "DECIMAL(15,2)", "TIMESTAMP WITH TIME ZONE" or "VARCHAR[]". It renders
// directly into SQL.
type Type string

// Expr is a typed scalar expression of the IR. The set is sealed.
type Expr interface {
	// Type is the SQL type of the result.
	Type() Type
	isExpr()
}

// Ref reads an input column by position.
type Ref struct {
	Index   int
	RefType Type
}

// Const is a constant in SQL text that evaluates to ConstType, with the value
// in a form that rules can use: nil for NULL, bool, int64, *big.Int (HUGEINT,
// unscaled DECIMAL), float64, string (VARCHAR), or nil with Opaque for others.
// DATE is days (int64), TIMESTAMPs are their unit since the epoch (int64).
type Const struct {
	SQL       string
	Value     any
	Opaque    bool
	ConstType Type
}

// Cast is CAST or TRY_CAST.
type Cast struct {
	Arg    Expr
	Try    bool
	Target Type
}

// Comparison is `Left Op Right`; Op is SQL text as in JoinCondition.
type Comparison struct {
	Op          string
	Left, Right Expr
}

// Conjunction is AND or OR.
type Conjunction struct {
	Or   bool
	Args []Expr
}

// Between is `Arg BETWEEN Low AND High`, each bound inclusive or not.
type Between struct {
	Arg, Low, High              Expr
	LowInclusive, HighInclusive bool
}

// Case is a searched CASE.
type Case struct {
	Whens  []When
	Else   Expr
	Result Type
}

// When is a branch of a Case.
type When struct{ Cond, Then Expr }

// Operator is one of DuckDB's operator expressions, by Kind: "IN", "NOT IN"
// (Args[0] is the needle), "NOT", "IS NULL", "IS NOT NULL", "COALESCE",
// "TRY".
type Operator struct {
	Kind   string
	Args   []Expr
	Result Type
}

// Call is a scalar function or infix operator by DuckDB's name.
type Call struct {
	Name   string
	Args   []Expr
	Result Type
	// ArgNames name the last len(ArgNames) arguments (`name := value`).
	ArgNames []string
	// Volatile: the value may differ from row to row or call to call.
	Volatile bool
}

// Lambda is an argument of a list function: a function of Params. Body may also
// refer to the input's columns and to the parameters of lambdas around it.
type Lambda struct {
	Params []string
	Body   Expr
}

// LambdaParam reads a parameter of the lambda around it that has that name.
type LambdaParam struct {
	Name    string
	RefType Type
}

// AggCall is an aggregate function call. Name is DuckDB's ("count_star",
// "count", "sum", "sum_no_overflow", "min", "max", "avg", …).
type AggCall struct {
	Name     string
	Args     []Expr
	Distinct bool
	Filter   Expr
	OrderBy  []SortKey
	Result   Type
}

// WindowCall is a window function call.
type WindowCall struct {
	Name        string
	Args        []Expr
	Distinct    bool
	IgnoreNulls bool
	Filter      Expr
	Partition   []Expr
	OrderBy     []SortKey
	ArgOrders   []SortKey
	// Frame is the SQL text of the frame with %s for bounds expressions.
	Frame     string
	FrameArgs []Expr
	Exclude   string
	Result    Type
}

func (*Ref) isExpr()         {}
func (*Const) isExpr()       {}
func (*Cast) isExpr()        {}
func (*Comparison) isExpr()  {}
func (*Conjunction) isExpr() {}
func (*Between) isExpr()     {}
func (*Case) isExpr()        {}
func (*Operator) isExpr()    {}
func (*Call) isExpr()        {}
func (*Lambda) isExpr()      {}
func (*LambdaParam) isExpr() {}
func (*AggCall) isExpr()     {}
func (*WindowCall) isExpr()  {}

// Type returns the type of the column.
func (e *Ref) Type() Type { return e.RefType }

// Type returns the constant's type.
func (e *Const) Type() Type { return e.ConstType }

// Type returns the target of the cast.
func (e *Cast) Type() Type { return e.Target }

// Type is BOOLEAN.
func (*Comparison) Type() Type { return "BOOLEAN" }

// Type is BOOLEAN.
func (*Conjunction) Type() Type { return "BOOLEAN" }

// Type is BOOLEAN.
func (*Between) Type() Type { return "BOOLEAN" }

// Type returns the common type of the branches.
func (e *Case) Type() Type { return e.Result }

// Type returns the operator's result type.
func (e *Operator) Type() Type { return e.Result }

// Type returns the function's result type.
func (e *Call) Type() Type { return e.Result }

// Type returns the type of the body.
func (e *Lambda) Type() Type { return e.Body.Type() }

// Type returns the parameter's type.
func (e *LambdaParam) Type() Type { return e.RefType }

// Type returns the aggregate's result type.
func (e *AggCall) Type() Type { return e.Result }

// Type returns the window function's result type.
func (e *WindowCall) Type() Type { return e.Result }
