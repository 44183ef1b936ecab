package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/server/catalog"
)

func int64Stats(lo, hi, nulls int64) codec.ColumnStats {
	return codec.ColumnStats{Min: scalar.NewInt64Scalar(lo), Max: scalar.NewInt64Scalar(hi), Nulls: nulls}
}

func stringStats(lo, hi string) codec.ColumnStats {
	return codec.ColumnStats{Min: scalar.NewStringScalar(lo), Max: scalar.NewStringScalar(hi)}
}

// prunedTable has columns a BIGINT, s VARCHAR and f DOUBLE; partition i holds a
// from 10 i to 10 i + 9.
func prunedTable(t *testing.T, n int, scanners ...*catalog.Scanner) *catalog.Table {
	table := testTable(t, "p", "a BIGINT, s VARCHAR, f DOUBLE, d DATE", n, scanners...)
	table.Versions = map[string]string{}
	for _, s := range scanners {
		table.Versions[s.Name] = "v of " + s.Name
	}
	for i := range table.Partitions {
		p := &table.Partitions[i]
		p.Rows = 10
		p.Columns = map[string]codec.ColumnStats{
			"a": int64Stats(int64(10*i), int64(10*i+9), 0), "s": stringStats("ab", "cd"), "f": {Nulls: 0},
			"d": {Min: scalar.NewDate32Scalar(arrow.Date32(100 * i)), Max: scalar.NewDate32Scalar(arrow.Date32(100*i + 99)), Nulls: 3},
		}
	}
	return table
}

// TestPruning plans statements over four partitions on two scanners.
func TestPruning(t *testing.T) {
	t.Parallel()
	full := pushdown.AllCapabilities()
	env := &rulesEnv{binder: newEngineBinder(t), snap: &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}}
	table := prunedTable(t, 4, testScanner("s1", full), testScanner("s2", full.Without("all")))
	env.snap.Tables[table.ID()] = table
	for _, c := range []struct{ where, want, text string }{
		{"a > 0", "s1:p0,p2 s2:p1,p3", ""},
		{"a < 15", "s1:p0 s2:p1", "2 of 4 (2 pruned by a)"},
		{"a BETWEEN 12 AND 13", "s1: s2:p1", "1 of 4 (3 pruned by a)"},
		{"a IN (1, 39)", "s1:p0 s2:p3", "2 of 4 (2 pruned by a)"},
		{"a = 25 OR a = 7", "s1:p0,p2 s2:", "2 of 4 (2 pruned by a)"},
		{"a > 1000", "s1: s2:", "0 of 4 (4 pruned by a)"},
		{"a IS NULL", "s1: s2:", "0 of 4 (4 pruned by a)"},
		{"d IS NULL", "s1:p0,p2 s2:p1,p3", ""},
		{"d >= DATE '1970-07-20' AND s < 'x'", "s1:p2 s2:p3", "2 of 4 (2 pruned by d)"},
		{"a < 15 AND d < DATE '1970-01-05'", "s1:p0 s2:", "1 of 4 (3 pruned by a, d)"},
		{"s LIKE 'd%' AND a > 5", "s1: s2:", "0 of 4 (4 pruned by s)"},
		{"f > 1e300", "s1:p0,p2 s2:p1,p3", ""},
		{"a * a > 100000", "s1:p0,p2 s2:p1,p3", ""},
	} {
		for _, sql := range []string{"SELECT a FROM p WHERE " + c.where, "SELECT sum(a) FROM p WHERE " + c.where} {
			p, err := New(env.binder).Plan(t.Context(), sql, env.snap, Options{})
			require.NoError(t, err, sql)
			got := mapSlice(p.Scans[0].Targets, func(t Target) string { return t.Scanner.Name + ":" + strings.Join(t.Partitions, ",") })
			require.Equal(t, c.want, strings.Join(got, " "), sql)
			if c.text == "" {
				require.NotContains(t, p.Explain(), "pruned", sql)
			} else {
				require.Contains(t, p.Explain(), "  partitions: "+c.text+"\n", sql)
			}
			for _, target := range p.Scans[0].Targets {
				require.Equal(t, len(target.Pruned) > 0, target.Version == "v of "+target.Scanner.Name, sql)
				require.Len(t, append(target.Pruned, target.Partitions...), 2, sql)
				requireRemote(t, target)
			}
		}
		off, err := New(env.binder).Plan(t.Context(), "SELECT a FROM p WHERE "+c.where, env.snap, Options{Pushdown: PushdownOff})
		require.NoError(t, err)
		require.NotContains(t, off.Explain(), "pruned")
	}
}

