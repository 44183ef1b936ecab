package plan

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
)

// tripTables are the tables of testdata/roundtrip, of all types.
func tripTables() map[string]string {
	return map[string]string{
		"r": `SELECT (i*2)::INTEGER AS a, CASE WHEN i=2 THEN NULL ELSE i END::BIGINT AS b,
			CASE WHEN i%2=0 THEN 'abc' ELSE 'zz' END AS s FROM range(6) x(i)`,
		"t": `SELECT i::INTEGER AS a, CASE WHEN i%5=0 THEN NULL ELSE i*7919%13 END::BIGINT AS b,
			CASE i%4 WHEN 0 THEN 'abc' WHEN 1 THEN 'aXb' WHEN 2 THEN NULL ELSE 'a%b' END
				|| CASE WHEN i%2=0 THEN '' ELSE i::VARCHAR END AS s,
			DATE '2020-01-31'+(i*17)::INTEGER AS d, TIMESTAMP '2020-01-31 10:00:00.5'+to_seconds(i*1000003) AS ts,
			((i-3)*1.25)::DECIMAL(10,2) AS dec,
			CASE i WHEN 3 THEN 'nan'::DOUBLE WHEN 4 THEN 'inf'::DOUBLE WHEN 5 THEN -0.0 ELSE i/3.0 END AS f,
			CASE WHEN i%3=0 THEN NULL ELSE [i,NULL,i*2,1] END::INTEGER[] AS l,
			{'x': i::INTEGER, 'y': 'v'||i} AS st, CASE WHEN i%2=0 THEN 'a' ELSE 'b' END::ENUM('a','b') AS e,
			('a'||i)::BLOB AS bl, ('00000000-0000-0000-0000-0000000000'||lpad(i::VARCHAR,2,'0'))::UUID AS u,
			i::HUGEINT*1000000000000000000000 AS h, to_days(i::INTEGER) AS i, TIMESTAMPTZ '2020-06-01 00:00:00+00'+to_hours(i) AS tz,
			MAP {'a': i::INTEGER, 'b': 2} AS m, i%2=0 AS bo, (i*1.1)::FLOAT AS fl, TIME '10:00:00'+to_minutes(i) AS tm,
			(i*100.25)::DECIMAL(15,2) AS d15, (i*1.5)::DECIMAL(4,1) AS d4, (i*12345678901234.5)::DECIMAL(38,5) AS d38,
			(i*1.001)::DECIMAL(18,3) AS d18, (i%100)::TINYINT AS ti, i::UBIGINT AS ub, ['q'||i,'z',NULL] AS ll,
			[i::INTEGER,2,3]::INTEGER[3] AS ar FROM range(12) x(i)`,
	}
}

// trip runs statements as they are and as they are written back.
type trip struct {
	*world
}

func newTrip(t testing.TB) *trip {
	env := &rulesEnv{binder: newEngineBinder(t), snap: &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}}
	pool, err := engine.New(engine.Config{Threads: 1, Warm: 1, TempDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	out := &trip{&world{rulesEnv: env, pool: pool, rows: map[string]map[string][]arrow.RecordBatch{}}}
	for name, sql := range tripTables() {
		out.addTable(t, name, sql)
	}
	require.NoError(t, env.binder.Sync(t.Context(), env.snap))
	return out
}

func (w *trip) addTable(t testing.TB, name, sql string) {
	res, err := w.pool.Run(t.Context(), engine.Query{SQL: sql})
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Close()) }()
	table := &catalog.Table{Schema: "main", Name: name, Partitions: []catalog.Partition{{ID: "p"}}}
	w.snap.Tables[table.ID()] = table
	w.rows[table.ID()] = map[string][]arrow.RecordBatch{}
	for {
		b, err := res.Next(t.Context())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		w.rows[table.ID()]["p"] = append(w.rows[table.ID()]["p"], b)
	}
	table.Arrow = res.Schema()
}

// written binds a statement and writes it back.
func (w *trip) written(t testing.TB, sql string) (engine.Query, error) {
	bound, err := w.binder.Bind(t.Context(), sql)
	require.NoError(t, err, sql)
	root, err := Read(bound.PlanJSON, w.snap)
	if err != nil {
		return engine.Query{}, err
	}
	require.Equal(t, unnamedFields(bound.SQLTypes), mapSlice(root.Columns(), func(t Type) string { return string(t) }), sql)
	names := make([]string, bound.Schema.NumFields())
	for i, f := range bound.Schema.Fields() {
		names[i] = f.Name
	}
	text, err := Render(root, names, plainScan)
	q := engine.Query{SQL: text, Inputs: map[string]engine.Input{}, Schema: bound.Schema}
	for id, table := range w.snap.Tables {
		q.Inputs[table.Name] = &memoryInput{schema: table.Arrow, batches: w.rows[id]["p"]}
	}
	return q, err
}

// unnamedFields writes structs without names as the planner does.
func unnamedFields(types []string) []string {
	return mapSlice(types, func(t string) string {
		if strings.Contains(t, `"" `) {
			t = strings.ReplaceAll(strings.ReplaceAll(t, `"" `, ""), "STRUCT(", unnamedStruct)
		}
		return t
	})
}

