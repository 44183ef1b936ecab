package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDayOf(t *testing.T) {
	t.Parallel()
	const day = 86_400_000_000
	for _, c := range []struct {
		micros, day int64
		rest        bool
	}{
		{0, 0, false}, {1, 0, true}, {day - 1, 0, true}, {day, 1, false}, {-1, -1, true}, {-day, -1, false}, {-day - 1, -2, true},
		{math.MaxInt64, math.MaxInt32, false}, {-math.MaxInt64, -math.MaxInt32, false}, {math.MaxInt64 - 1, 106751991, true},
	} {
		got, rest := dayOf(c.micros)
		require.Equal(t, c.day, got, c.micros)
		require.Equal(t, c.rest, rest, c.micros)
	}
}

// TestDayOp compares the days around a time with that time.
func TestDayOp(t *testing.T) {
	t.Parallel()
	const noon = 12
	for _, op := range []string{"<", "<=", ">", ">="} {
		for _, day := range []int{-1, 0, 1} {
			require.Equal(t, holds(op, 24*day, noon), holds(dayOp(op), day, 0), "%d %s", day, op)
		}
	}
	for _, op := range []string{"=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"} {
		require.Empty(t, dayOp(op))
	}
}

func holds(op string, l, r int) bool {
	switch op {
	case "<":
		return l < r
	case "<=":
		return l <= r
	case ">":
		return l > r
	}
	return l >= r
}

// TestZoneStays: these casts are not taken away.
func TestZoneStays(t *testing.T) {
	t.Parallel()
	ts, ns := &Ref{Index: 0, RefType: "TIMESTAMP"}, &Ref{Index: 1, RefType: "TIMESTAMP_NS"}
	k := &Const{Value: int64(5), ConstType: zoned}
	for name, c := range map[string]struct{ l, r Expr }{
		"no cast":         {ts, k},
		"other cast":      {&Cast{Arg: ts, Target: "DATE"}, k},
		"TRY_CAST":        {&Cast{Arg: ts, Target: zoned, Try: true}, k},
		"truncates":       {&Cast{Arg: ns, Target: zoned}, k},
		"no constant":     {&Cast{Arg: ts, Target: zoned}, &Ref{Index: 2, RefType: zoned}},
		"opaque":          {&Cast{Arg: ts, Target: zoned}, &Const{Opaque: true, ConstType: zoned}},
		"other constant":  {&Cast{Arg: ts, Target: zoned}, &Const{Value: int64(5), ConstType: "TIMESTAMP"}},
		"year not in SQL": {&Cast{Arg: ts, Target: zoned}, &Const{Value: int64(math.MaxInt64 - 1), ConstType: zoned}},
		"no day is that":  {&Cast{Arg: &Ref{Index: 3, RefType: "DATE"}, Target: zoned}, k},
	} {
		op, l, r := withoutZone("=", c.l, c.r)
		require.Equal(t, []any{"=", c.l, c.r}, []any{op, l, r}, name)
		require.Equal(t, []Expr{c.l, c.r}, allWithoutZone([]Expr{c.l, c.r}), name)
	}
}