// requireRemote: the scanner reads the target's partitions, or no row at all.
func requireRemote(t *testing.T, target Target) {
	remote := target.Split.Remote
	if len(target.Partitions) > 0 {
		require.Equal(t, target.Partitions, remote.Partitions)
		return
	}
	require.NotEmpty(t, target.Version)
	require.Contains(t, target.Unread(), remote.Partitions[0])
	require.False(t, remote.Grouped())
	if target.Scanner.Capabilities.Has(pushdown.CapLimit) {
		require.Zero(t, remote.Limit)
	}
}

func TestNothingIsPrunedWithoutAVersion(t *testing.T) {
	t.Parallel()
	a, b := testScanner("a", pushdown.AllCapabilities()), testScanner("b", pushdown.AllCapabilities())
	table := prunedTable(t, 4, a, b)
	table.Versions = map[string]string{"b": "v"}
	never := []pushdown.Expr{compareA(pushdown.Less, -1)}
	targets, err := targetsOf(table, pushdown.Spec{Table: "main.p", Filter: never, Limit: pushdown.NoLimit})
	require.NoError(t, err)
	require.Empty(t, targets[0].Pruned)
	require.Empty(t, targets[0].Version)
	require.Equal(t, []string{"p1", "p3"}, targets[1].Pruned)
	require.Equal(t, "v", targets[1].Version)

	table.Partitions[1].Rows, table.Partitions[3].Columns = 11, nil
	targets, err = targetsOf(table, pushdown.Spec{Table: "main.p", Filter: never, Limit: pushdown.NoLimit})
	require.NoError(t, err)
	require.Equal(t, []string{"p3"}, targets[1].Partitions, "what has no statistics is read")
	require.Equal(t, []string{"p1"}, targets[1].Pruned)
}

var columnA = pushdown.Column{Name: "a", DataType: arrow.PrimitiveTypes.Int64}

func compareA(op pushdown.CompareOp, v int64) pushdown.Expr {
	return pushdown.Compare{Op: op, Left: columnA, Right: pushdown.Literal{Value: scalar.NewInt64Scalar(v)}}
}

// TestTruthTables compares the connectives with SQL's, one value at a time.
func TestTruthTables(t *testing.T) {
	t.Parallel()
	and := map[[2]truth]truth{
		{mayTrue, mayTrue}: mayTrue, {mayTrue, mayFalse}: mayFalse, {mayTrue, mayNull}: mayNull,
		{mayFalse, mayFalse}: mayFalse, {mayFalse, mayNull}: mayFalse, {mayNull, mayNull}: mayNull,
	}
	for in, want := range and {
		require.Equal(t, want, in[0].and(in[1]))
		require.Equal(t, want, in[1].and(in[0]))
		require.Equal(t, want.not(), in[0].not().or(in[1].not()))
	}
	for a := truth(0); a <= anything; a++ {
		for b := truth(0); b <= anything; b++ {
			var want truth
			for x := mayTrue; x <= mayNull; x <<= 1 {
				for y := mayTrue; y <= mayNull; y <<= 1 {
					if a&x != 0 && b&y != 0 {
						want |= x.and(y)
					}
				}
			}
			require.Equal(t, want, a.and(b), "%b and %b", a, b)
		}
	}
}

