package sqllex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var letters = map[Kind]string{Word: "w", Name: "n", String: "s", Number: "#", Parameter: "p", Symbol: "."}

func TestTokens(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT a1 , 12":             "w:SELECT w:a1 .:, #:12",
		`"a""b" 'c''d'`:              `n:"a""b" s:'c''d'`,
		`E'\'' e'\\' 'x\'`:           `s:E'\'' s:e'\\' s:'x\'`,
		"ee'x'":                      "w:ee s:'x'",
		"1 -- a ' b\n 2":             "#:1 #:2",
		"1 -- a\r2":                  "#:1 #:2",
		"1 /* /* */ ' */ 2 /* open":  "#:1 #:2",
		"? ?12 $1 $näme a$b":         "p:? p:?12 p:$1 p:$näme w:a$b",
		"$$ $1 $$ $t$ $$ ? $t$ $u$ ": "s:$$ $1 $$ s:$t$ $$ ? $t$ s:$u$ ",
		"$ 'open":                    ".:$ s:'open",
		"1e5":                        "#:1 w:e5",
		"":                           "",
	} {
		var got []string
		for token := range Tokens(sql) {
			require.Equal(t, sql[token.Start:token.End], token.Text)
			got = append(got, fmt.Sprintf("%s:%s", letters[token.Kind], token.Text))
		}
		require.Equal(t, want, strings.Join(got, " "), sql)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for token := range Tokens("Select") {
		require.True(t, token.Is("SELECT"))
		require.False(t, token.Is("SELECT1"))
	}
	for token := range Tokens(`"select"`) {
		require.False(t, token.Is("select"), "a quoted name is no keyword")
	}
}

// FuzzTokens: tokens are in order, not empty, and nothing between them is more
// than blanks and comments.
func FuzzTokens(f *testing.F) {
	f.Add("SELECT ?, $1, $a$ ? $a$, '?' -- x\n/* /* */ ? */ E'\\'?' \x80")
	f.Fuzz(func(t *testing.T, sql string) {
		end := 0
		for token := range Tokens(sql) {
			require.GreaterOrEqual(t, token.Start, end)
			require.Greater(t, token.End, token.Start)
			between := strings.TrimSpace(sql[end:token.Start])
			require.True(t, between == "" || strings.HasPrefix(between, "--") || strings.HasPrefix(between, "/*"), between)
			end = token.End
		}
		require.LessOrEqual(t, end, len(sql))
	})
}
