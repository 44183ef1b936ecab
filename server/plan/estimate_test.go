package plan

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

func TestEstimatedRows(t *testing.T) {
	t.Parallel()
	money := &arrow.Decimal128Type{Precision: 7, Scale: 2}
	long := func(v int64) pushdown.Literal { return pushdown.Literal{Value: scalar.NewInt64Scalar(v)} }
	cents := func(v int64) scalar.Scalar { return scalar.NewDecimal128Scalar(decimal128.FromI64(v), money) }
	column := func(name string, dt arrow.DataType) pushdown.Expr { return pushdown.Column{Name: name, DataType: dt} }
	year, name := column("year", arrow.PrimitiveTypes.Int64), column("name", arrow.BinaryTypes.String)
	unknown, price := column("unknown", arrow.PrimitiveTypes.Int64), column("price", money)
	is := func(op pushdown.CompareOp, left, right pushdown.Expr) pushdown.Expr {
		return pushdown.Compare{Op: op, Left: left, Right: right}
	}
	x := pushdown.Literal{Value: scalar.NewStringScalar("x")}
	r := RemoteScan{
		Table: &catalog.Table{Partitions: []catalog.Partition{
			{ID: "0", Rows: 1000, Columns: map[string]codec.ColumnStats{
				"year":  {Min: scalar.NewInt64Scalar(2001), Max: scalar.NewInt64Scalar(2010), Nulls: 100},
				"price": {Min: cents(0), Max: cents(9999), Nulls: -1},
			}},
			{ID: "unread", Rows: 5000},
		}},
		Targets: []Target{{Partitions: []string{"0"}}},
	}
	for _, tc := range []struct {
		filter []pushdown.Expr
		want   int64
	}{
		{nil, 1000},
		{[]pushdown.Expr{is(pushdown.Equal, year, long(2003))}, 100},
		{[]pushdown.Expr{is(pushdown.Equal, year, long(1999))}, 1},
		{[]pushdown.Expr{is(pushdown.GreaterEqual, year, long(2003)), is(pushdown.Less, year, long(2005))}, 200},
		{[]pushdown.Expr{is(pushdown.Greater, long(2003), year)}, 200}, // the constant first
		{[]pushdown.Expr{is(pushdown.Equal, unknown, long(1))}, 200},
		{[]pushdown.Expr{is(pushdown.Equal, name, x), is(pushdown.Equal, year, long(2003))}, 20},
		{[]pushdown.Expr{is(pushdown.Less, price, pushdown.Literal{Value: cents(5000)})}, 500},
		{[]pushdown.Expr{pushdown.In{Arg: year, Values: []pushdown.Literal{long(2001), long(2002), long(2003)}}}, 300},
		{[]pushdown.Expr{pushdown.In{Arg: name, Values: []pushdown.Literal{x, x, x}}}, 200},
		{[]pushdown.Expr{pushdown.IsNull{Arg: year}}, 100},
		{[]pushdown.Expr{pushdown.IsNull{Arg: unknown, Negated: true}}, 1000},
		{[]pushdown.Expr{pushdown.Or{Args: []pushdown.Expr{is(pushdown.Equal, year, long(2003)), is(pushdown.Equal, year, long(2004))}}}, 200},
		{[]pushdown.Expr{pushdown.Not{Arg: is(pushdown.Equal, year, long(2003))}}, 900},
	} {
		r.Spec.Filter = tc.filter
		require.Equal(t, tc.want, r.EstimatedRows(), "%v", tc.filter)
	}
	r.Targets[0].Partitions = []string{"0", "unread"}
	r.Spec.Filter = nil
	require.EqualValues(t, 6000, r.EstimatedRows())
	require.EqualValues(t, 6000, TableRows(r.Table))
	r.Table.Partitions[1].Rows = -1
	require.EqualValues(t, -1, r.EstimatedRows())
	require.EqualValues(t, -1, TableRows(r.Table))
}

func TestDomain(t *testing.T) {
	t.Parallel()
	bounds := func(low, high int64) map[string]codec.ColumnStats {
		return map[string]codec.ColumnStats{"k": {Min: scalar.NewInt64Scalar(low), Max: scalar.NewInt64Scalar(high)}}
	}
	table := &catalog.Table{Partitions: []catalog.Partition{{Rows: 3, Columns: bounds(5, 9)}, {Rows: 2, Columns: bounds(1, 6)}, {Rows: 0}}}
	low, high, ok := Domain(table, "k")
	require.True(t, ok)
	require.Equal(t, []float64{1, 9}, []float64{low, high})
	_, _, ok = Domain(table, "unknown")
	require.False(t, ok)
	table.Partitions[2].Rows = 1
	_, _, ok = Domain(table, "k")
	require.False(t, ok, "a partition without bounds may hold anything")
}
