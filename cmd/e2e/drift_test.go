package e2e

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server/query"
)

// driftedFiles has columns that differ within and between its two scanners.
func driftedFiles(t *testing.T, disabled ...[]string) *pruneFiles {
	t.Helper()
	f := newPruneFiles(t, disabled...)
	for i, change := range map[int]string{
		2: "* REPLACE (day::TIMESTAMP + INTERVAL 1 HOUR AS day)",
		3: "* REPLACE (id::SMALLINT AS id, amount::INTEGER AS amount)",
		5: "* EXCLUDE (name)",
		6: "amount::DECIMAL(4,1) AS amount, * EXCLUDE (late, amount)",
		7: "* REPLACE (id::DOUBLE AS id, amount::DECIMAL(18,4) AS amount), [(id % 2)::TINYINT] AS tags",
	} {
		f.write(t, i, "SELECT "+change+" FROM ("+eventRows(i)+")")
	}
	require.NoError(t, f.coordinator.Catalog().Refresh(t.Context()))
	return f
}

// TestDriftedFiles: answers are those of the table's types on every rung, and
// scanners that widen their columns still do all the work.
func TestDriftedFiles(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, c := range map[string]struct {
		disabled [][]string
		sent     string
	}{
		"widening": {[][]string{nil, nil}, ""},
		"not all":  {[][]string{{"widen"}, nil}, "it cannot widen them"},
		"rows":     {[][]string{{"all"}, {"agg"}}, "stays"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := driftedFiles(t, c.disabled...)
			for sql, want := range map[string]string{
				"SELECT count(*), sum(id), min(id), max(id) FROM events":                                     "800 319600.0 0.0 799.0",
				"SELECT count(*), count(name), count(late), count(tags) FROM events":                         "800 630 100 100",
				"SELECT sum(amount), max(amount) FROM events WHERE id BETWEEN 300.5 AND 301":                 "0.0000 0.0000",
				"SELECT amount, count(*) FROM events WHERE id >= 300 AND amount < 2 GROUP BY ALL ORDER BY 1": "0.0000 72\n1.0000 72",
				"SELECT count(*) FROM events WHERE day = TIMESTAMP '2024-01-03 01:00:00'":                    "100",
				"SELECT day, count(*) FROM events WHERE day < '2024-01-04' GROUP BY day ORDER BY day":        "2024-01-01 00:00:00 100\n2024-01-02 00:00:00 100\n2024-01-03 01:00:00 100",
				"SELECT id, name, tags FROM events WHERE id IN (1, 501, 701) ORDER BY id":                    "1.0 name 1 NULL\n501.0 NULL NULL\n701.0 name 701 [1]",
				"SELECT id FROM events ORDER BY name NULLS FIRST, id LIMIT 2":                                "0.0\n10.0",
				"SELECT count(*) FROM events WHERE name IS NULL AND late IS NULL":                            "160",
			} {
				for _, level := range []string{"full", "filter", "off"} {
					set := query.DefaultSettings()
					require.NoError(t, set.Set("pushdown", level))
					require.Equal(t, want, answer(t, d, f.coordinator, set, sql), "%s: %s", level, sql)
				}
			}
			text := answer(t, d, f.coordinator, query.DefaultSettings(), "EXPLAIN SELECT amount, count(*) FROM events WHERE name <> 'x' GROUP BY amount")
			require.Equal(t, c.sent != "", strings.Contains(text, c.sent) && c.sent != "", text)
			if c.sent == "" {
				require.NotContains(t, text, "stays")
			}
			_, text = rowsScanned(t, d, f.coordinator, query.DefaultSettings(), "SELECT count(*) FROM events WHERE amount = 0 AND tags IS NOT NULL")
			require.Contains(t, text, "pruned by tags", "a column that a partition lacks is NULL in it")
		})
	}
}

