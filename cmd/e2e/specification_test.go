package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/query"
)

// specTable has 60 rows in four partitions, one of them empty; t is a number in
// the rows with an even k only.
func specTable() *randomTable {
	t := &randomTable{name: "s", columns: []randomColumn{
		{name: "id", typ: "BIGINT"}, {name: "k", typ: "INTEGER"}, {name: "t", typ: "VARCHAR"}, {name: "m", typ: "DECIMAL(9,2)"}, {name: "x", typ: "INTERVAL"},
	}, onlyTables: true, partitions: make([][][]any, 4)}
	for i := range 60 {
		k, text, money := any(strconv.Itoa(i%6)), any("text "+strconv.Itoa(i)), any(fmt.Sprintf("%d.25", i))
		if i%2 == 0 {
			text = strconv.Itoa(10 * i)
		}
		if i%13 == 0 {
			k, money = nil, nil
		}
		p := i % 3
		t.partitions[p] = append(t.partitions[p], []any{strconv.Itoa(i), k, text, money, fmt.Sprintf("%d days", i%4)})
	}
	return t
}

// longList is an IN list of 10,000 values, of which a few occur.
func longList() string {
	values := make([]string, 10_000)
	for i := range values {
		values[i] = strconv.Itoa(i*7 - 5)
	}
	return strings.Join(values, ", ")
}

