package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server"
	"github.com/tributary-db/tributary/server/access"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

// rules: the tables t and other have v = 1…15000 and k = v % 7.
const rules = `
users:
  part: [part]
  narrow: [narrow]
  own3: [own]
  broken: [broken]
  all: [all]
roles:
  part:
    - {tables: [t], rows: "k = 3 AND v <= 700"}
  narrow:
    - {tables: ["main.t"], rows: "k = 3", columns: [v]}
  own:
    - {tables: ["*"], rows: "{user} = 'own3' AND k = 3"}
  broken:
    - {tables: [t], rows: "1 / k > CAST('x' AS INTEGER)"}
  all:
    - {tables: ["*"]}
`

func policyFile(t *testing.T, text string) (string, *secure.File[*access.Policy]) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "access.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	f, err := secure.NewFile(func() (*access.Policy, error) { return access.ReadPolicy(path) }, nil, path)
	require.NoError(t, err)
	return path, f
}

// startRestricted serves t and other on two scanners, one of which can only read
// whole rows, to a coordinator with rules.
func startRestricted(t *testing.T, policy *secure.File[*access.Policy], authenticator *auth.Authenticator) *server.Coordinator {
	t.Helper()
	var addrs []string
	for i, disable := range [][]string{nil, {"all"}} {
		tables := []scanner.Table{{Name: "t", Source: numberedSource(t, i, 2)}, {Name: "other", Source: numberedSource(t, i, 2)}}
		addrs = append(addrs, startScanner(t, node{name: string(rune('a' + i)), tables: tables, disable: disable}, memory.DefaultAllocator))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := server.New(ctx, server.Config{Scanners: addrs, Refresh: time.Minute, Access: policy, Auth: authenticator, Logger: zerolog.Nop(), Engine: engine.Config{Warm: 1, Threads: 2}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Catalog().WaitReady(ctx))
	return c
}

// as runs a statement as a user and returns its rows as text.
func as(t *testing.T, c *server.Coordinator, user, sql string, level plan.Pushdown) (string, error) {
	t.Helper()
	set := query.DefaultSettings()
	set.Pushdown = level
	return asWith(t, c, user, sql, set)
}

func asWith(t *testing.T, c *server.Coordinator, user, sql string, set query.Settings) (string, error) {
	t.Helper()
	ctx := auth.WithUser(t.Context(), auth.User{Name: user})
	st, err := c.Service().Prepare(ctx, sql, set)
	if err != nil {
		return "", err
	}
	stream, err := c.Service().Execute(ctx, st)
	if err != nil {
		return "", err
	}
	defer func() { _ = stream.Close() }()
	var out []string
	for {
		b, err := stream.Next(ctx)
		if err != nil {
			if err.Error() == "EOF" {
				return strings.Join(out, "\n"), nil
			}
			return "", err
		}
		for row := range int(b.NumRows()) {
			var cells []string
			for _, col := range b.Columns() {
				cells = append(cells, col.ValueStr(row))
			}
			out = append(out, strings.Join(cells, " "))
		}
		b.Release()
	}
}

var levels = []plan.Pushdown{plan.PushdownFull, plan.PushdownFilter, plan.PushdownOff}

// TestRowsCannotBeEscaped: "part" sees the 100 rows of t with k = 3, v = 3, 10, …
// 696, however it asks.
func TestRowsCannotBeEscaped(t *testing.T) {
	t.Parallel()
	_, policy := policyFile(t, rules)
	c := startRestricted(t, policy, nil)
	const n, sum, low, high = 100, 34950, 3, 696
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM t":                                                        fmt.Sprint(n),
		"SELECT COUNT(*), SUM(v), MIN(v), MAX(v) FROM t":                                fmt.Sprint(n, sum, low, high),
		"SELECT MIN(v), MAX(v) FROM t":                                                  fmt.Sprint(low, high),
		"SELECT COUNT(*) FROM t WHERE v > 0 OR true":                                    fmt.Sprint(n),
		"SELECT COUNT(*) FROM t WHERE k <> 3":                                           "0",
		"SELECT COUNT(*) FROM t WHERE NOT (k = 3)":                                      "0",
		"SELECT v FROM t ORDER BY v DESC LIMIT 1":                                       fmt.Sprint(high),
		"SELECT v FROM t LIMIT 1000000 OFFSET 99":                                       "*",
		"SELECT k, COUNT(*) FROM t GROUP BY k":                                          fmt.Sprint("3 ", n),
		"SELECT DISTINCT k FROM t":                                                      "3",
		"SELECT COUNT(DISTINCT v), COUNT(DISTINCT k) FROM t":                            fmt.Sprint(n, " 1"),
		"SELECT COUNT(*) FROM (SELECT * FROM t UNION ALL SELECT * FROM t)":              fmt.Sprint(2 * n),
		"SELECT COUNT(*) FROM (SELECT v FROM t EXCEPT SELECT 3)":                        fmt.Sprint(n - 1),
		"SELECT COUNT(*) FROM t a JOIN t b ON a.k = b.k":                                fmt.Sprint(n * n),
		"SELECT COUNT(*) FROM t a FULL JOIN t b ON a.v = b.v + 1":                       fmt.Sprint(2 * n),
		"SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.v = a.v + 7)": fmt.Sprint(n - 1),
		"SELECT (SELECT COUNT(*) FROM t)":                                               fmt.Sprint(n),
		"SELECT COUNT(*) FROM range(1000) r(i) WHERE i IN (SELECT v FROM t)":            fmt.Sprint(n),
		"WITH t AS (SELECT * FROM t) SELECT COUNT(*) FROM t":                            fmt.Sprint(n),
		"WITH x AS MATERIALIZED (SELECT * FROM main.t) SELECT COUNT(*) FROM x, x y":     fmt.Sprint(n * n),
		"WITH RECURSIVE r AS (SELECT MIN(v) AS v FROM t UNION ALL SELECT t.v FROM t JOIN r ON t.v = r.v + 7) SELECT COUNT(*) FROM r": fmt.Sprint(n),
		"FROM tributary.main.t SELECT COUNT(*)":                                    fmt.Sprint(n),
		"SELECT COUNT(*) FROM t, LATERAL (SELECT t.v + 1 AS w)":                    fmt.Sprint(n),
		"SELECT MAX(c) FROM (SELECT COUNT(*) OVER () AS c FROM t)":                 fmt.Sprint(n),
		"SELECT COUNT(*) FROM t TABLESAMPLE 100 PERCENT":                           fmt.Sprint(n),
		"SELECT list(v)[1] FROM (SELECT v FROM t ORDER BY v)":                      fmt.Sprint(low),
		"SELECT approx_count_distinct(k) FROM t":                                   "1",
		"SELECT arg_max(v, v) FROM t":                                              fmt.Sprint(high),
		"SELECT COUNT(*) FROM t POSITIONAL JOIN t u":                               fmt.Sprint(n),
		"SELECT k, v, COUNT(*) FROM t WHERE v = 3 GROUP BY GROUPING SETS ((k, v))": "3 3 1",
	} {
		for _, level := range levels {
			got, err := as(t, c, "part", sql, level)
			require.NoError(t, err, "%s (%s)", sql, level)
			if want == "*" {
				require.Equal(t, 1, 1+strings.Count(got, "\n"), "%s (%s)", sql, level)
				continue
			}
			require.Equal(t, want, strings.TrimSpace(got), "%s (%s)", sql, level)
		}
	}
	all, err := as(t, c, "all", "SELECT COUNT(*) FROM t", plan.PushdownFull)
	require.NoError(t, err)
	require.Equal(t, "15000", all, "the rules are those of each user, also for a statement that another has planned")
	own, err := as(t, c, "own3", "SELECT COUNT(*), MIN(k), MAX(k) FROM other", plan.PushdownFull)
	require.NoError(t, err)
	require.Equal(t, "2143 3 3", own)
	other, err := as(t, c, "own4", "SELECT COUNT(*) FROM other", plan.PushdownFull)
	require.ErrorContains(t, err, "does not exist", other)
}

// TestBroadcastIsRestricted: neither the rows that travel nor those that are looked
// up are others than "part" may see.
func TestBroadcastIsRestricted(t *testing.T) {
	t.Parallel()
	_, policy := policyFile(t, rules)
	c := startRestricted(t, policy, nil)
	set := query.DefaultSettings()
	require.NoError(t, set.Set("adaptive", "always"))
	for sql, want := range map[string]string{
		"SELECT a.k, COUNT(*), SUM(b.v), MAX(a.v) FROM t a JOIN t b ON a.v = b.v GROUP BY a.k":             "3 100 34950 696",
		"SELECT b.k, COUNT(*), SUM(a.v), MIN(b.v) FROM t a JOIN t b ON a.v = b.v WHERE a.v > 3 GROUP BY 1": "3 99 34947 10",
		"SELECT COUNT(*), MIN(a.v), MAX(b.v) FROM t a JOIN t b ON a.k = b.k AND a.v < b.v":                 "4950 3 696",
	} {
		text, err := asWith(t, c, "part", "EXPLAIN ANALYZE "+sql, set)
		require.NoError(t, err)
		require.Contains(t, text, "broadcast=[", sql)
		got, err := asWith(t, c, "part", sql, set)
		require.NoError(t, err)
		require.Equal(t, want, got, sql)
	}
}

// TestOriginalRungIsRestricted: the statement itself runs over streamed tables.
func TestOriginalRungIsRestricted(t *testing.T) {
	t.Parallel()
	_, policy := policyFile(t, rules)
	c := startRestricted(t, policy, nil)
	original := 0
	for _, sql := range []string{
		"SELECT COUNT(*) FROM t TABLESAMPLE 100 PERCENT",
		"WITH RECURSIVE r AS (SELECT MIN(v) AS v FROM t UNION ALL SELECT t.v FROM t JOIN r ON t.v = r.v + 7) SELECT COUNT(*) FROM r",
		"SELECT COUNT(*) FROM t, LATERAL (SELECT t.v + 1 AS w)",
		"SELECT COUNT(*) FROM (SELECT unnest(list(v)) FROM t)",
	} {
		text, err := as(t, c, "part", "EXPLAIN "+sql, plan.PushdownFull)
		require.NoError(t, err)
		require.Contains(t, text, "k = 3", sql)
		if strings.HasPrefix(text, "plan: original") {
			original++
		}
	}
	require.Positive(t, original, "no statement took the lowest rung")
}

func TestEveryPlanOfARestrictedTableHasItsFilter(t *testing.T) {
	t.Parallel()
	_, policy := policyFile(t, rules)
	c := startRestricted(t, policy, nil)
	for kind, sql := range map[string]string{"pass-through": "SELECT v FROM t", "residual": "SELECT COUNT(*) FROM t", "original": "SELECT COUNT(*) FROM t TABLESAMPLE 100 PERCENT"} {
		for _, verb := range []string{"EXPLAIN ", "EXPLAIN ANALYZE "} {
			text, err := as(t, c, "part", verb+sql, plan.PushdownFull)
			require.NoError(t, err)
			require.Contains(t, text, "plan: "+kind)
			require.Contains(t, text, "k = 3", sql)
			require.NotContains(t, text, "pruned", "statistics of hidden rows are told")
			require.NotContains(t, text, "from statistics")
		}
	}
}

// TestHiddenTablesAreUnknown: neither their names nor those of hidden columns
// come out.
func TestHiddenTablesAreUnknown(t *testing.T) {
	t.Parallel()
	_, policy := policyFile(t, rules)
	c := startRestricted(t, policy, nil)
	for _, user := range []string{"part", "narrow", "nobody"} {
		for _, sql := range []string{"SELECT * FROM other", "SELECT * FROM othe", "DESCRIBE other", "SUMMARIZE other", "SELECT * FROM tributary.main.other", "WITH x AS (FROM other) FROM x"} {
			_, err := as(t, c, user, sql, plan.PushdownFull)
			require.ErrorContains(t, err, "does not exist", "%s: %s", user, sql)
			require.NotContains(t, err.Error(), `"other"`, "a suggestion names it")
		}
		for _, sql := range []string{
			"SHOW TABLES", "SHOW ALL TABLES", "SELECT table_name FROM information_schema.tables", "SELECT table_name FROM duckdb_tables()",
			"SELECT table_name, column_name FROM information_schema.columns", "SELECT relname FROM pg_catalog.pg_class", "SELECT sql FROM sqlite_master",
		} {
			text, err := as(t, c, user, sql, plan.PushdownFull)
			require.NoError(t, err, sql)
			require.NotContains(t, text, "other", "%s: %s", user, sql)
		}
	}
	text, err := as(t, c, "narrow", "SELECT column_name FROM information_schema.columns WHERE table_name = 't'", plan.PushdownFull)
	require.NoError(t, err)
	require.Equal(t, "v", text)
	for _, sql := range []string{"SELECT k FROM t", "SELECT v FROM t WHERE k = 3", "SELECT v FROM t ORDER BY k", "SELECT t.k FROM t", "SELECT COLUMNS('k') FROM t"} {
		_, err := as(t, c, "narrow", sql, plan.PushdownFull)
		require.Error(t, err, sql)
	}
	for _, level := range levels {
		text, err := as(t, c, "narrow", "SELECT * FROM t ORDER BY v LIMIT 2", level)
		require.NoError(t, err)
		require.Equal(t, "3\n10", text)
		text, err = as(t, c, "narrow", "SELECT COUNT(*) FROM t TABLESAMPLE 100 PERCENT", level)
		require.NoError(t, err)
		require.Equal(t, "2143", text)
	}
	_, err = as(t, c, "broken", "SELECT * FROM t", plan.PushdownFull)
	require.ErrorContains(t, err, "cannot be applied", "a rule that does not work closes the table")
	require.NotContains(t, err.Error(), "CAST")
}

// TestRulesAreReadAgain: a statement that was planned under the old rules is
// planned again.
func TestRulesAreReadAgain(t *testing.T) {
	t.Parallel()
	path, policy := policyFile(t, rules)
	c := startRestricted(t, policy, nil)
	ctx := auth.WithUser(t.Context(), auth.User{Name: "all"})
	st, err := c.Service().Prepare(ctx, "SELECT COUNT(*) FROM t", query.DefaultSettings())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(rules, `{tables: ["*"]}`, `{tables: ["*"], rows: "v = 5"}`, 1)), 0o600))
	require.Eventually(t, func() bool {
		text, err := as(t, c, "all", "SELECT COUNT(*) FROM t", plan.PushdownFull)
		require.NoError(t, err)
		return text == "1"
	}, 10*time.Second, 100*time.Millisecond)
	stream, err := c.Service().Execute(ctx, st)
	require.NoError(t, err)
	b, err := stream.Next(ctx)
	require.NoError(t, err)
	require.Equal(t, "1", b.Column(0).ValueStr(0))
	b.Release()
	require.NoError(t, stream.Close())
}

