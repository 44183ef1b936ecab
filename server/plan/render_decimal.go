package plan

import "math/big"

// DuckDB types decimal arithmetic by the widths of its arguments and casts the
// arguments to fit. Bound again with those casts in place, the result would come
// out one digit wider each time: so the renderer leaves out the casts that
// binding will add again, and where the type would still differ says it.

// callArgs are the arguments as they should be written.
func (r *renderer) callArgs(e *Call) []Expr {
	if !decimalArithmetic(e) {
		return e.Args
	}
	bare := mapSlice(e.Args, withoutImplied)
	for _, args := range [][]Expr{bare, {bare[0], e.Args[1]}, {e.Args[0], bare[1]}} {
		if decimalResult(e.Name, args) == e.Result {
			return args
		}
	}
	return e.Args
}

// asResult casts where binding would give the call another type.
func (r *renderer) asResult(e *Call, sql string) string {
	if !decimalArithmetic(e) || decimalResult(e.Name, r.callArgs(e)) == e.Result {
		return sql
	}
	return "CAST(" + sql + " AS " + string(e.Result) + ")"
}

func decimalArithmetic(e *Call) bool {
	if len(e.Args) != 2 || e.Name != "+" && e.Name != "-" && e.Name != "*" {
		return false
	}
	for _, t := range append(exprTypes(e.Args), e.Result) {
		if _, _, ok := decimalParts(t); !ok {
			return false
		}
	}
	return true
}

// withoutImplied is the argument before the cast that binding added: a constant
// in its narrowest type, a decimal or an integer uncast.
func withoutImplied(e Expr) Expr {
	switch e := e.(type) {
	case *Const:
		return narrowConst(e)
	case *Cast:
		_, _, decimal := decimalParts(e.Arg.Type())
		if !e.Try && (decimal || integerWidth(e.Arg.Type()) > 0) {
			return e.Arg
		}
	}
	return e
}

func narrowConst(c *Const) Expr {
	v, ok := c.Value.(*big.Int)
	_, scale, decimal := decimalParts(c.ConstType)
	if !ok || !decimal {
		return c
	}
	digits := int32(len(new(big.Int).Abs(v).String()))
	out, err := newConst(decimalOf(max(digits, scale+1), scale), v)
	if err != nil {
		return c
	}
	return out
}

// integerWidth is the number of digits that DuckDB gives an integer type among
// decimals, or 0.
func integerWidth(t Type) int32 {
	switch t {
	case "TINYINT", "UTINYINT":
		return 3
	case "SMALLINT", "USMALLINT":
		return 5
	case "INTEGER", "UINTEGER":
		return 10
	case "BIGINT":
		return 19
	case "UBIGINT":
		return 20
	}
	return 0
}

func decimalShape(t Type) (width, scale int32, ok bool) {
	if w := integerWidth(t); w > 0 {
		return w, 0, true
	}
	return decimalParts(t)
}

const (
	maxDecimalWidth = 38
	// wordDecimalWidth is the widest decimal in 64 bits; DuckDB stays within
	// it when the arguments are.
	wordDecimalWidth = 18
)

// decimalResult is the type that DuckDB gives an operation, or "".
func decimalResult(op string, args []Expr) Type {
	w1, s1, ok1 := decimalShape(args[0].Type())
	w2, s2, ok2 := decimalShape(args[1].Type())
	if !ok1 || !ok2 {
		return ""
	}
	width, scale := w1+w2, s1+s2
	if op != "*" {
		scale = max(s1, s2)
		width = max(scale+max(w1-s1, w2-s2), w1, w2) + 1
	}
	if scale > maxDecimalWidth {
		return ""
	}
	if width > wordDecimalWidth && max(w1, w2) <= wordDecimalWidth && (op != "*" || scale < wordDecimalWidth) {
		width = wordDecimalWidth
	}
	return decimalOf(min(width, maxDecimalWidth), scale)
}
