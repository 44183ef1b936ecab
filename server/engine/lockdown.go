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

// queryText returns the text in the first row and column of a query.
func queryText(conn duckdb.Connection, sql string) (string, error) {
	stmt, err := prepare(conn, sql)
	if err != nil {
		return "", err
	}
	defer duckdb.DestroyPrepare(&stmt)
	return scalar(stmt)
}
