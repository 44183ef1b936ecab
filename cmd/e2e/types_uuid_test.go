package e2e

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/query"
)

// uuidTable has a range of UUIDs for each partition, and texts of the same kind
// that are not all in canonical form.
var uuidTable = &randomTable{
	name:    "u",
	columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "x", typ: "UUID"}, {name: "t", typ: "VARCHAR"}},
	partitions: [][][]any{
		{{"1", "00000000-0000-0000-0000-000000000000", uuidA}, {"2", uuidA, strings.ToUpper(uuidA)}},
		{{"3", "80000000-0000-0000-0000-000000000000", "x"}, {"4", uuidB, uuidB}, {"5", nil, nil}},
		{{"6", "f0000000-0000-0000-0000-000000000000", ""}, {"7", "ffffffff-ffff-ffff-ffff-ffffffffffff", uuidB}},
	},
}

// uuidPushed are statements of which scanners do the filter.
var uuidPushed = []string{
	"SELECT id FROM u WHERE x = '" + uuidA + "'",
	"SELECT id FROM u WHERE x = '" + strings.ToUpper(uuidB) + "'",
	"SELECT id FROM u WHERE x = '{" + strings.ReplaceAll(uuidB, "-", "") + "}'",
	"SELECT id FROM u WHERE x < '80000000-0000-0000-0000-000000000000'",
	"SELECT id FROM u WHERE x BETWEEN '" + uuidA + "' AND '" + uuidB + "'",
	"SELECT id FROM u WHERE x IN ('" + uuidA + "', '" + strings.ToUpper(uuidB) + "', NULL)",
	"SELECT id FROM u WHERE x IS DISTINCT FROM '" + strings.ToUpper(uuidB) + "'",
	"SELECT min(x), max(x), count(x), count(DISTINCT x) FROM u WHERE x > '" + uuidA + "'",
	"SELECT x, count(*) FROM u WHERE x >= '" + uuidB + "' GROUP BY x",
	"SELECT id FROM u WHERE CAST(x AS VARCHAR) LIKE '%0a'",
	"SELECT id, x FROM u WHERE x <> '" + uuidA + "' ORDER BY x DESC LIMIT 2",
	"SELECT id FROM u WHERE CASE WHEN id > 3 THEN x END = '" + uuidB + "'",
}

// uuidStatements are others; texts become UUIDs at the coordinator.
var uuidStatements = []string{
	"SELECT typeof(x), typeof(t), id FROM u", "SELECT id, x FROM u", "SELECT x::VARCHAR || t FROM u",
	"SELECT id FROM u WHERE TRY_CAST(t AS UUID) = '" + uuidA + "'",
	"SELECT id FROM u WHERE id IN (1, 2, 4) AND t::UUID = x",
	"SELECT a.id, b.id FROM u a JOIN u b ON a.x = TRY_CAST(b.t AS UUID)",
	"SELECT a.id FROM u a WHERE a.x NOT IN (SELECT x FROM u WHERE x IS NOT NULL AND id > 3)",
	"SELECT id FROM u ORDER BY x NULLS FIRST, id", "SELECT lag(x) OVER (ORDER BY x, id) FROM u", "SELECT [x, NULL] FROM u",
	"SELECT upper(x) FROM u", "SELECT x LIKE 'a%' FROM u", "SELECT id FROM u WHERE x = 'no uuid'", "SELECT x::BLOB FROM u", "SELECT x + 1 FROM u",
	"SELECT id FROM u WHERE x = t", "SELECT coalesce(x, '" + strings.ToUpper(uuidA) + "') FROM u",
	"SELECT DISTINCT x FROM (SELECT x FROM u UNION ALL SELECT '" + strings.ToUpper(uuidB) + "'::UUID)",
}

// TestUUIDs: columns of UUIDs are what they are in DuckDB, and comparisons with
// constants go down and prune.
func TestUUIDs(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for name, c := range edgeClusters {
		t.Run(name, func(t *testing.T) {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			t.Cleanup(func() { mem.AssertSize(t, 0) })
			w := newWorld(t, d, mem, recipe{seed: 1, tables: []*randomTable{uuidTable}, disabled: c.disabled, inFiles: c.inFiles})
			for _, sql := range append(uuidPushed, uuidStatements...) {
				w.ask(t, sql, strings.Contains(sql, "ORDER BY x DESC"))
			}
			for _, sql := range uuidPushed {
				require.NoError(t, w.expect(t, sql).err, sql)
				explain := answer(t, d, w.coordinator, query.DefaultSettings(), "EXPLAIN "+sql)
				require.Regexp(t, `(?m)^  filter: `, explain, sql)
			}
			if !c.inFiles { // files are too young for statistics
				require.Contains(t, answer(t, d, w.coordinator, query.DefaultSettings(), "EXPLAIN "+uuidPushed[1]), "2 pruned by x")
			}
		})
	}
}

// TestUUIDParameters: clients give UUIDs as such, or as text.
func TestUUIDParameters(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	w := newWorld(t, d, memory.DefaultAllocator, recipe{seed: 1, tables: []*randomTable{uuidTable}, disabled: [][]string{nil}})
	id := extensions.NewUUIDBuilder(memory.DefaultAllocator)
	id.AppendBytes([16]byte{0: 0xa0, 15: 0x0a})
	text := array.NewStringBuilder(memory.DefaultAllocator)
	text.Append(strings.ToUpper(uuidB))
	for _, value := range []arrow.Array{id.NewArray(), text.NewArray()} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "p", Type: value.DataType()}}, nil)
		got, err := runBound(w.coordinator, query.DefaultSettings(), "SELECT CAST(id AS VARCHAR) FROM u WHERE x = ?",
			[]arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{value}, 1)})
		require.NoError(t, err)
		require.Equal(t, "4", *cells(got)[0][0])
		got.release()
	}
}
