package duckdb

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// DuckDB leaves out what bounds and Bloom filters of a column rule out, and is
// wrong thrice (1.5.6): it takes IS DISTINCT FROM under OR for <>, which no NULL
// passes; and it does not find in a Parquet file the other zero of floats, nor bytes
// that are no printable text. So comparisons with such constants are written in
// other words: Bloom filters are only asked for one equal value.

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
		case (e.Op == pushdown.Equal || e.Op == pushdown.NotEqual) && unsure(l):
			return renderRange(e, l)
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

// renderRange is whether x equals a constant, or not, as a range: DuckDB makes an
// equality of the negation of <>.
func renderRange(e pushdown.Compare, l pushdown.Literal) (string, error) {
	same, err := renderSame(l)
	if err != nil {
		return "", err
	}
	form := "(%s >= %s AND %[1]s <= %[3]s)"
	if e.Op == pushdown.NotEqual {
		form = "(%s < %s OR %[1]s > %[3]s)"
	}
	text, err := render(e.Left)
	return fmt.Sprintf(form, text, same[0], same[1]), err
}

// renderSame are two constants that equal one: the zeros, the negative first, or
// twice the same.
func renderSame(l pushdown.Literal) ([2]string, error) {
	if isZero(l) {
		typ, err := sqlType(l.Type())
		return [2]string{cast("'-0.0'", typ), cast("'0.0'", typ)}, err
	}
	text, err := render(l)
	return [2]string{text, text}, err
}

// unsure: DuckDB may not find what equals the constant.
func unsure(l pushdown.Literal) bool { return isZero(l) || isBinary(l) }

func isZero(l pushdown.Literal) bool {
	switch v := l.Value.(type) {
	case *scalar.Float32:
		return v.Valid && v.Value == 0
	case *scalar.Float64:
		return v.Valid && v.Value == 0
	}
	return false
}

func isBinary(l pushdown.Literal) bool {
	b, ok := l.Value.(scalar.BinaryScalar)
	return ok && l.Value.IsValid() && b.DataType().ID() != arrow.STRING && b.DataType().ID() != arrow.LARGE_STRING
}
