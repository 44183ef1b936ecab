package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/sqllex"
)

// checkLimits refuses, before DuckDB's parser sees it, a statement that is too
// long or too deeply nested: the parser takes seconds for hundreds of brackets.
func checkLimits(sql string, cfg BinderConfig) error {
	if len(sql) > cfg.MaxSQLBytes {
		return status.New(status.InvalidArgument, "the statement has %d bytes; at most %d are accepted", len(sql), cfg.MaxSQLBytes)
	}
	if strings.IndexByte(sql, 0) >= 0 {
		return status.New(status.InvalidArgument, "the statement contains a zero byte")
	}
	if !utf8.ValidString(sql) {
		return status.New(status.InvalidArgument, "the statement is not valid UTF-8")
	}
	if d := nesting(sql); d > cfg.MaxDepth {
		return status.New(status.InvalidArgument, "the statement nests %d deep; at most %d levels are accepted", d, cfg.MaxDepth)
	}
	return nil
}

// nesting is the greatest depth of brackets, CASE and runs of prefix operators.
func nesting(sql string) int {
	depth, deepest, run := 0, 0, 0
	for t := range sqllex.Tokens(sql) {
		depth = max(0, depth+bracket(t))
		run = prefixRun(run, t)
		deepest = max(deepest, depth+run)
	}
	return deepest
}

// bracket is 1 for what opens a level and -1 for what closes one; CASE … END is
// a bracket too.
func bracket(t sqllex.Token) int {
	switch {
	case t.Kind == sqllex.Symbol && strings.Contains("([{", t.Text), t.Is("case"):
		return 1
	case t.Kind == sqllex.Symbol && strings.Contains(")]}", t.Text), t.Is("end"):
		return -1
	}
	return 0
}

// prefixRun counts NOT NOT NOT … and - - - …, which nest without brackets.
func prefixRun(run int, t sqllex.Token) int {
	if t.Is("not") || t.Kind == sqllex.Symbol && strings.Contains("-+~", t.Text) {
		return run + 1
	}
	return 0
}

// firstWord is the first keyword of a statement, in upper case.
func firstWord(sql string) string {
	for t := range sqllex.Tokens(sql) {
		if t.Kind == sqllex.Word {
			return strings.ToUpper(t.Text)
		}
	}
	return ""
}
