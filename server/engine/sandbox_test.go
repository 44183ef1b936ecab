package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runText runs a statement on the planning instance and returns its cells.
func runText(t *testing.T, b *Binder, sql string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := b.Run(ctx, sql)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	var cells []string
	for range 16 { // some functions never end
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		for _, col := range batch.Columns() {
			for row := range min(64, col.Len()) {
				cells = append(cells, col.ValueStr(row))
			}
		}
		batch.Release()
	}
	return strings.Join(cells, "\n"), nil
}

// TestNoFunctionLeavesTheSandbox calls every function of this DuckDB with the
// path of a file, and of one that could be made: none reads or makes anything.
func TestNoFunctionLeavesTheSandbox(t *testing.T) {
	t.Parallel()
	b, err := NewBinder()
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	dir := t.TempDir()
	const canary = "canary-in-a-file"
	path := filepath.Join(dir, "canary.csv")
	require.NoError(t, os.WriteFile(path, []byte(canary+"\n1\n"), 0o600))
	calls := func(name string) []string {
		var out []string
		for _, args := range []string{"", "'%[1]s'", "'%[1]s', '%[2]s'", "'%[2]s', '%[1]s', '%[1]s'", "['%[1]s']", "'FROM ''%[1]s'''", "'SELECT * FROM read_text(''%[1]s'')'", "'COPY (SELECT 1) TO ''%[2]s'''"} {
			out = append(out, name+"("+strings.NewReplacer("%[1]s", path, "%[2]s", filepath.Join(dir, "made")).Replace(args)+")")
		}
		return out
	}
	names, err := runText(t, b, "SELECT string_agg(DISTINCT function_type || ' ' || function_name, chr(10)) FROM duckdb_functions() WHERE regexp_full_match(function_name, '[a-z_0-9]+')")
	require.NoError(t, err)
	tried, denied := 0, 0
	for line := range strings.Lines(names) {
		kind, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		table := kind == "table" || kind == "table_macro" || kind == "pragma"
		for _, call := range calls(name) {
			sql := "SELECT " + call
			if table {
				sql = "SELECT * FROM " + call
			}
			if name == "repeat" || name == "repeat_row" {
				continue
			}
			tried++
			text, err := runText(t, b, sql)
			// What is in the arguments may come back; what is in the file may not.
			require.NotContains(t, text, canary, sql)
			if table && !slices.Contains(allowedFunctions, name) || slices.Contains(deniedScalars, name) {
				denied++
				require.Error(t, err, sql)
			}
		}
	}
	require.Greater(t, tried, 2000)
	require.Greater(t, denied, 100)
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, found, 1, "a function made a file: %v", found)
}

