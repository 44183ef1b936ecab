package plan

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
)

// fieldsOf reads "name type, …" with the types that arrowType knows, and some
// that only Arrow has.
func fieldsOf(t testing.TB, text string) *arrow.Schema {
	var fields []arrow.Field
	for _, part := range strings.Split(text, ", ") {
		name, kind, _ := strings.Cut(part, " ")
		dt := arrowType(Type(kind))
		switch kind {
		case "DICT":
			dt = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
		case "LARGE":
			dt = arrow.BinaryTypes.LargeString
		case "LIST":
			dt = arrow.ListOf(arrow.PrimitiveTypes.Int32)
		}
		require.NotNil(t, dt, part)
		fields = append(fields, arrow.Field{Name: name, Type: dt, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// testTable has n partitions that take turns on the scanners.
func testTable(t testing.TB, name, fields string, n int, scanners ...*catalog.Scanner) *catalog.Table {
	out := &catalog.Table{Schema: "main", Name: name, Arrow: fieldsOf(t, fields)}
	if len(scanners) == 0 {
		scanners = []*catalog.Scanner{testScanner("s1", pushdown.AllCapabilities())}
	}
	for i := range n {
		out.Partitions = append(out.Partitions, catalog.Partition{
			ID: fmt.Sprintf("p%d", i), Owners: []*catalog.Scanner{scanners[i%len(scanners)]}, Rows: -1, Bytes: -1,
		})
	}
	return out
}

func testScanner(name string, caps pushdown.Capabilities) *catalog.Scanner {
	return &catalog.Scanner{Name: name, Addr: name + ":1", Epoch: "1", Capabilities: caps}
}

const allTypes = "a INTEGER, b BIGINT, s VARCHAR, d DECIMAL(15,2), f DOUBLE, g FLOAT, h DECIMAL(38,0), ub UBIGINT, ti TINYINT, " +
	"bo BOOLEAN, dt DATE, ts TIMESTAMP, tz TIMESTAMPTZ, di DICT, la LARGE, l LIST, bl BLOB, usm USMALLINT"

// factTable has statistics of its rows, which are what world.fill makes them; dim
// has none.
func factTable(t testing.TB, scanners ...*catalog.Scanner) *catalog.Table {
	out := testTable(t, "fact", "k INTEGER, g INTEGER, b BIGINT, d DECIMAL(15,2), h DECIMAL(38,0), f DOUBLE, s VARCHAR, dt DATE, ts TIMESTAMP, bo BOOLEAN, l LIST", 4, scanners...)
	digit := codec.ColumnStats{Min: scalar.NewInt32Scalar(0), Max: scalar.NewInt32Scalar(9), Nulls: -1}
	days := codec.ColumnStats{Min: scalar.NewDate32Scalar(8000), Max: scalar.NewDate32Scalar(10_999), Nulls: -1}
	for i := range out.Partitions {
		out.Partitions[i].Rows = []int64{0, 1, 60, 600}[i]
		out.Partitions[i].Columns = map[string]codec.ColumnStats{"k": digit, "g": digit, "b": int64Stats(0, 700, -1), "bo": {Nulls: -1}, "dt": days}
	}
	return out
}

// testSnapshot has a table t of all types, a small table u, a table e without
// partitions, tables fact and dim, and the tables of TPC-H.
func testSnapshot(t testing.TB) *catalog.Snapshot {
	full := pushdown.AllCapabilities()
	s1, s2, s3 := testScanner("s1", full), testScanner("s2", full.Without("agg")), testScanner("s3", full.Without("all"))
	snap := &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}, Scanners: map[string]*catalog.Scanner{"s1": s1, "s2": s2, "s3": s3}}
	tables := []*catalog.Table{
		testTable(t, "t", allTypes, 4, s1, s2, s3),
		testTable(t, "u", "a INTEGER, s VARCHAR, v DOUBLE", 2, s1),
		testTable(t, "e", "x INTEGER, y VARCHAR", 0, s1),
		testTable(t, "lists", "l LIST, a INTEGER", 1, s1),
		factTable(t, s1, s2, s3),
		testTable(t, "dim", "k INTEGER, g INTEGER, s VARCHAR, x INTEGER", 3, s1, s3),
	}
	for _, table := range append(tables, suiteTables(t, "tpch", s1, s2, s3)...) {
		snap.Tables[table.ID()] = table
	}
	return snap
}

// suiteTables are the tables of testdata/<suite>/schema.sql.
func suiteTables(t testing.TB, suite string, scanners ...*catalog.Scanner) []*catalog.Table {
	text, err := os.ReadFile("testdata/" + suite + "/schema.sql")
	require.NoError(t, err)
	var out []*catalog.Table
	for line := range strings.Lines(strings.ReplaceAll(string(text), " NOT NULL", "")) {
		name, fields, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "CREATE TABLE ")), "(")
		if ok {
			out = append(out, testTable(t, name, strings.TrimSuffix(fields, ");"), 3, scanners...))
		}
	}
	require.NotEmpty(t, out)
	return out
}

// newSuiteEnv has the tables of one suite only.
func newSuiteEnv(t testing.TB, suite string) *rulesEnv {
	snap := &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}
	for _, table := range suiteTables(t, suite, testScanner("s1", pushdown.AllCapabilities())) {
		snap.Tables[table.ID()] = table
	}
	env := &rulesEnv{binder: newEngineBinder(t), snap: snap}
	require.NoError(t, env.binder.Sync(t.Context(), snap))
	return env
}

// engineBinder is the real binder of the embedded engine.
type engineBinder struct{ *engine.Binder }

func newEngineBinder(t testing.TB) engineBinder {
	b, err := engine.NewBinder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return engineBinder{b}
}

func (b engineBinder) Sync(ctx context.Context, snap *catalog.Snapshot) error {
	var shadows []engine.ShadowTable
	for _, t := range snap.Tables {
		if t.Arrow != nil {
			shadows = append(shadows, engine.ShadowTable{Schema: t.Schema, Name: t.Name, Arrow: t.Arrow})
		}
	}
	return b.Binder.Sync(ctx, snap.Version, shadows)
}

func (b engineBinder) Bind(ctx context.Context, sql string) (*Bound, error) {
	bound, err := b.Binder.Bind(ctx, sql)
	if err != nil {
		return nil, err
	}
	return &Bound{PlanJSON: bound.PlanJSON, Schema: bound.Schema, SQLTypes: bound.SQLTypes}, nil
}

// rulesEnv binds statements for the tests of rules.
type rulesEnv struct {
	binder engineBinder
	snap   *catalog.Snapshot
}

func newRulesEnv(t testing.TB) *rulesEnv {
	env := &rulesEnv{binder: newEngineBinder(t), snap: testSnapshot(t)}
	require.NoError(t, env.binder.Sync(t.Context(), env.snap))
	return env
}

func (env *rulesEnv) bind(t testing.TB, sql string) Node {
	bound, err := env.binder.Bind(t.Context(), sql)
	require.NoError(t, err, sql)
	root, err := Read(bound.PlanJSON, env.snap)
	require.NoError(t, err, sql)
	return root
}
