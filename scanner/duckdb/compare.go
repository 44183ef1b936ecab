package duckdb

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// DuckDB leaves out what the bounds of a column rule out, and is wrong twice
// (1.5.6): it takes IS DISTINCT FROM under OR for <>, which no NULL passes, and
// the two zeros of floats for different values of a Parquet file. So comparisons
// with such constants are written in other words.

func renderCompare(e pushdown.Compare) (string, error) {
	ops := [...]string{
		pushdown.Equal: "=", pushdown.NotEqual: "<>", pushdown.Less: "<", pushdown.LessEqual: "<=",
		pushdown.Greater: ">", pushdown.GreaterEqual: ">=",
		pushdown.Distinct: "IS DISTINCT FROM", pushdown.NotDistinct: "IS NOT DISTINCT FROM",
	}
	if e.Op == 0 || int(e.Op) >= len(ops) {
		return "", status.New(status.InvalidArgument, "unknown comparison %d", e.Op)
	}
	if _, ok := e.Left.(pushdown.Literal); ok {
		e = pushdown.Compare{Op: e.Op.Mirror(), Left: e.Right, Right: e.Left}
	}
	if l, ok := e.Right.(pushdown.Literal); ok {
		switch {
		case e.Op == pushdown.Distinct || e.Op == pushdown.NotDistinct:
			return renderDistinct(e, l)
		case e.Op == pushdown.Equal && isZero(l):
			return renderZero(e.Left, l)
		}
	}
	return renderf("(%s "+ops[e.Op]+" %s)", e.Left, e.Right)
}

// renderDistinct compares with a constant, NULL being a value.
func renderDistinct(e pushdown.Compare, l pushdown.Literal) (string, error) {
	distinct := e.Op == pushdown.Distinct
	if !l.Value.IsValid() {
		return render(pushdown.IsNull{Arg: e.Left, Negated: distinct})
	}
	op, form := pushdown.Equal, "(%s AND %s)"
	if distinct {
		op, form = pushdown.NotEqual, "(%s OR %s)"
	}
	return renderf(form, pushdown.Compare{Op: op, Left: e.Left, Right: l}, pushdown.IsNull{Arg: e.Left, Negated: !distinct})
}

// renderZero is whether x is one of the zeros.
func renderZero(x pushdown.Expr, l pushdown.Literal) (string, error) {
	zeros, err := renderZeros(l)
	if err != nil {
		return "", err
	}
	text, err := render(x)
	return fmt.Sprintf("(%s >= %s AND %[1]s <= %[3]s)", text, zeros[0], zeros[1]), err
}

// renderZeros are the zeros of the type of one, the negative first.
func renderZeros(l pushdown.Literal) ([]string, error) {
	typ, err := sqlType(l.Type())
	return []string{cast("'-0.0'", typ), cast("'0.0'", typ)}, err
}

func isZero(l pushdown.Literal) bool {
	switch v := l.Value.(type) {
	case *scalar.Float32:
		return v.Valid && v.Value == 0
	case *scalar.Float64:
		return v.Valid && v.Value == 0
	}
	return false
}
