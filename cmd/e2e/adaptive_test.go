package e2e

import (
	"encoding/json"
	"regexp"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/query"
)

var rowsReceivedTotal = regexp.MustCompile(`total: \d+ rows scanned, (\d+) rows`)

// TestAdaptiveReadsLess: the keys of a selective scan keep rows, and with
// statistics whole partitions, of the other one from being read; an empty one
// keeps all.
func TestAdaptiveReadsLess(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	off, always := adaptiveSettings(t)
	for _, c := range []struct {
		sql               string
		scanned, received int // at most
	}{
		{"SELECT count(*), sum(b.amount) FROM events a JOIN events b ON a.id = b.id WHERE a.name = 'name 5'", 900, 2},
		{"SELECT count(*), sum(b.amount) FROM events a JOIN events b ON a.id = b.id WHERE a.name = 'nobody'", 800, 0},
		{"SELECT a.id, b.n FROM events a LEFT JOIN (SELECT id, count(*) AS n FROM events GROUP BY id) b ON a.id = b.id WHERE a.name = 'name 5'", 900, 2},
		{"SELECT a.name, (SELECT sum(b.amount) FROM events b WHERE b.id = a.id) FROM events a WHERE a.name = 'name 5'", 900, 2},
		{"SELECT count(*) FROM events b WHERE b.id IN (SELECT a.id FROM events a WHERE a.name = 'name 5')", 900, 2},
		{"SELECT count(*) FROM events b WHERE b.id NOT IN (SELECT a.id FROM events a WHERE a.name = 'name 5')", 1600, 801},
	} {
		require.Equal(t, answer(t, d, f.coordinator, off, c.sql), answer(t, d, f.coordinator, always, c.sql), c.sql)
		static, text := rowsScanned(t, d, f.coordinator, off, c.sql)
		require.NotContains(t, text, "round 1")
		require.Equal(t, 1600, static, text)
		scanned, text := rowsScanned(t, d, f.coordinator, always, c.sql)
		require.LessOrEqual(t, scanned, c.scanned, text)
		m := rowsReceivedTotal.FindStringSubmatch(text)
		require.NotNil(t, m, text)
		received, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		require.LessOrEqual(t, received, c.received, text)
		if c.received < 800 {
			require.Contains(t, text, "first: always", text)
			require.Contains(t, text, "plan after:", text)
		}
	}
}

// TestAggregatesBelowJoinsAreNarrowed: the keys of a scan narrow the groups of
// another one.
func TestAggregatesBelowJoinsAreNarrowed(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	w := newWorld(t, d, memory.DefaultAllocator, recipe{seed: 3, tables: []*randomTable{specTable()}, disabled: [][]string{nil, nil}})
	const sql = "SELECT b.id, count(*), sum(a.m) FROM s a JOIN s b ON a.k = b.k WHERE b.id IN (8, 9) GROUP BY b.id"
	w.askIn(t, []way{{"full", "1048576", "always", ""}, {"full", "1048576", "off", ""}}, sql, false)
	set := way{"full", "1048576", "always", ""}.settings(t)
	text := answer(t, d, w.coordinator, set, "EXPLAIN ANALYZE "+sql)
	require.Contains(t, text, "scan1: main.s, partial aggregate")
	require.Contains(t, text, "narrowed: scan1")
	require.Contains(t, text, "runtime=k in 2 consecutive values of scan2.c")
}

// TestHistory: how queries went and what was decided is kept, also when they
// failed.
func TestHistory(t *testing.T) {
	t.Parallel()
	f := newPruneFiles(t, nil, nil)
	set := query.DefaultSettings()
	require.NoError(t, set.Set("adaptive", "always"))
	const good, bad = "SELECT a.id FROM events a JOIN events b ON a.id = b.id WHERE a.name = 'name 5'", "SELECT CAST(a.name AS INTEGER) FROM events a JOIN events b ON a.id = b.id"
	for _, sql := range []string{good, bad} {
		if r, err := run(f.coordinator, set, sql); err == nil {
			r.release()
		}
	}
	records := f.coordinator.Service().History().RecordsOf(auth.Anonymous)
	require.Len(t, records, 2)
	require.Equal(t, []string{bad, good}, []string{records[0].SQL, records[1].SQL})
	require.NotEmpty(t, records[0].Error)
	require.NotEqual(t, "ok", records[0].Outcome)
	require.Equal(t, "ok", records[1].Outcome)
	for _, r := range records {
		require.NotEmpty(t, r.Rounds, r.SQL)
	}
	text, err := json.Marshal(f.coordinator.Queries(t.Context()))
	require.NoError(t, err)
	require.Contains(t, string(text), `"fired":["semi_join_filter"]`)
}
