package pushdowntest

import (
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

func call(e pushdown.Call, args []any) (any, error) {
	for _, a := range args {
		if a == nil {
			return nil, nil
		}
	}
	switch v := args[0].(type) {
	case string:
		return callText(e, v, args[1:]), nil
	case float64:
		return callFloat(e, v, args[1:]), nil
	}
	v := args[0].(*big.Int)
	switch {
	case e.Func.IsPart():
		return part(e, v), nil
	case e.Func.IsTrunc():
		return truncate(e, v)
	case e.Func == pushdown.FuncAbs:
		return inRange(new(big.Int).Abs(v), e.DataType)
	}
	return divide(e, v, args[1].(*big.Int))
}

func divide(e pushdown.Call, v, by *big.Int) (any, error) {
	if by.Sign() == 0 {
		return nil, nil
	}
	q, r := new(big.Int).QuoRem(v, by, new(big.Int))
	if _, err := inRange(q, e.DataType); err != nil {
		return nil, err
	}
	if e.Func == pushdown.FuncModulo {
		return r, nil
	}
	return q, nil
}

func callFloat(e pushdown.Call, v float64, rest []any) any {
	if e.Func == pushdown.FuncAbs {
		return math.Abs(v)
	}
	q := v / rest[0].(float64)
	if e.DataType.ID() == arrow.FLOAT32 {
		return float64(float32(q))
	}
	return q
}

func callText(e pushdown.Call, s string, rest []any) any {
	letters := codePoints(s)
	switch e.Func {
	case pushdown.FuncLower:
		return string(pushdown.AppendLower(nil, s))
	case pushdown.FuncUpper:
		return string(pushdown.AppendUpper(nil, s))
	case pushdown.FuncLength:
		return big.NewInt(int64(len(letters)))
	}
	from, to := 0, len(letters)
	clamp := func(v any) int { return int(min(v.(*big.Int).Int64(), int64(len(letters)+1))) }
	switch e.Func {
	case pushdown.FuncLeft:
		to = min(to, clamp(rest[0]))
	case pushdown.FuncRight:
		from = max(0, to-clamp(rest[0]))
	default:
		if from = min(clamp(rest[0])-1, to); len(rest) == 2 {
			to = min(to, from+clamp(rest[1]))
		}
	}
	out := ""
	for _, l := range letters[from:to] {
		out += l
	}
	return out
}

func codePoints(s string) (out []string) {
	for s != "" {
		_, n := utf8.DecodeRuneInString(s)
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// moment is the instant of a date or timestamp; nil for the infinities.
func moment(e pushdown.Call, v *big.Int) *time.Time {
	dt := pushdown.ValueType(e.Args[0].Type())
	if _, limit := Range(dt); v.CmpAbs(limit) == 0 {
		return nil
	}
	t := time.UnixMicro(v.Int64()).UTC()
	if dt.ID() == arrow.DATE32 {
		t = time.Unix(v.Int64()*86_400, 0).UTC()
	}
	return &t
}

func part(e pushdown.Call, v *big.Int) any {
	t := moment(e, v)
	if t == nil {
		return nil
	}
	return big.NewInt(int64(map[pushdown.Func]int{
		pushdown.FuncYear: t.Year(), pushdown.FuncQuarter: (int(t.Month()) + 2) / 3, pushdown.FuncMonth: int(t.Month()),
		pushdown.FuncDay: t.Day(), pushdown.FuncHour: t.Hour(), pushdown.FuncMinute: t.Minute(), pushdown.FuncSecond: t.Second(),
	}[e.Func]))
}

func truncate(e pushdown.Call, v *big.Int) (any, error) {
	p := moment(e, v)
	if p == nil {
		return new(big.Int).Mul(big.NewInt(math.MaxInt64), big.NewInt(int64(v.Sign()))), nil
	}
	t := *p
	y, m, d := t.Date()
	date := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	switch e.Func {
	case pushdown.FuncTruncYear:
		t = date(y, 1, 1)
	case pushdown.FuncTruncQuarter:
		t = date(y, m-(m-1)%3, 1)
	case pushdown.FuncTruncMonth:
		t = date(y, m, 1)
	case pushdown.FuncTruncWeek:
		t = date(y, m, d-(int(t.Weekday())+6)%7)
	case pushdown.FuncTruncDay:
		t = date(y, m, d)
	case pushdown.FuncTruncHour:
		t = time.Date(y, m, d, t.Hour(), 0, 0, 0, time.UTC)
	case pushdown.FuncTruncMinute:
		t = time.Date(y, m, d, t.Hour(), t.Minute(), 0, 0, time.UTC)
	default:
		t = time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	micros := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1_000_000))
	if days := t.Unix() / 86_400; !micros.IsInt64() || days < -106_751_991 || days > 106_751_991 {
		return nil, status.New(status.OutOfRange, "%s is no timestamp", t)
	}
	return micros, nil
}
