package plan

import (
	"math"
	"time"
)

const zoned Type = "TIMESTAMP WITH TIME ZONE"

// withoutZone takes the cast out of `CAST(ts AS TIMESTAMPTZ) op constant`, which
// is what DuckDB makes of `ts > now()`. Engines are pinned to UTC, where the cast
// keeps every value, infinities too, and so the order. It only fails, near the
// ends of its range, where the comparison without it has the same meaning.
func withoutZone(op string, l, r Expr) (string, Expr, Expr) {
	arg := castToZoned(l)
	if arg == nil {
		return op, l, r
	}
	k, rest := unzoned(r, arg.Type())
	plain := op
	if rest {
		plain = dayOp(op)
	}
	if k == nil || plain == "" {
		return op, l, r
	}
	return plain, arg, k
}

// allWithoutZone is withoutZone for IN, of which args[0] is the needle.
func allWithoutZone(args []Expr) []Expr {
	out := []Expr{castToZoned(args[0])}
	if out[0] == nil {
		return args
	}
	for _, e := range args[1:] {
		k, rest := unzoned(e, out[0].Type())
		if k == nil || rest {
			return args
		}
		out = append(out, k)
	}
	return out
}

// castToZoned is the DATE or TIMESTAMP that e casts, or nil.
func castToZoned(e Expr) Expr {
	cast, ok := e.(*Cast)
	if !ok || cast.Try || cast.Target != zoned {
		return nil
	}
	switch cast.Arg.Type() {
	case "DATE", "TIMESTAMP":
		return cast.Arg
	}
	return nil
}

// unzoned is a TIMESTAMPTZ constant as DATE or TIMESTAMP, nil for what is none.
// With rest it is the day in which the constant lies, but not its midnight.
func unzoned(e Expr, to Type) (k *Const, rest bool) {
	in, ok := e.(*Const)
	if !ok || in.Opaque || in.ConstType != zoned {
		return nil, false
	}
	if in.Value == nil {
		return nullConst(to), false
	}
	value := in.Value.(int64)
	if to == "DATE" {
		value, rest = dayOf(value)
	}
	k, err := newConst(to, value)
	if err != nil {
		return nil, false
	}
	return k, rest
}

// dayOf is the day of a time in microseconds, and whether it is after midnight.
func dayOf(micros int64) (day int64, rest bool) {
	switch micros {
	case math.MaxInt64:
		return math.MaxInt32, false
	case -math.MaxInt64:
		return -math.MaxInt32, false
	}
	const length = int64(24 * time.Hour / time.Microsecond)
	day = micros / length
	if micros < day*length {
		day--
	}
	return day, micros > day*length
}

// dayOp compares midnights with a day as op compares them with a later time of
// that day; "" when there is none.
func dayOp(op string) string {
	switch op {
	case ">", ">=":
		return ">"
	case "<", "<=":
		return "<="
	}
	return ""
}
