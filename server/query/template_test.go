package query

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
	"github.com/tributary-db/tributary/server/plan"
)

func templateTables() map[string]*catalog.Table {
	fields := []arrow.Field{
		{Name: "i32", Type: arrow.PrimitiveTypes.Int32}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64},
		{Name: "u32", Type: arrow.PrimitiveTypes.Uint32}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "s", Type: arrow.BinaryTypes.String}, {Name: "odd name", Type: arrow.BinaryTypes.String},
		{Name: "i16", Type: arrow.PrimitiveTypes.Int16}, {Name: "f", Type: arrow.PrimitiveTypes.Float64},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32}, {Name: "n", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}},
		pushdown.MarkUUID(arrow.Field{Name: "u", Type: arrow.BinaryTypes.String}),
	}
	t := &catalog.Table{Schema: "main", Name: "t", Arrow: arrow.NewSchema(fields, nil)}
	other := &catalog.Table{Schema: "Other", Name: "T2", Arrow: arrow.NewSchema(fields[:5], nil)}
	return map[string]*catalog.Table{t.ID(): t, other.ID(): other}
}

// counted is a Binder over templateTables that counts what the engine binds.
func counted(t *testing.T) (*Binder, func(sql string) (*plan.Bound, int)) {
	e, err := engine.NewBinder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	b := NewBinder(e)
	require.NoError(t, b.Sync(t.Context(), &catalog.Snapshot{Version: 1, Tables: templateTables()}))
	return b, func(sql string) (*plan.Bound, int) {
		n := 0
		bound, err := b.templates.bind(t.Context(), sql, func(ctx context.Context, sql string) (*plan.Bound, error) {
			n++
			return b.bind(ctx, sql)
		})
		require.NoError(t, err, sql)
		return bound, n
	}
}

// TestTemplates: what a template gives is, byte for byte, what the engine gives, for every type, every
// comparison, and values at the ends of what the types and their casts can hold.
func TestTemplates(t *testing.T) {
	t.Parallel()
	b, bind := counted(t)
	ints := []string{"0", "1", "7", "127", "128", "255", "256", "32767", "32768", "65536", "2147483646", "2147483647"}
	longs := []string{"2147483648", "4294967295", "4294967296", "9007199254740993", "9223372036854775806", "9223372036854775807"}
	texts := []string{"'a'", "'A b'", "'0'", "'5'", "'true'", "'NULL'", "'2026-01-01'", "'%'", "'a%'", "'_'", "'</>'", "'{}[]:,'", "'~'", "' '"}
	values := map[string][][]string{"i32": {ints}, "u32": {ints}, "i64": {ints, longs}, "u64": {ints, longs}, "s": {texts}}
	statements := []string{
		"SELECT * FROM t WHERE %[1]s %[2]s %[3]s",
		"SELECT s, count(*), max(%[1]s) FROM t WHERE %[1]s %[2]s %[3]s GROUP BY s",
		"SELECT %[1]s FROM main.t WHERE %[1]s%[2]s%[3]s ORDER BY %[1]s LIMIT 3",
		"SELECT DISTINCT %[1]s, i64 + 1 AS s2 FROM T WHERE %[1]s %[2]s %[3]s AND f2 = 4",
		"SELECT i64 + 1 AS %[1]s, 7 FROM t WHERE %[1]s %[2]s %[3]s AND \"odd name\" = 'x'",
	}
	for column, sets := range values {
		for _, op := range []string{"=", "<>", "!=", "<", "<=", ">", ">="} {
			for _, form := range statements {
				form = strings.ReplaceAll(form, "f2 = 4", map[bool]string{true: "u32 = 4", false: "i32 = 4"}[column == "i32"])
				for _, set := range sets {
					for i, v := range set {
						sql := fmt.Sprintf(form, column, op, v)
						got, binds := bind(sql)
						want, err := b.bind(t.Context(), sql)
						require.NoError(t, err)
						require.Equal(t, string(want.PlanJSON), string(got.PlanJSON), sql)
						require.True(t, want.Schema.Equal(got.Schema), sql)
						require.Equal(t, want.SQLTypes, got.SQLTypes, sql)
						require.Equal(t, []int{1, 3, 0}[min(i, 2)], binds, sql)
					}
				}
			}
		}
	}
}

