package adapt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env plans statements over tables on one scanner.
type env struct {
	planner *plan.Planner
	snap    *catalog.Snapshot
}

func newEnv(t *testing.T, tables ...*catalog.Table) *env {
	binder, err := engine.NewBinder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, binder.Close()) })
	e := &env{planner: plan.New(query.NewBinder(binder)), snap: &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}}
	for _, table := range tables {
		e.snap.Tables[table.ID()] = table
	}
	return e
}

func (e *env) plan(t *testing.T, sql string) *plan.Plan {
	p, err := e.planner.Plan(t.Context(), sql, e.snap, plan.Options{})
	require.NoError(t, err, sql)
	return p
}

// types of the columns in table definitions.
var types = map[string]arrow.DataType{
	"INTEGER": arrow.PrimitiveTypes.Int32, "BIGINT": arrow.PrimitiveTypes.Int64, "VARCHAR": arrow.BinaryTypes.String,
	"DOUBLE": arrow.PrimitiveTypes.Float64, "DATE": arrow.FixedWidthTypes.Date32,
	"DECIMAL(15,2)": &arrow.Decimal128Type{Precision: 15, Scale: 2},
}

// table reads "name type, …".
func table(t *testing.T, name, columns string, rows int64) *catalog.Table {
	scanner := &catalog.Scanner{Name: "s", Addr: "s:1", Epoch: "1", Capabilities: pushdown.AllCapabilities()}
	out := &catalog.Table{Schema: "main", Name: name, Partitions: []catalog.Partition{{ID: "0", Owners: []*catalog.Scanner{scanner}, Rows: rows, Bytes: -1}}}
	var fields []arrow.Field
	for _, c := range strings.Split(columns, ", ") {
		column, kind, _ := strings.Cut(c, " ")
		require.Contains(t, types, kind)
		fields = append(fields, arrow.Field{Name: column, Type: types[kind], Nullable: true})
	}
	out.Arrow = arrow.NewSchema(fields, nil)
	return out
}

// smallTables are for the golden files.
func smallTables(t *testing.T) []*catalog.Table {
	var out []*catalog.Table
	for _, name := range []string{"t", "u", "v"} {
		out = append(out, table(t, name, "a INTEGER, b BIGINT, s VARCHAR, f DOUBLE", 1000))
	}
	return out
}

// tpch are the tables and statements of TPC-H.
func tpch(t *testing.T) (tables []*catalog.Table, statements []string) {
	text, err := os.ReadFile("../plan/testdata/tpch/schema.sql")
	require.NoError(t, err)
	for line := range strings.Lines(strings.ReplaceAll(string(text), " NOT NULL", "")) {
		name, columns, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "CREATE TABLE ")), "(")
		if ok {
			tables = append(tables, table(t, name, strings.TrimSuffix(columns, ");"), -1))
		}
	}
	files, err := filepath.Glob("../plan/testdata/tpch/q*.sql")
	require.NoError(t, err)
	require.Len(t, files, 22)
	for _, f := range files {
		sql, err := os.ReadFile(f)
		require.NoError(t, err)
		statements = append(statements, strings.TrimRight(strings.TrimSpace(string(sql)), ";"))
	}
	return tables, statements
}

func scanName(p *plan.Plan, i int) string {
	return fmt.Sprintf("%s(%s)", p.Scans[i].ID, p.Scans[i].Table.Name)
}
