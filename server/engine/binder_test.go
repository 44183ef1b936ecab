package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func testBinder(t testing.TB) *Binder {
	b, err := NewBinder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	require.NoError(t, b.Sync(t.Context(), 1, []ShadowTable{
		{"main", "t", arrow.NewSchema([]arrow.Field{
			{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
			{Name: "B c", Type: arrow.BinaryTypes.String, Nullable: true},
			{Name: "d", Type: &arrow.Decimal128Type{Precision: 12, Scale: 2}, Nullable: true},
		}, nil)},
		{"sa", "u", arrow.NewSchema([]arrow.Field{{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us}}, nil)},
		{"main", "bad", arrow.NewSchema([]arrow.Field{{Name: "x", Type: &arrow.Decimal256Type{Precision: 50}}}, nil)},
	}))
	return b
}

func TestBind(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	cases := []struct{ sql, names, types string }{
		{"select a, count(*) n from t group by a", "a,n", "INTEGER,BIGINT"},
		{"SELECT sum(a) AS s, avg(d), sum(d) FROM tributary.main.t;", "s,avg(d),sum(d)", "HUGEINT,DOUBLE,DECIMAL(38,2)"},
		{"from sa.u", "ts", "TIMESTAMP WITH TIME ZONE"},
		{"values (1, 'x'), (2, 'y')", "col0,col1", "INTEGER,VARCHAR"},
		{"with q as (select \"B c\" from t) select * from q", "B c", "VARCHAR"},
		{"select [a], {'x': a, 'y': d}, map {'k': a} from t", "", "INTEGER[],STRUCT(\"x\" INTEGER, \"y\" DECIMAL(12,2)),MAP(VARCHAR, INTEGER)"},
		{"select 'ab'::ENUM('ab', 'c')", "", "ENUM('ab', 'c')"},
		{"select 1; -- done", "1", "INTEGER"},
		{"select * from range(10)", "range", "BIGINT"},
		{"pivot (select a, d from t) on a in (1, 2) using sum(d)", "1,2", "DECIMAL(38,2),DECIMAL(38,2)"},
		{"describe t", "column_name,column_type,null,key,default,extra", "VARCHAR,VARCHAR,VARCHAR,VARCHAR,VARCHAR,VARCHAR"},
	}
	for _, c := range cases {
		bound, err := b.Bind(t.Context(), c.sql)
		require.NoError(t, err, c.sql)
		require.True(t, json.Valid(bound.PlanJSON), c.sql)
		require.Equal(t, c.types, strings.Join(bound.SQLTypes, ","), c.sql)
		names := []string{}
		for _, f := range bound.Schema.Fields() {
			names = append(names, f.Name)
		}
		if c.names != "" {
			require.Equal(t, c.names, strings.Join(names, ","), c.sql)
		}
	}
}

func TestBindParameters(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	bound, err := b.Bind(t.Context(), "select a from t where a > ? and d < ?")
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, bound.Params)
	decimal := ParamType{Arrow: &arrow.Decimal128Type{Precision: 12, Scale: 2}, SQL: "DECIMAL(12,2)"}
	require.Equal(t, []ParamType{{Arrow: arrow.PrimitiveTypes.Int32, SQL: "INTEGER"}, decimal}, bound.ParamTypes)
	require.Equal(t, []string{"INTEGER"}, bound.SQLTypes)
	require.Empty(t, bound.PlanJSON)
	bound, err = b.Bind(t.Context(), "select $x, a from t")
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, bound.Params)
	require.Equal(t, []ParamType{{}}, bound.ParamTypes, "nothing says what it is")
	require.Nil(t, bound.Schema)
}

