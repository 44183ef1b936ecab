package eval

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

func parseWide(t testing.TB, s string) i128 {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	require.True(t, ok, s)
	return fromNum(decimal128.FromBigInt(v))
}

func lines(t testing.TB, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func outcome(bad bool, v i128) string {
	if bad {
		return "err"
	}
	return v.big().String()
}

// TestDecimalCasts compares with DuckDB, doubles bit for bit.
func TestDecimalCasts(t *testing.T) {
	t.Parallel()
	for _, line := range lines(t, "decimal_casts.txt") {
		var from, to arrow.Decimal128Type
		var value, want string
		var bits uint64
		_, err := fmt.Sscan(line, &from.Precision, &from.Scale, &value, &bits, &to.Precision, &to.Scale, &want)
		require.NoError(t, err)
		v := parseWide(t, value)
		require.Equal(t, bits, math.Float64bits(v.float(from.Scale, from.Precision)), line)
		conv, dst := rescale(&from, &to), make([]i128, 1)
		bad := conv.run(dst, []i128{v})
		require.Equal(t, want, outcome(bad, dst[0]), line)
		require.Equal(t, bad, conv.wrong(v), line)
	}
}

func TestDecimalArithmetic(t *testing.T) {
	t.Parallel()
	for _, line := range lines(t, "decimal_arithmetic.txt") {
		var l, r, typ arrow.Decimal128Type
		var a, sign, b, want string
		_, err := fmt.Sscan(line, &l.Precision, &l.Scale, &a, &sign, &r.Precision, &r.Scale, &b, &typ.Precision, &typ.Scale, &want)
		require.NoError(t, err)
		op := map[string]pushdown.ArithOp{"+": pushdown.Add, "-": pushdown.Subtract, "*": pushdown.Multiply}[sign]
		x, y := parseWide(t, a), parseWide(t, b)
		ops, dst := decimalArith(op, &typ), make([]i128, 1)
		bad := ops.run(dst, []i128{x}, []i128{y})
		require.Equal(t, want, outcome(bad, dst[0]), line)
		require.Equal(t, bad, ops.wrong(x, y), line)
	}
}

func TestDecimalEdges(t *testing.T) {
	t.Parallel()
	least := i128{hi: math.MinInt64}
	most := i128{lo: math.MaxUint64, hi: math.MaxInt64}
	for name, one := range map[string]func() (i128, bool){
		"max+1":   func() (i128, bool) { return most.add(wide(1)) },
		"min-1":   func() (i128, bool) { return least.sub(wide(1)) },
		"max*2":   func() (i128, bool) { return most.mul(wide(2)) },
		"max*max": func() (i128, bool) { return most.mul(most) },
	} {
		_, ok := one()
		require.False(t, ok, name)
	}
	require.Equal(t, uint64(1), least.less(most))
	require.Equal(t, uint64(0), most.less(least))
	require.Equal(t, uint64(0), most.less(most))
	require.InEpsilon(t, 1.7014118346046923e38, most.float(0, 38), 1e-15)
}
