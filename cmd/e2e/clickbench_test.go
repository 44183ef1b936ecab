package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query"
)

// hitsRows is a part of the generated table.
func hitsRows(t *testing.T, d *duck, from, to int) *result {
	t.Helper()
	text, err := os.ReadFile("testdata/hits.sql")
	require.NoError(t, err)
	sql := regexp.MustCompile(`\br\((\d+)\)`).ReplaceAllString(string(text), "(hash(i * 64 + $1) >> 1)::BIGINT")
	r, err := d.query(strings.NewReplacer("$from", strconv.Itoa(from), "$to", strconv.Itoa(to), "$rows", "20000").Replace(sql), nil)
	require.NoError(t, err)
	return r
}

// newHits serves the table in partitions of very different sizes.
func newHits(t *testing.T, d *duck, mem memory.Allocator, disabled [][]string) *randomWorld {
	bounds := []int{0, 12000, 12001, 12001, 15000, 19000, 20000}
	nodes := make([]node, len(disabled))
	parts := make([][]memsource.Partition, len(disabled))
	all := &result{}
	for p, to := range bounds[1:] {
		rows := hitsRows(t, d, bounds[p], to)
		all.schema, all.batches = rows.schema, append(all.batches, rows.batches...)
		s := p % len(disabled)
		parts[s] = append(parts[s], memsource.Partition{ID: fmt.Sprint(p), Batches: rows.batches})
	}
	for s := range nodes {
		src, err := memsource.New(all.schema, parts[s])
		require.NoError(t, err)
		nodes[s] = node{name: fmt.Sprintf("s%d", s), disable: disabled[s], tables: []scanner.Table{{Name: "hits", Source: src}}}
	}
	registry := prometheus.NewRegistry()
	return &randomWorld{
		duck: d, coordinator: startWith(t, nodes, server.Config{Alloc: mem, Registry: registry}), registry: registry, tally: newTally(),
		inputs: map[string]engine.Input{"hits": fixed{all}}, views: []engine.View{{Schema: "main", Name: "hits", Input: "hits"}},
	}
}

// hitsQuery is one of the 43 statements and what its scan is asked for.
type hitsQuery struct{ rung, sql string }

// hitsQueries ask what ClickBench asks, in the same order. Where that leaves the
// rows of a LIMIT open, more sort keys decide; thresholds fit the smaller table.
func hitsQueries(t *testing.T) (out []hitsQuery) {
	text, err := os.ReadFile("testdata/clickbench.sql")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		rung, sql, ok := strings.Cut(strings.TrimSpace(line), ": ")
		require.True(t, ok, line)
		out = append(out, hitsQuery{rung, sql})
	}
	require.Len(t, out, 43)
	return out
}

func TestClickBench(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, disabled := range map[string][][]string{"all": {nil, nil, nil}, "mixed": {nil, {"agg"}, {"all"}}} {
		t.Run(name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			w := newHits(t, d, mem, disabled)
			for i, q := range hitsQueries(t) {
				for _, v := range ways(q.sql) {
					if v.batch != "1048576" {
						v.batch = "20000" // 20,000 rows one by one take long
					}
					require.Empty(t, w.try(t, v, q.sql, strings.Contains(q.sql, "ORDER BY")), "%d %+v: %s", i+1, v, q.sql)
				}
				text := w.explain(t, q.sql)
				if strings.Contains(text, "\nscan ") { // else it is answered without reading rows
					require.Contains(t, text, "scan1: main.hits, "+q.rung+"\n", "%d: %s", i+1, q.sql)
				}
				want, err := w.oracle(q.sql, w.inputs)
				require.NoError(t, err)
				require.Positive(t, want.rows(), "%d: the data is too small for %s", i+1, q.sql)
				want.release()
			}
		})
	}
}

// explain is the text of EXPLAIN.
func (w *randomWorld) explain(t *testing.T, sql string) string {
	t.Helper()
	r, err := run(w.coordinator, query.DefaultSettings(), "EXPLAIN "+sql)
	require.NoError(t, err, sql)
	defer r.release()
	var lines []string
	for _, row := range cells(r) {
		lines = append(lines, *row[0])
	}
	return strings.Join(lines, "\n") + "\n"
}
