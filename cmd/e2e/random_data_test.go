package e2e

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	bindings "github.com/duckdb/duckdb-go-bindings"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
	fileSource "github.com/tributary-db/tributary/scanner/duckdb"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
)

// randomColumn is a column that random tables may have. Doubles named "d" are
// such that their sums are exact in any order.
type randomColumn struct {
	name, typ string
	class     class
	// values are common, extremes rare and only in some tables.
	values, extremes []any
	// inParquet: a Parquet file keeps the type.
	inParquet bool
}

// uuidA and uuidB lie on both sides of the middle.
const uuidA, uuidB = "7fffffff-ffff-ffff-ffff-ffffffffffff", "a0000000-0000-0000-0000-00000000000a"

var randomColumns = []randomColumn{
	{"b", "BOOLEAN", truth, []any{"true", "false"}, nil, true},
	{"i8", "TINYINT", whole, []any{"-3", "0", "1", "2", "7"}, []any{"-128", "127"}, true},
	{"i16", "SMALLINT", whole, []any{"-3", "0", "1", "2", "300"}, []any{"-32768", "32767"}, true},
	{"i32", "INTEGER", whole, []any{"-3", "0", "1", "2", "5", "1000"}, []any{"-2147483648", "2147483647"}, true},
	{"i64", "BIGINT", whole, []any{"-3", "0", "1", "2", "5", "70000"}, []any{"-9223372036854775808", "9223372036854775807"}, true},
	{"u8", "UTINYINT", whole, []any{"0", "1", "2", "7"}, []any{"255"}, true},
	{"u16", "USMALLINT", whole, []any{"0", "1", "2", "300"}, []any{"65535"}, true},
	{"u32", "UINTEGER", whole, []any{"0", "1", "2", "5"}, []any{"4294967295"}, true},
	{"u64", "UBIGINT", whole, []any{"0", "1", "2", "5"}, []any{"18446744073709551615", "9223372036854775808"}, true},
	{"f", "FLOAT", double, []any{"-1.5", "0", "-0.0", "0.25", "2"}, []any{"nan", "inf", "-inf"}, true},
	{"f64", "DOUBLE", double, []any{"-1.5", "0", "-0.0", "0.25", "2", "1000"}, []any{"nan", "inf", "-inf"}, true},
	{"d", "DOUBLE", double, []any{"-1.5", "0.5", "0.25", "2", "1000"}, nil, true},
	{"m4", "DECIMAL(4,1)", decimal, []any{"-1.5", "0", "0.3", "2", "99.9"}, []any{"999.9", "-999.9"}, true},
	{"m9", "DECIMAL(9,2)", decimal, []any{"-1.5", "0", "0.33", "2"}, []any{"9999999.99", "-9999999.99"}, true},
	{"m18", "DECIMAL(18,3)", decimal, []any{"-1.5", "0", "0.333", "2"}, []any{"999999999999999.999"}, true},
	{"m30", "DECIMAL(30,10)", decimal, []any{"-1.5", "0", "0.3333333333", "2"}, []any{"99999999999999999999.9999999999"}, true},
	// Not all 38 digits: casts to a DECIMAL with a scale would fail, and on which rows
	// they are evaluated is a matter of the order of conditions.
	{"m38", "DECIMAL(38,0)", decimal, []any{"-2", "0", "1", "2", "12345678901234567890"}, []any{"9" + strings.Repeat("0", 27), "-" + strings.Repeat("9", 28)}, true},
	{"t", "VARCHAR", text, []any{"", "a", "A", "ab", "b", "zürich", "日本", "a_b", "a%b", `a\b`}, []any{"\U0001F600", "e\u0301", "é", " a ", strings.Repeat("long ", 100)}, true},
	{"other text", "VARCHAR", text, []any{"", "a", "key-1", "key-2", "key-10"}, nil, true},
	{"x", "BLOB", blob, []any{"", "a", `\x00`, `\xFF`, `a\x00b`}, nil, true},
	{"day", "DATE", date, []any{"2024-01-31", "2024-02-29", "1970-01-01", "1969-12-31"}, []any{"0001-01-01", "9999-12-31"}, true},
	{"at", "TIME", clock, []any{"00:00:00", "12:30:00", "23:59:59.999999"}, nil, true},
	{"ts", "TIMESTAMP", stamp, []any{"2024-01-31 00:00:00", "2024-01-31 12:00:00.5", "1969-12-31 23:59:59.999999", "1970-01-01"}, nil, true},
	{"tss", "TIMESTAMP_S", stamp, []any{"2024-01-31 00:00:00", "2024-01-31 12:00:00", "1969-12-31 23:59:59"}, nil, false},
	{"tms", "TIMESTAMP_MS", stamp, []any{"2024-01-31 00:00:00", "2024-01-31 12:00:00.5", "1969-12-31 23:59:59.999"}, nil, false},
	{"tns", "TIMESTAMP_NS", stamp, []any{"2024-01-31 00:00:00", "2024-01-31 12:00:00.5", "1969-12-31 23:59:59.999999999"}, nil, false},
	{"tz", "TIMESTAMPTZ", zoned, []any{"2024-01-31 00:00:00+00", "2024-01-31 12:00:00.5+00", "1969-12-31 23:59:59.999999+00"}, nil, true},
	{"e", "ENUM('z', 'a', 'm', '')", text, []any{"z", "a", "m", ""}, nil, false},
	{"u", "UUID", uid, []any{uuidA, uuidB, "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"}, nil, true},
	{"ints", "INTEGER[]", list, []any{"[]", "[1, 2]", "[NULL]", "[1]"}, nil, true},
	{"pair", "STRUCT(a INTEGER, b VARCHAR)", record, []any{"{'a': 1, 'b': x}", "{'a': NULL, 'b': y}", "{'a': 1, 'b': y}"}, nil, true},
	{"dur", "INTERVAL", span, []any{"1 day", "36 hours", "1 month", "-3 seconds"}, nil, false},
	{`Odd "Name"`, "INTEGER", whole, []any{"1", "2", "3"}, nil, true},
	{"select", "VARCHAR", text, []any{"x", "y"}, nil, true},
}

