package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server/query"
)

// instantTable has times and days without a zone, among them the first and the
// last that DuckDB casts to TIMESTAMPTZ.
var instantTable = &randomTable{
	name:    "instants",
	columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "ts", typ: "TIMESTAMP"}, {name: "day", typ: "DATE"}},
	partitions: [][][]any{
		{{"1", "infinity", "infinity"}, {"2", "-infinity", "-infinity"}, {"3", nil, nil}},
		{{"4", "290309-12-22 (BC) 00:00:00", "290309-12-22 (BC)"}, {"5", "294247-01-10 04:00:54.774999", "294247-01-10"}},
		{{"6", "2024-01-31 00:00:00", "2024-01-31"}, {"7", "2024-01-31 10:00:00", "2024-02-01"}, {"8", "2024-01-31 10:00:00.000001", "2024-01-30"}},
		{{"9", "1969-12-31 23:59:59.999999", "1969-12-31"}, {"10", "1970-01-01", "1970-01-01"}, {"11", "9999-12-31 23:59:59", "9999-12-31"}},
	},
}

// endsTable has a time that DuckDB fails to cast.
var endsTable = &randomTable{
	name: "ends", columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "ts", typ: "TIMESTAMP"}},
	partitions: [][][]any{{{"1", "294247-01-10 04:00:54.775806"}}, {{"2", "2024-01-31 00:00:00"}}},
}

// zonedConstants are compared with every column.
var zonedConstants = []string{
	"now() - INTERVAL 1 DAY", "TIMESTAMPTZ '2024-01-31 00:00:00+00'", "TIMESTAMPTZ '2024-01-31 12:00:00+02'", "TIMESTAMPTZ '1969-12-31 12:00:00+00'",
	"TIMESTAMPTZ '1970-01-01 00:00:00+00'", "'infinity'::TIMESTAMPTZ", "'-infinity'::TIMESTAMPTZ", "NULL::TIMESTAMPTZ",
}

func zonedConditions() (out []string) {
	for _, column := range []string{"ts", "day"} {
		for _, constant := range zonedConstants {
			for _, op := range []string{"<", "<=", ">", ">=", "=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"} {
				out = append(out, column+" "+op+" "+constant)
			}
		}
		out = append(out,
			constants(column+" IN (%)"), constants(column+" NOT IN (%)"),
			column+" BETWEEN TIMESTAMPTZ '1969-12-31 12:00:00+00' AND now()",
			column+" NOT BETWEEN TIMESTAMPTZ '2024-01-31 00:00:00+00' AND 'infinity'",
		)
	}
	return out
}

func constants(condition string) string {
	return strings.Replace(condition, "%", strings.Join(zonedConstants[1:3], ", ")+", 'infinity', NULL", 1)
}

// TestZonedComparisons: scanners compare times without a zone with TIMESTAMPTZ
// as DuckDB does.
func TestZonedComparisons(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, c := range edgeClusters {
		t.Run(name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			w := newWorld(t, d, mem, recipe{seed: 1, tables: []*randomTable{instantTable, endsTable}, disabled: c.disabled, inFiles: c.inFiles})
			for _, where := range zonedConditions() {
				sql := "SELECT id FROM instants WHERE " + where
				want, err := w.oracle(sql, w.inputs)
				require.NoError(t, err, sql)
				want.release()
				w.ask(t, sql, false)
			}
			w.ask(t, "SELECT id, ts > now() AS later, CASE WHEN day <= now() THEN 1 END AS past FROM instants", false)
			w.ask(t, "SELECT count(*) FILTER (WHERE ts > now()), sum(id) FILTER (WHERE day < now()) FROM instants", false)
			// DuckDB fails here.
			require.Equal(t, "1", answer(t, d, w.coordinator, query.DefaultSettings(), "SELECT id FROM ends WHERE ts > now()"))
		})
	}
}

