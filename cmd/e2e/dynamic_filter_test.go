package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

var receivedOf = regexp.MustCompile(`(\d+) rows? and \d+ bytes received`)

// received are the rows that each scanner sent, by EXPLAIN ANALYZE, and the total.
func received(t *testing.T, text string) (rows []int) {
	for _, m := range receivedOf.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		rows = append(rows, n)
	}
	return rows
}

// TestTopNThreshold: scanners that cannot order rows themselves send few once the
// coordinator knows what it still wants; a peer without dynamic filters sends all
// of them, and the answers are the same.
func TestTopNThreshold(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	const size = 1_000_000
	rows, err := d.query(fmt.Sprintf(`SELECT range AS id, CASE WHEN range %% 97 <> 0 THEN (hash(range) %% 1000003)::INTEGER END AS n,
		(hash(range + 1) %% 1000)::DOUBLE AS f, 'name ' || hash(range) %% 5000 AS s FROM range(%d)`, size), nil)
	require.NoError(t, err)
	defer rows.release()
	nodes := make([]node, 2)
	for i := range nodes {
		src, err := memsource.New(rows.schema, []memsource.Partition{{ID: fmt.Sprint(i), Batches: rows.batches}})
		require.NoError(t, err)
		t.Cleanup(src.Release)
		nodes[i] = node{name: fmt.Sprint(i), disable: []string{"topn"}, tables: []scanner.Table{{Name: "t", Source: src}}}
	}
	nodes[1].disable = append(nodes[1].disable, "dynamic_filter")
	c := startCluster(t, nodes, memory.DefaultAllocator)
	set, off := query.DefaultSettings(), query.DefaultSettings()
	off.Pushdown = plan.PushdownOff
	require.NoError(t, set.Set("scan_window_bytes", "1048576"))
	for _, sql := range []string{
		"SELECT n, id FROM t ORDER BY n, id LIMIT 10",
		"SELECT n, id FROM t ORDER BY n DESC NULLS LAST, id LIMIT 100 OFFSET 3",
		"SELECT n, id FROM t WHERE id % 3 = 1 ORDER BY n ASC NULLS FIRST, id DESC LIMIT 10",
		"SELECT s, id FROM t ORDER BY s DESC, id LIMIT 10",
		"SELECT f, s, id FROM t ORDER BY f, s DESC, id LIMIT 10",
	} {
		require.Equal(t, answer(t, d, c, off, sql), answer(t, d, c, set, sql), sql)
		text := answer(t, d, c, set, "EXPLAIN ANALYZE "+sql)
		sent := received(t, text)
		require.Len(t, sent, 3, text)
		require.Greater(t, sent[1], size/4, "the peer without dynamic filters:\n%s", text)
		require.Less(t, sent[0], sent[1]/2, "%s", text)
	}
}

// TestChaosOfFilters: filters that reach scans late, again, and after newer ones
// change no answer.
func TestChaosOfFilters(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	rows, err := d.query(`SELECT range AS id, (hash(range) % 100003)::INTEGER AS n FROM range(200000)`, nil)
	require.NoError(t, err)
	defer rows.release()
	src, err := memsource.New(rows.schema, []memsource.Partition{{ID: "0", Batches: rows.batches}})
	require.NoError(t, err)
	t.Cleanup(src.Release)
	addr := startScanner(t, node{name: "s", disable: []string{"topn"}, tables: []scanner.Table{{Name: "t", Source: src}}}, memory.DefaultAllocator)
	c := startCoordinator(t, server.Config{Scanners: []string{addr}, Chaos: &exec.Chaos{Seed: 7, Delay: 5 * time.Millisecond, Repeats: 3}})
	set, off := query.DefaultSettings(), query.DefaultSettings()
	off.Pushdown = plan.PushdownOff
	require.NoError(t, set.Set("scan_window_bytes", "65536"))
	require.NoError(t, set.Set("batch_bytes", "16384"))
	fewer := 0
	for i := range 20 {
		sql := fmt.Sprintf("SELECT n, id FROM t WHERE id >= %d ORDER BY n, id LIMIT 5", 100*i)
		require.Equal(t, answer(t, d, c, off, sql), answer(t, d, c, set, sql), sql)
		if sent := received(t, answer(t, d, c, set, "EXPLAIN ANALYZE "+sql)); sent[0] < 150_000 {
			fewer++
		}
	}
	require.Positive(t, fewer, "the filters work, late as they are")
}