// TestMetadataOfARestrictedUser: what the metadata calls and prepared statements
// tell is what SQL tells.
func TestMetadataOfARestrictedUser(t *testing.T) {
	t.Parallel()
	_, policy := policyFile(t, `{users: {ann: [narrow], bob: [none]}, roles: {narrow: [{tables: [t], rows: "k = 3", columns: [v]}], none: []}}`)
	client, _, ann, bob := signedIn(t, server.Config{Logger: zerolog.Nop(), Access: policy})
	tables := func(ctx context.Context) [][]byte {
		info, err := client.GetTables(ctx, &flightsql.GetTablesOpts{IncludeSchema: true})
		require.NoError(t, err)
		r, err := fetchInfo(ctx, client, info)
		require.NoError(t, err)
		defer r.release()
		var schemas [][]byte
		for _, b := range r.batches {
			for i := range int(b.NumRows()) {
				require.Equal(t, "t", b.Column(2).ValueStr(i))
				schemas = append(schemas, bytes.Clone(b.Column(4).(*array.Binary).Value(i)))
			}
		}
		return schemas
	}
	require.Empty(t, tables(bob))
	schemas := tables(ann)
	require.Len(t, schemas, 1)
	schema, err := flight.DeserializeSchema(schemas[0], memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, 1, schema.NumFields())
	require.Equal(t, "v", schema.Field(0).Name)

	prepared, err := client.Prepare(ann, "SELECT * FROM t WHERE v > 10")
	require.NoError(t, err)
	require.Equal(t, 1, prepared.DatasetSchema().NumFields())
	info, err := prepared.Execute(ann)
	require.NoError(t, err)
	r, err := fetchInfo(ann, client, info)
	require.NoError(t, err)
	require.EqualValues(t, 2143-2, r.rows(), "k = 3 holds for 3, 10, 17, …")
	r.release()
	require.NoError(t, prepared.Close(ann))
	_, err = client.Prepare(bob, "SELECT * FROM t")
	require.ErrorContains(t, err, "does not exist")
	_, err = client.Prepare(ann, "SELECT k FROM t")
	require.Error(t, err)
}