// few has few values, by statistics too; all random tables have it.
var few = randomColumn{"few", "INTEGER", whole, []any{"1", "2"}, nil, true}

// variant is what a column may be in some partitions: of a narrower type, with
// values of that type; without a type, the column is lacking.
type variant struct {
	typ    string
	values []any
}

// variants are those of the columns that have some; any column may be lacking.
var variants = map[string][]variant{
	"few":  {{"TINYINT", []any{"1", "2"}}, {"USMALLINT", []any{"2"}}},
	"i16":  {{"TINYINT", []any{"-3", "0", "1", "2"}}, {"UTINYINT", []any{"0", "1", "2"}}},
	"i32":  {{"SMALLINT", []any{"-3", "0", "1", "2", "5", "1000"}}, {"USMALLINT", []any{"0", "1", "2", "5", "1000"}}},
	"i64":  {{"TINYINT", []any{"-3", "0", "1", "2", "5"}}, {"INTEGER", []any{"-3", "0", "1", "2", "5", "70000"}}, {"UINTEGER", []any{"0", "1", "5", "70000"}}},
	"u64":  {{"UINTEGER", []any{"0", "1", "2", "5"}}},
	"f64":  {{"FLOAT", []any{"-1.5", "0", "-0.0", "0.25", "2", "nan"}}, {"BIGINT", []any{"0", "2", "1000"}}, {"TINYINT", []any{"0", "2"}}},
	"d":    {{"INTEGER", []any{"2", "1000"}}, {"DECIMAL(9,0)", []any{"2", "1000"}}},
	"m18":  {{"DECIMAL(9,2)", []any{"-1.5", "0", "0.33", "2"}}, {"INTEGER", []any{"0", "2"}}},
	"m30":  {{"DECIMAL(18,3)", []any{"-1.5", "0", "0.333", "2"}}, {"BIGINT", []any{"0", "2"}}},
	"m38":  {{"BIGINT", []any{"-2", "0", "1", "2"}}, {"DECIMAL(20,0)", []any{"-2", "12345678901234567890"}}},
	"ts":   {{"DATE", []any{"2024-01-31", "1970-01-01", "1969-12-31"}}, {"TIMESTAMP_MS", []any{"2024-01-31 12:00:00.5", "1969-12-31 23:59:59.999"}}},
	"tns":  {{"TIMESTAMP", []any{"2024-01-31 00:00:00", "2024-01-31 12:00:00.5"}}, {"DATE", []any{"2024-01-31", "1969-12-31"}}},
	"e":    {{"ENUM('m', 'z')", []any{"z", "m"}}, {"VARCHAR", []any{"z", "a", ""}}},
	"ints": {{"TINYINT[]", []any{"[]", "[1, 2]", "[NULL]", "[1]"}}, {"SMALLINT[]", []any{"[1, 2]", "[NULL]"}}},
	"pair": {{"STRUCT(a TINYINT, b VARCHAR)", []any{"{'a': 1, 'b': x}", "{'a': NULL, 'b': y}"}}},
}

