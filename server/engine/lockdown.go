package engine

import (
	"strings"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// lockedDown are the settings that every instance starts with: no files, no
// network, no extensions.
func lockedDown() []setting {
	return []setting{
		{"enable_external_access", "false"},
		{"autoinstall_known_extensions", "false"},
		{"autoload_known_extensions", "false"},
		{"allow_community_extensions", "false"},
	}
}

// attachCatalog gives federated tables a catalog of their own name.
const attachCatalog = "ATTACH ':memory:' AS " + catalogName + "; USE " + catalogName

// pinned ends the set-up of an instance: the zone is fixed and nothing may be
// configured any more.
var pinned = []string{"SET TimeZone = 'UTC'", "SET lock_configuration = true"}

// optimizersWithout lists all optimizers but the kept ones, as a setting's value.
func optimizersWithout(conn duckdb.Connection, kept []string) (string, error) {
	return queryText(conn, "SELECT string_agg(name, ',') FROM duckdb_optimizers() WHERE name NOT IN ('"+strings.Join(kept, "', '")+"')")
}

// allowedFunctions are the table functions that a statement may call: those
// that compute, and those that describe the catalog. The others read files, run
// text as SQL, or change the instance.
var allowedFunctions = []string{
	"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "summary",
	"test_all_types", "test_vector_types", "pg_timezone_names", "icu_calendar_names",
	"pragma_collations", "pragma_platform", "pragma_show", "pragma_table_info", "pragma_user_agent", "pragma_version",
	"duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_dependencies", "duckdb_extensions",
	"duckdb_functions", "duckdb_indexes", "duckdb_keywords", "duckdb_optimizers", "duckdb_schemas",
	"duckdb_sequences", "duckdb_settings", "duckdb_tables", "duckdb_types", "duckdb_variables", "duckdb_views",
}

// deniedFunctions are the table functions of this DuckDB that are not allowed.
func deniedFunctions(conn duckdb.Connection) (map[string]bool, error) {
	text, err := queryText(conn, `SELECT string_agg(DISTINCT lower(function_name), ',') FROM duckdb_functions()
		WHERE function_type IN ('table', 'table_macro', 'pragma')
		AND function_name NOT IN ('`+strings.Join(allowedFunctions, "', '")+"')")
	if err != nil {
		return nil, err
	}
	denied := map[string]bool{}
	for _, name := range strings.Split(text, ",") {
		denied[name] = true
	}
	return denied, nil
}

// queryText returns the text in the first row and column of a query.
func queryText(conn duckdb.Connection, sql string) (string, error) {
	stmt, err := prepare(conn, sql)
	if err != nil {
		return "", err
	}
	defer duckdb.DestroyPrepare(&stmt)
	return scalar(stmt)
}
