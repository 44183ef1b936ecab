package plan

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

func TestLiterals(t *testing.T) {
	t.Parallel()
	huge := new(big.Int).Lsh(big.NewInt(1), 100)
	cases := []struct {
		value any
		kind  Type
		want  string
	}{
		{true, "BOOLEAN", "true"}, {int64(-128), "TINYINT", "-128"}, {int64(255), "UTINYINT", "255"}, {int64(-5), "SMALLINT", "-5"},
		{int64(65535), "USMALLINT", "65535"}, {int64(math.MaxInt32), "INTEGER", "2147483647"}, {int64(7), "UINTEGER", "7"},
		{int64(math.MinInt64), "BIGINT", "-9223372036854775808"}, {new(big.Int).SetUint64(math.MaxUint64), "UBIGINT", "18446744073709551615"},
		{int64(3), "UBIGINT", "3"}, {huge, "HUGEINT", huge.String()}, {int64(4), "HUGEINT", "4"}, {big.NewInt(-12345), "DECIMAL(9,2)", "-123.45"},
		{1.5, "DOUBLE", "1.5"}, {1.5, "FLOAT", "1.5"}, {math.NaN(), "DOUBLE", "NaN"}, {"it's", "VARCHAR", "'it''s'"},
		{int64(18321), "DATE", "'2020-02-29'"}, {int64(1), "TIMESTAMP_S", "'1970-01-01 00:00:01'"}, {nil, "INTEGER", "null"}, {nil, "VARCHAR", "null"},
	}
	for _, c := range cases {
		l, err := literal(&Const{Value: c.value, ConstType: c.kind})
		require.NoError(t, err, c)
		require.Equal(t, c.want, pushdown.ExprString(l), c)
		if c.kind != "HUGEINT" || c.value != nil {
			require.True(t, pushdown.Comparable(arrowType(c.kind), l.Type()), c)
		}
	}
}

func TestLiteralsThatDoNotFit(t *testing.T) {
	t.Parallel()
	cases := []Const{
		{Value: int64(128), ConstType: "TINYINT"}, {Value: int64(-129), ConstType: "TINYINT"}, {Value: int64(-1), ConstType: "UINTEGER"},
		{Value: int64(1 << 40), ConstType: "INTEGER"}, {Value: new(big.Int).Lsh(big.NewInt(1), 64), ConstType: "UBIGINT"},
		{Value: new(big.Int).Lsh(big.NewInt(1), 127), ConstType: "HUGEINT"}, {Value: new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), ConstType: "HUGEINT"},
		{Value: big.NewInt(100000), ConstType: "DECIMAL(4,2)"}, {Value: "x", ConstType: "BLOB"}, {Value: 1.5, ConstType: "INTEGER"},
		{Value: true, ConstType: "INTEGER"}, {Opaque: true, ConstType: "INTEGER"}, {Value: int64(1), ConstType: "INTERVAL"}, {Value: struct{}{}, ConstType: "INTEGER"},
	}
	for _, c := range cases {
		_, err := literal(&c)
		require.Error(t, err, c)
	}
}

// TestConvertByHand covers what DuckDB's rewrites never leave in a plan.
func TestConvertByHand(t *testing.T) {
	t.Parallel()
	table := testTable(t, "t", allTypes, 0)
	a, s := &Ref{Index: 0, RefType: "INTEGER"}, &Ref{Index: 2, RefType: "VARCHAR"}
	one, null := &Const{Value: int64(1), ConstType: "INTEGER"}, &Const{ConstType: `"NULL"`}
	cases := map[string]Expr{
		"(a = null)":                    &Comparison{Op: "=", Left: a, Right: null},
		"(1 < a)":                       &Comparison{Op: "<", Left: one, Right: a},
		"((a > 1) and (a < 1))":         &Between{Arg: a, Low: one, High: one},
		"((a >= 1) and (a <= 1))":       &Between{Arg: a, Low: one, High: one, LowInclusive: true, HighInclusive: true},
		"a in (1, null)":                &Operator{Kind: "IN", Args: []Expr{a, one, null}, Result: "BOOLEAN"},
		"(a is not distinct from null)": &Comparison{Op: "IS NOT DISTINCT FROM", Left: a, Right: null},
		"coalesce(a, null)":             &Operator{Kind: "COALESCE", Args: []Expr{a, null}, Result: "INTEGER"},
		"a":                             &Conjunction{Args: []Expr{a}},
		"s suffix 'x'":                  &Call{Name: "ends_with", Args: []Expr{s, &Const{Value: "x", ConstType: "VARCHAR"}}, Result: "BOOLEAN"},
	}
	for want, e := range cases {
		got, err := converter{table}.expr(e)
		require.NoError(t, err, want)
		require.Equal(t, want, pushdown.ExprString(got))
	}
	refused := []Expr{
		&Comparison{Op: "~", Left: a, Right: one}, &Comparison{Op: "=", Left: a, Right: s}, &Ref{Index: -1, RefType: "BIGINT"}, &Ref{Index: 99, RefType: "BIGINT"},
		&Ref{Index: 0, RefType: "VARCHAR"}, &AggCall{Name: "sum"}, &Call{Name: "+", Args: []Expr{a, s}, Result: "INTEGER"},
		&Operator{Kind: "IN", Args: []Expr{a, a}, Result: "BOOLEAN"}, &Operator{Kind: "TRY", Args: []Expr{a}, Result: "INTEGER"},
		&Cast{Arg: a, Target: "UUID"}, &Cast{Arg: a, Target: "BIGINT", Try: true}, &Call{Name: "+", Args: []Expr{a, one}, Result: "INTEGER", Volatile: true},
		&Case{Whens: []When{{Cond: a, Then: a}}, Result: "INTERVAL"}, &Cast{Arg: &Cast{Arg: a, Target: "HUGEINT"}, Target: "DOUBLE"},
	}
	for _, e := range refused {
		_, err := pushable(table, e)
		require.Error(t, err, ExprString(e))
	}
}

// TestInlineIsBounded: nested projections that double an expression stop being
// combined before they grow out of bounds.
func TestInlineIsBounded(t *testing.T) {
	t.Parallel()
	var n Node = &Scan{Table: testTable(t, "t", "a INTEGER", 1), Output: []int{0}, Types: []Type{"INTEGER"}, Limit: pushdown.NoLimit}
	ref := &Ref{Index: 0, RefType: "INTEGER"}
	for range 60 {
		n = &Project{Input: n, Exprs: []Expr{&Call{Name: "+", Args: []Expr{ref, ref}, Result: "INTEGER"}}}
	}
	v, why := viewOf(n)
	require.Nil(t, v)
	require.Contains(t, why, "too large")
	root, fired, err := applyRules(&Aggregate{Input: n, Keys: []Expr{ref}}, rules(PushdownFull))
	require.NoError(t, err)
	require.Empty(t, fired)
	require.Contains(t, reasonsOf(root)[0], "too large")
}