// TestTemplatesOfParameters: values of parameters are casts to the types of their columns.
func TestTemplatesOfParameters(t *testing.T) {
	t.Parallel()
	b, bind := counted(t)
	for column, sql := range map[string]string{"i32": "INTEGER", "u32": "UINTEGER", "i64": "BIGINT", "u64": "UBIGINT", "s": "VARCHAR"} {
		for i, v := range []string{"5", "0", "2147483647", "77"} {
			text := fmt.Sprintf("SELECT s FROM t WHERE %s = CAST('%s' AS %s)", column, v, sql)
			got, binds := bind(text)
			want, err := b.bind(t.Context(), text)
			require.NoError(t, err)
			require.Equal(t, string(want.PlanJSON), string(got.PlanJSON), text)
			require.Equal(t, []int{1, 3, 0, 0}[i], binds, text)
		}
	}
}

func TestTemplatesEndWithTheirTables(t *testing.T) {
	t.Parallel()
	b, bind := counted(t)
	for i, want := range []int{1, 3, 0} {
		_, binds := bind(fmt.Sprintf("SELECT * FROM t WHERE i64 = %d", i))
		require.Equal(t, want, binds)
	}
	wider := templateTables()
	wider["main.t"].Arrow = arrow.NewSchema(append(wider["main.t"].Arrow.Fields(), arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8}), nil)
	require.NoError(t, b.Sync(t.Context(), &catalog.Snapshot{Version: 2, Tables: wider}))
	bound, binds := bind("SELECT * FROM t WHERE i64 = 3")
	require.Equal(t, 1, binds)
	require.Equal(t, wider["main.t"].Arrow.NumFields(), bound.Schema.NumFields())
	b.templates.put("late", 1, refused)
	_, known := b.templates.get("late", 2)
	require.False(t, known, "learned of older tables")
}

