// Package sqllex cuts SQL text into tokens the way DuckDB's parser does, for what
// is decided about a statement before it is parsed: its depth, its parameters,
// whether its plan can be used again. It never fails: text that no parser takes
// is cut somehow, and the parser refuses it later.
package sqllex

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	// Word is a keyword or a bare name.
	Word Kind = iota + 1
	// Name is a name in double quotes.
	Name
	// String is a text: '…', E'…' or $tag$…$tag$.
	String
	// Number is a run of digits.
	Number
	// Parameter is ?, ?1, $1 or $name.
	Parameter
	// Symbol is any other byte.
	Symbol
)

// Token is a piece of a statement.
type Token struct {
	Kind Kind
	// Start and End bound it in the statement.
	Start, End int
	// Text is that piece, with its quotes.
	Text string
}

// Is reports whether the token is this keyword, in any case.
func (t Token) Is(keyword string) bool { return t.Kind == Word && strings.EqualFold(t.Text, keyword) }

// Tokens yields the tokens of a statement in order, without blanks and comments.
func Tokens(sql string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for at := 0; at < len(sql); {
			kind, n := next(sql[at:])
			if kind != 0 && !yield(Token{Kind: kind, Start: at, End: at + n, Text: sql[at : at+n]}) {
				return
			}
			at += n
		}
	}
}

// next is the kind and the length of what s starts with; the kind is 0 for
// blanks and comments.
func next(s string) (Kind, int) {
	switch c := s[0]; {
	case isBlank(c):
		return 0, run(s, isBlank)
	case strings.HasPrefix(s, "--"):
		return 0, lineEnd(s)
	case strings.HasPrefix(s, "/*"):
		return 0, comment(s)
	case c == '\'':
		return String, quoted(s, c, false)
	case c == '"':
		return Name, quoted(s, c, false)
	case (c == 'e' || c == 'E') && strings.HasPrefix(s[1:], "'"):
		return String, 1 + quoted(s[1:], '\'', true)
	case isWord(c):
		return Word, run(s, isWordPart)
	case isDigit(c):
		return Number, run(s, isDigit)
	case c == '?':
		return Parameter, 1 + run(s[1:], isDigit)
	case c == '$':
		return dollar(s)
	}
	return Symbol, 1
}

// dollar takes $1, $name, or a dollar-quoted text.
func dollar(s string) (Kind, int) {
	if digits := run(s[1:], isDigit); digits > 0 {
		return Parameter, 1 + digits
	}
	end := 1
	if len(s) > 1 && isWord(s[1]) {
		end += run(s[1:], func(c byte) bool { return c != '$' && isWordPart(c) })
	}
	switch {
	case end < len(s) && s[end] == '$':
		return String, through(s, s[:end+1])
	case end == 1:
		return Symbol, 1
	}
	return Parameter, end
}

// through is the length up to the second time that s has the tag it starts with.
func through(s, tag string) int {
	if n := strings.Index(s[len(tag):], tag); n >= 0 {
		return n + 2*len(tag)
	}
	return len(s)
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

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isWordPart(c byte) bool { return isWord(c) || isDigit(c) || c == '$' }
