package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/query"
)

func repeated(s string, n int) string { return strings.Repeat(s, n) }

// chain is item(0), item(1), … with separators between.
func chain(n int, separator string, item func(int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, separator)
}

// nested wraps inner n times.
func nested(n int, before, inner, after string) string {
	return repeated(before, n) + inner + repeated(after, n)
}

var hostileStatements = map[string]string{
	"deep brackets":          "SELECT " + nested(100_000, "(", "1", ")"),
	"brackets up to limit":   "SELECT " + nested(190, "(", "v", ")") + " FROM t",
	"deep subselects":        nested(190, "SELECT * FROM (", "SELECT v FROM t", ")"),
	"deep scalar subqueries": "SELECT " + nested(190, "(SELECT ", "max(v) FROM t", ")"),
	"deep calls":             "SELECT " + nested(190, "abs(", "v", ")") + " FROM t",
	"deep case":              "SELECT " + nested(190, "CASE WHEN v > 0 THEN ", "v", " END") + " FROM t",
	"deep lists":             "SELECT " + nested(190, "[", "v", "]") + " FROM t",
	"deep exists":            "SELECT v FROM t WHERE " + nested(190, "EXISTS (SELECT 1 FROM t WHERE ", "v > 0", ")"),
	"deep in":                "SELECT v FROM t WHERE v IN " + nested(190, "(SELECT v FROM t WHERE v IN ", "(1)", ")"),
	"not":                    "SELECT " + repeated("NOT ", 5000) + "true",
	"minus":                  "SELECT " + repeated("- ", 5000) + "1",
	"lambda":                 "SELECT " + nested(60, "list_transform([1], x -> ", "1", ")"),
	"arrows":                 "SELECT " + chain(3000, " -> ", func(int) string { return "v" }) + " FROM t",
	"casts":                  "SELECT v" + repeated("::BIGINT", 50_000) + " FROM t",
	"indexes":                "SELECT [1]" + repeated("[1]", 50_000),
	"many sums":              "SELECT " + chain(250_000, "+", func(int) string { return "1" }),
	"many concatenations":    "SELECT " + chain(20_000, "||", func(int) string { return "'a'" }),
	"1000 ands":              "SELECT count(*) FROM t WHERE " + chain(1000, " AND ", func(i int) string { return fmt.Sprintf("v <> %d", i+100) }),
	"10000 ands":             "SELECT count(*) FROM t WHERE " + chain(10_000, " AND ", func(i int) string { return fmt.Sprintf("v <> %d", i+100) }),
	"10000 ors":              "SELECT count(*) FROM t WHERE " + chain(10_000, " OR ", func(i int) string { return fmt.Sprintf("k + v = %d", i) }),
	"10000 values in":        "SELECT count(*) FROM t WHERE v IN (" + chain(10_000, ",", func(i int) string { return fmt.Sprint(i * 3) }) + ")",
	"100000 values in":       "SELECT count(*) FROM t WHERE v IN (" + chain(100_000, ",", func(i int) string { return fmt.Sprint(i * 3) }) + ")",
	"100000 values not in":   "SELECT count(*) FROM t WHERE v NOT IN (" + chain(100_000, ",", func(i int) string { return fmt.Sprint(i * 3) }) + ")",
	"1 MB of items":          "SELECT " + chain(200_000, ",", func(int) string { return "v" }) + " FROM t",
	"1 MB of comment":        "SELECT 1 /*" + repeated("x", 1<<20-20) + "*/",
	"structure":              `SELECT json_transform('1', repeat('[', 50000) || '"INT"' || repeat(']', 50000)) FROM t`,
	"variant":                "SELECT count((repeat('[', 90000 + v) || repeat(']', 90000 + v))::JSON::VARIANT) FROM t",
	"list type":              "SELECT NULL::INT" + repeated("[]", 50_000),
	"too long":               "SELECT 1 /*" + repeated("x", 1<<20) + "*/",
	"1 MB string":            "SELECT count(*) FROM t WHERE v::VARCHAR = '" + repeated("x", 1<<20-100) + "'",
	"1 MB name":              `SELECT "` + repeated("x", 1<<20-100) + `" FROM t`,
	"huge number":            "SELECT " + repeated("9", 100_000),
	"huge exponent":          "SELECT 1e999999999",
	"huge decimal":           "SELECT 0." + repeated("3", 100_000) + "::DECIMAL(38,37)",
	"unclosed string":        "SELECT '" + repeated("x", 1000),
	"unclosed brackets":      "SELECT " + repeated("(", 150),
	"many statements":        repeated("SELECT 1;", 100_000),
	"invalid utf-8":          "SELECT '\xff\xfe' FROM t",
	"invalid utf-8 name":     "SELECT \"\xff\" FROM t",
	"zero byte":              "SELECT 'a\x00b' FROM t",
	"many tables":            "SELECT count(*) FROM " + chain(200, ", ", func(i int) string { return fmt.Sprintf("t a%d", i) }) + " WHERE " + chain(199, " AND ", func(i int) string { return fmt.Sprintf("a%d.v = a%d.v", i, i+1) }),
	"many joins":             "SELECT count(*) FROM t " + chain(150, " ", func(i int) string { return fmt.Sprintf("LEFT JOIN t b%d USING (v)", i) }),
	"many unions":            chain(5000, " UNION ALL ", func(int) string { return "SELECT v FROM t" }),
	"many ctes":              "WITH " + chain(2000, ", ", func(i int) string { return fmt.Sprintf("c%d AS (SELECT v FROM t)", i) }) + " SELECT * FROM c0",
	"doubling ctes":          "WITH c0 AS (SELECT v FROM t), " + chain(60, ", ", func(i int) string { return fmt.Sprintf("c%d AS (SELECT a.v FROM c%d a, c%d b)", i+1, i, i) }) + " SELECT count(*) FROM c60 LIMIT 1",
	"doubling columns":       nested(40, "SELECT *, * FROM (", "SELECT v FROM t", ")"),
	"doubling strings":       "SELECT length(" + nested(30, "repeat(", "'abcdefgh'", ", 100)") + ")",
	"long list":              "SELECT len(range(10000000000))",
	"nested lists":           "SELECT len(list_transform(range(100000), x -> len(range(100000))))",
	"cube":                   "SELECT count(*) FROM t GROUP BY CUBE (" + chain(30, ", ", func(i int) string { return fmt.Sprintf("v + %d", i) }) + ")",
	"like":                   "SELECT count(*) FROM t WHERE '" + repeated("a", 20_000) + "' LIKE '" + repeated("%a", 2000) + "b'",
	"regexp":                 "SELECT count(*) FROM t WHERE regexp_matches(v::VARCHAR, '(" + repeated("(a*)*", 500) + ")+$')",
	"regexp size":            "SELECT count(*) FROM t WHERE regexp_matches(v::VARCHAR, '" + nested(5, "(", "a", "){1000}") + "')",
	"recursion":              "WITH RECURSIVE r AS (SELECT 1::BIGINT AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r, t WHERE t.v = 1",
	"cross join":             "SELECT count(*) FROM t a, t b, t c, t d WHERE a.v + b.v + c.v + d.v = 7",
	"generated rows":         "SELECT count(*) FROM t, range(1000000000000) WHERE v > 5",
}