// randomTable is a table and its partitions as rows of text.
type randomTable struct {
	name       string
	columns    []randomColumn // the first is id, unique in the table
	partitions [][][]any
	// drift are, by partition, the columns that it has another way; the first
	// partition has them all as they are.
	drift []map[string]variant
	// onlyTables: Parquet files do not keep the types.
	onlyTables bool
}

func newRandomTable(r *rand.Rand, name string, inFiles bool) *randomTable {
	t := &randomTable{name: name, columns: []randomColumn{{name: "id", typ: "BIGINT", class: whole}, few}}
	for _, i := range r.Perm(len(randomColumns))[:4+r.IntN(6)] {
		if c := randomColumns[i]; c.inParquet || !inFiles {
			t.columns = append(t.columns, c)
		}
	}
	extreme := r.IntN(3) == 0
	id := 0
	drifts := r.IntN(3) == 0
	for p := range 1 + r.IntN(6) {
		var rows [][]any
		t.drift = append(t.drift, t.newDrift(r, drifts && p > 0))
		for range []int{0, 1, r.IntN(10), r.IntN(40), r.IntN(150)}[r.IntN(5)] {
			id++
			rows = append(rows, t.row(r, id, extreme, t.drift[p]))
		}
		t.partitions = append(t.partitions, rows)
	}
	return t
}

func (t *randomTable) newDrift(r *rand.Rand, drifts bool) map[string]variant {
	out := map[string]variant{}
	for i, c := range t.columns {
		if !drifts || i == 0 {
			continue
		}
		others := variants[c.name]
		switch at := r.IntN(2 * (1 + len(others))); {
		case at < len(others):
			out[c.name] = others[at]
		case at == len(others):
			out[c.name] = variant{}
		}
	}
	return out
}

func (t *randomTable) row(r *rand.Rand, id int, extreme bool, drift map[string]variant) []any {
	row := []any{strconv.Itoa(id)}
	for _, c := range t.columns[1:] {
		other, drifts := drift[c.name]
		switch {
		case r.IntN(8) == 0 || drifts && other.typ == "":
			row = append(row, nil)
		case drifts:
			row = append(row, other.values[r.IntN(len(other.values))])
		case extreme && len(c.extremes) > 0 && r.IntN(8) == 0:
			row = append(row, c.extremes[r.IntN(len(c.extremes))])
		default:
			row = append(row, c.values[r.IntN(len(c.values))])
		}
	}
	return row
}

// sql yields the rows; enums are text where they are read as such.
func (t *randomTable) sql(rows [][]any, enums bool) string {
	columns := make([][2]string, len(t.columns))
	for i, c := range t.columns {
		columns[i] = [2]string{c.name, c.typ}
		if !enums && strings.HasPrefix(c.typ, "ENUM") {
			columns[i][1] = "VARCHAR"
		}
	}
	return castSQL(columns, rowsSQL(columns, rows))
}

// partSQL yields the rows of a partition with the columns that it has.
func (t *randomTable) partSQL(p int) string {
	var columns [][2]string
	rows := make([][]any, len(t.partitions[p]))
	for i, c := range t.columns {
		other, drifts := t.drifting(p)[c.name]
		switch {
		case drifts && other.typ == "":
			continue
		case drifts:
			c.typ = other.typ
		}
		columns = append(columns, [2]string{c.name, c.typ})
		for j, row := range t.partitions[p] {
			rows[j] = append(rows[j], row[i])
		}
	}
	return castSQL(columns, rowsSQL(columns, rows))
}

func (t *randomTable) drifting(p int) map[string]variant {
	if p < len(t.drift) {
		return t.drift[p]
	}
	return nil
}

// batches are the rows of a partition cut at random places, or into batches of
// one or two rows.
func (t *randomTable) batches(tb *testing.T, r *rand.Rand, res *result) []arrow.RecordBatch {
	size := pick(r, []int64{0, 0, 1, 2})
	var out []arrow.RecordBatch
	for _, b := range res.batches {
		step := size
		if size == 0 {
			step = 1 + r.Int64N(b.NumRows())
		}
		for at := int64(0); at < b.NumRows(); at += step {
			out = append(out, b.NewSlice(at, min(at+step, b.NumRows())))
		}
	}
	return out
}

