package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server/query"
)

// typeCase is a column type and values of it.
type typeCase struct {
	typ    string
	values []any
	// unordered: DuckDB has no MIN and MAX of it.
	unordered bool
	// inParquet: a Parquet file keeps the type.
	inParquet bool
}

var typeCases = []typeCase{
	{"HUGEINT", []any{"-99999999999999999999999999999999999999", "0", "1", "99999999999999999999999999999999999999"}, false, false},
	{"UUID", []any{"00000000-0000-0000-0000-000000000000", "7fffffff-ffff-ffff-ffff-ffffffffffff", "a0000000-0000-0000-0000-00000000000a"}, false, true},
	{"INTERVAL", []any{"1 month", "-3 seconds", "14 months -3 days 1 microsecond"}, false, false},
	{"TIME", []any{"00:00:00", "23:59:59.999999"}, false, true},
	{"TIME_NS", []any{"00:00:00.000000001", "23:59:59.999999999"}, false, false},
	{"TIMESTAMPTZ", []any{"1969-12-31 23:59:59.999999+00", "2024-02-29 12:00:00+05:30"}, false, true},
	{"ENUM('b', 'a')", []any{"a", "b"}, false, false},
	{"JSON", []any{`{"a": 1}`, "[1, 2]"}, false, true},
	{"INTEGER[3]", []any{"[1, 2, 3]", "[1, NULL, 3]"}, false, false},
	{"VARCHAR[][]", []any{"[[a], NULL, []]", "[]", "[[NULL]]"}, false, true},
	{"DOUBLE[]", []any{"[nan, inf, -0.0]", "[0.5]"}, false, true},
	{"STRUCT(a INTEGER, b STRUCT(c VARCHAR[], d DATE))", []any{"{'a': 1, 'b': {'c': [x, y], 'd': 2024-01-01}}", "{'a': NULL, 'b': NULL}"}, false, true},
	{"MAP(VARCHAR, INTEGER[])", []any{"{k=[1, 2]}", "{}", "{a=NULL, b=[]}"}, false, true},
	{"STRUCT(t TIMESTAMP, m DECIMAL(9,2), e BLOB)[]", []any{`[{'t': 2024-01-01 00:00:00, 'm': 1.25, 'e': \x00}, NULL]`, "[]"}, false, true},
	{"BLOB[]", []any{`[\xFF\x00, NULL]`}, false, true},
	{"UBIGINT[]", []any{"[18446744073709551615]"}, false, true},
	{"STRUCT(u UUID, h HUGEINT)", []any{"{'u': 00000000-0000-0000-0000-0000000000ff, 'h': 12}"}, false, false},
}

// TestTypes: columns of every type come back as they are, at every rung, from
// rows in memory, Parquet files and DuckDB tables.
func TestTypes(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	for _, c := range typeCases {
		for _, inFiles := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/files=%t", c.typ, inFiles), func(t *testing.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				t.Cleanup(func() { mem.AssertSize(t, 0) })
				w := c.world(t, d, mem, inFiles)
				for _, sql := range c.statements() {
					w.ask(t, sql, false)
				}
			})
		}
	}
}

func (c typeCase) statements() []string {
	out := []string{
		"SELECT x FROM t", "SELECT id, x FROM t WHERE x IS NOT NULL", "SELECT count(*), count(x) FROM t WHERE x IS NULL OR id > 1",
		"SELECT x, count(*), min(id) FROM t GROUP BY x", "SELECT DISTINCT x FROM t WHERE id > 1",
		"SELECT count(DISTINCT x) FROM t", "SELECT a.id, b.id FROM t a JOIN t b ON a.x = b.x",
		"SELECT id, x FROM t ORDER BY id DESC LIMIT 3", "SELECT any_value(x) IS NULL FROM t WHERE id = 1",
	}
	if !c.unordered {
		out = append(out, "SELECT min(x), max(x) FROM t", "SELECT id FROM t ORDER BY x NULLS LAST, id LIMIT 2", "SELECT count(*) FROM t WHERE x > (SELECT min(x) FROM t)")
	}
	for _, v := range c.values {
		out = append(out, fmt.Sprintf("SELECT count(*) FROM t WHERE x = CAST(%s AS %s)", literal(v), c.typ))
	}
	return out
}

// world spreads the values over partitions of two scanners, one of which only
// sends rows.
func (c typeCase) world(t *testing.T, d *duck, mem memory.Allocator, inFiles bool) *randomWorld {
	tab := &randomTable{name: "t", onlyTables: !c.inParquet, columns: []randomColumn{{name: "id", typ: "BIGINT"}, {name: "x", typ: c.typ}}}
	for p := range 3 {
		rows := [][]any{{fmt.Sprint(10 * p), nil}}
		for i, v := range c.values {
			rows = append(rows, []any{fmt.Sprint(10*p + i + 1), v})
		}
		tab.partitions = append(tab.partitions, rows)
	}
	return newWorld(t, d, mem, recipe{seed: 1, tables: []*randomTable{tab}, disabled: [][]string{nil, {"all"}}, inFiles: inFiles})
}

