package e2e

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	memsource "github.com/tributary-db/tributary/scanner/memory"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query"
)

var rungs = []string{"full", "filter", "off"}

// schemaStatements are over edges; the schemas must not depend on how they are
// asked for, on the rung, or on whether there are rows.
var schemaStatements = []string{
	`SELECT * FROM edges`,
	`SELECT NULL AS n, 1::UTINYINT AS u, 1.5 AS d, 'x' AS t, id FROM edges`,
	`SELECT sum(id) AS s, count(*) AS n, avg(u64), min(m38), max(ts), sum(f), sum(m38) FROM edges`,
	`SELECT t, count(DISTINCT id), sum(u64), NULL AS nothing FROM edges GROUP BY t`,
	`SELECT DATE '2024-01-01' + INTERVAL 1 DAY AS day, INTERVAL 3 DAY AS span, ts::TIMESTAMPTZ AS z, ts::TIME AS c, ts::TIMESTAMP_NS AS ns FROM edges`,
	`SELECT list(id) AS l, {'a': max(id), 'b': [min(t)]} AS s, MAP {'k': count(*)} AS m, 'a'::BLOB AS x FROM edges`,
	`SELECT uuid() AS u, 'a'::ENUM('a', 'b') AS e, id = 1 AS b, id::HUGEINT AS h, id::DECIMAL(9,2) AS d, f::FLOAT AS f FROM edges`,
	`SELECT id, id, t AS id FROM edges ORDER BY ts LIMIT 2`,
	`SELECT a.day, b.u64 FROM edges a LEFT JOIN edges b ON a.id = b.id + 1`,
	`SELECT row_number() OVER (ORDER BY id) AS r, lag(m38) OVER (ORDER BY id) AS p FROM edges`,
	`SELECT 1 AS one UNION ALL SELECT NULL`,
	`SHOW TABLES`,
	`DESCRIBE edges`,
	`EXPLAIN SELECT count(*) FROM edges`,
}

// TestSchemaSentIsTheSchemaPromised by FlightInfo, GetSchema and the prepared
// statement.
func TestSchemaSentIsTheSchemaPromised(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	empty := &randomTable{name: "edges", columns: edgeTable.columns, partitions: [][][]any{{}, {}}}
	for name, tab := range map[string]*randomTable{"rows": edgeTable, "none": empty} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nodes []node
			for i, src := range tab.spread(t, 1, d, 2, false) {
				nodes = append(nodes, node{name: fmt.Sprint(i), tables: []scanner.Table{{Name: "edges", Source: src}}})
			}
			client := connect(t, serve(t, startCluster(t, nodes, memory.DefaultAllocator)))
			for _, sql := range schemaStatements {
				var first *arrow.Schema
				for _, level := range rungs {
					_, err := client.ExecuteUpdate(t.Context(), "SET pushdown = '"+level+"'")
					require.NoError(t, err)
					for i, s := range schemasOf(t, client, sql) {
						if first == nil {
							first = s
						}
						require.True(t, first.Equal(s) && first.Metadata().Equal(s.Metadata()), "%s %s %d\n%s\n%s", level, sql, i, first, s)
					}
				}
			}
		})
	}
}

