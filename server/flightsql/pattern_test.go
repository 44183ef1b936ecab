package flightsql

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPattern(t *testing.T) {
	t.Parallel()
	require.True(t, likePattern(nil).match("x"))
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"ev%", "events", true}, {"ev%", "dev", false}, {"e_ents", "events", true}, {"e_ents", "eents", false},
		{`e\_x`, "e_x", true}, {`e\_x`, "eax", false}, {`50\%`, "50%", true}, {`50\%`, "500", false}, {`a\\b`, `a\b`, true}, {`a\b`, `a\b`, true},
		{"it's", "it's", true}, {"a.c", "abc", false}, {"%", "", true}, {"", "", true}, {"", "x", false}, {"é_", "éß", true},
		{"%a%b%", "xxaxxbxx", true}, {"%a%b", "abab", true}, {"%a%b", "aba", false}, {"_%_", "x", false}, {`\`, `\`, true},
		{"'; DROP TABLE t; --", "t", false}, {"\x00%", "\x00x", true}, {"%" + string(rune(0x1F600)), "x" + string(rune(0x1F600)), true},
	} {
		require.Equal(t, c.want, likePattern(&c.pattern).match(c.name), "%q %q", c.pattern, c.name)
	}
}

// TestPatternIsLike compares with the same pattern as a regular expression.
func TestPatternIsLike(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab%_é")), 0, 8, -1).Draw(t, "pattern")
		name := rapid.StringOfN(rapid.RuneFrom([]rune("abé")), 0, 8, -1).Draw(t, "name")
		re := regexp.MustCompile("(?s)^" + strings.NewReplacer("%", ".*", "_", ".").Replace(text) + "$")
		require.Equal(t, re.MatchString(name), likePattern(&text).match(name))
	})
}

// TestHostilePatterns cost no more than their length, whatever they are.
func TestHostilePatterns(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	for _, unit := range []string{"%", "_", "a", "%_", "%a", "_a%", `\`, "é%", "\xff%"} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		p := likePattern(&text)
		for range 5000 {
			p.match("a_table_with_a_name_of_the_usual_length")
		}
	}
	require.Less(t, time.Since(begun), 20*time.Second, "a matcher that looks at the pattern again for each name would take hours")
}