// TestNoStatementLeavesTheSandbox: what is not a query is refused, and a query
// cannot name a file.
func TestNoStatementLeavesTheSandbox(t *testing.T) {
	t.Parallel()
	b, err := NewBinder()
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	path := filepath.Join(t.TempDir(), "x.csv")
	require.NoError(t, os.WriteFile(path, []byte("canary\n1\n"), 0o600))
	for _, sql := range []string{
		"FROM '%s'", `SELECT * FROM "%s"`, "SELECT * FROM read_csv('%s')", "SELECT * FROM query('FROM ''%s''')", "COPY (SELECT 1) TO '%s'", "COPY t FROM '%s'",
		"ATTACH '%s'", "EXPORT DATABASE '%s'", "IMPORT DATABASE '%s'", "LOAD '%s'", "INSTALL '%s'", "SET temp_directory = '%s'", "PRAGMA temp_directory = '%s'",
		"SET enable_external_access = true", "SET lock_configuration = false", "RESET lock_configuration", "SET GLOBAL allow_community_extensions = true",
		"CREATE SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')", "CREATE PERSISTENT SECRET s (TYPE http)", "DROP SECRET s", "SELECT * FROM duckdb_secrets()", "SELECT * FROM which_secret('s3://b', 's3')",
		"CREATE TABLE x AS FROM '%s'", "CREATE VIEW x AS SELECT 1", "CREATE MACRO m() AS 1", "INSERT INTO x VALUES (1)", "CALL enable_logging()", "CALL pragma_version()", "CHECKPOINT", "USE memory", "VACUUM",
		"PREPARE p AS SELECT 1", "EXECUTE p", "SELECT 1; COPY (SELECT 1) TO '%s'", "SELECT 1 INTO '%s'", "DETACH tributary", "BEGIN", "SELECT getenv('HOME')",
		"SELECT current_setting('secret_directory')", "SELECT v FROM (SELECT Current_Setting('temp_directory') AS v)", "SELECT write_log('x')", "SELECT sleep_ms(1)", "SELECT pg_catalog.pg_sleep(1)",
		"SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_extensions()", "SELECT * FROM pg_settings", "SELECT * FROM pg_catalog.Pg_Settings", "SELECT * FROM duckdb_logs", "SELECT 1 WHERE EXISTS (FROM pg_prepared_statements)",
		"WITH x AS (FROM read_text('%s')) FROM x", "SELECT (SELECT content FROM read_text('%s'))", "FROM glob('%s')", "FROM parquet_metadata('%s')", "FROM 'http://127.0.0.1/x.csv'", "FROM 's3://b/x.parquet'",
	} {
		if strings.Contains(sql, "%s") {
			sql = fmt.Sprintf(sql, path)
		}
		_, err := runText(t, b, sql)
		require.Error(t, err, sql)
		_, err = b.Bind(t.Context(), sql)
		require.Error(t, err, sql)
	}
}

// TestEveryFunctionIsReviewed: a new DuckDB may bring functions that reach files,
// the network, settings, extensions or secrets. Table functions are denied until
// they are allowed; any other that is not in testdata/functions.txt fails here: add
// it there when it only computes, or to deniedScalars.
func TestEveryFunctionIsReviewed(t *testing.T) {
	t.Parallel()
	b, err := NewBinder()
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	text, err := os.ReadFile(filepath.Join("testdata", "functions.txt"))
	require.NoError(t, err)
	reviewed := strings.Fields(string(text))
	require.True(t, slices.IsSorted(reviewed))
	have, err := runText(t, b, `SELECT string_agg(DISTINCT function_name, chr(10) ORDER BY function_name) FROM duckdb_functions()
		WHERE function_type NOT IN ('table', 'table_macro', 'pragma') AND regexp_full_match(function_name, '[a-z_0-9]+') AND function_name NOT LIKE 'icu_collate_%'`)
	require.NoError(t, err)
	for _, name := range strings.Fields(have) {
		require.True(t, slices.Contains(reviewed, name) != slices.Contains(deniedScalars, name), "the function %s of this DuckDB has not been reviewed", name)
	}
	for _, name := range append(allowedFunctions, deniedScalars...) {
		known, err := runText(t, b, "SELECT count(*) FROM duckdb_functions() WHERE function_name = '"+name+"'")
		require.NoError(t, err)
		require.NotEqual(t, "0", known, "there is no function %s any more", name)
	}
}

// TestNoSettingIsTold: what the catalog's own views and functions show has no
// path of the server.
func TestNoSettingIsTold(t *testing.T) {
	t.Parallel()
	b, err := NewBinder()
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	views, err := runText(t, b, "SELECT string_agg(schema_name || '.' || view_name, chr(10)) FROM duckdb_views() WHERE internal")
	require.NoError(t, err)
	told := 0
	for _, view := range strings.Fields(views) {
		if text, err := runText(t, b, "SELECT * FROM system."+view); err == nil {
			told++
			require.NotContains(t, text, "secret_directory", view)
			require.NotContains(t, text, ".duckdb", view)
		}
	}
	require.Greater(t, told, 30)
}