// plainScan reads a table as it is.
func plainScan(s *Scan) string {
	all := make([]string, s.Table.Arrow.NumFields())
	for i, f := range s.Table.Arrow.Fields() {
		all[i] = quoteName(f.Name)
	}
	columns := numbered(len(s.Output))
	for i, c := range s.Output {
		columns[i] = "0 AS " + columns[i]
		if c >= 0 {
			columns[i] = all[c] + " AS c" + columns[i][len("0 AS c"):]
		}
	}
	sql := "SELECT " + strings.Join(append(columns, "0"), ", ") + " FROM remote('" + s.Table.Name + "')"
	for i, e := range s.Filter {
		text, err := ExprSQL(e, all)
		if err != nil {
			return err.Error()
		}
		sql += []string{" WHERE ", " AND "}[min(i, 1)] + text
	}
	return sql
}

func tripStatements(t testing.TB, file string) []string {
	text, err := os.ReadFile("testdata/roundtrip/" + file)
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool { return l == "" || strings.HasPrefix(l, "--") })
}

// totalOrder matches a statement that ends in ORDER BY.
var totalOrder = regexp.MustCompile(`(?i)order by [^()]*$`)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	w := newTrip(t)
	for _, sql := range tripStatements(t, "statements.sql") {
		q, err := w.written(t, sql)
		require.NoError(t, err, sql)
		want, got := w.oracle(t, sql), w.run(t, q)
		if !totalOrder.MatchString(sql) {
			slices.Sort(want)
			slices.Sort(got)
		}
		require.Equal(t, want, got, "%s\n%s", sql, q.SQL)
	}
}

func TestRoundTripFails(t *testing.T) {
	t.Parallel()
	w := newTrip(t)
	for _, sql := range tripStatements(t, "failing.sql") {
		q, err := w.written(t, sql)
		require.NoError(t, err, sql)
		require.Error(t, w.drain(t, q), sql)
	}
}

func (w *trip) drain(t testing.TB, q engine.Query) error {
	res, err := w.pool.Run(t.Context(), q)
	if err != nil {
		return err
	}
	defer func() { require.NoError(t, res.Close()) }()
	for {
		b, err := res.Next(t.Context())
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b.Release()
	}
}

func TestRoundTripRefuses(t *testing.T) {
	t.Parallel()
	w := newTrip(t)
	for _, sql := range tripStatements(t, "refused.sql") {
		_, err := w.written(t, sql)
		require.Equal(t, status.Unimplemented, status.CodeOf(err), "%s: %v", sql, err)
	}
}

// TestBenchmarkQueries writes TPC-H and TPC-DS back and binds them again: the
// types stay, to the last digit, and so does what the plan reads.
func TestBenchmarkQueries(t *testing.T) {
	t.Parallel()
	for suite, queries := range map[string]int{"tpch": 22, "tpcds": 99} {
		env := benchmarkEnv(t, suite)
		files, err := os.ReadDir("testdata/" + suite)
		require.NoError(t, err)
		require.Len(t, files, queries+1)
		for _, f := range files {
			if f.Name() == "schema.sql" {
				continue
			}
			text, err := os.ReadFile("testdata/" + suite + "/" + f.Name())
			require.NoError(t, err)
			env.rebind(t, f.Name(), string(text))
		}
	}
}

func benchmarkEnv(t testing.TB, suite string) *rulesEnv {
	env := &rulesEnv{binder: newEngineBinder(t), snap: &catalog.Snapshot{Version: 1, Tables: map[string]*catalog.Table{}}}
	ddl, err := os.ReadFile("testdata/" + suite + "/schema.sql")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`CREATE TABLE (\w+)\((.*)\);`).FindAllStringSubmatch(string(ddl), -1) {
		fields := strings.ReplaceAll(strings.ReplaceAll(m[2], " NOT NULL", ""), "INTEGER PRIMARY KEY", "INTEGER")
		table := &catalog.Table{Schema: "main", Name: m[1], Arrow: fieldsOf(t, fields)}
		env.snap.Tables[table.ID()] = table
	}
	require.NoError(t, env.binder.Sync(t.Context(), env.snap))
	return env
}

func (env *rulesEnv) rebind(t testing.TB, name, sql string) {
	bound, err := env.binder.Bind(t.Context(), sql)
	require.NoError(t, err, name)
	root, err := Read(bound.PlanJSON, env.snap)
	require.NoError(t, err, name)
	names := mapSlice(bound.Schema.Fields(), func(f arrow.Field) string { return f.Name })
	text, err := Render(root, names, func(s *Scan) string {
		return strings.Replace(plainScan(s), "remote('"+s.Table.Name+"')", s.Table.Name, 1)
	})
	require.NoError(t, err, name)
	again, err := env.binder.Bind(t.Context(), text)
	require.NoError(t, err, "%s\n%s", name, text)
	require.Equal(t, bound.SQLTypes, again.SQLTypes, name)
	require.Equal(t, names, mapSlice(again.Schema.Fields(), func(f arrow.Field) string { return f.Name }), name)
	second, err := Read(again.PlanJSON, env.snap)
	require.NoError(t, err, "%s\n%s", name, text)
	require.Equal(t, scanned(root), scanned(second), name)
}

// scanned are the tables that a plan reads.
func scanned(n Node) []string {
	out := mapSlice(Scans(n), func(s *Scan) string { return s.Table.Name })
	slices.Sort(out)
	return out
}

func TestRenderChecksNames(t *testing.T) {
	t.Parallel()
	_, err := Render(&Values{Types: []Type{"INTEGER"}}, nil, plainScan)
	require.Equal(t, status.Internal, status.CodeOf(err))
	text, err := Render(&Limit{Input: &Values{Types: []Type{"INTEGER"}}, Count: pushdown.NoLimit}, []string{`a"b`}, plainScan)
	require.NoError(t, err)
	require.Equal(t, `SELECT t1.c0 AS "a""b" FROM (SELECT NULL::INTEGER AS c0 WHERE false) t1`, text)
}
