package plan

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/server/catalog"
)

// honestPromise is true of the rows: the values of one column, and the buckets
// of others.
func honestPromise(t *rapid.T, schema *arrow.Schema, batches []arrow.RecordBatch) partition.Promise {
	var out partition.Promise
	var names []string
	for _, f := range schema.Fields() {
		if partition.Hashable(f.Type) {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 || rapid.Bool().Draw(t, "no promise") {
		return out
	}
	name := rapid.SampledFrom(names).Draw(t, "listed")
	out.Values = map[string][]scalar.Scalar{name: {}}
	h := partition.Hash{Columns: rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, min(2, len(names)), rapid.ID).Draw(t, "hashed"), Of: rapid.IntRange(1, 9).Draw(t, "buckets")}
	out.Buckets = &partition.Buckets{Hash: h}
	for _, b := range batches {
		for i := range int(b.NumRows()) {
			if v := valueAt(t, b, name, i); !partition.Among(out.Values[name], v) {
				out.Values[name] = append(out.Values[name], v)
			}
			var row []scalar.Scalar
			for _, c := range h.Columns {
				row = append(row, valueAt(t, b, c, i))
			}
			if bucket, ok := h.Bucket(row...); ok {
				out.Buckets.Holds = append(out.Buckets.Holds, bucket)
			}
		}
	}
	require.NoError(t, out.Validate(schema))
	return out
}

func valueAt(t require.TestingT, b arrow.RecordBatch, name string, i int) scalar.Scalar {
	a := b.Column(b.Schema().FieldIndices(name)[0])
	if d, ok := a.(*array.Dictionary); ok {
		if d.IsNull(i) {
			return scalar.MakeNullScalar(d.Dictionary().DataType())
		}
		a, i = d.Dictionary(), d.GetValueIndex(i)
	}
	v, err := scalar.GetScalar(a, i)
	require.NoError(t, err)
	return v
}

func texts(values ...string) []scalar.Scalar {
	var out []scalar.Scalar
	for _, v := range values {
		if v == "NULL" {
			out = append(out, scalar.MakeNullScalar(arrow.BinaryTypes.String))
		} else {
			out = append(out, scalar.NewStringScalar(v))
		}
	}
	return out
}

// bucketed has columns a BIGINT, s VARCHAR, f DOUBLE and d DATE and no
// statistics; partition i of two scanners holds bucket i of hash(a, n), and of s
// the values given for it.
func bucketed(t *testing.T, n int, listed ...[]scalar.Scalar) *catalog.Table {
	s1, s2 := testScanner("s1", pushdown.AllCapabilities()), testScanner("s2", pushdown.AllCapabilities())
	table := testTable(t, "p", "a BIGINT, s VARCHAR, f DOUBLE, d DATE", n, s1, s2)
	table.PromiseVersions = map[string]string{"s1": "promise 1", "s2": "promise 2"}
	for i := range table.Partitions {
		table.Partitions[i].Promise.Buckets = &partition.Buckets{Hash: partition.Hash{Columns: []string{"a"}, Of: n}, Holds: []int{i}}
		if i < len(listed) {
			table.Partitions[i].Promise.Values = map[string][]scalar.Scalar{"s": listed[i]}
		}
	}
	return table
}

func planOver(t *testing.T, table *catalog.Table, sql string) *Plan {
	t.Helper()
	snap := &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{table.ID(): table}}
	p, err := New(newEngineBinder(t)).Plan(t.Context(), sql, snap, Options{})
	require.NoError(t, err, sql)
	return p
}

