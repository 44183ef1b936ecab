package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/pushdowntest"
	"github.com/tributary-db/tributary/server/catalog"
)

// TestAnswers plans aggregates over four partitions on two scanners: which are
// read, and what is known of the others.
func TestAnswers(t *testing.T) {
	t.Parallel()
	full := pushdown.AllCapabilities()
	env := &rulesEnv{binder: newEngineBinder(t), snap: &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}}
	table := prunedTable(t, 4, testScanner("s1", full), testScanner("s2", full.Without("all")))
	for _, p := range table.Partitions {
		for _, exact := range []string{"a", "d"} {
			stats := p.Columns[exact]
			stats.Exact = true
			p.Columns[exact] = stats
		}
	}
	env.snap.Tables[table.ID()] = table
	for _, c := range []struct{ sql, text, known string }{
		{"SELECT count(*) FROM p", "0 of 4 (4 from statistics)", "[10] [10] [10] [10]"},
		{"SELECT min(a), max(d), count(d), count(*) FROM p WHERE a >= 20", "0 of 4 (2 pruned by a, 2 from statistics)", "[20 1970-10-27 7 10] [30 1971-02-04 7 10]"},
		{"SELECT count(*), max(a) FROM p WHERE a < 25", "1 of 4 (1 pruned by a, 2 from statistics)", "[10 9] [10 19]"},
		{"SELECT count(*) FILTER (WHERE a < 10), min(d) FILTER (WHERE a < 10) FROM p", "0 of 4 (4 from statistics)", "[10 1970-01-01] [0 null] [0 null] [0 null]"},
		{"SELECT count(*) FILTER (WHERE a < 12) FROM p", "1 of 4 (3 from statistics)", "[10] [0] [0]"},
		{"SELECT count(f), max(s), avg(a) FROM p", "", ""},
		{"SELECT min(s) FROM p", "", ""},
		{"SELECT sum(a) FROM p", "", ""},
		{"SELECT min(a + 1) FROM p", "", ""},
		{"SELECT count(*) FROM p WHERE f < 1", "", ""},
		{"SELECT count(*) FROM p WHERE d > DATE '1900-01-01'", "", ""},
		{"SELECT a, count(*) FROM p GROUP BY a", "", ""},
		{"SELECT count(*) FROM (SELECT * FROM p LIMIT 3)", "", ""},
	} {
		p, err := New(env.binder).Plan(t.Context(), c.sql, env.snap, Options{})
		require.NoError(t, err, c.sql)
		var known []string
		for _, id := range []string{"p0", "p1", "p2", "p3"} {
			for _, target := range p.Scans[0].Targets {
				requireRemote(t, target)
				for i, k := range target.Known {
					if k == id {
						known = append(known, fmt.Sprint(target.Answers[i]))
					}
				}
			}
		}
		require.Equal(t, c.known, strings.Join(known, " "), c.sql)
		if c.text == "" {
			require.NotContains(t, p.Explain(), "from statistics", c.sql)
		} else {
			require.Contains(t, p.Explain(), "  partitions: "+c.text+"\n", c.sql)
		}
	}
	table.Versions = nil
	p, err := New(env.binder).Plan(t.Context(), "SELECT count(*) FROM p", env.snap, Options{})
	require.NoError(t, err)
	require.NotContains(t, p.Explain(), "from statistics", "nobody could tell whether they hold")
}

// TestAnswersAreThoseOfTheRows: whatever the rows, the filters and what is
// known, an answer from honest statistics is that of the reference.
func TestAnswersAreThoseOfTheRows(t *testing.T) {
	t.Parallel()
	answered := 0
	rapid.Check(t, func(t *rapid.T) {
		schema := pushdowntest.Schema(t)
		batches := pushdowntest.Batches(t, arrowmem.DefaultAllocator, schema, 6)
		defer pushdowntest.ReleaseAll(batches)
		rows := pushdowntest.Rows(batches...)
		p := &catalog.Partition{ID: "0", Rows: int64(len(rows)), Columns: map[string]codec.ColumnStats{}}
		for i, f := range schema.Fields() {
			stats := honest(t, f.Type, rows, i)
			stats.Exact = stats.Min != nil && stats.Max != nil && rapid.Bool().Draw(t, "exact")
			p.Columns[f.Name] = stats
		}
		spec := pushdown.Spec{Table: "t", Partitions: []string{"0"}, Limit: pushdown.NoLimit}
		if rapid.IntRange(0, 2).Draw(t, "filtered") == 0 {
			spec.Filter = []pushdown.Expr{pushdowntest.Predicate(t, schema, 1)}
		}
		for i := range rapid.IntRange(1, 2).Draw(t, "aggregates") {
			spec.Aggregates = append(spec.Aggregates, statisticsAggregate(t, schema, fmt.Sprintf("a%d", i)))
		}
		got := answer(p, &spec)
		if got == nil {
			return
		}
		answered++
		want, err := pushdowntest.Reference(spec, batches...)
		require.NoError(t, err)
		for i, v := range got {
			require.Equal(t, spec.Aggregates[i].Type(), v.DataType())
			if expected := pushdowntest.Scalar(v.DataType(), want[0][i]); !scalar.Equals(v, expected) {
				t.Fatalf("%s: %s instead of %s", spec.String(), v, expected)
			}
		}
	})
	require.Positive(t, answered)
}

// statisticsAggregate is one that statistics may answer, over any column.
func statisticsAggregate(t *rapid.T, schema *arrow.Schema, name string) pushdown.Aggregate {
	a := pushdown.Aggregate{Name: name, Func: rapid.SampledFrom([]pushdown.AggFunc{pushdown.CountStar, pushdown.Count, pushdown.Min, pushdown.Max}).Draw(t, "func")}
	if a.Func != pushdown.CountStar {
		f := rapid.SampledFrom(schema.Fields()).Draw(t, "column")
		a.Arg = pushdown.Column{Name: f.Name, DataType: f.Type}
	}
	if rapid.IntRange(0, 2).Draw(t, "filter") == 0 {
		a.Filter = pushdowntest.Predicate(t, schema, 1)
	}
	return a
}