func (t *randomTable) schema(tb *testing.T, d *duck) *arrow.Schema {
	res, err := d.query(t.sql(nil, true), nil)
	require.NoError(tb, err)
	return res.schema
}

// withheld are what scanners may be unable to do.
var withheld = [][]string{
	nil, nil, nil, {"agg"}, {"filter"}, {"all"}, {"topn"}, {"limit"}, {"expr"}, {"expr.case", "filter.like"},
	{"group.string", "agg.sum.int"}, {"filter.in", "topn"}, {"agg.minmax"}, {"expr.cast", "expr.arith"}, {"widen"}, {"widen", "filter"},
}

// recipe is what a random world is made of. Equal recipes make equal worlds.
type recipe struct {
	seed     uint64 // of how rows are spread and cut
	tables   []*randomTable
	disabled [][]string // what each scanner is unable to do
	inFiles  bool
	chaos    *exec.Chaos // nil for none
}

func randomRecipe(seed uint64) recipe {
	r := newRand(seed)
	out := recipe{seed: seed, inFiles: r.IntN(2) == 0, disabled: make([][]string, 1+r.IntN(3))}
	for i := range out.disabled {
		out.disabled[i] = withheld[r.IntN(len(withheld))]
	}
	if draw(seed, "chaos", 0).IntN(2) == 0 {
		out.chaos = &exec.Chaos{Seed: seed, Delay: 2 * time.Millisecond, Repeats: 3}
	}
	out.tables = []*randomTable{newRandomTable(r, "t1", out.inFiles), newRandomTable(r, "t2", out.inFiles)}
	for _, t := range out.tables {
		t.divide(seed)
	}
	return out
}

// draw is a generator for one thing of a recipe, so that leaving out another
// changes nothing for this one.
func draw(seed uint64, what string, i int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, what, i)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// randomWorld is a cluster over random tables and the same tables in the oracle.
type randomWorld struct {
	recipe
	coordinator *server.Coordinator
	registry    *prometheus.Registry
	duck        *duck
	tally       *tally
	last        expected
	inputs      map[string]engine.Input
	reversed    map[string]engine.Input // the same rows the other way round
	views       []engine.View
}

// newWorld spreads tables over one scanner for each list of capabilities that
// it withholds.
func newWorld(t *testing.T, d *duck, mem memory.Allocator, rec recipe) *randomWorld {
	w := &randomWorld{recipe: rec, registry: prometheus.NewRegistry(), duck: d, tally: newTally(), inputs: map[string]engine.Input{}, reversed: map[string]engine.Input{}}
	nodes := make([]node, len(rec.disabled))
	for i := range nodes {
		nodes[i] = node{name: fmt.Sprintf("s%d", i), disable: rec.disabled[i]}
	}
	for _, tab := range rec.tables {
		w.addOracle(t, tab)
		for i, src := range tab.spread(t, rec.seed, d, len(nodes), rec.inFiles) {
			nodes[i].tables = append(nodes[i].tables, scanner.Table{Name: tab.name, Source: src})
		}
	}
	w.coordinator = startWith(t, nodes, server.Config{Alloc: mem, Registry: w.registry, Chaos: rec.chaos})
	return w
}

// addOracle gives the oracle the union of the partitions.
func (w *randomWorld) addOracle(t *testing.T, tab *randomTable) {
	rows := slices.Concat(tab.partitions...)
	for _, inputs := range []map[string]engine.Input{w.inputs, w.reversed} {
		res, err := w.duck.query(tab.sql(rows, false), nil)
		require.NoError(t, err)
		inputs[tab.name] = fixed{res}
		slices.Reverse(rows)
	}
	w.views = append(w.views, engine.View{Schema: "main", Name: tab.name, Input: tab.name, UUIDs: tab.uuids()})
}

// uuids are the columns of UUIDs.
func (t *randomTable) uuids() (names []string) {
	for _, c := range t.columns {
		if c.typ == "UUID" {
			names = append(names, c.name)
		}
	}
	return names
}

// marked has the table's columns of UUIDs marked.
func (t *randomTable) marked(schema *arrow.Schema) *arrow.Schema {
	fields := schema.Fields()
	for i, f := range fields {
		if slices.Contains(t.uuids(), f.Name) {
			fields[i] = pushdown.MarkUUID(f)
		}
	}
	return arrow.NewSchema(fields, nil)
}

