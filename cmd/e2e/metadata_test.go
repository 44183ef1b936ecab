package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
)

const manyTables = 5000

var strangeNames = []string{`it's`, `100%`, `a_b`, `a"b`, `back\slash`, "ünïcode 😀", `; DROP TABLE t0; --`, strings.Repeat("long", 250), "new\nline"}

// startManyTables serves 5,000 tables of 12 columns, and some with strange names
// in the schema odd, by a scanner that the returned function stops.
func startManyTables(t testing.TB) (client *flightsql.Client, stop func()) {
	t.Helper()
	fields := []arrow.Field{{Name: "u", Type: arrow.PrimitiveTypes.Uint32}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}}}
	for i := range 10 {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("column_%d", i), Type: arrow.BinaryTypes.String})
	}
	src, err := memsource.New(arrow.NewSchema(fields, nil), nil)
	require.NoError(t, err)
	var tables []scanner.Table
	for i := range manyTables {
		tables = append(tables, scanner.Table{Schema: fmt.Sprintf("s%d", i%10), Name: fmt.Sprintf("t%d", i), Source: src})
	}
	for _, name := range strangeNames {
		tables = append(tables, scanner.Table{Schema: "odd", Name: name, Source: src})
	}
	stop, addr := startStoppableTables(t, tables, "127.0.0.1:0")
	_, at := coordinate(t, []string{addr}, server.Config{Refresh: time.Hour})
	return connect(t, at), stop
}