// TestNowPrunes: files that are too old, or too young, are not read.
func TestNowPrunes(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	f := newPruneFiles(t, nil, nil)
	for i := range pruneFileCount {
		at := time.Now().UTC().AddDate(0, 0, i-pruneFileCount).Format("2006-01-02 15:04:05")
		created := fmt.Sprintf("SELECT TIMESTAMP '%s' AS created_at, created_at::DATE AS created_on, id", at)
		f.write(t, i, strings.Replace(eventRows(i), "SELECT id", created, 1))
	}
	require.NoError(t, f.coordinator.Catalog().Refresh(t.Context()))
	off := query.DefaultSettings()
	require.NoError(t, off.Set("pushdown", "off"))
	for _, c := range []struct {
		where string
		files int // read, at most
	}{
		{"created_at > now() - INTERVAL 60 HOUR", 2}, {"created_at < now() - INTERVAL 156 HOUR", 2}, {"created_at > now()", 0},
		{"created_at BETWEEN now() - INTERVAL 60 HOUR AND now() - INTERVAL 36 HOUR", 1},
		{"created_on >= now() - INTERVAL 60 HOUR", 2}, {"created_on > now()", 0},
	} {
		sql := "SELECT count(*), sum(id) FROM events WHERE " + c.where
		require.Equal(t, answer(t, d, f.coordinator, off, sql), answer(t, d, f.coordinator, query.DefaultSettings(), sql), sql)
		rows, text := rowsScanned(t, d, f.coordinator, query.DefaultSettings(), "SELECT sum(id) FROM events WHERE "+c.where)
		require.LessOrEqual(t, rows, 100*c.files, text)
		require.Contains(t, text, "pruned by created_")
	}
}

// TestZonedColumns: instants of any zone and unit are what they are in UTC, and
// what depends on a zone is of UTC, at every rung.
func TestZonedColumns(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/New_York", "+05:30"} {
		for _, unit := range arrow.TimeUnitValues {
			typ := &arrow.TimestampType{Unit: unit, TimeZone: zone}
			// 2024-01-31 15:30 in UTC is the first of February in Tokyo, and 1969 ends later in New York.
			a := valuesTable(t, "0", typ, `["2024-01-31T15:30:00Z", "1970-01-01T02:00:00Z", null]`)
			b := valuesTable(t, "1", &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, `["2024-01-31T15:30:00Z"]`)
			c := startCluster(t, []node{{name: "a", tables: []scanner.Table{a}}, {name: "b", disable: []string{"agg"}, tables: []scanner.Table{b}}}, memory.DefaultAllocator)
			for _, level := range []string{"full", "filter", "off"} {
				set := query.DefaultSettings()
				require.NoError(t, set.Set("pushdown", level))
				for sql, want := range map[string]string{
					"SELECT x, count(*) FROM t GROUP BY x ORDER BY x":                             "1970-01-01 02:00:00+00 1\n2024-01-31 15:30:00+00 2\nNULL 1",
					"SELECT date_trunc('day', x) AS day, count(*) FROM t GROUP BY day ORDER BY 1": "1970-01-01 00:00:00+00 1\n2024-01-31 00:00:00+00 2\nNULL 1",
					"SELECT month(x), extract(hour FROM x), x::DATE FROM t WHERE id = 1":          "1 2 1970-01-01",
					"SELECT count(*) FROM t WHERE x >= TIMESTAMPTZ '2024-02-01 00:30:00+09'":      "2",
					"SELECT count(*) FROM t WHERE year(x) = 1970":                                 "1",
					"SELECT min(x), max(x), count(x) FROM t":                                      "1970-01-01 02:00:00+00 2024-01-31 15:30:00+00 3",
				} {
					require.Equal(t, want, answer(t, d, c, set, sql), "%s %s: %s", typ, level, sql)
				}
				require.NotContains(t, answer(t, d, c, set, "EXPLAIN SELECT date_trunc('day', x), count(*) FROM t GROUP BY 1"), "runs aggregate", "the kernels know no zones")
			}
		}
	}
	set := query.DefaultSettings()
	require.NoError(t, set.Set("TimeZone", "utc"))
	require.ErrorContains(t, set.Set("TimeZone", "Europe/Berlin"), `the only supported value is "UTC"`)
}
