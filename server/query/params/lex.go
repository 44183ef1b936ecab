package params

import (
	"strconv"
	"strings"
	"unicode/utf8"
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
	l := lexer{sql: sql}
	for l.at < len(sql) {
		l.step()
	}
	return l.found
}

type lexer struct {
	sql   string
	at    int
	found []Token
	marks int // how many ? there were
}

func (l *lexer) step() {
	rest := l.sql[l.at:]
	switch c := rest[0]; {
	case c == '\'' || c == '"':
		l.at += quoted(rest, c, false)
	case (c == 'e' || c == 'E') && strings.HasPrefix(rest[1:], "'"):
		l.at += 1 + quoted(rest[1:], '\'', true)
	case strings.HasPrefix(rest, "--"):
		l.at += lineEnd(rest)
	case strings.HasPrefix(rest, "/*"):
		l.at += comment(rest)
	case isWord(c):
		l.at += run(rest, isWordPart)
	case c == '?':
		l.mark(rest)
	case c == '$':
		l.dollar(rest)
	default:
		l.at++
	}
}

// mark takes ? or ?N.
func (l *lexer) mark(rest string) {
	end := 1 + run(rest[1:], isDigit)
	l.marks++
	name := strconv.Itoa(l.marks)
	if end > 1 {
		name = number(rest[1:end])
	}
	l.add(end, name)
}

// dollar takes $1, $name, or a dollar-quoted string.
func (l *lexer) dollar(rest string) {
	if end := 1 + run(rest[1:], isDigit); end > 1 {
		l.add(end, number(rest[1:end]))
		return
	}
	end := 1
	if len(rest) > 1 && isWord(rest[1]) {
		end += run(rest[1:], func(c byte) bool { return c != '$' && isWordPart(c) })
	}
	if end < len(rest) && rest[end] == '$' {
		tag := rest[:end+1]
		if n := strings.Index(rest[len(tag):], tag); n >= 0 {
			l.at += n + 2*len(tag)
		} else {
			l.at = len(l.sql)
		}
		return
	}
	if end == 1 {
		l.at++
		return
	}
	l.add(end, strings.ToLower(rest[1:end]))
}

func (l *lexer) add(length int, name string) {
	l.found = append(l.found, Token{Start: l.at, End: l.at + length, Name: name})
	l.at += length
}

// number drops leading zeros.
func number(digits string) string {
	if trimmed := strings.TrimLeft(digits, "0"); trimmed != "" {
		return trimmed
	}
	return "0"
}

// quoted is the length of a quoted text at the start of s; a doubled quote, and
// with escapes one after a backslash, does not end it.
func quoted(s string, quote byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] == quote && i+1 < len(s) && s[i+1] == quote:
			i++
		case s[i] == quote:
			return i + 1
		}
	}
	return len(s)
}

func lineEnd(s string) int {
	if n := strings.IndexAny(s, "\r\n"); n >= 0 {
		return n
	}
	return len(s)
}

// comment is the length of a comment at the start of s; comments nest.
func comment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}

func run(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isWordPart(c byte) bool { return isWord(c) || isDigit(c) || c == '$' }
