package duckdb

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

func literals[T any](values []T, with func(T) scalar.Scalar) []pushdown.Literal {
	out := []pushdown.Literal{}
	for _, v := range values {
		out = append(out, pushdown.Literal{Value: with(v)})
	}
	return out
}

// padding makes a list long without a value that the tables hold.
func padding[T any](with func(int) T) []T {
	out := []T{}
	for i := range manyValues {
		out = append(out, with(i))
	}
	return out
}

func TestManyValuesAreOneConstant(t *testing.T) {
	t.Parallel()
	text := func(v string) scalar.Scalar { return scalar.NewStringScalar(v) }
	word := func(i int) string { return fmt.Sprint("pad", i) }
	long := func(v int64) scalar.Scalar { return scalar.NewInt64Scalar(v) }
	date := func(v int32) scalar.Scalar { return scalar.NewDate32Scalar(arrow.Date32(v)) }
	for name, tc := range map[string]struct {
		table   string
		values  []pushdown.Literal
		one     bool // constant
		matched int
	}{
		"bigint": {"SELECT unnest([-9223372036854775808, 9223372036854775807, 0, 7, NULL]) AS v",
			literals(append(padding(func(i int) int64 { return int64(i) + 1000 }), math.MinInt64, math.MaxInt64, 0, 0), long), true, 3},
		"utinyint": {"SELECT unnest([0, 255, 3, NULL]::UTINYINT[]) AS v",
			literals(append(padding(func(i int) uint8 { return uint8(i) + 100 }), 0, 255), func(v uint8) scalar.Scalar { return scalar.NewUint8Scalar(v) }), true, 2},
		"date": {"SELECT unnest([DATE '1970-01-01', DATE '-infinity', DATE '5881580-07-10', DATE '2000-01-01', NULL]) AS v",
			literals(append(padding(func(i int) int32 { return int32(i) + 500 }), 0, math.MaxInt32-1), date), true, 2},
		"infinite date": {"SELECT unnest([DATE '1970-01-01', DATE '-infinity']) AS v",
			literals(append(padding(func(i int) int32 { return int32(i) + 500 }), -math.MaxInt32), date), false, 1},
		"text": {"SELECT unnest(['', ' a', 'it''s', '\"', '[x]', ',', 'ü', 'A', 'NULL', NULL]) AS v",
			literals(append(padding(word), "", " a", "it's", `"`, "[x]", ",", "ü", "a", "NULL"), text), true, 8},
		"text with the separator": {"SELECT unnest(['a' || chr(31) || 'b', 'a', 'b']) AS v",
			literals(append(padding(word), "a\x1fb"), text), false, 1},
		"text with NUL": {"SELECT unnest(['a' || chr(0), 'a']) AS v", literals(append(padding(word), "a\x00"), text), false, 1},
		"NULL among the values": {"SELECT unnest([1::BIGINT, 2, NULL]) AS v",
			append(literals(append(padding(func(i int) int64 { return int64(i) + 1000 }), 2), long), null(arrow.PrimitiveTypes.Int64)), true, 1},
		"few values": {"SELECT unnest([1::BIGINT, 2, NULL]) AS v", literals([]int64{2, 3}, long), false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := querySource(t, tc.table)
			spec := tableSpec(t, s)
			in := pushdown.In{Arg: col(spec, "v"), Values: tc.values}
			spec.Filter = []pushdown.Expr{in}
			require.Len(t, rows(t, s, spec), tc.matched)

			text, err := renderFilter(spec.Filter)
			require.NoError(t, err)
			if tc.one {
				require.Contains(t, text, "unnest")
			} else {
				require.NotContains(t, text, "unnest")
			}
		})
	}
}

func TestManyValuesElsewhereThanInWhere(t *testing.T) {
	t.Parallel()
	s := querySource(t, "SELECT unnest([1::BIGINT, 2, 1001, NULL]) AS v")
	spec := tableSpec(t, s)
	in := pushdown.In{Arg: col(spec, "v"), Values: literals(append(padding(func(i int) int64 { return int64(i) + 1000 }), 2),
		func(v int64) scalar.Scalar { return scalar.NewInt64Scalar(v) })}
	negated := in
	negated.Negated = true
	one := pushdown.Compare{Op: pushdown.Equal, Left: in.Arg, Right: i64(1)}
	for _, tc := range []struct {
		filter pushdown.Expr
		want   []string
	}{
		{negated, []string{"1"}},
		{pushdown.Not{Arg: in}, []string{"1"}},
		{pushdown.Or{Args: []pushdown.Expr{in, one}}, []string{"1", "1001", "2"}},
	} {
		spec.Filter = []pushdown.Expr{tc.filter}
		got := []string{}
		for _, row := range rows(t, s, spec) {
			got = append(got, row[0])
		}
		require.ElementsMatch(t, tc.want, got, "%v", tc.filter)
	}
}
