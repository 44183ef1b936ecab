package plan

import (
	"strconv"
	"strings"
)

// ExprString returns the canonical text of an expression: equal texts are equal
// expressions. References are #0, #1, …
func ExprString(e Expr) string {
	return exprText(e, func(i int) string { return "#" + strconv.Itoa(i) })
}

// exprText is ExprString with other names for references.
func exprText(e Expr, name func(int) string) string {
	p := exprPrinter{name: name}
	p.expr(e)
	return p.b.String()
}

type exprPrinter struct {
	b    strings.Builder
	name func(int) string
}

func (p *exprPrinter) text(parts ...string) {
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *exprPrinter) expr(e Expr) {
	switch e := e.(type) {
	case nil:
		p.text("<none>")
	case *Ref:
		p.text(p.name(e.Index))
	case *Const:
		p.text(constText(e))
	case *Cast:
		p.cast(e)
	case *Comparison:
		p.infix(" "+e.Op+" ", e.Left, e.Right)
	case *Conjunction:
		p.infix(conjunctionOp(e), e.Args...)
	case *Between:
		p.between(e)
	case *Case:
		p.caseText(e)
	case *Operator:
		p.call(e.Kind, e.Args)
	case *Call:
		p.call(e.Name+namesText(e.ArgNames), e.Args)
	case *Lambda:
		p.text("lambda ", strings.Join(e.Params, ", "), ": ")
		p.expr(e.Body)
	case *LambdaParam:
		p.text(e.Name)
	case *AggCall:
		p.aggregate(e)
	case *WindowCall:
		p.window(e)
	}
}

func conjunctionOp(e *Conjunction) string {
	if e.Or {
		return " OR "
	}
	return " AND "
}

// constText is the value, with its type where the value alone does not tell.
func constText(e *Const) string {
	if e.Value == nil && !e.Opaque {
		return "NULL::" + string(e.ConstType)
	}
	switch v := e.Value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		if e.ConstType == "VARCHAR" {
			return quoteString(v)
		}
	case int64:
		switch e.ConstType {
		case "INTEGER":
			return strconv.FormatInt(v, 10)
		case "TINYINT", "SMALLINT", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
			return strconv.FormatInt(v, 10) + "::" + string(e.ConstType)
		}
	}
	return e.SQL
}

func (p *exprPrinter) cast(e *Cast) {
	if e.Try {
		p.text("TRY_")
	}
	p.text("CAST(")
	p.expr(e.Arg)
	p.text(" AS ", string(e.Target), ")")
}

func (p *exprPrinter) infix(op string, args ...Expr) {
	p.text("(")
	p.list(op, args)
	p.text(")")
}

func (p *exprPrinter) list(sep string, args []Expr) {
	for i, a := range args {
		if i > 0 {
			p.text(sep)
		}
		p.expr(a)
	}
}

func (p *exprPrinter) between(e *Between) {
	p.text("(")
	p.expr(e.Low)
	p.text(boundOp(e.LowInclusive))
	p.expr(e.Arg)
	p.text(boundOp(e.HighInclusive))
	p.expr(e.High)
	p.text(")")
}

func boundOp(inclusive bool) string {
	if inclusive {
		return " <= "
	}
	return " < "
}

func (p *exprPrinter) caseText(e *Case) {
	p.text("CASE")
	for _, w := range e.Whens {
		p.text(" WHEN ")
		p.expr(w.Cond)
		p.text(" THEN ")
		p.expr(w.Then)
	}
	if e.Else != nil {
		p.text(" ELSE ")
		p.expr(e.Else)
	}
	p.text(" END")
}

func (p *exprPrinter) call(name string, args []Expr) {
	p.text(name, "(")
	p.list(", ", args)
	p.text(")")
}

// namesText tells apart calls that differ in their arguments' names.
func namesText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "[" + strings.Join(names, ",") + "]"
}

func (p *exprPrinter) aggregate(e *AggCall) {
	p.text(e.Name, "(")
	if e.Distinct {
		p.text("DISTINCT ")
	}
	p.list(", ", e.Args)
	p.orderBy(e.OrderBy)
	p.text(")")
	p.filter(e.Filter)
}

func (p *exprPrinter) filter(e Expr) {
	if e != nil {
		p.text(" FILTER (WHERE ")
		p.expr(e)
		p.text(")")
	}
}

func (p *exprPrinter) orderBy(keys []SortKey) {
	if len(keys) > 0 {
		p.text(" ORDER BY ")
		p.keys(keys)
	}
}

func (p *exprPrinter) keys(keys []SortKey) {
	for i, k := range keys {
		if i > 0 {
			p.text(", ")
		}
		p.expr(k.Expr)
		p.text(k.direction())
	}
}

// direction is the SQL of the key's order, complete: it depends on no setting.
func (k SortKey) direction() string {
	out := " ASC"
	if k.Descending {
		out = " DESC"
	}
	if k.NullsFirst {
		return out + " NULLS FIRST"
	}
	return out + " NULLS LAST"
}

func (p *exprPrinter) window(e *WindowCall) {
	p.text(e.Name, "(")
	if e.Distinct {
		p.text("DISTINCT ")
	}
	p.list(", ", e.Args)
	p.orderBy(e.ArgOrders)
	if e.IgnoreNulls {
		p.text(" IGNORE NULLS")
	}
	p.text(")")
	p.filter(e.Filter)
	p.text(" OVER (")
	if len(e.Partition) > 0 {
		p.text("PARTITION BY ")
		p.list(", ", e.Partition)
	}
	p.orderBy(e.OrderBy)
	p.frame(e)
	p.text(")")
}

// frame fills the bounds into the frame's text.
func (p *exprPrinter) frame(e *WindowCall) {
	parts := strings.Split(e.Frame, "%s")
	p.text(" ", parts[0])
	for i, rest := range parts[1:] {
		p.expr(e.FrameArgs[i])
		p.text(rest)
	}
	p.text(e.Exclude)
}

// quoteString returns s as an SQL string literal.
func quoteString(s string) string {
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// quoteName returns s as a quoted SQL identifier.
func quoteName(s string) string {
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
