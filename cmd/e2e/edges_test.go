package e2e

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// edgeTable has what goes wrong at the ends of types: one row a partition, and
// empty partitions.
var edgeTable = &randomTable{
	name: "edges",
	columns: []randomColumn{
		{name: "id", typ: "BIGINT"}, {name: "m38", typ: "DECIMAL(38,0)"}, {name: "u64", typ: "UBIGINT"}, {name: "i64", typ: "BIGINT"},
		{name: "f", typ: "DOUBLE"}, {name: "g", typ: "FLOAT"}, {name: "t", typ: "VARCHAR"}, {name: "ts", typ: "TIMESTAMP"}, {name: "day", typ: "DATE"},
		{name: `a "b" c`, typ: "INTEGER"}, {name: "SELECT", typ: "VARCHAR"}, {name: "x.y", typ: "INTEGER"}, {name: "ünï 🙂", typ: "INTEGER"},
	},
	partitions: [][][]any{
		{{"1", "60000000000000000000000000000000000000", "18446744073709551615", "9223372036854775807", "nan", "nan", `a\b`, "2024-01-31 00:00:00", "2024-01-31", "1", "x", "1", "7"}},
		{},
		{{"2", "60000000000000000000000000000000000000", "18446744073709551615", "9223372036854775807", "0", "-0.0", "a%b", "1969-12-31 23:59:59.999999", "1969-12-31", "2", "y", "2", "8"},
			{"3", "-60000000000000000000000000000000000000", "9223372036854775808", "-9223372036854775808", "-0.0", "0", "Ab", "2024-01-31 12:00:00", "9999-12-31", nil, "x", "3", nil}},
		{{"4", nil, "0", "-1", "inf", "-inf", "é", nil, nil, "1", nil, nil, "7"}, {"5", "1", nil, nil, nil, nil, nil, "1970-01-01", "0001-01-01", "2", "X", "2", "8"}},
		{},
	},
}

// edgeStatements are answered as DuckDB answers them.
var edgeStatements = []string{
	`SELECT sum(m38), sum(u64), sum(i64) FROM edges WHERE id IN (1, 2, 3)`,
	`SELECT sum(m38), count(m38) FROM edges WHERE id >= 3`,
	`SELECT max(-(id::UINTEGER)), sum(-(id::USMALLINT)), sum(-u64) FROM edges WHERE -(id::UINTEGER) > 5`, // wraps
	`SELECT min(u64), max(u64), min(i64), max(i64), avg(u64), avg(i64) FROM edges`,
	`SELECT id FROM edges WHERE u64 > 9223372036854775807`,
	`SELECT id FROM edges WHERE u64 = 18446744073709551615`,
	`SELECT id FROM edges WHERE u64 > -1 AND i64 < 18446744073709551615`,
	`SELECT id FROM edges WHERE u64 > i64`,
	`SELECT id FROM edges WHERE u64 < 1.5 OR i64 > 9223372036854775806.5`,
	`SELECT f, count(*), sum(id) FROM edges GROUP BY f`,
	`SELECT g, count(*) FROM edges GROUP BY g`,
	`SELECT DISTINCT f = 0, isnan(f), f IS NULL FROM edges`,
	`SELECT count(DISTINCT f), count(DISTINCT g), min(f), max(f), min(g), max(g) FROM edges`,
	`SELECT id FROM edges WHERE f = 'nan'::DOUBLE OR g >= 'nan'::FLOAT`,
	`SELECT a.id, b.id FROM edges a JOIN edges b ON a.f = b.g`,
	`SELECT id FROM edges WHERE f IN (0, 'nan'::DOUBLE)`,
	`SELECT id FROM edges ORDER BY f DESC NULLS LAST, id LIMIT 2`,
	`SELECT id FROM edges ORDER BY g NULLS FIRST, id LIMIT 3 OFFSET 1`,
	`SELECT id FROM edges WHERE t LIKE 'a\b'`,
	`SELECT id FROM edges WHERE t LIKE 'a\%b' ESCAPE '\'`,
	`SELECT id FROM edges WHERE t LIKE 'a\%b'`,
	`SELECT id FROM edges WHERE t LIKE '%\%'`,
	`SELECT id FROM edges WHERE t NOT LIKE 'a_b' AND t LIKE '_'`,
	`SELECT id FROM edges WHERE t ILIKE 'AB'`,
	`SELECT min(t), max(t) FROM edges`,
	`SELECT t FROM edges WHERE t > 'Z' ORDER BY t COLLATE NOCASE, id`,
	`SELECT t COLLATE NOCASE AS k, count(*) FROM edges GROUP BY k HAVING count(*) > 5`,
	`SELECT count(*) FROM edges WHERE t COLLATE NOCASE = 'AB'`,
	`SELECT max(t COLLATE NOCASE) FROM edges WHERE id = 3`,
	`SELECT id FROM edges WHERE ts = TIMESTAMP_S '2024-01-31 12:00:00'`,
	`SELECT id FROM edges WHERE ts < TIMESTAMP_NS '1969-12-31 23:59:59.999999999'`,
	`SELECT id FROM edges WHERE ts >= day`,
	`SELECT id FROM edges WHERE ts >= DATE '2024-01-31' AND day < TIMESTAMP '2024-01-31 00:00:01'`,
	`SELECT id FROM edges WHERE ts::TIMESTAMP_S = TIMESTAMP_S '1969-12-31 23:59:59'`,
	`SELECT count(*) FROM (SELECT * FROM edges LIMIT 3)`,
	`SELECT count(*) FROM (SELECT * FROM edges LIMIT 3 OFFSET 4)`,
	`SELECT count(*) FROM (SELECT * FROM edges LIMIT 0)`,
	`SELECT id FROM edges ORDER BY id LIMIT 2 OFFSET 3`,
	`SELECT id FROM edges ORDER BY id DESC OFFSET 3`,
	`SELECT count(*), count(id), sum(id), min(t), avg(f), bool_or(id > 1) FROM edges WHERE false`,
	`SELECT count(*), sum(i64), max(t) FROM edges WHERE id > 100`,
	`SELECT t, count(*) FROM edges WHERE id > 100 GROUP BY t`,
	`SELECT id, id, id AS id, count(*) AS id FROM edges GROUP BY ALL`,
	`SELECT a.*, b.* FROM edges a JOIN edges b USING (id)`,
	`SELECT "a ""b"" c", count(*), sum("x.y") FROM edges GROUP BY 1`,
	`SELECT "SELECT", max("ünï 🙂") AS "x""; DROP" FROM edges WHERE "ünï 🙂" > 1 AND "SELECT" <> 'y''' GROUP BY "SELECT"`,
	`SELECT "A ""B"" C" FROM edges WHERE "select" = 'x'`,
	`SELECT id FROM edges WHERE i64 = 9223372036854775807 AND i64 + 0 > 5`,
	`SELECT id FROM edges WHERE id > 3 AND CASE WHEN id > 3 THEN i64 ELSE i64 + 1 END < 0`,
	`SELECT -m38, m38 - 1 FROM edges WHERE id = 1`,
	`SELECT CAST(m38 AS HUGEINT) * 1 FROM edges WHERE id = 5`,
	`SELECT sum(CAST(u64 AS HUGEINT) + 1) FROM edges`,
	`SELECT sum(x) FROM (SELECT sum(u64) AS x FROM edges GROUP BY id)`,
	`SELECT sum(i64 + 1), sum(2 + i64), sum(id + 1) FILTER (WHERE id > 1), sum(id + 300), sum(NULL + id), avg(id + 1) FROM edges`,
	`SELECT count(*) FROM edges WHERE i64 - 1 < 0`,
	`SELECT sum(u64) * 2 = sum(u64) + sum(u64) FROM edges`,
	`SELECT NULL AS n, 1::UTINYINT AS u, sum(id), count(*), DATE '2024-01-01' + INTERVAL 1 DAY FROM edges`,
	`SELECT 'x' AS k, NULL AS n FROM edges WHERE id > 2`,
	`SELECT avg(m38), sum(m38 * 0) FROM edges WHERE id > 3`,
}