// TestFailureInMidStream: the client gets an error that names the partition, no
// row of the aggregate, and the next query works.
func TestFailureInMidStream(t *testing.T) {
	t.Parallel()
	bad := &faulty{Source: numberedSource(t, 2, 3)} // partition 2
	nodes := []node{
		{name: "good", tables: []scanner.Table{{Name: "t", Source: &faulty{Source: numberedSource(t, 0, 3)}}}},
		{name: "also good", tables: []scanner.Table{{Name: "t", Source: numberedSource(t, 1, 3)}}},
		{name: "bad", tables: []scanner.Table{{Name: "t", Source: bad}}},
	}
	client := connect(t, serve(t, startCluster(t, nodes, memory.DefaultAllocator)))
	for name, f := range map[string]*fault{
		"before the first batch": {err: status.New(status.DataLoss, "the file is broken")},
		"after two batches":      {after: 2, err: status.New(status.DataLoss, "the file is broken")},
		"a panic":                {after: 2, panic: true},
		"out of memory":          {after: 3, err: status.New(status.ResourceExhausted, "no memory")},
	} {
		for _, level := range rungs {
			_, err := client.ExecuteUpdate(t.Context(), "SET pushdown = '"+level+"'")
			require.NoError(t, err)
			for _, sql := range []string{`SELECT sum(v) FROM t`, `SELECT k, sum(v) FROM t GROUP BY k`, `SELECT * FROM t`, `SELECT v FROM t ORDER BY k, v`} {
				bad.broken.Store(f)
				got, err := fetch(t.Context(), client, sql)
				require.Error(t, err, "%s: %s: %s", name, level, sql)
				require.Nil(t, got)
				require.NotEqual(t, codes.Unknown, grpcstatus.Code(err), "%v", err)
				require.ErrorContains(t, err, "main.t")
				require.ErrorContains(t, err, "partitions 2")
				bad.broken.Store(nil)
			}
			got, err := fetch(t.Context(), client, `SELECT * FROM t`)
			require.NoError(t, err)
			require.EqualValues(t, 15000, got.rows())
			got.release()
		}
	}
}

// TestEmptyResults have one endpoint, a schema and a clean end.
func TestEmptyResults(t *testing.T) {
	t.Parallel()
	none := func(id string) memsource.Partition {
		return memsource.Partition{ID: id, Batches: []arrow.RecordBatch{numbered(t, 1, 0)}}
	}
	nothing, err := memsource.New(numberedSchema, []memsource.Partition{none("0"), {ID: "1"}, none("2")})
	require.NoError(t, err)
	holes, err := memsource.New(numberedSchema, []memsource.Partition{{ID: "0", Batches: []arrow.RecordBatch{
		numbered(t, 1, 3), numbered(t, 1, 0), numbered(t, 4, 6), numbered(t, 1, 0),
	}}})
	require.NoError(t, err)
	d := newDuck(t)
	client := connect(t, serve(t, startCluster(t, []node{{name: "s", tables: []scanner.Table{{Name: "nothing", Source: nothing}, {Name: "holes", Source: holes}}}}, memory.DefaultAllocator)))
	for _, level := range rungs {
		_, err := client.ExecuteUpdate(t.Context(), "SET pushdown = '"+level+"'")
		require.NoError(t, err)
		for sql, rows := range map[string]int64{
			`SELECT * FROM holes WHERE false`: 0, `SELECT * FROM holes WHERE v > 100`: 0, `SELECT * FROM holes LIMIT 0`: 0, `SELECT * FROM holes OFFSET 10`: 0,
			`SELECT * FROM nothing`: 0, `SELECT k, count(*) FROM nothing GROUP BY k`: 0, `SELECT v FROM nothing ORDER BY k LIMIT 3`: 0,
			`SELECT * FROM nothing UNION ALL SELECT * FROM nothing`: 0, `SELECT * FROM holes`: 6, `SELECT count(*) FROM nothing`: 1,
		} {
			got, err := fetch(t.Context(), client, sql)
			require.NoError(t, err, sql)
			require.NotZero(t, got.schema.NumFields(), sql)
			require.Equal(t, rows, got.rows(), sql)
			got.release()
		}
		got, err := fetch(t.Context(), client, `SELECT count(*), (SELECT count(*) FROM nothing), sum(v) FROM holes`)
		require.NoError(t, err)
		require.Equal(t, "6 0 21", one(t, d, got))
		got.release()
	}
}

