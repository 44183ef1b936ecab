package engine

import (
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
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
	if d := nesting(sql); d > cfg.MaxDepth {
		return status.New(status.InvalidArgument, "the statement nests %d deep; at most %d levels are accepted", d, cfg.MaxDepth)
	}
	return nil
}

// nesting is the greatest depth of brackets, CASE and runs of prefix operators
// outside of strings, quoted names and comments.
func nesting(sql string) int {
	depth, deepest, run := 0, 0, 0
	for i := 0; i < len(sql); {
		if n := skipLength(sql[i:], i > 0 && isWord(sql[i-1])); n > 0 {
			if sql[i] != '-' && sql[i] != '/' {
				run = 0
			}
			i += n
			continue
		}
		n := 1
		switch c := sql[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
			run = 0
		case c == ')' || c == ']' || c == '}':
			depth = max(0, depth-1)
			run = 0
		case isWord(c):
			n = wordLength(sql[i:])
			word := sql[i : i+n]
			depth = caseDepth(depth, word)
			run = prefixRun(run, word)
		case c == '-' || c == '+' || c == '~':
			run++
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			run = 0
		}
		deepest = max(deepest, depth+run)
		i += n
	}
	return deepest
}

// caseDepth counts CASE … END as a bracket.
func caseDepth(depth int, word string) int {
	switch {
	case strings.EqualFold(word, "case"):
		return depth + 1
	case strings.EqualFold(word, "end"):
		return max(0, depth-1)
	}
	return depth
}

// prefixRun counts NOT NOT NOT … and - - - …, which nest without brackets.
func prefixRun(run int, word string) int {
	if strings.EqualFold(word, "not") {
		return run + 1
	}
	return 0
}

// skipLength is the length of the comment, string or quoted name that sql
// starts with, or 0. inWord says that a word character precedes.
func skipLength(sql string, inWord bool) int {
	switch {
	case strings.HasPrefix(sql, "--"):
		return through(sql, 2, "\n")
	case strings.HasPrefix(sql, "/*"):
		return blockComment(sql)
	case sql[0] == '\'':
		return through(sql, 1, "'")
	case sql[0] == '"':
		return through(sql, 1, `"`)
	case !inWord && len(sql) > 1 && (sql[0] == 'e' || sql[0] == 'E') && sql[1] == '\'':
		return escapeString(sql)
	case !inWord && sql[0] == '$':
		return dollarQuoted(sql)
	}
	return 0
}

// through is the length up to and including the terminator, looked for from at.
// A doubled quote inside simply starts the next quoted piece.
func through(sql string, at int, terminator string) int {
	n := strings.Index(sql[at:], terminator)
	if n < 0 {
		return len(sql)
	}
	return at + n + len(terminator)
}

// blockComment is the length of a comment; comments nest.
func blockComment(sql string) int {
	depth := 0
	for i := 0; i+1 < len(sql); i++ {
		switch sql[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(sql)
}

// escapeString is the length of an E'…' string, where a backslash escapes.
func escapeString(sql string) int {
	for i := 2; i < len(sql); i++ {
		switch sql[i] {
		case '\\':
			i++
		case '\'':
			return i + 1
		}
	}
	return len(sql)
}

// dollarQuoted is the length of a $tag$…$tag$ string, or 0 for a parameter.
func dollarQuoted(sql string) int {
	end := strings.IndexByte(sql[1:], '$') + 1
	if end == 0 {
		return 0
	}
	tag := sql[:end+1]
	for i := 1; i < end; i++ {
		if !isWord(tag[i]) || i == 1 && tag[i] >= '0' && tag[i] <= '9' {
			return 0
		}
	}
	return through(sql, len(tag), tag)
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func wordLength(sql string) int {
	n := 1
	for n < len(sql) && isWord(sql[n]) {
		n++
	}
	return n
}

// firstWord is the first keyword of a statement, in upper case.
func firstWord(sql string) string {
	for i := 0; i < len(sql); i++ {
		if n := skipLength(sql[i:], false); n > 0 {
			i += n - 1
			continue
		}
		if isWord(sql[i]) {
			return strings.ToUpper(sql[i : i+wordLength(sql[i:])])
		}
	}
	return ""
}
