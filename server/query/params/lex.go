package params

import (
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/server/sqllex"
)

// Token is one parameter in the text of a statement.
type Token struct {
	// Start and End bound it in the text.
	Start, End int
	// Name is what the engine calls it: "1", "2", … for ?, the digits of $1,
	// the name of $name in lower case.
	Name string
}

// Tokens finds the parameters of a statement. It skips strings, quoted
// identifiers, comments and dollar-quoted strings.
func Tokens(sql string) []Token {
	var found []Token
	marks := 0 // how many ? there were
	for t := range sqllex.Tokens(sql) {
		if t.Kind != sqllex.Parameter {
			continue
		}
		if t.Text[0] == '?' {
			marks++
		}
		found = append(found, Token{Start: t.Start, End: t.End, Name: parameterName(t.Text, marks)})
	}
	return found
}

// parameterName is the engine's name of a parameter; marks counts the ? up to it.
func parameterName(text string, marks int) string {
	name := text[1:]
	switch {
	case name == "":
		return strconv.Itoa(marks)
	case name[0] < '0' || name[0] > '9':
		return strings.ToLower(name)
	}
	if trimmed := strings.TrimLeft(name, "0"); trimmed != "" {
		return trimmed
	}
	return "0"
}