// metadataRows reads all rows of a metadata command as text, and compares its
// schema with the specification's.
func metadataRows(t testing.TB, client *flightsql.Client, want *arrow.Schema, info *flight.FlightInfo, err error) [][]string {
	t.Helper()
	require.NoError(t, err)
	promised, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	require.NoError(t, err)
	require.True(t, want.Equal(promised), "%s\n%s", want, promised)
	got, err := fetchInfo(context.Background(), client, info)
	require.NoError(t, err)
	defer got.release()
	require.True(t, want.Equal(got.schema), "%s\n%s", want, got.schema)
	rows := [][]string{}
	for _, b := range got.batches {
		for i := range int(b.NumRows()) {
			row := make([]string, b.NumCols())
			for c := range row {
				switch col := b.Column(c).(type) {
				case *array.Binary:
					row[c] = string(col.Value(i))
				default:
					row[c] = col.ValueStr(i)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func pointer(s string) *string { return &s }

// TestMetadataOfManyTables is answered from the catalog: the scanner is gone.
func TestMetadataOfManyTables(t *testing.T) {
	t.Parallel()
	client, stop := startManyTables(t)
	stop()
	tables := func(o *flightsql.GetTablesOpts) [][]string {
		want := schema_ref.Tables
		if o.IncludeSchema {
			want = schema_ref.TablesWithIncludedSchema
		}
		info, err := client.GetTables(t.Context(), o)
		return metadataRows(t, client, want, info, err)
	}
	require.Len(t, tables(&flightsql.GetTablesOpts{}), manyTables+len(strangeNames))
	all := tables(&flightsql.GetTablesOpts{IncludeSchema: true})
	require.Len(t, all, manyTables+len(strangeNames), "in messages that a client takes by default")
	schema, err := flight.DeserializeSchema([]byte(all[4000][4]), memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, 12, schema.NumFields())
	require.Equal(t, arrow.PrimitiveTypes.Int64, schema.Field(0).Type, "as a query yields it")
	precision, _ := schema.Field(1).Metadata.GetValue("ARROW:FLIGHT:SQL:PRECISION")
	require.Equal(t, "12", precision)
	for i := 1; i < len(all); i++ {
		require.Less(t, all[i-1][1]+"\x00"+all[i-1][2], all[i][1]+"\x00"+all[i][2], "in order")
	}

	for name, c := range map[string]struct {
		opts *flightsql.GetTablesOpts
		want int
	}{
		"a name":                 {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer("t4711")}, 1},
		"a pattern":              {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer("t47__")}, 100},
		"a schema":               {&flightsql.GetTablesOpts{DbSchemaFilterPattern: pointer("s7")}, manyTables / 10},
		"both":                   {&flightsql.GetTablesOpts{DbSchemaFilterPattern: pointer("s_"), TableNameFilterPattern: pointer("t%7")}, manyTables / 10},
		"the catalog":            {&flightsql.GetTablesOpts{Catalog: pointer("tributary"), DbSchemaFilterPattern: pointer("odd")}, len(strangeNames)},
		"another catalog":        {&flightsql.GetTablesOpts{Catalog: pointer("other")}, 0},
		"no catalog":             {&flightsql.GetTablesOpts{Catalog: pointer("")}, 0},
		"views":                  {&flightsql.GetTablesOpts{TableTypes: []string{"VIEW"}}, 0},
		"tables and views":       {&flightsql.GetTablesOpts{TableTypes: []string{"VIEW", "TABLE"}, TableNameFilterPattern: pointer("t1")}, 1},
		"a quote":                {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer("it's")}, 1},
		"escaped":                {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer(`100\%`)}, 1},
		"a statement":            {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer(`; DROP TABLE t0; --`)}, 1},
		"1 MB of anything":       {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer(strings.Repeat("%", 1<<20))}, manyTables + len(strangeNames)},
		"1 MB of underscores":    {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer(strings.Repeat("_", 1<<20))}, 0},
		"512 kB of alternatives": {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer(strings.Repeat("%_", 1<<18)), DbSchemaFilterPattern: pointer(strings.Repeat("%a", 1<<18))}, 0},
		"bytes that are 0":       {&flightsql.GetTablesOpts{TableNameFilterPattern: pointer("\x00")}, 0},
	} {
		require.Len(t, tables(c.opts), c.want, name)
	}
	for _, name := range strangeNames {
		rows := tables(&flightsql.GetTablesOpts{DbSchemaFilterPattern: pointer("odd"), TableNameFilterPattern: pointer(strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(name))})
		require.Equal(t, [][]string{{"tributary", "odd", name, "TABLE"}}, rows)
	}

	info, err := client.GetDBSchemas(t.Context(), &flightsql.GetDBSchemasOpts{DbSchemaFilterPattern: pointer("s%")})
	require.Len(t, metadataRows(t, client, schema_ref.DBSchemas, info, err), 10)
	info, err = client.GetCatalogs(t.Context())
	require.Equal(t, [][]string{{"tributary"}}, metadataRows(t, client, schema_ref.Catalogs, info, err))
	info, err = client.GetTableTypes(t.Context())
	require.Equal(t, [][]string{{"TABLE"}}, metadataRows(t, client, schema_ref.TableTypes, info, err))
	info, err = client.GetXdbcTypeInfo(t.Context(), nil)
	require.NotEmpty(t, metadataRows(t, client, schema_ref.XdbcTypeInfo, info, err))
	for _, name := range append(strangeNames, "t1", strings.Repeat("x", 1<<17)) {
		ref := flightsql.TableRef{Catalog: pointer("tributary"), DBSchema: pointer(name), Table: name}
		info, err = client.GetPrimaryKeys(t.Context(), ref)
		require.Empty(t, metadataRows(t, client, schema_ref.PrimaryKeys, info, err))
		info, err = client.GetImportedKeys(t.Context(), ref)
		require.Empty(t, metadataRows(t, client, schema_ref.ImportedKeys, info, err))
		info, err = client.GetExportedKeys(t.Context(), ref)
		require.Empty(t, metadataRows(t, client, schema_ref.ExportedKeys, info, err))
		info, err = client.GetCrossReference(t.Context(), ref, ref)
		require.Empty(t, metadataRows(t, client, schema_ref.CrossReference, info, err))
	}
}

// BenchmarkMetadata asks for all of 5,000 tables.
func BenchmarkMetadata(b *testing.B) {
	client, _ := startManyTables(b)
	for name, opts := range map[string]*flightsql.GetTablesOpts{
		"names": {}, "schemas": {IncludeSchema: true}, "one": {IncludeSchema: true, TableNameFilterPattern: pointer("t4711")},
	} {
		b.Run("what="+name, func(b *testing.B) {
			for b.Loop() {
				info, err := client.GetTables(b.Context(), opts)
				require.NoError(b, err)
				got, err := fetchInfo(b.Context(), client, info)
				require.NoError(b, err)
				got.release()
			}
		})
	}
}