// spread gives each scanner a source with its share of the partitions.
func (t *randomTable) spread(tb *testing.T, seed uint64, d *duck, scanners int, inFiles bool) []scanner.Source {
	owned := make([][]int, scanners)
	for p := range t.partitions {
		s := draw(seed, t.name+" owner", p).IntN(scanners)
		if p == 0 && len(t.drift) > 1 {
			s = 0 // the table's columns are in the order of the first scanner's
		}
		owned[s] = append(owned[s], p)
	}
	out := make([]scanner.Source, scanners)
	for s, own := range owned {
		if inFiles && len(own) > 0 && draw(seed, t.name+" source", s).IntN(3) > 0 {
			out[s] = t.files(tb, seed, own)
		} else {
			out[s] = t.memory(tb, seed, d, own)
		}
	}
	return out
}

func (t *randomTable) memory(tb *testing.T, seed uint64, d *duck, own []int) scanner.Source {
	var parts []memsource.Partition
	schema := t.schema(tb, d)
	narrow := len(own) > 0 && draw(seed, t.name+" narrow", own[0]).IntN(2) == 0
	for i, p := range own {
		res := d.rows(tb, t.partSQL(p))
		schema = unite(tb, schema, res.schema, narrow && i == 0)
		batches := t.batches(tb, draw(seed, t.name+" cut", p), res)
		parts = append(parts, memsource.Partition{ID: strconv.Itoa(p), Batches: batches, Promise: t.promise(tb, seed, batches)})
	}
	src, err := memsource.New(t.marked(schema), parts)
	require.NoError(tb, err)
	return src
}

// negativeZero reports that a partition has one: DuckDB's Parquet writer and its
// compressed tables make 0 of it where the column also has 0, which a division tells apart.
func (t *randomTable) negativeZero(p int) bool {
	return slices.ContainsFunc(t.partitions[p], func(row []any) bool { return slices.Contains(row, any("-0.0")) })
}

// files writes each partition to a Parquet file or a DuckDB database.
func (t *randomTable) files(tb *testing.T, seed uint64, own []int) scanner.Source {
	dir := tb.TempDir()
	keep := int64(draw(seed, t.name+" kept", 0).IntN(2)) << 24 // half of them from memory
	eng, err := fileSource.NewEngine(fileSource.EngineConfig{TempDir: dir, Threads: 1, Warm: 1, KeepBytes: keep})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, eng.Close()) })
	cfg := fileSource.Config{Engine: eng, PieceBytes: 1 << draw(seed, t.name+" pieces", 0).IntN(12), SampleFrom: int64(1 + draw(seed, t.name+" sampled", 0).IntN(40))} // many are read in pieces
	for _, p := range own {
		part := fileSource.PartitionConfig{ID: strconv.Itoa(p)}
		path := filepath.Join(dir, part.ID)
		rows := t.partSQL(p)
		if !t.onlyTables && !t.negativeZero(p) && (keep > 0 || draw(seed, t.name+" file", p).IntN(2) == 0) {
			part.Files = []string{path + ".parquet"}
			execFile(tb, "", "COPY ("+rows+") TO '"+path+".parquet'")
			old := time.Now().Add(-time.Minute) // what was just written might still change
			require.NoError(tb, os.Chtimes(path+".parquet", old, old))
		} else {
			part.Database, part.Table = path+".duckdb", "rows"
			create := "CREATE TABLE rows AS " + rows
			if t.negativeZero(p) {
				create = "PRAGMA force_compression = 'uncompressed'; " + create
			}
			execFile(tb, part.Database, create)
		}
		cfg.Partitions = append(cfg.Partitions, part)
	}
	src, err := fileSource.New(cfg)
	require.NoError(tb, err)
	return src
}

// execFile runs one statement in a database file, "" for none.
func execFile(tb *testing.T, path, sql string) {
	var db bindings.Database
	require.Equal(tb, bindings.StateSuccess, bindings.Open(path, &db), path)
	defer bindings.Close(&db)
	var conn bindings.Connection
	require.Equal(tb, bindings.StateSuccess, bindings.Connect(db, &conn))
	defer bindings.Disconnect(&conn)
	var res bindings.Result
	defer bindings.DestroyResult(&res)
	state := bindings.Query(conn, sql, &res)
	require.Equal(tb, bindings.StateSuccess, state, "%.200s: %s", sql, bindings.ResultError(&res))
	if path != "" {
		_, err := os.Stat(path)
		require.NoError(tb, err)
	}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