// TestMessagesFitClients: every message is below the default limit of a client;
// a row that cannot be is an error for one query only.
func TestMessagesFitClients(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	texts := func(rows, length int) memsource.Partition {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for range rows {
			b.Append(strings.Repeat("x", length))
		}
		return memsource.Partition{ID: "0", Batches: []arrow.RecordBatch{array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, int64(rows))}}
	}
	var tables []scanner.Table
	for name, p := range map[string]memsource.Partition{"short": texts(200_000, 100), "long": texts(200, 100_000), "giant": texts(1, 8<<20)} {
		src, err := memsource.New(schema, []memsource.Partition{p})
		require.NoError(t, err)
		tables = append(tables, scanner.Table{Name: name, Source: src})
	}
	addr := serve(t, startCluster(t, []node{{name: "s", tables: tables}}, memory.DefaultAllocator))
	client := connect(t, addr)
	for _, sql := range []string{`SELECT * FROM short`, `SELECT s || 'y' AS s FROM short`, `SELECT * FROM long`, `SELECT upper(s) FROM long`} {
		got, err := fetch(t.Context(), client, sql)
		require.NoError(t, err, sql)
		want := int64(200)
		if strings.Contains(sql, "short") {
			want = 200_000
		}
		require.Equal(t, want, got.rows(), sql)
		got.release()
	}
	for _, sql := range []string{`SELECT * FROM giant`, `SELECT upper(s) FROM giant`} {
		_, err := fetch(t.Context(), client, sql)
		require.Equal(t, codes.ResourceExhausted, grpcstatus.Code(err), "%s: %v", sql, err)
		got, err := fetch(t.Context(), client, `SELECT count(*) FROM short`)
		require.NoError(t, err)
		got.release()
		got, err = fetch(t.Context(), connect(t, addr, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20))), sql)
		require.NoError(t, err, sql)
		require.EqualValues(t, 1, got.rows())
		got.release()
	}
}

// TestScannerRestartsBetweenPlanAndRows: the rows come, or an error; once it is
// back, all rows come at once.
func TestScannerRestartsBetweenPlanAndRows(t *testing.T) {
	t.Parallel()
	stop, addr := startStoppable(t, numberedSource(t, 0, 1), "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := server.New(ctx, server.Config{Scanners: []string{addr}, Refresh: 50 * time.Millisecond, Logger: zerolog.Nop(), Engine: engine.Config{Warm: 1, Threads: 1}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Catalog().WaitReady(ctx))
	client := connect(t, serve(t, c))
	for _, sql := range []string{`SELECT * FROM t`, `SELECT k, count(*) FROM t GROUP BY k`} {
		info, err := client.Execute(ctx, sql)
		require.NoError(t, err)
		stop()
		got, err := fetchInfo(ctx, client, info)
		require.Error(t, err, "the owner of the rows is down: %v", got)
		require.Equal(t, codes.Unavailable, grpcstatus.Code(err), "%v", err)
		stop, _ = startStoppable(t, numberedSource(t, 0, 1), addr)
		within(t, 20*time.Second, "the coordinator sees the new scanner", func() bool {
			got, err = fetchInfo(ctx, client, info)
			return err == nil
		})
		want := int64(15000)
		if strings.Contains(sql, "GROUP") {
			want = 7
		}
		require.Equal(t, want, got.rows())
		got.release()
	}
	stop()
}

// TestBlackHole: a scanner that takes calls and never answers costs a query its
// deadline, not minutes.
func TestBlackHole(t *testing.T) {
	t.Parallel()
	stuck := &faulty{Source: numberedSource(t, 0, 1)}
	stuck.broken.Store(&fault{delay: time.Hour})
	client := connect(t, serve(t, startCluster(t, []node{{name: "s", tables: []scanner.Table{{Name: "t", Source: stuck}}}}, memory.DefaultAllocator)))
	_, err := client.ExecuteUpdate(t.Context(), "SET statement_timeout = '200ms'")
	require.NoError(t, err)
	for _, sql := range []string{`SELECT * FROM t`, `SELECT sum(v) FROM t`, `SELECT a.v FROM t a JOIN t b ON a.v = b.k`} {
		begun := time.Now()
		_, err := fetch(t.Context(), client, sql)
		require.Equal(t, codes.DeadlineExceeded, grpcstatus.Code(err), "%v", err)
		require.Less(t, time.Since(begun), 5*time.Second)
	}
}

// startStoppable serves a source as table t until stop is called or the test
// ends.
func startStoppable(t *testing.T, src scanner.Source, addr string) (stop func(), at string) {
	t.Helper()
	return startStoppableTables(t, []scanner.Table{{Name: "t", Source: src}}, addr)
}

func startStoppableTables(t testing.TB, tables []scanner.Table, addr string) (stop func(), at string) {
	t.Helper()
	s, err := scanner.New(scanner.Config{Name: "s", Tables: tables, Logger: zerolog.Nop()})
	require.NoError(t, err)
	lis, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-served)
		require.NoError(t, s.Close())
	}
	t.Cleanup(stop)
	return stop, lis.Addr().String()
}