func TestShapes(t *testing.T) {
	t.Parallel()
	tables := templateTables()
	for sql, values := range map[string]string{
		"SELECT 1 FROM t WHERE i64 = 5":                                        "5",
		"select /* i64 = 3 */ s from Other.t2 where S>='a b' and u64<7 ":       "a b|7",
		`SELECT "s" FROM "main"."t" WHERE "odd name" <> 'x' GROUP BY "s"`:      "x",
		"SELECT s FROM t WHERE i32 = CAST('5' AS INTEGER) AND i64 < 5 LIMIT 2": "5|5",
	} {
		s, ok := shapeOf(sql, tables)
		require.True(t, ok, sql)
		require.Equal(t, values, strings.Join(s.values, "|"), sql)
		require.Equal(t, sql, s.with(s.values))
	}
	for _, sql := range []string{
		"SELECT 1", "SELECT * FROM t", "SELECT * FROM nobody WHERE i64 = 5", "FROM t SELECT s WHERE i64 = 5",
		"SELECT * FROM t WHERE i64 = 5 AND i64 < 9", "SELECT * FROM t WHERE i64 = 5 OR i32 = 5", "SELECT * FROM t WHERE NOT i64 = 5",
		"SELECT * FROM t WHERE i64 = -5", "SELECT * FROM t WHERE i64 = 05", "SELECT * FROM t WHERE i64 = 5.0", "SELECT * FROM t WHERE i64 = 5e3",
		"SELECT * FROM t WHERE i64 = 5_0", "SELECT * FROM t WHERE i64 = .5", "SELECT * FROM t WHERE i64 = 9223372036854775808",
		"SELECT * FROM t WHERE i32 = 2147483648", "SELECT * FROM t WHERE u32 = 4294967295", "SELECT * FROM t WHERE i64 = '5'",
		"SELECT * FROM t WHERE i64 = 5 + 1", "SELECT * FROM t WHERE i64 + 1 = 5", "SELECT * FROM t WHERE 5 = i64", "SELECT * FROM t WHERE i64 > = 5",
		"SELECT * FROM t WHERE i64 == 5", "SELECT * FROM t WHERE i64 IN (5)", "SELECT * FROM t WHERE i64 BETWEEN 5 AND 6", "SELECT * FROM t WHERE (i64 = 5)",
		"SELECT * FROM t WHERE s = 5", "SELECT * FROM t WHERE s = ''", "SELECT * FROM t WHERE s = 'it''s'", `SELECT * FROM t WHERE s = 'a"b'`,
		`SELECT * FROM t WHERE s = 'a\b'`, "SELECT * FROM t WHERE s = 'ä'", "SELECT * FROM t WHERE s = E'a'", "SELECT * FROM t WHERE s = $$a$$",
		"SELECT * FROM t WHERE s = 'a' 'b'", "SELECT * FROM t WHERE s = 'a\nb'", "SELECT * FROM t WHERE s LIKE 'a'", "SELECT * FROM t WHERE s = 'a' COLLATE nocase",
		"SELECT * FROM t WHERE i16 = 5", "SELECT * FROM t WHERE f = 5", "SELECT * FROM t WHERE n = 5", "SELECT * FROM t WHERE d = '2026-01-01'", "SELECT * FROM t WHERE u = 'x'",
		"SELECT * FROM t, t AS t2 WHERE i64 = 5", "SELECT * FROM t JOIN other.t2 USING (s) WHERE i64 = 5", "SELECT * FROM (SELECT * FROM t) WHERE i64 = 5",
		"SELECT * FROM t x WHERE i64 = 5", "SELECT * FROM t WHERE t.i64 = 5", "SELECT i64, count(*) FROM t WHERE i64 = 5 GROUP BY i64 HAVING i64 < 3",
		"SELECT * FROM t WHERE i64 = 5 UNION SELECT * FROM t", "SELECT (TABLE t) FROM t WHERE i64 = 5", "SELECT * FROM t WHERE i64 = ?", "SELECT ? FROM t WHERE i64 = 5",
		"SELECT sum(i64) FILTER (WHERE i64 < 3) FROM t WHERE i64 = 5", "SELECT * FROM t WHERE i32 = CAST('5' AS BIGINT)", "SELECT * FROM t WHERE i32 = CAST(' 5' AS INTEGER)",
		"SELECT * FROM t WHERE i32 = CAST('5' AS INTEGER) + 1", "SELECT * FROM t WHERE i32 = TRY_CAST('5' AS INTEGER)", "SELECT * FROM t WHERE i64 = 5AND i32 = 5", "SELECT * FROM t WHERE i64 =",
		"SELECT * FROM t WHERE", "SELECT * FROM t WHERE i64 = 5 AND", "SELECT * FROM", "SELECT * FROM t WHERE s = '", "SELECT * FROM t WHERE s = CAST('a' AS VARCHAR",
		"SELECT * FROM t WHERE i64 = 5 USING SAMPLE 10", "SELECT * FROM t WHERE i64 = 5\x00",
	} {
		_, ok := shapeOf(sql, tables)
		require.False(t, ok, sql)
	}
}

// TestRefusedTemplates: nothing is learned of a statement of the right shape whose plan does not have the constant.
func TestRefusedTemplates(t *testing.T) {
	t.Parallel()
	tables := templates{}
	tables.sync(&catalog.Snapshot{Version: 1, Tables: templateTables()})
	schema := arrow.NewSchema(nil, nil)
	for name, planOf := range map[string]func(sql string) string{
		"no constant": func(string) string { return `{"value":1}` },
		"folded":      func(sql string) string { return fmt.Sprintf(`{"value":%s}`, sql[len(sql)-1:]) },
		"another at each": func(sql string) string {
			return fmt.Sprintf(`{"at":%p,"value":%s}`, &sql, sql[len("SELECT s FROM t WHERE i64 = "):])
		},
		"the length matters": func(sql string) string {
			return fmt.Sprintf(`{"n":%d,"value":%s}`, len(sql), sql[len("SELECT s FROM t WHERE i64 = "):])
		},
	} {
		tables.known = nil
		binds := 0
		for i := range 6 {
			sql := fmt.Sprintf("SELECT s FROM t WHERE i64 = %d", i*i*i)
			bound, err := tables.bind(t.Context(), sql, func(_ context.Context, sql string) (*plan.Bound, error) {
				binds++
				return &plan.Bound{PlanJSON: []byte(planOf(sql)), Schema: schema}, nil
			})
			require.NoError(t, err)
			if !strings.Contains(name, "another") {
				require.Equal(t, planOf(sql), string(bound.PlanJSON), name)
			}
		}
		require.Equal(t, 8, binds, name)
	}
}