// edgeErrors are refused at every rung with the same code.
var edgeErrors = map[string]status.Code{
	`SELECT sum(m38) FROM edges WHERE id < 3`: status.OutOfRange, // 39 digits
	`SELECT sum(m38), t FROM edges WHERE id < 3 GROUP BY ALL HAVING false OR count(*) > 0 UNION ALL SELECT sum(m38), '' FROM edges WHERE id < 3`: status.OutOfRange,
	`SELECT 170141183460469231731687303715884105727 FROM edges`:                                                                                  status.OutOfRange,
	`SELECT i64 + 1 FROM edges`:                     status.OutOfRange,
	`SELECT t, sum(i64 + 1) FROM edges GROUP BY t`:  status.OutOfRange,
	`SELECT sum(i64 * 2) FROM edges`:                status.OutOfRange,
	`SELECT max(u64::BIGINT) FROM edges`:            status.OutOfRange,
	`SELECT max(m38::DECIMAL(9,2)) FROM edges`:      status.OutOfRange,
	`SELECT max(m38::INTEGER) FROM edges`:           status.OutOfRange,
	`SELECT max(f::INTEGER) FROM edges`:             status.OutOfRange,
	`SELECT count(*) FROM edges WHERE i64 * id < 0`: status.OutOfRange,
	`SELECT u64::BIGINT FROM edges`:                 status.OutOfRange,
	`SELECT m38 * 10 FROM edges`:                    status.OutOfRange,
	`SELECT t::INTEGER FROM edges`:                  status.InvalidArgument,
	`SELECT nope FROM edges`:                        status.InvalidArgument,
}

// edgeClusters: all rows in one scanner, spread, in files.
var edgeClusters = map[string]struct {
	disabled [][]string
	inFiles  bool
}{
	"one":   {[][]string{nil}, false},
	"three": {[][]string{nil, {"agg"}, {"all"}}, false},
	"files": {[][]string{nil, {"filter"}}, true},
}

func TestEdges(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, c := range edgeClusters {
		t.Run(name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			w := newWorld(t, d, mem, recipe{seed: 1, tables: []*randomTable{edgeTable}, disabled: c.disabled, inFiles: c.inFiles})
			for _, sql := range edgeStatements {
				_, err := w.oracle(sql, w.inputs)
				require.NoError(t, err, sql)
				w.ask(t, sql, false)
			}
			for sql, code := range edgeErrors {
				w.refuses(t, sql, code)
			}
		})
	}
}

func (w *randomWorld) refuses(t *testing.T, sql string, code status.Code) {
	t.Helper()
	for _, level := range []string{"full", "filter", "off"} {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("pushdown", level))
		got, err := run(w.coordinator, set, sql)
		if err == nil {
			got.release()
		}
		if status.CodeOf(err) != code {
			t.Errorf("pushdown %s: %s\n%v", level, sql, err)
		}
	}
}
