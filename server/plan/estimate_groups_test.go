package plan

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
)

// groupedTable has 1000 rows in each of two partitions of one scanner.
func groupedTable(t *testing.T) *catalog.Table {
	table := testTable(t, "g", "a BIGINT, s VARCHAR, c VARCHAR, bo BOOLEAN, di DICT, d DATE, ts TIMESTAMP, f DOUBLE", 2)
	micros := func(days int64) scalar.Scalar {
		return scalar.NewTimestampScalar(arrow.Timestamp(days*86_400_000_000), &arrow.TimestampType{Unit: arrow.Microsecond})
	}
	for i := range table.Partitions {
		p := &table.Partitions[i]
		p.Rows = 1000
		p.Columns = map[string]codec.ColumnStats{
			"a": int64Stats(int64(10*i), int64(10*i+9), 0), "s": stringStats("a", "z"), "c": stringStats("x", "x"), "bo": {Nulls: 3}, "di": {Nulls: 0},
			"d":  {Min: scalar.NewDate32Scalar(0), Max: scalar.NewDate32Scalar(729)},
			"ts": {Min: micros(0), Max: micros(60)}, "f": {Min: scalar.NewFloat64Scalar(0), Max: scalar.NewFloat64Scalar(1)},
		}
	}
	return table
}

func TestEstimatedGroups(t *testing.T) {
	t.Parallel()
	table := groupedTable(t)
	column := func(name string) pushdown.Column {
		at := table.Arrow.FieldIndices(name)[0]
		return tableColumn(table, at)
	}
	long := func(v int64) pushdown.Literal { return pushdown.Literal{Value: scalar.NewInt64Scalar(v)} }
	call := func(f pushdown.Func, name string) pushdown.Expr {
		return pushdown.Call{Func: f, Args: []pushdown.Expr{column(name)}, DataType: arrow.PrimitiveTypes.Int64}
	}
	is := func(op pushdown.CompareOp, name string, v pushdown.Literal) pushdown.Expr {
		return pushdown.Compare{Op: op, Left: column(name), Right: v}
	}
	x := pushdown.Literal{Value: scalar.NewStringScalar("x")}
	type exprs = []pushdown.Expr
	for i, c := range []struct {
		keys, filter exprs
		rows, groups float64
	}{
		{exprs{column("a")}, nil, 2000, 20},
		{exprs{column("a"), column("bo")}, nil, 2000, 60},
		{exprs{column("a"), column("di")}, nil, 2000, 2000}, // no more than rows
		{exprs{column("c")}, nil, 2000, 2},
		{exprs{column("d")}, nil, 2000, 730},
		{exprs{column("a")}, exprs{is(pushdown.Less, "a", long(5))}, 500, 5},
		{exprs{column("a")}, exprs{is(pushdown.Equal, "a", long(3))}, 100, 1},
		{exprs{column("s")}, exprs{is(pushdown.Equal, "s", x)}, 400, 1},
		{exprs{column("s")}, exprs{pushdown.In{Arg: column("s"), Values: []pushdown.Literal{x, x, x}}}, 400, 3},
		{exprs{column("bo")}, exprs{pushdown.IsNull{Arg: column("bo"), Negated: true}}, 1994, 2},
		{exprs{call(pushdown.FuncYear, "d")}, nil, 2000, 5},
		{exprs{call(pushdown.FuncMonth, "d")}, nil, 2000, 13},
		{exprs{call(pushdown.FuncTruncMonth, "ts")}, nil, 2000, 5},
		{exprs{call(pushdown.FuncTruncDay, "ts")}, nil, 2000, 63},
		{exprs{is(pushdown.Less, "s", x)}, nil, 2000, 3},
		{exprs{pushdown.Case{Whens: []pushdown.When{{Cond: is(pushdown.Less, "s", x), Then: long(1)}}, Else: long(2), DataType: arrow.PrimitiveTypes.Int64}}, nil, 2000, 2},
		{exprs{pushdown.Arith{Op: pushdown.Add, Left: column("a"), Right: long(1), DataType: arrow.PrimitiveTypes.Int64}}, nil, 2000, 20},
	} {
		spec := pushdown.Spec{Table: table.ID(), Filter: c.filter, Limit: pushdown.NoLimit}
		for _, k := range c.keys {
			spec.GroupBy = append(spec.GroupBy, pushdown.NamedExpr{Name: "k", Expr: k})
		}
		rows, groups, err := estimatedGroups(table, spec)
		require.NoError(t, err)
		require.Equal(t, c.rows, math.Round(rows), "%d: %s", i, spec.String())
		require.Equal(t, c.groups, math.Round(groups), "%d: %s", i, spec.String())
	}
	for key, why := range map[string]string{"s": "how many values s has", "f": "how many values f has"} {
		_, _, err := estimatedGroups(table, pushdown.Spec{GroupBy: []pushdown.NamedExpr{{Expr: column(key)}}, Limit: pushdown.NoLimit})
		require.ErrorContains(t, err, why)
	}
}

// TestGroupsOfWhatIsNotKnown: without sizes or bounds nothing is promised.
func TestGroupsOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for why, change := range map[string]func(p *catalog.Partition){
		"how many rows main.g has": func(p *catalog.Partition) { p.Rows = -1 },
		"how many values a has":    func(p *catalog.Partition) { p.Columns = nil },
		"how many values":          func(p *catalog.Partition) { p.Columns["a"] = codec.ColumnStats{} },
		"no scanner that answers":  func(p *catalog.Partition) { p.Owners = nil },
	} {
		table := groupedTable(t)
		change(&table.Partitions[1])
		spec := pushdown.Spec{GroupBy: []pushdown.NamedExpr{{Expr: tableColumn(table, 0)}}, Limit: pushdown.NoLimit}
		_, _, err := estimatedGroups(table, spec)
		require.ErrorContains(t, err, why)
		table.Partitions[1].Rows, table.Partitions[1].Owners = 0, table.Partitions[0].Owners
		_, groups, err := estimatedGroups(table, spec)
		require.NoError(t, err, "an empty partition has none")
		require.EqualValues(t, 10, groups)
	}
}
