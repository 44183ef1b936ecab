package engine

import (
	"bytes"
	"encoding/json"
	"strings"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// allowedFunctions are the table functions that a statement may call: those
// that compute, and those that describe the catalog. The others read files, run
// text as SQL, change the instance, or tell where it keeps its files.
var allowedFunctions = []string{
	"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "summary",
	"pg_timezone_names", "icu_calendar_names",
	"pragma_collations", "pragma_platform", "pragma_show", "pragma_table_info", "pragma_user_agent", "pragma_version",
	"duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_dependencies",
	"duckdb_functions", "duckdb_indexes", "duckdb_keywords", "duckdb_optimizers", "duckdb_schemas",
	"duckdb_sequences", "duckdb_tables", "duckdb_types", "duckdb_variables", "duckdb_views",
}

// deniedScalars are the functions that read settings (paths of the server among
// them), write the instance's log, hold a thread without working, or run the
// parser and the planner over a text: what it names is not checked, and the
// optimizer would compute it. Those of JSON go down into a value by recursion, or
// indent it by its depth: one of 100,000 brackets would end the process. The last
// ones make values of the type VARIANT.
var deniedScalars = []string{
	"current_setting", "write_log", "sleep_ms", "pg_sleep",
	"json_serialize_plan", "json_serialize_sql", "json_deserialize_sql",
	"json_contains", "json_group_structure", "json_merge_patch", "json_pretty", "json_structure",
	"make_type", "variant_bytes_to_variant", "variant_extract", "variant_normalize", "variant_to_parquet_variant", "variant_typeof",
}

// variant is a type that statements must not name: DuckDB casts JSON to it by
// recursion, and a text of 90,000 brackets would end the process.
const variant = "VARIANT"

// denied is what a statement may not name, in lower case.
type denied struct {
	tables  map[string]bool // table functions
	scalars map[string]bool
	// views are DuckDB's own over denied table functions.
	views map[string]bool
}

// readDenied asks an instance for its table functions, so that one that a new
// DuckDB brings is denied until it is allowed.
func readDenied(conn duckdb.Connection) (denied, error) {
	d := denied{tables: map[string]bool{}, scalars: map[string]bool{}, views: map[string]bool{}}
	text, err := queryText(conn, `SELECT string_agg(DISTINCT lower(function_name), ',') FROM duckdb_functions()
		WHERE function_type IN ('table', 'table_macro', 'pragma')
		AND function_name NOT IN ('`+strings.Join(allowedFunctions, "', '")+"')")
	if err != nil {
		return d, err
	}
	for _, name := range strings.Split(text, ",") {
		d.tables[name] = true
	}
	for _, name := range deniedScalars {
		d.scalars[name] = true
	}
	views, err := queryText(conn, "SELECT string_agg(lower(view_name) || ' ' || replace(lower(sql), chr(10), ' '), chr(10)) FROM duckdb_views() WHERE internal")
	for line := range strings.Lines(views) {
		name, sql, _ := strings.Cut(line, " ")
		d.views[name] = d.calls(sql)
	}
	return d, err
}

// calls reports whether the text of a view calls a denied table function.
func (d denied) calls(sql string) bool {
	for name := range d.tables {
		for rest := sql; ; {
			before, after, found := strings.Cut(rest, name+"(")
			if !found {
				break
			}
			if n := len(before); n == 0 || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", rune(before[n-1])) {
				return true
			}
			rest = after
		}
	}
	return false
}

// check refuses a parsed statement that names something denied.
func (d denied) check(statement []byte) error {
	if !d.mentioned(statement) {
		return nil
	}
	var tree any
	if err := json.Unmarshal(statement, &tree); err != nil {
		return status.Wrap(status.Internal, err, "read the parsed statement")
	}
	switch what, name := d.find(tree); what {
	case "":
		return nil
	case "FUNCTION":
		hint := ""
		if name == "current_setting" {
			hint = "; SHOW name shows a setting of the session"
		}
		return status.New(status.PermissionDenied, "the function %s is not available%s", name, hint)
	case variant:
		return status.New(status.Unimplemented, "the type VARIANT is not supported; JSON holds such values")
	case "BASE_TABLE":
		return status.New(status.PermissionDenied, "the view %s is not available: statements read federated tables only, not the engine itself", name)
	default:
		return status.New(status.PermissionDenied,
			"the table function %s is not available: statements read federated tables only, not files or the engine itself", name)
	}
}

// mentioned is a quick look: most statements name nothing that is denied.
func (d denied) mentioned(statement []byte) bool {
	if bytes.Contains(statement, []byte(`"TABLE_FUNCTION"`)) || bytes.Contains(statement, []byte(`"id":"`+variant+`"`)) {
		return true
	}
	lower := bytes.ToLower(statement)
	for name := range d.scalars {
		if bytes.Contains(lower, []byte(name)) {
			return true
		}
	}
	for name, hidden := range d.views {
		if hidden && bytes.Contains(lower, []byte(name)) {
			return true
		}
	}
	return false
}

// find returns the first thing in a parse tree that is denied, and its kind.
func (d denied) find(tree any) (what, name string) {
	var children []any
	switch t := tree.(type) {
	case []any:
		children = t
	case map[string]any:
		if what, name := named(t); d.denies(what, name) {
			return what, name
		}
		for _, child := range t {
			children = append(children, child)
		}
	}
	for _, child := range children {
		if what, name := d.find(child); what != "" {
			return what, name
		}
	}
	return "", ""
}

func (d denied) denies(what, name string) bool {
	switch what {
	case "TABLE_FUNCTION":
		return d.tables[name]
	case "FUNCTION":
		return d.scalars[name]
	case "BASE_TABLE":
		return d.views[name]
	case variant:
		return true
	}
	return false
}

// named is the kind of a parse tree's node and, in lower case, what it names.
func named(node map[string]any) (what, name string) {
	if node["id"] == variant {
		return variant, ""
	}
	what, _ = node["type"].(string)
	switch what {
	case "TABLE_FUNCTION":
		function, _ := node["function"].(map[string]any)
		name, _ = function["function_name"].(string)
	case "FUNCTION":
		name, _ = node["function_name"].(string)
	case "BASE_TABLE":
		name, _ = node["table_name"].(string)
	}
	return what, strings.ToLower(name)
}