func TestEvalOnFacts(t *testing.T) {
	t.Parallel()
	null := pushdown.Literal{Value: scalar.MakeNullScalar(columnA.DataType)}
	yes := pushdown.Literal{Value: scalar.NewBooleanScalar(true)}
	in := func(negated bool, values ...int64) pushdown.In {
		out := pushdown.In{Arg: columnA, Negated: negated}
		for _, v := range values {
			out.Values = append(out.Values, pushdown.Literal{Value: scalar.NewInt64Scalar(v)})
		}
		return out
	}
	withNull := func(e pushdown.In) pushdown.In { e.Values = append(e.Values, null); return e }
	some, full, allNull, one := int64Stats(3, 7, 2), int64Stats(3, 7, 0), codec.ColumnStats{Nulls: 10}, int64Stats(5, 5, 0)
	for i, c := range []struct {
		stats codec.ColumnStats
		expr  pushdown.Expr
		want  truth
	}{
		{full, compareA(pushdown.Equal, 2), mayFalse}, {full, compareA(pushdown.Equal, 3), mayTrue | mayFalse},
		{one, compareA(pushdown.Equal, 5), mayTrue}, {one, compareA(pushdown.NotEqual, 5), mayFalse},
		{some, compareA(pushdown.Less, 3), mayFalse | mayNull}, {full, compareA(pushdown.LessEqual, 7), mayTrue},
		{full, compareA(pushdown.Greater, 7), mayFalse}, {full, compareA(pushdown.GreaterEqual, 3), mayTrue},
		{full, pushdown.Compare{Op: pushdown.Less, Left: pushdown.Literal{Value: scalar.NewInt64Scalar(7)}, Right: columnA}, mayFalse},
		{some, compareA(pushdown.Distinct, 9), mayTrue}, {allNull, compareA(pushdown.NotDistinct, 9), mayFalse},
		{allNull, compareA(pushdown.Equal, 9), mayNull}, {full, pushdown.Compare{Op: pushdown.Equal, Left: columnA, Right: null}, mayNull},
		{full, pushdown.Compare{Op: pushdown.NotDistinct, Left: columnA, Right: null}, mayFalse},
		{allNull, pushdown.Compare{Op: pushdown.NotDistinct, Left: null, Right: columnA}, mayTrue},
		{full, pushdown.Compare{Op: pushdown.Equal, Left: columnA, Right: columnA}, anything},
		{full, in(false, 1, 9), mayFalse}, {full, withNull(in(false, 1)), mayNull}, {full, withNull(in(true, 5)), mayFalse | mayNull},
		{one, in(true, 5), mayFalse}, {full, in(true, 5), mayTrue | mayFalse}, {allNull, in(false, 5), mayNull},
		{full, pushdown.IsNull{Arg: columnA}, mayFalse}, {allNull, pushdown.IsNull{Arg: columnA, Negated: true}, mayFalse},
		{full, pushdown.Not{Arg: compareA(pushdown.Less, 100)}, mayFalse},
		{full, pushdown.Or{Args: []pushdown.Expr{compareA(pushdown.Less, 0), compareA(pushdown.Greater, 9)}}, mayFalse},
		{full, pushdown.And{Args: []pushdown.Expr{yes, compareA(pushdown.Less, 0)}}, mayFalse}, {full, yes, mayTrue},
		// Statistics that cannot be are not believed.
		{int64Stats(7, 3, 0), compareA(pushdown.Equal, 5), mayTrue | mayFalse}, {codec.ColumnStats{Nulls: 11}, compareA(pushdown.Equal, 5), anything},
		{codec.ColumnStats{Min: scalar.NewInt32Scalar(9), Max: scalar.NewInt32Scalar(9), Nulls: 0}, compareA(pushdown.Equal, 5), mayTrue | mayFalse},
		{codec.ColumnStats{Nulls: -1}, compareA(pushdown.Equal, 5), anything},
	} {
		f := facts{columns: map[string]codec.ColumnStats{"a": c.stats}, rows: 10}
		require.Equal(t, c.want, f.eval(c.expr), "%d: %s", i, pushdown.ExprString(c.expr))
	}
	require.Zero(t, facts{rows: 0}.eval(yes))
	require.Equal(t, anything, facts{rows: 10}.eval(compareA(pushdown.Equal, 5)), "a column without statistics")
}