// specified are statements, and what EXPLAIN says of the way they go: lines that
// it has, and with a leading "!" has not.
var specified = []struct {
	sql  string
	says []string
}{
	// What goes down.
	{"SELECT count(*), sum(m) FROM s WHERE id IN (" + longList() + ")", []string{"partial aggregate", "runs filter + aggregate", "!not pushed", "!left to the coordinator"}},
	{"SELECT id FROM s WHERE id NOT IN (" + longList() + ")", []string{"filtered rows", "runs filter\n", "!not pushed"}},
	{"SELECT count(*), sum(id) FROM (SELECT * FROM s ORDER BY id DESC LIMIT 7)", []string{"scan1: main.s, top-N", "limit: 7", "!partial aggregate"}},
	{"SELECT count(*) FROM (SELECT * FROM s LIMIT 7)", []string{"scan1: main.s, limited rows", "limit: 7", "!partial aggregate"}},
	{"SELECT k, count(*) FROM (SELECT * FROM s WHERE k > 1 ORDER BY m, id LIMIT 9 OFFSET 2) GROUP BY k", []string{"top-N", "limit: 11", "runs filter + top-N"}},
	{"SELECT k, sum(m) FROM s WHERE id < 30 GROUP BY k UNION ALL SELECT k, sum(m) FROM s WHERE id > 20 GROUP BY k",
		[]string{"scan1: main.s, partial aggregate", "scan2: main.s, partial aggregate", "filter: id < 30", "filter: id > 20"}},
	{"SELECT count(*) FROM (SELECT id FROM s WHERE k = 1 UNION ALL SELECT id FROM s WHERE k = 2)", []string{"filter: k = 1", "filter: k = 2"}},
	{"WITH c AS (SELECT k, sum(m) AS v, count(*) AS n FROM s WHERE id > 5 GROUP BY k) SELECT a.k, a.v, b.n FROM c a JOIN c b ON a.k = b.k",
		[]string{"partial aggregate", "filter: id > 5", "runs filter + aggregate"}},
	{"WITH c AS MATERIALIZED (SELECT id, m FROM s WHERE k = 3) SELECT (SELECT count(*) FROM c), (SELECT max(m) FROM c)", []string{"filter: k = 3"}},
	{"SELECT (SELECT max(m) FROM s WHERE k = 2) AS top, id FROM s WHERE id < 4", []string{"partial aggregate", "filter: k = 2", "filter: id < 4"}},
	{"SELECT id FROM s WHERE m > (SELECT avg(m) FROM s WHERE k = 1) AND id < 50", []string{"partial aggregate", "filter: k = 1", "filter: id < 50"}},
	{"SELECT id FROM s WHERE k IN (SELECT k FROM s WHERE id = 8) AND id > 40", []string{"filter: id = 8", "id > 40"}},
	{"SELECT id FROM s a WHERE EXISTS (SELECT 1 FROM s b WHERE b.k = a.k AND b.id < 3) AND a.id > 40", []string{"id < 3", "id > 40"}},
	{"SELECT a.id, (SELECT count(*) FROM s b WHERE b.k = a.k AND b.id > 30) AS n FROM s a WHERE a.id < 12", []string{"id > 30", "id < 12"}},
	{"SELECT k, sum(m) FROM s GROUP BY k HAVING sum(m) > (SELECT avg(m) FROM s WHERE id < 9)", []string{"filter: id < 9", "partial aggregate"}},
	{"SELECT q.k, q.n FROM (SELECT k, count(*) AS n FROM s WHERE id <> 7 GROUP BY k) q WHERE q.k > 1", []string{"partial aggregate", "runs filter + aggregate", "k > 1"}},
	{"SELECT id FROM s WHERE id < 9 ORDER BY (SELECT max(id) FROM s WHERE k = 4), id DESC", []string{"filter: k = 4", "filter: id < 9"}},
	{"SELECT id, CASE WHEN k = (SELECT min(k) FROM s WHERE id > 2) THEN 'low' END FROM s WHERE id BETWEEN 3 AND 9", []string{"filter: id > 2", "id >= 3", "id <= 9"}},
	// An aggregate over a join goes down to one of its tables.
	{"SELECT b.t, count(*), sum(a.m), avg(a.id), max(b.m) FROM s a JOIN s b ON a.k = b.k WHERE b.id < 9 GROUP BY b.t",
		[]string{"scan1: main.s, partial aggregate", "group by: k", "scan2: main.s, filtered rows", "!not pushed: aggregate"}},
	{"SELECT count(*), sum(a.m), min(a.t) FROM s a JOIN s b ON a.k = b.k WHERE b.id < 0", []string{"scan1: main.s, partial aggregate", "group by: k"}},
	{"SELECT b.id, count(a.id), sum(a.m) FROM s b LEFT JOIN s a ON a.k = b.id GROUP BY b.id", []string{"scan1: main.s, rows", "scan2: main.s, partial aggregate", "group by: k"}},
	{"SELECT count(*), sum(id) FROM s WHERE k NOT IN (SELECT k FROM s WHERE id < 3)", []string{"scan1: main.s, partial aggregate", "group by: k", "filter: id < 3"}},
	{"SELECT a.id, sum(a.m), sum(b.m) FROM s a JOIN s b ON a.k = b.k GROUP BY a.id", []string{"!partial aggregate", "below the join: sum reads another table"}},
	{"SELECT b.k, sum(CAST(a.t AS INTEGER)) FROM s a JOIN s b ON a.k = b.k WHERE b.k % 2 = 0 AND a.id % 2 = 0 GROUP BY b.k", []string{"!partial aggregate", "not pushed: aggregate stays"}},
	{"SELECT a.id, count(*) FROM s a JOIN s b ON a.id = b.id GROUP BY a.id", []string{"!partial aggregate", "below the join: there may be"}},

	// What never does: volatile functions.
	{"SELECT count(*) FROM s WHERE random() >= 0", []string{"not pushed", "!partial aggregate", "!runs filter"}},
	{"SELECT count(*) FROM s WHERE id > 5 AND random() < 2", []string{"filter: id > 5", "not pushed", "!partial aggregate"}},
	{"SELECT count(*) FROM (SELECT random() >= 0 AS r FROM s) GROUP BY r", []string{"not pushed", "!partial aggregate"}},
	{"SELECT sum(CASE WHEN random() >= 0 THEN id END) FROM s", []string{"not pushed", "!partial aggregate"}},
	// Aggregates that need an order, or have no partial result.
	{"SELECT string_agg(t, ',' ORDER BY id) FROM s WHERE id < 9", []string{"filter: id < 9", "not pushed", "!partial aggregate"}},
	{"SELECT k, list(id ORDER BY id DESC) FROM s GROUP BY k", []string{"not pushed", "!partial aggregate"}},
	{"SELECT sum(id ORDER BY k, id), first(t ORDER BY id) FROM s", []string{"not pushed", "!partial aggregate"}},
	{"SELECT median(id), stddev(id) FROM s", []string{"not pushed", "!partial aggregate"}},
	{"SELECT arg_max(t, id), count(*) FROM s", []string{"not pushed", "!partial aggregate"}},
	// Casts that fail on rows which another predicate removes.
	{"SELECT sum(CAST(t AS INTEGER)) FROM s WHERE k % 2 = 0 OR id IN (0, 26, 52)", []string{"not pushed", "!partial aggregate"}},
	{"SELECT id FROM s WHERE t NOT LIKE 'text%' AND CAST(t AS INTEGER) > 100", []string{"not pushed", "!CASTt AS"}},
	{"SELECT id FROM s WHERE CASE WHEN t LIKE 'text%' THEN false ELSE CAST(t AS INTEGER) > 100 END", []string{"not pushed", "!filter:"}},
	{"SELECT id FROM s WHERE TRY_CAST(t AS INTEGER) > 100", []string{"not pushed", "!filter:"}},
	{"SELECT id FROM s WHERE id * k > 50 AND k + id > 2", []string{"not pushed", "!filter:"}},
	// Functions that scanners do not know, other types, and what depends on an order.
	{"SELECT count(*) FROM s WHERE md5(t) > '8' AND id > 3", []string{"filter: id > 3", "not pushed", "!partial aggregate"}},
	{"SELECT id FROM s WHERE regexp_matches(t, '^text [0-9]$')", []string{"not pushed", "!filter:"}},
	{"SELECT x, count(*) FROM s GROUP BY x", []string{"not pushed", "!partial aggregate"}},
	{"SELECT DISTINCT ON (k) k, id FROM s ORDER BY k, id", []string{"not pushed"}},
	{"SELECT id FROM s ORDER BY id % 7, id LIMIT 5", []string{"not pushed", "!top-N\n"}},
	{"SELECT k, avg(m) FROM s GROUP BY k HAVING avg(m) > 20", []string{"partial aggregate", "not pushed: groups are not reduced"}},
	{"SELECT k, count(DISTINCT id), count(DISTINCT t), count(DISTINCT m) FROM s GROUP BY k", []string{"not pushed", "!partial aggregate"}},
	{"SELECT id, sum(id) OVER (PARTITION BY k) FROM s WHERE id < 20", []string{"filter: id < 20", "!partial aggregate"}},
}

// TestSpecification: every statement is answered as the oracle answers it, at
// every rung, and goes the way that is said of it.
func TestSpecification(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	w := newWorld(t, d, mem, recipe{seed: 3, tables: []*randomTable{specTable()}, disabled: [][]string{nil, nil}})
	for _, c := range specified {
		_, err := w.oracle(c.sql, w.inputs)
		require.NoError(t, err, c.sql)
		w.ask(t, c.sql, false)
		text := answer(t, d, w.coordinator, query.DefaultSettings(), "EXPLAIN "+c.sql)
		for _, want := range c.says {
			if not, negated := strings.CutPrefix(want, "!"); negated {
				assert.NotContains(t, plainExplain(text), not, "%.200s", c.sql)
			} else {
				assert.Contains(t, plainExplain(text), want, "%.200s", c.sql)
			}
		}
	}
}

// plainExplain is what EXPLAIN says of the scans, without trees, SQL and brackets.
func plainExplain(text string) string {
	at := strings.Index(text, "\nscan1:")
	end := strings.Index(text, "\ncoordinator SQL")
	if end < 0 {
		end = len(text)
	}
	return strings.NewReplacer("(", "", ")", "").Replace(text[max(at, 0):end]) + "\n"
}
