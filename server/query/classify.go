package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/sqllex"
)

// Kind is what a statement does.
type Kind uint8

// The kinds of statements.
const (
	// Select yields rows: SELECT, WITH, VALUES, FROM, SHOW TABLES, DESCRIBE, …
	Select Kind = iota + 1
	// Explain prints a plan; with Analyze it runs the query first.
	Explain
	// Set changes a session setting, Reset restores its default.
	Set
	// Reset restores the default of a setting.
	Reset
	// ShowSetting yields the value of one session setting.
	ShowSetting
	// Transaction is BEGIN, COMMIT or ROLLBACK: accepted, without effect,
	// since every statement only reads.
	Transaction
)

// Command is a classified statement.
type Command struct {
	Kind Kind
	// SQL is the statement to plan, for Select and Explain.
	SQL string
	// Analyze says EXPLAIN ANALYZE.
	Analyze bool
	// Name and Value belong to Set, Reset and ShowSetting.
	Name, Value string
}

// ReadsRows reports whether the command yields a result set.
func (c Command) ReadsRows() bool {
	return c.Kind == Select || c.Kind == Explain || c.Kind == ShowSetting
}

// ChangesSession reports whether the command changes the session's settings.
func (c Command) ChangesSession() bool { return c.Kind == Set || c.Kind == Reset }

const supported = "Tributary is read-only and takes SELECT, WITH, VALUES, FROM, TABLE, SHOW, DESCRIBE, SUMMARIZE, EXPLAIN [ANALYZE], SET and RESET"

var rowWords = []string{"SELECT", "WITH", "VALUES", "FROM", "TABLE", "DESCRIBE", "DESC", "SUMMARIZE", "PIVOT", "UNPIVOT"}

// Classify reads the first words of a statement.
func Classify(sql string) (Command, error) {
	text := strings.TrimRight(sql, "; \t\r\n")
	word, rest := nextWord(text)
	switch {
	case word == "" && strings.HasPrefix(skipBlank(text), "("), slices.Contains(rowWords, word):
		return Command{Kind: Select, SQL: text}, nil
	case word == "" && skipBlank(text) == "":
		return Command{}, status.New(status.InvalidArgument, "the statement is empty; %s", supported)
	}
	switch word {
	case "EXPLAIN":
		return classifyExplain(rest)
	case "SET":
		return classifySet(rest)
	case "RESET":
		name, _ := nextName(rest)
		return Command{Kind: Reset, Name: name}, nil
	case "SHOW":
		return classifyShow(text, rest), nil
	case "BEGIN", "START", "COMMIT", "ROLLBACK", "END", "ABORT":
		return Command{Kind: Transaction}, nil
	}
	if word == "" {
		return Command{}, status.New(status.InvalidArgument, "syntax error at %q; %s", firstRunes(skipBlank(text), 20), supported)
	}
	if slices.Contains(refusedWords, word) {
		return Command{}, status.New(status.Unimplemented, "%s is not supported: %s", word, supported)
	}
	return Command{}, status.New(status.InvalidArgument, "syntax error at or near %q: %s", firstRunes(word, 40), supported)
}

var refusedWords = []string{
	"CREATE", "INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "COPY", "ATTACH", "DETACH", "INSTALL", "LOAD", "PRAGMA",
	"CALL", "EXPORT", "IMPORT", "VACUUM", "CHECKPOINT", "FORCE", "TRUNCATE", "MERGE", "USE", "GRANT", "REVOKE", "ANALYZE",
	"PREPARE", "EXECUTE", "DEALLOCATE", "COMMENT", "REPLACE", "UPSERT", "KILL", "DECLARE", "FETCH", "SAVEPOINT", "RELEASE",
}

func classifyExplain(rest string) (Command, error) {
	c := Command{Kind: Explain}
	if word, after := nextWord(rest); word == "ANALYZE" || word == "ANALYSE" {
		c.Analyze, rest = true, after
	}
	inner, err := Classify(rest)
	if err != nil {
		return Command{}, err
	}
	if inner.Kind != Select {
		return Command{}, status.New(status.InvalidArgument, "EXPLAIN takes a query: EXPLAIN [ANALYZE] SELECT …")
	}
	c.SQL = inner.SQL
	return c, nil
}

func classifySet(rest string) (Command, error) {
	name, after := nextName(rest)
	for strings.EqualFold(name, "session") || strings.EqualFold(name, "local") || strings.EqualFold(name, "variable") {
		name, after = nextName(after)
	}
	after = skipBlank(after)
	switch word, tail := nextWord(after); {
	case strings.HasPrefix(after, "="):
		after = skipBlank(after[1:])
	case word == "TO":
		after = skipBlank(tail)
	default:
		return Command{}, status.New(status.InvalidArgument, "syntax error in SET: write SET name = value")
	}
	value, err := settingValue(after)
	return Command{Kind: Set, Name: strings.ToLower(name), Value: value}, err
}

func settingValue(text string) (string, error) {
	if text == "" {
		return "", status.New(status.InvalidArgument, "syntax error in SET: the value is missing")
	}
	if text[0] != '\'' && text[0] != '"' {
		return strings.TrimSpace(text), nil
	}
	quote := text[:1]
	body, ok := strings.CutSuffix(text[1:], quote)
	if !ok {
		return "", status.New(status.InvalidArgument, "syntax error in SET: the value %s is not closed by %s", text, quote)
	}
	return strings.ReplaceAll(body, quote+quote, quote), nil
}

func classifyShow(text, rest string) Command {
	name, _ := nextName(rest)
	name = strings.ToLower(name)
	if _, known := settings[name]; known {
		return Command{Kind: ShowSetting, Name: name}
	}
	return Command{Kind: Select, SQL: text}
}

// nextWord returns the next bare word in upper case and the text after it; ""
// when the text starts with something else.
func nextWord(text string) (word, rest string) {
	name, rest := nextName(text)
	return strings.ToUpper(name), rest
}

func nextName(text string) (name, rest string) {
	text = skipBlank(text)
	end := strings.IndexFunc(text, func(r rune) bool { return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// skipBlank drops leading white space, comments and empty statements.
func skipBlank(text string) string {
	for {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == ';' })
		switch start := firstToken(text); start {
		case 0, len(text):
			return text[start:]
		default:
			text = text[start:] // a comment was first
		}
	}
}

// firstToken is where the first token starts, or the end.
func firstToken(text string) int {
	for token := range sqllex.Tokens(text) {
		return token.Start
	}
	return len(text)
}

func firstRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}
