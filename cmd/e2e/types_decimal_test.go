package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server/query"
)

// valuesTable is a table in memory with a column of a type, from JSON values.
func valuesTable(t *testing.T, partition string, typ arrow.DataType, values string) scanner.Table {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: typ}}, nil)
	x, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	require.NoError(t, err)
	ids := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range x.Len() {
		ids.Append(int64(i))
	}
	batch := array.NewRecordBatch(schema, []arrow.Array{ids.NewArray(), x}, int64(x.Len()))
	src, err := memsource.New(schema, []memsource.Partition{{ID: partition, Batches: []arrow.RecordBatch{batch}}})
	require.NoError(t, err)
	return scanner.Table{Name: "t", Source: src}
}

// TestDecimalsOfOtherWidths: decimals of 32, 64 and 256 bits are DECIMAL of the
// same digits, at every rung, beside partitions that have them in 128 bits.
func TestDecimalsOfOtherWidths(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	const ones = "111111111111111111111111111111111111.11" // 38 digits
	for _, typ := range []arrow.DataType{
		&arrow.Decimal256Type{Precision: 50, Scale: 2}, &arrow.Decimal256Type{Precision: 38, Scale: 2},
		&arrow.Decimal64Type{Precision: 18, Scale: 2}, &arrow.Decimal32Type{Precision: 9, Scale: 2},
	} {
		for _, disabled := range [][][]string{{nil, nil}, {{"agg"}, {"all"}}, {{"widen"}, {"filter"}}} {
			c := startCluster(t, []node{
				{name: "a", disable: disabled[0], tables: []scanner.Table{valuesTable(t, "0", typ, `["-1.50", null, "0.33", "2.00"]`)}},
				{name: "b", disable: disabled[1], tables: []scanner.Table{valuesTable(t, "1", &arrow.Decimal128Type{Precision: 38, Scale: 2}, `["`+ones+`", "2.00"]`)}},
			}, memory.DefaultAllocator)
			for _, level := range []string{"full", "filter", "off"} {
				set := query.DefaultSettings()
				require.NoError(t, set.Set("pushdown", level))
				for sql, want := range map[string]string{
					"SELECT typeof(x) FROM t LIMIT 1":                                   "DECIMAL(38,2)",
					"SELECT x, count(*) FROM t GROUP BY x ORDER BY x":                   "-1.50 1\n0.33 1\n2.00 2\n" + ones + " 1\nNULL 1",
					"SELECT min(x), max(x), sum(x), count(x) FROM t WHERE x < 1000":     "-1.50 2.00 2.83 4",
					"SELECT id, x FROM t WHERE x IN (0.33, " + ones + ") ORDER BY x":    "2 0.33\n0 " + ones,
					"SELECT x FROM t WHERE x = 2 OR x IS NULL ORDER BY x NULLS FIRST":   "NULL\n2.00\n2.00",
					"SELECT count(*) FROM t a JOIN t b ON a.x = b.x WHERE a.id <> b.id": "2",
				} {
					require.Equal(t, want, answer(t, d, c, set, sql), "%s %s without %s: %s", typ, level, disabled, sql)
				}
			}
		}
	}
}

// TestTooManyDigits: a value of 39 digits is an error that names table and
// column wherever it is read, and harms nobody who does not read it.
func TestTooManyDigits(t *testing.T) {
	t.Parallel()
	d, dir := newDuck(t), t.TempDir()
	path := dir + "/huge.duckdb"
	execFile(t, path, "CREATE TABLE r AS SELECT 0::BIGINT AS id, 170141183460469231731687303715884105727::HUGEINT AS x UNION ALL SELECT 1, 1")
	eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: dir, Threads: 1, Warm: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, eng.Close()) })
	huge, err := fileSource.New(fileSource.Config{Engine: eng, Partitions: []fileSource.PartitionConfig{{ID: "0", Database: path, Table: "r"}}})
	require.NoError(t, err)
	wide := &arrow.Decimal256Type{Precision: 50}
	for name, table := range map[string]scanner.Table{
		"decimal256": valuesTable(t, "0", wide, `["`+strings.Repeat("9", 39)+`", "1"]`),
		"hugeint":    {Name: "t", Source: huge},
	} {
		for _, disabled := range [][]string{nil, {"agg"}, {"all"}} {
			c := startCluster(t, []node{{name: "s", disable: disabled, tables: []scanner.Table{table}}}, memory.DefaultAllocator)
			for _, level := range []string{"full", "filter", "off"} {
				set := query.DefaultSettings()
				require.NoError(t, set.Set("pushdown", level))
				for _, sql := range []string{"SELECT max(x) FROM t", "SELECT x FROM t", "SELECT count(*) FROM t WHERE x > 5", "SELECT x, count(*) FROM t GROUP BY x"} {
					_, err := run(c, set, sql)
					about := fmt.Sprintf("%s %s without %s: %s: %v", name, level, disabled, sql, err)
					require.Equal(t, status.OutOfRange, status.CodeOf(err), about)
					require.ErrorContains(t, err, "main.t", about)
					require.Regexp(t, `column "?x\b`, err.Error(), about)
				}
				require.Equal(t, "2 1", answer(t, d, c, set, "SELECT count(*), max(id) FROM t WHERE id >= 0"))
			}
		}
	}
}