// TestChangedColumns: the catalog still has the columns of files that were
// replaced; the statement is planned again.
func TestChangedColumns(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	set := query.DefaultSettings()
	f.write(t, 3, "SELECT * REPLACE (id + 5000000000 AS id, amount::DECIMAL(18,4) + 0.0001 AS amount) FROM ("+eventRows(3)+")")
	_, err := run(f.coordinator, set, "SELECT max(amount) FROM events")
	require.ErrorContains(t, err, "prepare it again", "a type that was promised has changed")
	require.Equal(t, "29 5000000398", answer(t, d, f.coordinator, set, "SELECT count(*), max(id) FROM events WHERE amount > 6 OR amount = 5.0001"))
	f.write(t, 3, "SELECT *, 7 AS more FROM ("+eventRows(3)+")")
	require.Equal(t, "799", answer(t, d, f.coordinator, set, "SELECT max(id) FROM events"))
	require.Equal(t, "100", answer(t, d, f.coordinator, set, "SELECT count(more) FROM events"))
	f.write(t, 3, eventRows(3))
	_, err = run(f.coordinator, set, "SELECT count(more) FROM events")
	require.Equal(t, status.InvalidArgument, status.CodeOf(err), "the column is gone: %v", err)
	f.write(t, 3, "SELECT 'x' AS id")
	_, err = run(f.coordinator, set, "SELECT count(*) FROM events")
	require.Equal(t, status.FailedPrecondition, status.CodeOf(err), "%v", err)
	for _, text := range []string{"main.events", `column "id" is VARCHAR in partition "s1/3"`, "BIGINT"} {
		require.ErrorContains(t, err, strings.Replace(text, "s1/", "", 1))
	}
}

// TestIncompatibleColumns: types without a common one are an error that names
// table, column and partitions, at every rung.
func TestIncompatibleColumns(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	var nodes []node
	for name, sql := range map[string]string{"a": "SELECT 1 AS c", "b": "SELECT 'x' AS c"} {
		rows := d.rows(t, sql)
		src, err := memsource.New(rows.schema, []memsource.Partition{{ID: "part-" + name, Batches: rows.batches}})
		require.NoError(t, err)
		nodes = append(nodes, node{name: name, tables: []scanner.Table{{Name: "t", Source: src}}})
	}
	c := startCluster(t, nodes, memory.DefaultAllocator)
	for _, level := range []string{"full", "filter", "off"} {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("pushdown", level))
		_, err := run(c, set, "SELECT count(*) FROM t")
		require.Equal(t, status.FailedPrecondition, status.CodeOf(err))
		for _, text := range []string{"main.t", `"c"`, "part-a", "part-b", "int32", "utf8"} {
			require.ErrorContains(t, err, text)
		}
	}
}

// TestDriftedCarrier: rows are counted by the narrowest column of the table where
// no column matters, also at a scanner that lacks it.
func TestDriftedCarrier(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for _, disabled := range [][]string{nil, {"widen"}, {"agg"}, {"agg", "widen"}, {"all"}} {
		var nodes []node
		for name, sql := range map[string]string{"a": "SELECT i, true AS narrow FROM range(3) r(i)", "b": "SELECT i FROM range(4) r(i)"} {
			rows := d.rows(t, sql)
			src, err := memsource.New(rows.schema, []memsource.Partition{{ID: "part-" + name, Batches: rows.batches}})
			require.NoError(t, err)
			nodes = append(nodes, node{name: name, disable: disabled, tables: []scanner.Table{{Name: "t", Source: src}}})
		}
		c := startCluster(t, nodes, memory.DefaultAllocator)
		for sql, want := range map[string]string{
			"SELECT DISTINCT 2 FROM t": "2", "SELECT 'x' AS k, count(*) FROM t GROUP BY k": "x 7",
			"SELECT count(*) FROM t": "7", "SELECT count(*) FROM t WHERE i >= 0": "7", "SELECT 1 FROM t LIMIT 2": "1\n1",
		} {
			for _, level := range []string{"full", "filter", "off"} {
				set := query.DefaultSettings()
				require.NoError(t, set.Set("pushdown", level))
				require.Equal(t, want, answer(t, d, c, set, sql), "%s without %s: %s", level, disabled, sql)
			}
		}
	}
}
