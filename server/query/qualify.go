package query

import (
	"slices"
	"strings"

	"github.com/tributary-db/tributary/server/sqllex"
)

// SystemSchema holds the coordinator's tables about itself.
const SystemSchema = "system"

// SystemTables are the tables of SystemSchema, in order.
func SystemTables() []string { return []string{"queries", "query_rounds", "scans"} }

// qualified writes the catalog before system.queries and its like where a table
// is named: the engine has a catalog "system" of its own and finds the short name
// ambiguous.
func qualified(sql string) string {
	var out strings.Builder
	done := 0
	var before, last [3]sqllex.Token // the three tokens before the current one
	for t := range sqllex.Tokens(sql) {
		before, last = last, [3]sqllex.Token{last[1], last[2], t}
		if at := last[0]; isSystemTable(last) && introducesTable(before[0]) {
			out.WriteString(sql[done:at.Start] + CatalogName + ".")
			done = at.Start
		}
	}
	return out.String() + sql[done:]
}

// isSystemTable reports whether three tokens are the name of a system table.
func isSystemTable(t [3]sqllex.Token) bool {
	if !named(t[0], SystemSchema) || t[1].Text != "." {
		return false
	}
	return slices.ContainsFunc(SystemTables(), func(name string) bool { return named(t[2], name) })
}

// named reports whether a token is a name, quoted or not, in any case.
func named(t sqllex.Token, name string) bool {
	switch t.Kind {
	case sqllex.Word:
		return strings.EqualFold(t.Text, name)
	case sqllex.Name:
		return strings.EqualFold(t.Text, `"`+name+`"`)
	}
	return false
}

// introducesTable reports whether a table may be named after a token.
func introducesTable(t sqllex.Token) bool {
	for _, word := range [...]string{"FROM", "JOIN", "TABLE", "DESCRIBE", "DESC", "SUMMARIZE", "PIVOT", "UNPIVOT"} {
		if t.Is(word) {
			return true
		}
	}
	return t.Text == "," || t.Text == "("
}