// TestUncarriedTypes: a type that cannot be carried is an error that names the
// table and the column, at every rung.
func TestUncarriedTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tables []scanner.Table
	for i, value := range []string{"'101'::BIT", "TIMETZ '00:00:00+01'", "1::UHUGEINT", "union_value(a := 1)", "1::BIGNUM", "[TIMETZ '00:00:00+01']", "{'a': '1'::BIT}"} {
		path := filepath.Join(dir, fmt.Sprintf("d%d.duckdb", i))
		execFile(t, path, "CREATE TABLE r AS SELECT 1 AS fine, "+value+" AS odd")
		eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: dir, Threads: 1, Warm: 1})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, eng.Close()) })
		src, err := fileSource.New(fileSource.Config{Engine: eng, Partitions: []fileSource.PartitionConfig{{ID: "0", Database: path, Table: "r"}}})
		require.NoError(t, err)
		tables = append(tables, scanner.Table{Name: fmt.Sprintf("d%d", i), Source: src})
	}
	for i, typ := range []arrow.DataType{
		&arrow.Decimal256Type{Precision: 50, Scale: 40}, arrow.ListOf(&arrow.Decimal64Type{Precision: 5}), arrow.FixedWidthTypes.Duration_s, arrow.FixedWidthTypes.Float16,
		arrow.FixedWidthTypes.MonthInterval, arrow.ListOf(arrow.FixedWidthTypes.Float16), arrow.StructOf(), arrow.ListViewOf(arrow.PrimitiveTypes.Int8),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int8), extensions.NewUUIDType(),
		arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}}, []arrow.UnionTypeCode{0}),
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "fine", Type: arrow.PrimitiveTypes.Int8}, {Name: "odd", Type: typ}}, nil)
		rec := array.NewRecordBatch(schema, []arrow.Array{
			array.MakeArrayOfNull(memory.DefaultAllocator, arrow.PrimitiveTypes.Int8, 1), array.MakeArrayOfNull(memory.DefaultAllocator, typ, 1),
		}, 1)
		src, err := memsource.New(schema, []memsource.Partition{{ID: "0", Batches: []arrow.RecordBatch{rec}}})
		require.NoError(t, err)
		tables = append(tables, scanner.Table{Name: fmt.Sprintf("m%d", i), Source: src})
	}
	c := startCluster(t, []node{{name: "s", tables: tables}}, memory.DefaultAllocator)
	for _, tab := range tables {
		for _, level := range []string{"full", "filter", "off"} {
			set := query.DefaultSettings()
			require.NoError(t, set.Set("pushdown", level))
			_, err := run(c, set, "SELECT count(*), max(odd) FROM "+tab.Name)
			require.ErrorContains(t, err, "main."+tab.Name)
			require.ErrorContains(t, err, `"odd"`)
		}
	}
}

// TestHugeValue: a value of 64 MB travels alone, from memory and from a file, at
// every rung.
func TestHugeValue(t *testing.T) {
	t.Parallel()
	const size = 64 << 20
	d, dir := newDuck(t), t.TempDir()
	rows := fmt.Sprintf("SELECT i AS id, CASE i WHEN 1 THEN repeat('x', %d) WHEN 2 THEN 'small' END AS x FROM range(3) r(i)", size)
	execFile(t, "", "COPY ("+rows+") TO '"+dir+"/t.parquet'")
	eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: dir, Threads: 1, Warm: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	file, err := fileSource.FromGlob(eng, dir+"/t.parquet")
	require.NoError(t, err)
	held := d.rows(t, rows)
	inMemory, err := memsource.New(held.schema, []memsource.Partition{{ID: "0", Batches: held.batches}})
	require.NoError(t, err)
	c := startCluster(t, []node{{name: "s", tables: []scanner.Table{{Name: "f", Source: file}, {Name: "m", Source: inMemory}}}}, memory.DefaultAllocator)
	for _, level := range []string{"full", "off"} {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("pushdown", level))
		for _, table := range []string{"f", "m"} {
			for sql, want := range map[string]string{
				"SELECT length(x), count(*) FROM (SELECT x FROM %s GROUP BY x) GROUP BY ALL ORDER BY 1": fmt.Sprintf("5 1\n%d 1\nNULL 1", size),
				"SELECT length(max(x)) FROM %s":          fmt.Sprint(size),
				"SELECT id FROM %s WHERE x LIKE 'xxx%%'": "1",
			} {
				require.Equal(t, want, answer(t, d, c, set, fmt.Sprintf(sql, table)), "%s %s %s", level, table, sql)
			}
			r, err := run(c, set, "SELECT x FROM "+table+" WHERE id < 2")
			require.NoError(t, err)
			longest := 0
			for _, b := range r.batches {
				for i := range int(b.NumRows()) {
					longest = max(longest, len(b.Column(0).(*array.String).Value(i)))
				}
			}
			require.Equal(t, size, longest)
			r.release()
		}
	}
}