func TestBindRefuses(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	cases := []struct {
		sql  string
		code status.Code
		text string
	}{
		{"selec 1", status.InvalidArgument, "syntax error at or near \"selec\" (line 1, column 1)"},
		{"select\n a + from t", status.InvalidArgument, "(line 2, column 6)"},
		{"select nope from t", status.InvalidArgument, "Binder Error: Referenced column \"nope\" not found"},
		{"select * from missing", status.InvalidArgument, "Table with name missing does not exist"},
		{"select * from bad", status.Unimplemented, "table main.bad: column \"x\""},
		{"select 1; select 2", status.InvalidArgument, "expected one statement, found 2"},
		{"", status.InvalidArgument, "expected one statement, found 0"},
		{"-- nothing", status.InvalidArgument, "expected one statement, found 0"},
		{"select 'a\x00b'", status.InvalidArgument, "zero byte"},
		{"select '\xff'", status.InvalidArgument, "not valid UTF-8"},
		{"select 1e999999", status.InvalidArgument, "out of the range of DOUBLE"},
		{"select " + strings.Repeat("9", 10_000), status.InvalidArgument, "out of the range of DOUBLE"},
		{"copy t to '/tmp/x'", status.Unimplemented, "COPY"},
		{"/* hi */ attach '/tmp/x'", status.Unimplemented, "ATTACH"},
		{"detach tributary", status.Unimplemented, "DETACH"},
		{"install httpfs", status.Unimplemented, "INSTALL"},
		{"load httpfs", status.Unimplemented, "LOAD"},
		{"set threads = 1", status.Unimplemented, "SET"},
		{"reset threads", status.Unimplemented, "RESET"},
		{"pragma database_list", status.Unimplemented, "PRAGMA"},
		{"call enable_logging()", status.Unimplemented, "CALL"},
		{"create table x(a int)", status.Unimplemented, "CREATE"},
		{"drop table t", status.Unimplemented, "DROP"},
		{"insert into t values (1, 'x', 2)", status.Unimplemented, "INSERT"},
		{"with q as (select 1) insert into t select * from q", status.Unimplemented, ""},
		{"delete from t", status.Unimplemented, "DELETE"},
		{"update t set a = 1", status.Unimplemented, "UPDATE"},
		{"export database '/tmp/x'", status.Unimplemented, "EXPORT"},
		{"checkpoint", status.Unimplemented, "CHECKPOINT"},
		{"explain select 1", status.Unimplemented, "EXPLAIN"},
		{"prepare p as select 1", status.Unimplemented, "PREPARE"},
		{"begin", status.Unimplemented, "BEGIN"},
		{"pivot t on a using sum(d)", status.Unimplemented, "PIVOT"},
		{"select * from read_parquet('/etc/passwd')", status.PermissionDenied, "read_parquet"},
		{"select * from read_text('/etc/passwd')", status.PermissionDenied, "read_text"},
		{"select * from READ_CSV('/etc/passwd')", status.PermissionDenied, "read_csv"},
		{"select * from read_blob('/etc/passwd')", status.PermissionDenied, "read_blob"},
		{"select * from glob('/etc/*')", status.PermissionDenied, "glob"},
		{"select 1 where exists (from sniff_csv('/etc/passwd'))", status.PermissionDenied, "sniff_csv"},
		{"select * from query('select 1')", status.PermissionDenied, "query"},
		{"select * from enable_logging()", status.PermissionDenied, "enable_logging"},
		{"from json_execute_serialized_sql('{}')", status.PermissionDenied, "json_execute_serialized_sql"},
		{"select * from '/etc/passwd'", status.InvalidArgument, "does not exist"},
		{"select * from '/etc/passwd.csv'", status.InvalidArgument, ""},
		{"select getenv('HOME')", status.InvalidArgument, "getenv"},
		{"select * from remote('x')", status.InvalidArgument, "remote"},
		{"select 1::uhugeint", status.Unimplemented, "cast it to VARCHAR"},
		{strings.Repeat("(", 300) + "select 1" + strings.Repeat(")", 300), status.InvalidArgument, "nests 300 deep"},
		{"select '" + strings.Repeat("x", 2<<20) + "'", status.InvalidArgument, "at most 1048576"},
	}
	for _, c := range cases {
		_, err := b.Bind(t.Context(), c.sql)
		require.Error(t, err, "%.80s", c.sql)
		if c.sql != "select * from '/etc/passwd.csv'" {
			require.Equal(t, c.code, status.CodeOf(err), "%.80s: %v", c.sql, err)
		}
		require.Contains(t, err.Error(), c.text, "%.80s", c.sql)
	}
}

// TestSyncWhileBinding swaps versions under running statements.
func TestSyncWhileBinding(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	stop := time.Now().Add(300 * time.Millisecond)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for time.Now().Before(stop) {
				if _, err := b.Bind(context.Background(), "select a from t where a = 1"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for v := uint64(2); time.Now().Before(stop); v++ {
		require.NoError(t, b.Sync(t.Context(), v, []ShadowTable{{"main", "t", arrow.NewSchema([]arrow.Field{
			{Name: "a", Type: arrow.PrimitiveTypes.Int64},
			{Name: "b" + strings.Repeat("x", int(v%2)), Type: arrow.PrimitiveTypes.Int64}}, nil)}}))
	}
	wg.Wait()
	bound, err := b.Bind(t.Context(), "from t")
	require.NoError(t, err)
	require.Equal(t, []string{"BIGINT", "BIGINT"}, bound.SQLTypes)
}

// TestSyncSameTables: a version without other tables keeps the instance.
func TestSyncSameTables(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	before := b.current
	tables := []ShadowTable{{"main", "t", arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)}}
	require.NoError(t, b.Sync(t.Context(), 7, tables))
	require.NotSame(t, before, b.current)
	before = b.current
	require.NoError(t, b.Sync(t.Context(), 8, slices.Clone(tables)))
	require.Same(t, before, b.current)
	require.True(t, b.synced(8))
	require.NoError(t, b.Close())
	require.Equal(t, status.Unavailable, status.CodeOf(b.Sync(t.Context(), 9, nil)))
}

func TestBindCanceled(t *testing.T) {
	t.Parallel()
	b := testBinder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.Bind(ctx, "select 1")
	require.Equal(t, status.Canceled, status.CodeOf(err))
}

func TestNesting(t *testing.T) {
	t.Parallel()
	cases := []struct {
		sql  string
		want int
	}{
		{"select 1", 0},
		{"select ((1))", 2},
		{"select '((((' || \"((\" || $$(((($$ || $x$($$$x$ || e'\\'(((' ", 0},
		{"select 1 -- ((((\n + (2)", 1},
		{"select /* ((( /* ( */ (( */ [1]", 1},
		{"select 'it''s (' , (1)", 1},
		{"select case when a then case when b then 1 end end", 2},
		{"select not not not true", 3},
		{"select - - 1 - 2 - 3", 2},
		{"select 'a' + 'b' + 'c' + 'd'", 1},
		{"select $1 + (2)", 1},
		{"select a$b$, (1), c$b$", 1},
		{"select ')))(' , ((1))", 2},
		{"select '", 0}, {"/*", 0}, {"$a$", 0}, {"e'\\", 0},
	}
	for _, c := range cases {
		require.Equal(t, c.want, nesting(c.sql), c.sql)
	}
}

func BenchmarkBind(b *testing.B) {
	binder := testBinder(b)
	for b.Loop() {
		_, err := binder.Bind(context.Background(), "select a, count(*), sum(d) from t where \"B c\" = 'x' group by a")
		require.NoError(b, err)
	}
}
