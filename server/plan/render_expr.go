package plan

import (
	"slices"
	"strings"
)

func (r *renderer) exprs(list []Expr, cols []string) []string {
	return mapSlice(list, func(e Expr) string { return r.expr(e, cols) })
}

// expr renders an expression over columns given as SQL.
func (r *renderer) expr(e Expr, cols []string) string {
	switch e := e.(type) {
	case *Ref:
		if e.Index < 0 || e.Index >= len(cols) {
			r.fail(unsupported("a reference to column %d of %d", e.Index, len(cols)))
			return "NULL"
		}
		return cols[e.Index]
	case *Const:
		return e.SQL
	case *Cast:
		return r.cast(e, cols)
	case *Comparison:
		return "(" + r.expr(e.Left, cols) + " " + e.Op + " " + r.expr(e.Right, cols) + ")"
	case *Conjunction:
		return "(" + strings.Join(r.exprs(e.Args, cols), conjunctionOp(e)) + ")"
	case *Between:
		return r.between(e, cols)
	case *Case:
		return r.caseExpr(e, cols)
	case *Operator:
		return r.operator(e, cols)
	case *Call:
		return r.call(e, cols)
	case *Lambda:
		return "lambda " + strings.Join(e.Params, ", ") + ": " + r.expr(e.Body, cols)
	case *LambdaParam:
		return e.Name
	case *AggCall:
		return r.aggCall(e, cols)
	case *WindowCall:
		return r.windowCall(e, cols)
	}
	r.fail(unsupported("the expression %T", e))
	return "NULL"
}

func (r *renderer) cast(e *Cast, cols []string) string {
	if !nameable(e.Target) {
		r.fail(unsupported("a cast to %s", e.Target))
	}
	word := "CAST("
	if e.Try {
		word = "TRY_CAST("
	}
	return word + r.expr(e.Arg, cols) + " AS " + string(e.Target) + ")"
}

// between names its argument twice unless both bounds are inclusive.
func (r *renderer) between(e *Between, cols []string) string {
	arg, low, high := r.expr(e.Arg, cols), r.expr(e.Low, cols), r.expr(e.High, cols)
	if e.LowInclusive && e.HighInclusive {
		return "(" + arg + " BETWEEN " + low + " AND " + high + ")"
	}
	if isVolatile(e.Arg) {
		r.fail(unsupported("BETWEEN with an open bound over a volatile function"))
	}
	return "(" + low + boundOp(e.LowInclusive) + arg + " AND " + arg + boundOp(e.HighInclusive) + high + ")"
}

func (r *renderer) caseExpr(e *Case, cols []string) string {
	var b strings.Builder
	b.WriteString("CASE")
	for _, w := range e.Whens {
		b.WriteString(" WHEN " + r.expr(w.Cond, cols) + " THEN " + r.expr(w.Then, cols))
	}
	if e.Else != nil {
		b.WriteString(" ELSE " + r.expr(e.Else, cols))
	}
	b.WriteString(" END")
	return b.String()
}

func (r *renderer) operator(e *Operator, cols []string) string {
	args := r.exprs(e.Args, cols)
	switch e.Kind {
	case "IN", "NOT IN":
		if len(args) < 2 {
			r.fail(unsupported("an empty %s", e.Kind))
		}
		return "(" + args[0] + " " + e.Kind + " (" + strings.Join(args[1:], ", ") + "))"
	case "NOT":
		return "(NOT " + args[0] + ")"
	case "IS NULL", "IS NOT NULL":
		return "(" + args[0] + " " + e.Kind + ")"
	case "COALESCE", "TRY":
		return e.Kind + "(" + strings.Join(args, ", ") + ")"
	}
	r.fail(unsupported("the operator %s", e.Kind))
	return "NULL"
}

// infix are the functions that are written as operators; the others are called
// by name, which works for operators too.
var infix = []string{
	"+", "-", "*", "/", "%", "//", "||", "&", "|", "<<", ">>", "^", "**", "~~", "!~~", "~~*", "!~~*", "~~~",
}

func (r *renderer) call(e *Call, cols []string) string {
	args := r.exprs(r.callArgs(e), cols)
	switch {
	case len(args) == 2 && slices.Contains(infix, e.Name):
		return r.asResult(e, "("+args[0]+" "+e.Name+" "+args[1]+")")
	case len(args) == 1 && (e.Name == "-" || e.Name == "~"):
		return "(" + e.Name + " " + args[0] + ")"
	case e.Name == "struct_pack":
		return structCall(e.ArgNames, args)
	}
	for i, name := range e.ArgNames {
		at := len(args) - len(e.ArgNames) + i
		args[at] = quoteName(name) + " := " + args[at]
	}
	return quoteName(e.Name) + "(" + strings.Join(args, ", ") + ")"
}

func structCall(names, values []string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = quoteString(names[i]) + ": " + v
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (r *renderer) aggCall(e *AggCall, cols []string) string {
	if e.Name == "count_star" && len(e.Args) == 0 && !e.Distinct {
		return "count(*)" + r.filterClause(e.Filter, cols)
	}
	inner := distinctText(e.Distinct) + strings.Join(r.exprs(e.Args, cols), ", ") + r.allKeys(e.OrderBy, cols)
	return quoteName(e.Name) + "(" + inner + ")" + r.filterClause(e.Filter, cols)
}

func distinctText(distinct bool) string {
	if distinct {
		return "DISTINCT "
	}
	return ""
}

func (r *renderer) filterClause(e Expr, cols []string) string {
	if e == nil {
		return ""
	}
	return " FILTER (WHERE " + r.expr(e, cols) + ")"
}

// allKeys is ORDER BY with every key.
func (r *renderer) allKeys(keys []SortKey, cols []string) string {
	if len(keys) == 0 {
		return ""
	}
	parts := mapSlice(keys, func(k SortKey) string { return r.expr(k.Expr, cols) + k.direction() })
	return " ORDER BY " + strings.Join(parts, ", ")
}

func (r *renderer) windowCall(e *WindowCall, cols []string) string {
	var b strings.Builder
	if e.Name == "count_star" && len(e.Args) == 0 && !e.Distinct {
		b.WriteString("count(*)")
	} else {
		b.WriteString(quoteName(e.Name) + "(" + distinctText(e.Distinct) + strings.Join(r.exprs(e.Args, cols), ", "))
		b.WriteString(r.allKeys(e.ArgOrders, cols))
		if e.IgnoreNulls {
			b.WriteString(" IGNORE NULLS")
		}
		b.WriteString(")")
	}
	b.WriteString(r.filterClause(e.Filter, cols) + " OVER (")
	if len(e.Partition) > 0 {
		b.WriteString("PARTITION BY " + strings.Join(r.exprs(e.Partition, cols), ", "))
	}
	b.WriteString(r.allKeys(e.OrderBy, cols) + r.frame(e, cols) + ")")
	return b.String()
}

func (r *renderer) frame(e *WindowCall, cols []string) string {
	parts := strings.Split(e.Frame, "%s")
	if len(parts) != len(e.FrameArgs)+1 {
		r.fail(unsupported("the frame %q with %d bounds", e.Frame, len(e.FrameArgs)))
		return ""
	}
	out := " " + parts[0]
	for i, arg := range e.FrameArgs {
		out += r.expr(arg, cols) + parts[i+1]
	}
	return out + e.Exclude
}

// ExprSQL writes one expression over columns that are given as SQL.
func ExprSQL(e Expr, columns []string) (string, error) {
	r := renderer{}
	sql := r.expr(e, columns)
	return sql, r.err
}
