package flightsql

import (
	"strings"
	"unicode/utf8"
)

// pattern is a metadata filter with % (any text) and _ (any character), which a
// backslash makes ordinary. It may be hostile: clients send whole statements.
// Matching takes time by the length of the name, not of the pattern.
type pattern struct {
	all    bool
	tokens []token
	least  int // characters that a name must have
}

type token struct {
	char rune
	kind tokenKind
}

type tokenKind uint8

const (
	literal tokenKind = iota
	anyChar
	anyText
)

// longestName bounds what a pattern may ask for: no name is longer, so that the
// rest of a longer pattern need not be looked at.
const longestName = 4096

// likePattern reads a filter; nil matches all.
func likePattern(text *string) pattern {
	if text == nil {
		return pattern{all: true}
	}
	var p pattern
	for rest := *text; rest != "" && p.least <= longestName; {
		var t token
		t, rest = nextToken(rest)
		if t.kind == anyText && len(p.tokens) > 0 && p.tokens[len(p.tokens)-1].kind == anyText {
			continue
		}
		if t.kind != anyText {
			p.least++
		}
		p.tokens = append(p.tokens, t)
	}
	return p
}

func nextToken(text string) (token, string) {
	switch {
	case text[0] == '%':
		return token{kind: anyText}, text[1:]
	case text[0] == '_':
		return token{kind: anyChar}, text[1:]
	case strings.HasPrefix(text, `\%`), strings.HasPrefix(text, `\_`), strings.HasPrefix(text, `\\`):
		return token{char: rune(text[1])}, text[2:]
	}
	r, n := utf8.DecodeRuneInString(text)
	return token{char: r}, text[n:]
}

// match reports whether a name fits. On a mismatch the last % takes one
// character more.
func (p pattern) match(name string) bool {
	if p.all {
		return true
	}
	chars := []rune(name)
	if len(chars) < p.least {
		return false
	}
	at, star, taken := 0, -1, 0
	for i := 0; i < len(chars); {
		switch {
		case at < len(p.tokens) && p.tokens[at].kind == anyText:
			star, taken = at, i
			at++
		case at < len(p.tokens) && (p.tokens[at].kind == anyChar || p.tokens[at].char == chars[i]):
			at++
			i++
		case star >= 0:
			taken++
			at, i = star+1, taken
		default:
			return false
		}
	}
	return at == len(p.tokens) || at == len(p.tokens)-1 && p.tokens[at].kind == anyText
}