func TestCompareScalars(t *testing.T) {
	t.Parallel()
	dec := func(v int64, scale int32) scalar.Scalar {
		return scalar.NewDecimal128Scalar(decimal128.FromI64(v), &arrow.Decimal128Type{Precision: 18, Scale: scale})
	}
	us, tz := &arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	for i, c := range []struct {
		a, b  scalar.Scalar
		order int
		ok    bool
	}{
		{scalar.NewUint64Scalar(1 << 63), scalar.NewUint64Scalar(1), 1, true}, {scalar.NewInt8Scalar(-1), scalar.NewInt8Scalar(1), -1, true},
		{dec(-5, 2), dec(5, 2), -1, true}, {dec(5, 2), dec(5, 3), 0, false}, {dec(5, 2), scalar.NewInt64Scalar(5), 0, false},
		{scalar.NewTimestampScalar(1, us), scalar.NewTimestampScalar(1, tz), 0, false}, {scalar.NewStringScalar("a"), scalar.NewLargeStringScalar("b"), -1, true},
		{scalar.NewStringScalar("\xff"), scalar.NewStringScalar("z"), 1, true}, {scalar.NewFloat64Scalar(1), scalar.NewFloat64Scalar(2), 0, false},
		{scalar.NewInt32Scalar(1), scalar.NewInt64Scalar(2), 0, false}, {nil, scalar.NewInt64Scalar(2), 0, false},
	} {
		order, ok := compareScalars(c.a, c.b)
		require.Equal(t, c.ok, ok, i)
		if ok {
			require.Equal(t, c.order, order, i)
		}
	}
}

// TestPrunedPartitionsHaveNoRow: whatever the rows and the predicate, what is
// ruled out by honest statistics, exact or wide, has no row that passes.
func TestPrunedPartitionsHaveNoRow(t *testing.T) {
	t.Parallel()
	ruled := 0
	rapid.Check(t, func(t *rapid.T) {
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, arrowmem.DefaultAllocator, schema, 12)
		defer pushdowntest.ReleaseAll(batches)
		rows := pushdowntest.Rows(batches...)
		p := &catalog.Partition{ID: "0", Rows: int64(len(rows)), Columns: map[string]codec.ColumnStats{}}
		if rapid.Bool().Draw(t, "rows unknown") {
			p.Rows = -1
		}
		for i, f := range schema.Fields() {
			if rapid.IntRange(0, 4).Draw(t, "known") > 0 {
				p.Columns[f.Name] = honest(t, f.Type, rows, i)
			}
		}
		p.Promise = honestPromise(t, schema, batches)
		filter := []pushdown.Expr{pushdowntest.Predicate(t, schema, 2)}
		if ruledOut(factsOf(p), filter) == nil && !(&bucketFilter{filter: filter}).excludes(&p.Promise) {
			return
		}
		ruled++
		spec := pushdown.Spec{Table: "t", Partitions: []string{"0"}, Filter: filter, Limit: pushdown.NoLimit}
		for _, f := range schema.Fields() {
			spec.Columns = append(spec.Columns, pushdown.Column{Name: f.Name, DataType: f.Type})
		}
		got, err := pushdowntest.Reference(spec, batches...)
		if err == nil && len(got) > 0 {
			t.Fatalf("a row passes %s: %s", pushdown.ExprString(filter[0]), fmt.Sprint(got))
		}
	})
	require.Positive(t, ruled)
}

// honest are true statistics of a column: some unknown.
func honest(t *rapid.T, dt arrow.DataType, rows [][]any, column int) codec.ColumnStats {
	out := codec.ColumnStats{}
	var lo, hi any
	for _, r := range rows {
		v := r[column]
		if v == nil {
			out.Nulls++
			continue
		}
		if lo == nil || pushdowntest.Compare(v, lo) < 0 {
			lo = v
		}
		if hi == nil || pushdowntest.Compare(v, hi) > 0 {
			hi = v
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "nulls unknown") == 0 {
		out.Nulls = -1
	}
	known := rapid.IntRange(0, 5).Draw(t, "bounds known")
	if lo != nil && ordered(pushdown.ValueType(dt)) && known > 0 {
		out.Min = pushdowntest.Scalar(pushdown.ValueType(dt), lo)
	}
	if hi != nil && ordered(pushdown.ValueType(dt)) && known > 1 {
		out.Max = pushdowntest.Scalar(pushdown.ValueType(dt), hi)
	}
	return out
}