// refusals are what hostile statements may be told, besides being answered.
var refusals = []status.Code{status.InvalidArgument, status.OutOfRange, status.ResourceExhausted, status.DeadlineExceeded, status.Unimplemented}

// TestHostileStatements: whatever a client sends is answered or refused soon,
// with an error that has a code, and the server goes on serving. That the test
// ends shows that nothing of it goes on.
func TestHostileStatements(t *testing.T) {
	t.Parallel()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	c := startCluster(t, []node{{name: "s0", tables: []scanner.Table{{Name: "t", Source: numberedSource(t, 0, 1)}}}}, mem)
	for _, name := range slices.Sorted(maps.Keys(hostileStatements)) {
		begun := time.Now()
		err := attempt(t, c, hostileStatements[name], 2*time.Second)
		if err != nil {
			require.Contains(t, refusals, status.CodeOf(err), "%s: %.500s", name, err)
		}
		require.Less(t, time.Since(begun), 30*time.Second, name)
	}
	require.NoError(t, attempt(t, c, "SELECT count(*) FROM t", time.Minute))
}

// attempt runs a statement until its end or a deadline.
func attempt(t *testing.T, c *server.Coordinator, sql string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	st, err := c.Service().Prepare(ctx, sql, query.DefaultSettings())
	if err != nil {
		return err
	}
	stream, err := c.Service().Execute(ctx, st)
	if err != nil {
		return err
	}
	for {
		b, err := stream.Next(ctx)
		if err != nil {
			require.NoError(t, stream.Close())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		b.Release()
	}
}
