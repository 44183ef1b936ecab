package e2e

import (
	"fmt"
	"os"
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

// hitsSQL makes rows like those of a web analytics service: skewed counters and
// users, mostly empty phrases, a few hot addresses.
const hitsSQL = `SELECT
	(hash(i) >> 1)::BIGINT AS WatchID,
	CASE WHEN r(1) %% 3 = 0 THEN 'Google ' || r(2) %% 50 WHEN r(1) %% 7 = 0 THEN '' ELSE 'Страница ' || r(2) %% 400 END AS Title,
	TIMESTAMP '2013-07-01' + to_seconds((r(3) %% 2678400)::BIGINT) AS EventTime,
	EventTime::DATE AS EventDate,
	CASE WHEN r(4) %% 3 = 0 THEN 62 ELSE (r(4) %% 40)::INTEGER END AS CounterID,
	(r(5) %% 4294967295 - 2147483647)::INTEGER AS ClientIP,
	(r(6) %% 60)::INTEGER AS RegionID,
	CASE WHEN r(7) %% 500 = 0 THEN 435090932899640449 ELSE (hash(r(7) %% 2000) >> 1)::BIGINT END AS UserID,
	'http://' || CASE r(8) %% 4 WHEN 0 THEN 'www.google.com/' WHEN 1 THEN 'news.example/google' ELSE 'example.com/' END || r(9) %% 300 AS URL,
	CASE WHEN r(10) %% 2 = 0 THEN '' ELSE 'https://www.site' || r(10) %% 30 || '.org/page' || r(11) %% 100 END AS Referer,
	(r(12) %% 10 = 0)::SMALLINT AS IsRefresh,
	CASE WHEN r(13) %% 2 = 0 THEN 1368 ELSE (r(13) %% 1920)::SMALLINT END::SMALLINT AS ResolutionWidth,
	(r(14) %% 1200)::SMALLINT AS WindowClientWidth, (r(15) %% 3 * 100)::SMALLINT AS WindowClientHeight,
	CASE WHEN r(16) %% 4 = 0 THEN (r(16) %% 20)::SMALLINT ELSE 0 END::SMALLINT AS AdvEngineID,
	CASE WHEN r(17) %% 3 = 0 THEN (r(17) %% 5)::SMALLINT ELSE 0 END::SMALLINT AS SearchEngineID,
	CASE WHEN r(18) %% 4 = 0 THEN 'поиск ' || r(18) %% 200 ELSE '' END AS SearchPhrase,
	(r(19) %% 9)::SMALLINT AS MobilePhone,
	CASE WHEN r(19) %% 9 = 0 THEN 'iPad' WHEN r(19) %% 9 < 4 THEN 'A' || r(20) %% 12 ELSE '' END AS MobilePhoneModel,
	(r(21) %% 9 - 1)::SMALLINT AS TraficSourceID,
	(r(22) %% 5 = 0)::SMALLINT AS IsLink, (r(23) %% 50 = 0)::SMALLINT AS IsDownload, (r(24) %% 20 = 0)::SMALLINT AS DontCountHits,
	CASE WHEN r(25) %% 2 = 0 THEN 3594120000172545465 ELSE (hash(r(25)) >> 1)::BIGINT END AS RefererHash,
	CASE WHEN r(26) %% 2 = 0 THEN 2868770270353813622 ELSE (hash(r(26) %% 100) >> 1)::BIGINT END AS URLHash
	FROM range(%d, %d) AS hits(i)`

// hitsRows is a part of the generated table.
func hitsRows(t *testing.T, d *duck, from, to int) *result {
	t.Helper()
	sql := fmt.Sprintf(hitsSQL, from, to)
	for n := 26; n > 0; n-- { // r(n) is the row's nth random number
		sql = strings.ReplaceAll(sql, fmt.Sprintf("r(%d)", n), fmt.Sprintf("(hash(i * 64 + %d) >> 1)::BIGINT", n))
	}
	r, err := d.query(sql, nil)
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