// TestPromisedPruning: without statistics, and whatever the rows.
func TestPromisedPruning(t *testing.T) {
	t.Parallel()
	table := bucketed(t, 4, texts("x", "y"), texts("z"), texts("NULL"), texts("y", "NULL"))
	h := table.Partitions[0].Promise.Buckets.Hash
	ids := func(values ...int64) string {
		var parts []string
		for i := range 4 {
			for _, v := range values {
				if b, _ := h.Bucket(scalar.NewInt64Scalar(v)); b == i {
					parts = append(parts, table.Partitions[i].ID)
					break
				}
			}
		}
		return strings.Join(parts, ",")
	}
	for _, c := range []struct{ where, read, by string }{
		{"a = 7", ids(7), "a"}, {"7 = a AND f > 1", ids(7), "a"}, {"a IN (1, 2, NULL)", ids(1, 2), "a"}, {"a = 5 OR a = 6", ids(5, 6), "a"},
		{"a IS NOT DISTINCT FROM 9", ids(9), "a"}, {"a > 5", "p0,p1,p2,p3", ""}, {"a IS NULL", "p0,p1,p2,p3", ""}, {"a <> 5", "p0,p1,p2,p3", ""},
		{"a = 5 OR f > 1", "p0,p1,p2,p3", ""}, {"a NOT IN (1, 2)", "p0,p1,p2,p3", ""}, {"a % 2 = 1", "p0,p1,p2,p3", ""},
		{"s = 'y'", "p0,p3", "s"}, {"s IN ('x', 'z')", "p0,p1", "s"}, {"s IS NULL", "p2,p3", "s"}, {"s > 'x'", "p0,p1,p3", "s"},
		{"s LIKE 'z%'", "p1", "s"}, {"s <> 'y'", "p0,p1", "s"}, {"s = 'nowhere'", "", "s"}, {"s IS DISTINCT FROM 'z'", "p0,p2,p3", "s"},
	} {
		p := planOver(t, table, "SELECT a, s FROM p WHERE "+c.where)
		read := []string{}
		for _, target := range p.Scans[0].Targets {
			read = append(read, target.Partitions...)
			if len(target.Pruned) > 0 {
				require.Equal(t, table.PromiseVersions[target.Scanner.Name], target.Version, c.where)
			}
		}
		require.ElementsMatch(t, strings.FieldsFunc(c.read, func(r rune) bool { return r == ',' }), read, c.where)
		if c.by == "" {
			require.NotContains(t, p.Explain(), "pruned", c.where)
		} else {
			require.Contains(t, p.Explain(), " pruned by the partition function of "+c.by+")", c.where)
		}
	}
	table.PromiseVersions = nil
	require.NotContains(t, planOver(t, table, "SELECT a FROM p WHERE a = 7 AND s = 'y'").Explain(), "pruned")
}

// TestStatisticsAndPromises: each rules out what it can, under the version that
// covers both.
func TestStatisticsAndPromises(t *testing.T) {
	t.Parallel()
	table := bucketed(t, 2, texts("x"), texts("y"))
	table.Versions = map[string]string{"s1": "v1", "s2": "v2"}
	for i := range table.Partitions {
		table.Partitions[i].Rows = 5
		table.Partitions[i].Columns = prunedTable(t, 1, testScanner("s", pushdown.AllCapabilities())).Partitions[0].Columns
	}
	p := planOver(t, table, "SELECT a FROM p WHERE s <> 'x' AND d > DATE '2020-01-01'")
	require.Contains(t, p.Explain(), "partitions: 0 of 2 (2 pruned by d, the partition function of s)")
	require.Equal(t, "promise 1", p.Scans[0].Targets[0].Version)
	require.Equal(t, "v2", p.Scans[0].Targets[1].Version)
}

func TestWhereOf(t *testing.T) {
	t.Parallel()
	five, nan := scalar.NewInt64Scalar(5), scalar.NewFloat64Scalar(1)
	require.Equal(t, position{at: true}, whereOf([]scalar.Scalar{five}, five))
	require.Equal(t, position{below: true, above: true}, whereOf([]scalar.Scalar{five, scalar.NewInt64Scalar(1)}, scalar.NewInt64Scalar(3)))
	require.Equal(t, position{at: true}, whereOf([]scalar.Scalar{nan}, nan))
	require.Equal(t, position{below: true, above: true}, whereOf([]scalar.Scalar{nan}, scalar.NewFloat64Scalar(2)))
	require.Equal(t, position{true, true, true}, whereOf([]scalar.Scalar{five}, nan), "of another type")
	bin := func(s string) scalar.Scalar {
		return scalar.NewBinaryScalar(memory.NewBufferBytes([]byte(s)), arrow.BinaryTypes.Binary)
	}
	require.Equal(t, position{at: true}, whereOf([]scalar.Scalar{bin("a")}, bin("a")))
}
