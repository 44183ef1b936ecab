package duckdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// relation is the alias of the rows that a statement reads. Every column is
// qualified with it, so that output names never capture one.
const relation = "t"

func columnRef(name string) string { return relation + "." + quoteIdent(name) }

// render writes an expression as SQL of exactly the meaning that
// pushdown.Expr documents.
func render(e pushdown.Expr) (string, error) {
	switch e := e.(type) {
	case pushdown.Column:
		return columnRef(e.Name), nil
	case pushdown.Literal:
		return literal(e.Value)
	case pushdown.Compare:
		return renderCompare(e)
	case pushdown.And:
		return renderJoined(e.Args, " AND ")
	case pushdown.Or:
		return renderJoined(e.Args, " OR ")
	case pushdown.Not:
		return renderf("(NOT %s)", e.Arg)
	case pushdown.IsNull:
		if e.Negated {
			return renderf("(%s IS NOT NULL)", e.Arg)
		}
		return renderf("(%s IS NULL)", e.Arg)
	case pushdown.In:
		return renderIn(e)
	case pushdown.Like:
		return renderLike(e)
	case pushdown.Arith:
		return renderArith(e)
	case pushdown.Cast:
		return renderTyped(e, "%s", e.Arg)
	case pushdown.Case:
		return renderCase(e)
	case pushdown.Coalesce:
		return renderCoalesce(e)
	case pushdown.Call:
		return renderCall(e)
	default:
		return "", status.New(status.Unimplemented, "DuckDB source: unknown expression %T", e)
	}
}

// renderf formats rendered expressions.
func renderf(format string, args ...pushdown.Expr) (string, error) {
	texts := make([]any, len(args))
	for i, a := range args {
		text, err := render(a)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	return fmt.Sprintf(format, texts...), nil
}

// renderTyped is renderf with a cast to e's type. DuckDB drops it where it
// changes nothing; for decimals it derives wider types than the spec asks for.
func renderTyped(e pushdown.Expr, format string, args ...pushdown.Expr) (string, error) {
	typ, err := sqlType(e.Type())
	if err != nil {
		return "", err
	}
	text, err := renderf(format, args...)
	return cast(text, typ), err
}

func renderList(args []pushdown.Expr) ([]string, error) {
	texts := make([]string, len(args))
	for i, a := range args {
		text, err := render(a)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

func renderJoined(args []pushdown.Expr, sep string) (string, error) {
	texts, err := renderList(args)
	return "(" + strings.Join(texts, sep) + ")", err
}

func renderIn(e pushdown.In) (string, error) {
	values := make([]pushdown.Expr, len(e.Values))
	for i, v := range e.Values {
		values[i] = v
	}
	list, err := renderJoined(values, ", ")
	if i := slices.IndexFunc(e.Values, unsure); i >= 0 && err == nil {
		var same [2]string // with two of them the list is no equality
		same, err = renderSame(e.Values[i])
		list = "(" + same[0] + ", " + same[1] + ", " + list[1:]
	}
	if err != nil {
		return "", err
	}
	arg, err := render(e.Arg)
	if len(values) == 0 { // SQL has no empty list; a miss even for NULL
		list = "(SELECT " + arg + " WHERE FALSE)"
	}
	if e.Negated {
		return "(" + arg + " NOT IN " + list + ")", err
	}
	return "(" + arg + " IN " + list + ")", err
}

func renderLike(e pushdown.Like) (string, error) {
	forms := [...]string{
		pushdown.LikePattern: "(%s LIKE %s)", pushdown.LikePrefix: "prefix(%s, %s)",
		pushdown.LikeSuffix: "suffix(%s, %s)", pushdown.LikeContains: "contains(%s, %s)",
	}
	if e.Kind == 0 || int(e.Kind) >= len(forms) {
		return "", status.New(status.InvalidArgument, "unknown string match %d", e.Kind)
	}
	arg, err := render(e.Arg)
	if err != nil {
		return "", err
	}
	pattern, err := textLiteral(e.Pattern)
	text := fmt.Sprintf(forms[e.Kind], arg, pattern)
	if e.Negated {
		text = "(NOT " + text + ")"
	}
	return text, err
}

func renderArith(e pushdown.Arith) (string, error) {
	ops := [...]string{pushdown.Add: "+", pushdown.Subtract: "-", pushdown.Multiply: "*"}
	if e.Op == 0 || int(e.Op) >= len(ops) {
		return "", status.New(status.InvalidArgument, "unknown operator %d", e.Op)
	}
	return renderTyped(e, "(%s "+ops[e.Op]+" %s)", e.Left, e.Right)
}

func renderCase(e pushdown.Case) (string, error) {
	typ, err := sqlType(e.DataType)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, w := range e.Whens {
		text, err := renderf(" WHEN %s THEN %s", w.Cond, w.Then)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	if e.Else != nil {
		text, err := renderf(" ELSE %s", e.Else)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	return cast("(CASE"+b.String()+" END)", typ), nil
}

func renderCoalesce(e pushdown.Coalesce) (string, error) {
	typ, err := sqlType(e.DataType)
	if err != nil {
		return "", err
	}
	list, err := renderJoined(e.Args, ", ")
	return cast("coalesce"+list, typ), err
}

// renderFilter writes the conjunction. Conjuncts that can raise see only rows
// that the others let pass; CASE is what DuckDB does not reorder.
func renderFilter(conjuncts []pushdown.Expr) (string, error) {
	var safe, risky []pushdown.Expr
	for _, e := range conjuncts {
		if pushdown.Infallible(e) {
			safe = append(safe, e)
		} else {
			risky = append(risky, e)
		}
	}
	if len(risky) == 0 {
		return renderConjuncts(safe)
	}
	safeText, err := renderJoined(safe, " AND ")
	if err != nil {
		return "", err
	}
	riskyText, err := renderJoined(risky, " AND ")
	if len(safe) == 0 {
		return riskyText, err
	}
	// The plain conjuncts are kept for zone maps.
	return fmt.Sprintf("%s AND (CASE WHEN %s THEN %s ELSE FALSE END)", safeText, safeText, riskyText), err
}

// renderConjuncts joins conditions of which none can raise.
func renderConjuncts(conjuncts []pushdown.Expr) (string, error) {
	texts := make([]string, len(conjuncts))
	for i, e := range conjuncts {
		text, err := renderMembers(e)
		if text == "" && err == nil {
			text, err = render(e)
		}
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	return "(" + strings.Join(texts, " AND ") + ")", nil
}
