package plan

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

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

// testSnapshot has a table t of all types, a small table u, a table e without
// partitions, and the tables of TPC-H.
func testSnapshot(t testing.TB) *catalog.Snapshot {
	full := pushdown.AllCapabilities()
	s1, s2, s3 := testScanner("s1", full), testScanner("s2", full.Without("agg")), testScanner("s3", full.Without("all"))
	snap := &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}, Scanners: map[string]*catalog.Scanner{"s1": s1, "s2": s2, "s3": s3}}
	tables := []*catalog.Table{
		testTable(t, "t", allTypes, 4, s1, s2, s3),
		testTable(t, "u", "a INTEGER, s VARCHAR, v DOUBLE", 2, s1),
		testTable(t, "e", "x INTEGER, y VARCHAR", 0, s1),
		testTable(t, "lists", "l LIST, a INTEGER", 1, s1),
	}
	for name, fields := range tpch() {
		tables = append(tables, testTable(t, name, fields, 3, s1, s2, s3))
	}
	for _, table := range tables {
		snap.Tables[table.ID()] = table
	}
	return snap
}

func tpch() map[string]string {
	return map[string]string{
		"lineitem": "l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber BIGINT, l_quantity DECIMAL(15,2), l_extendedprice DECIMAL(15,2), " +
			"l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag VARCHAR, l_linestatus VARCHAR, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, " +
			"l_shipinstruct VARCHAR, l_shipmode VARCHAR, l_comment VARCHAR",
		"orders": "o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus VARCHAR, o_totalprice DECIMAL(15,2), o_orderdate DATE, o_orderpriority VARCHAR, " +
			"o_clerk VARCHAR, o_shippriority INTEGER, o_comment VARCHAR",
		"customer": "c_custkey BIGINT, c_name VARCHAR, c_address VARCHAR, c_nationkey INTEGER, c_phone VARCHAR, c_acctbal DECIMAL(15,2), c_mktsegment VARCHAR, c_comment VARCHAR",
		"part":     "p_partkey BIGINT, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, p_size INTEGER, p_container VARCHAR, p_retailprice DECIMAL(15,2), p_comment VARCHAR",
		"partsupp": "ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty BIGINT, ps_supplycost DECIMAL(15,2), ps_comment VARCHAR",
		"supplier": "s_suppkey BIGINT, s_name VARCHAR, s_address VARCHAR, s_nationkey INTEGER, s_phone VARCHAR, s_acctbal DECIMAL(15,2), s_comment VARCHAR",
		"nation":   "n_nationkey INTEGER, n_name VARCHAR, n_regionkey INTEGER, n_comment VARCHAR",
		"region":   "r_regionkey INTEGER, r_name VARCHAR, r_comment VARCHAR",
	}
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