// TestLimitStopsTheScan: a plain LIMIT reads a small part of the table.
func TestLimitStopsTheScan(t *testing.T) {
	t.Parallel()
	var parts []memsource.Partition
	for p := range 3 {
		part := memsource.Partition{ID: fmt.Sprint(p)}
		b := numbered(t, 1, 1000)
		for range 1000 {
			part.Batches = append(part.Batches, b)
		}
		parts = append(parts, part)
	}
	src, err := memsource.New(numberedSchema, parts)
	require.NoError(t, err)
	counted := &faulty{Source: src}
	c := startCluster(t, []node{{name: "s", tables: []scanner.Table{{Name: "t", Source: counted}}}}, memory.DefaultAllocator)
	// Lower rungs stop when the coordinator has enough.
	for level, most := range map[string]int64{"full": 150_000, "filter": 1_500_000, "off": 1_500_000} {
		set := query.DefaultSettings()
		require.NoError(t, set.Set("pushdown", level))
		for _, sql := range []string{`SELECT * FROM t WHERE k = 3 LIMIT 10`, `SELECT * FROM t LIMIT 10`, `SELECT v FROM t LIMIT 5 OFFSET 5`} {
			counted.read.Store(0)
			got, err := run(c, set, sql)
			require.NoError(t, err)
			got.release()
			require.Less(t, counted.read.Load(), most, "%s %s", level, sql)
		}
	}
}

// TestOneStatementTwice: a table may be read several times by one statement, and
// a prepared statement run again.
func TestOneStatementTwice(t *testing.T) {
	t.Parallel()
	d := newDuck(t)
	client := connect(t, serve(t, startCluster(t, []node{{name: "s", tables: []scanner.Table{{Name: "t", Source: numberedSource(t, 0, 1)}}}}, memory.DefaultAllocator)))
	for sql, want := range map[string]string{
		`SELECT (SELECT count(*) FROM t), (SELECT sum(v) FROM t)`:                                                                "15000 112507500",
		`SELECT count(*) FROM t a JOIN t b ON a.v = b.v + 1`:                                                                     "14999",
		`WITH q AS (SELECT v FROM t WHERE k = 1) SELECT (SELECT count(*) FROM q), (SELECT max(v) FROM q)`:                        "2143 14995",
		`WITH RECURSIVE r AS (SELECT 1::BIGINT AS v UNION ALL SELECT t.v FROM r JOIN t ON t.v = r.v * 2) SELECT count(*) FROM r`: "14",
	} {
		prepared, err := client.Prepare(t.Context(), sql)
		require.NoError(t, err, sql)
		for range 3 {
			info, err := prepared.Execute(t.Context())
			require.NoError(t, err, sql)
			got, err := fetchInfo(t.Context(), client, info)
			require.NoError(t, err, sql)
			require.Equal(t, want, one(t, d, got), sql)
			got.release()
		}
		require.NoError(t, prepared.Close(t.Context()))
	}
}
