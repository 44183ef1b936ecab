package plan

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// pushable converts an expression over a table's columns for a scanner. The
// error says, for EXPLAIN, why it stays at the coordinator.
func pushable(t *catalog.Table, e Expr) (pushdown.Expr, error) {
	out, err := converter{t}.expr(e)
	if err != nil {
		return nil, err
	}
	return out, pushdown.Supported(out)
}

// converter translates IR expressions to pushdown expressions; it refuses
// whatever the specification cannot say with exactly DuckDB's meaning.
type converter struct{ table *catalog.Table }

func notPushed(format string, args ...any) error {
	return status.New(status.Unimplemented, format, args...)
}

func (c converter) expr(e Expr) (pushdown.Expr, error) {
	switch e := e.(type) {
	case *Ref:
		return c.column(e)
	case *Const:
		return literal(e)
	case *Cast:
		return c.cast(e)
	case *Comparison:
		return c.comparison(e.Op, e.Left, e.Right)
	case *Conjunction:
		return c.conjunction(e)
	case *Between:
		return c.between(e)
	case *Case:
		return c.caseExpr(e)
	case *Operator:
		return c.operator(e)
	case *Call:
		return c.call(e)
	}
	return nil, notPushed("an aggregate or window function is not a scalar expression")
}

func (c converter) list(in []Expr) ([]pushdown.Expr, error) {
	out := make([]pushdown.Expr, len(in))
	for i, e := range in {
		var err error
		if out[i], err = c.expr(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c converter) column(e *Ref) (pushdown.Expr, error) {
	if e.Index < 0 || e.Index >= c.table.Arrow.NumFields() {
		return nil, notPushed("the row id is not pushed")
	}
	f := c.table.Arrow.Field(e.Index)
	if want := arrowType(e.RefType); want == nil || !sameValues(want, f.Type) {
		return nil, notPushed("column %s of type %s is not pushed", f.Name, e.RefType)
	}
	return pushdown.Column{Name: f.Name, DataType: f.Type}, nil
}

// anyColumn is for NULL tests and counts, which do not look at values: a column
// may have any type.
func (c converter) anyColumn(e Expr) (pushdown.Expr, error) {
	ref, ok := e.(*Ref)
	if !ok || ref.Index < 0 || ref.Index >= c.table.Arrow.NumFields() {
		return c.expr(e)
	}
	return tableColumn(c.table, ref.Index), nil
}

func (c converter) cast(e *Cast) (pushdown.Expr, error) {
	if e.Try {
		return nil, notPushed("TRY_CAST is not pushed")
	}
	arg, err := c.expr(e.Arg)
	if err != nil {
		return nil, err
	}
	target := arrowType(e.Target)
	if target == nil {
		return nil, notPushed("a cast to %s is not pushed", e.Target)
	}
	from := e.Arg.Type()
	if isHuge(from) != isHuge(e.Target) && isDecimal(arg.Type()) || e.Target == uuidType && from != uuidType ||
		from == uuidType && e.Target != "VARCHAR" && e.Target != uuidType {
		// HUGEINT and DECIMAL(38,0) look alike in Arrow but cast differently, and so
		// do UUID and VARCHAR; that of a UUID to VARCHAR is its canonical form.
		return nil, notPushed("a cast from %s to %s is not pushed", from, e.Target)
	}
	if arrow.TypeEqual(pushdown.ValueType(arg.Type()), target) {
		return arg, nil
	}
	return pushdown.Cast{Arg: arg, DataType: target}, nil
}

func isHuge(t Type) bool { return t == "HUGEINT" }

func isDecimal(t arrow.DataType) bool { return t.ID() == arrow.DECIMAL128 }

func (c converter) comparison(op string, l, r Expr) (pushdown.Expr, error) {
	op, l, r = withoutZone(op, l, r)
	code := compareOp(op)
	if code == 0 {
		return nil, notPushed("comparison %s is not pushed", op)
	}
	args, err := c.list([]Expr{l, r})
	if err != nil {
		return nil, err
	}
	if _, err := unify(args); err != nil {
		return nil, err
	}
	return pushdown.Compare{Op: code, Left: args[0], Right: args[1]}, nil
}

func compareOp(op string) pushdown.CompareOp {
	switch op {
	case "=":
		return pushdown.Equal
	case "<>":
		return pushdown.NotEqual
	case "<":
		return pushdown.Less
	case "<=":
		return pushdown.LessEqual
	case ">":
		return pushdown.Greater
	case ">=":
		return pushdown.GreaterEqual
	case "IS DISTINCT FROM":
		return pushdown.Distinct
	case "IS NOT DISTINCT FROM":
		return pushdown.NotDistinct
	}
	return 0
}

// unify gives NULLs the type of the other args, in place; the others must be
// comparable with each other as they are.
func unify(args []pushdown.Expr) (arrow.DataType, error) {
	t := commonType(args)
	for i, a := range args {
		l, ok := a.(pushdown.Literal)
		if ok && !l.Value.IsValid() {
			args[i] = nullLiteral(t)
		} else if !pushdown.Comparable(a.Type(), t) {
			return nil, notPushed("types %s and %s are not compared by scanners", a.Type(), t)
		}
	}
	return t, nil
}

// commonType is the type of the first arg that is not a constant, else of the
// first that is not NULL.
func commonType(args []pushdown.Expr) arrow.DataType {
	best := args[0]
	for _, a := range args {
		l, ok := a.(pushdown.Literal)
		if !ok {
			return pushdown.ValueType(a.Type())
		}
		if b, isLit := best.(pushdown.Literal); isLit && !b.Value.IsValid() && l.Value.IsValid() {
			best = a
		}
	}
	return pushdown.ValueType(best.Type())
}

func (c converter) conjunction(e *Conjunction) (pushdown.Expr, error) {
	args, err := c.list(e.Args)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return args[0], nil
	}
	if e.Or {
		return orOf(args), nil
	}
	return pushdown.And{Args: args}, nil
}

// orOf writes x = 1 OR x = 2 OR … as x IN (1, 2, …), which is cheaper and means
// the same.
func orOf(args []pushdown.Expr) pushdown.Expr {
	or := pushdown.Or{Args: args}
	var in pushdown.In
	for i, a := range args {
		eq, ok := a.(pushdown.Compare)
		if !ok || eq.Op != pushdown.Equal {
			return or
		}
		value, isLiteral := eq.Right.(pushdown.Literal)
		column, isColumn := eq.Left.(pushdown.Column)
		if !isLiteral || !isColumn || i > 0 && in.Arg.(pushdown.Column).Name != column.Name {
			return or
		}
		in.Arg, in.Values = column, append(in.Values, value)
	}
	return in
}

func (c converter) between(e *Between) (pushdown.Expr, error) {
	low, high := ">", "<"
	if e.LowInclusive {
		low = ">="
	}
	if e.HighInclusive {
		high = "<="
	}
	lo, err := c.comparison(low, e.Arg, e.Low)
	if err != nil {
		return nil, err
	}
	hi, err := c.comparison(high, e.Arg, e.High)
	if err != nil {
		return nil, err
	}
	return pushdown.And{Args: []pushdown.Expr{lo, hi}}, nil
}

func (c converter) caseExpr(e *Case) (pushdown.Expr, error) {
	var values []Expr
	out := pushdown.Case{Whens: make([]pushdown.When, len(e.Whens))}
	for i, w := range e.Whens {
		cond, err := c.expr(w.Cond)
		if err != nil {
			return nil, err
		}
		out.Whens[i].Cond = cond
		values = append(values, w.Then)
	}
	if e.Else != nil {
		values = append(values, e.Else)
	}
	args, t, err := c.branches(values, e.Result)
	if err != nil {
		return nil, err
	}
	out.DataType = t
	for i := range out.Whens {
		out.Whens[i].Then = args[i]
	}
	if e.Else != nil {
		out.Else = args[len(args)-1]
	}
	return out, nil
}

// branches converts expressions of one result type.
func (c converter) branches(in []Expr, result Type) ([]pushdown.Expr, arrow.DataType, error) {
	want := arrowType(result)
	if want == nil {
		return nil, nil, notPushed("type %s is not pushed", result)
	}
	args, err := c.list(in)
	if err != nil {
		return nil, nil, err
	}
	for i, a := range args {
		if l, ok := a.(pushdown.Literal); ok && !l.Value.IsValid() {
			args[i] = nullLiteral(want)
		}
	}
	return args, want, nil
}

func (c converter) operator(e *Operator) (pushdown.Expr, error) {
	switch e.Kind {
	case "IN", "NOT IN":
		return c.in(e.Args, e.Kind == "NOT IN")
	case "COALESCE":
		args, t, err := c.branches(e.Args, e.Result)
		if err != nil {
			return nil, err
		}
		return pushdown.Coalesce{Args: args, DataType: t}, nil
	}
	return c.unary(e)
}

func (c converter) unary(e *Operator) (pushdown.Expr, error) {
	switch e.Kind {
	case "NOT":
		arg, err := c.expr(e.Args[0])
		return pushdown.Not{Arg: arg}, err
	case "IS NULL", "IS NOT NULL":
		arg, err := c.anyColumn(e.Args[0])
		return pushdown.IsNull{Arg: arg, Negated: e.Kind == "IS NOT NULL"}, err
	}
	return nil, notPushed("operator %s is not pushed", e.Kind)
}

func (c converter) in(in []Expr, negated bool) (pushdown.Expr, error) {
	args, err := c.list(allWithoutZone(in))
	if err != nil {
		return nil, err
	}
	if _, err := unify(args); err != nil {
		return nil, err
	}
	out := pushdown.In{Arg: args[0], Negated: negated}
	for _, a := range args[1:] {
		l, ok := a.(pushdown.Literal)
		if !ok {
			return nil, notPushed("IN over values that are not constants is not pushed")
		}
		out.Values = append(out.Values, l)
	}
	return out, nil
}

func (c converter) call(e *Call) (pushdown.Expr, error) {
	if e.Volatile {
		return nil, notPushed("function %s is volatile", e.Name)
	}
	if m, ok := matchOf(e); ok {
		return c.like(e, m)
	}
	switch e.Name {
	case "+", "-", "*":
		return c.arith(e)
	}
	return c.function(e)
}

func (c converter) arith(e *Call) (pushdown.Expr, error) {
	dt := arrowType(e.Result)
	if dt == nil || isHuge(e.Result) || !isNumeric(dt) {
		return nil, notPushed("%s on %s is not pushed", e.Name, e.Result)
	}
	args, err := c.list(e.Args)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 && e.Name == "-" {
		return negate(args[0], dt)
	}
	if len(args) != 2 || !arithArgs(e.Name, args, dt) {
		return nil, notPushed("%s of %s is not pushed", e.Name, e.Result)
	}
	op := map[string]pushdown.ArithOp{"+": pushdown.Add, "-": pushdown.Subtract, "*": pushdown.Multiply}[e.Name]
	return pushdown.Arith{Op: op, Left: args[0], Right: args[1], DataType: dt}, nil
}

func isNumeric(dt arrow.DataType) bool {
	return arrow.IsInteger(dt.ID()) || arrow.IsFloating(dt.ID()) || isDecimal(dt)
}

// arithArgs reports whether the operands are as pushdown.Arith wants them.
func arithArgs(op string, args []pushdown.Expr, dt arrow.DataType) bool {
	d, ok := dt.(*arrow.Decimal128Type)
	if !ok {
		return arrow.TypeEqual(args[0].Type(), dt) && arrow.TypeEqual(args[1].Type(), dt)
	}
	l, lok := args[0].Type().(*arrow.Decimal128Type)
	r, rok := args[1].Type().(*arrow.Decimal128Type)
	if !lok || !rok {
		return false
	}
	if op == "*" {
		return l.Scale+r.Scale == d.Scale
	}
	return l.Scale == d.Scale && r.Scale == d.Scale
}

// negate writes -x as 0 - x, or as -1 * x for floats, which keeps -0.
func negate(arg pushdown.Expr, dt arrow.DataType) (pushdown.Expr, error) {
	if !arrow.TypeEqual(arg.Type(), dt) || arrow.IsUnsignedInteger(dt.ID()) {
		return nil, notPushed("- on %s is not pushed", arg.Type()) // DuckDB wraps the unsigned
	}
	op, n := pushdown.Subtract, int64(0)
	if arrow.IsFloating(dt.ID()) {
		op, n = pushdown.Multiply, -1
	}
	l, err := numberLiteral(big.NewInt(n), dt)
	if err != nil {
		return nil, err
	}
	return pushdown.Arith{Op: op, Left: l, Right: arg, DataType: dt}, nil
}
