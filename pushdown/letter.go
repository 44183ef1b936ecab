package pushdown

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// Lower is s as DuckDB's lower writes it: code point by code point.
func Lower(s string) string { return string(AppendLower(nil, s)) }

// AppendLower appends [Lower] of s to dst.
func AppendLower(dst []byte, s string) []byte { return appendLetters(dst, s, 'A', lowerLetters) }

// AppendUpper appends s as DuckDB's upper writes it to dst.
func AppendUpper(dst []byte, s string) []byte { return appendLetters(dst, s, 'a', upperLetters) }

var (
	lowerLetters = sync.OnceValue(func() map[rune]rune { return letterMap(lowerRuns) })
	upperLetters = sync.OnceValue(func() map[rune]rune { return letterMap(upperRuns) })
)

func letterMap(runs []caseRun) map[rune]rune {
	out := map[rune]rune{}
	for _, r := range runs {
		for c := r.lo; c <= r.hi; c += r.stride {
			out[rune(c)] = rune(c) + r.delta
		}
	}
	return out
}

// appendLetters flips the ASCII letters from first on and maps what is not
// ASCII; bytes that are not UTF-8 stay.
func appendLetters(dst []byte, s string, first byte, mapping func() map[rune]rune) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c-first < 26 {
				c ^= 0x20
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if to, ok := mapping()[r]; ok {
			dst = utf8.AppendRune(dst, to)
		} else {
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst
}

// Length is the number of code points of s, as DuckDB counts them: the bytes
// that do not continue another.
func Length(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// Substring is up to length code points of s from the start-th on, counting
// from 1; start is at least 1 and length at least 0.
func Substring(s string, start, length int64) string {
	from := skipLetters(s, start-1)
	return s[from : from+skipLetters(s[from:], length)]
}

// Right is the last n code points of s; n is at least 0.
func Right(s string, n int64) string {
	return s[skipLetters(s, int64(Length(s))-n):]
}

// skipLetters is the bytes of the first n code points of s.
func skipLetters(s string, n int64) int {
	if n <= 0 {
		return 0
	}
	for i := 1; i < len(s); i++ {
		if s[i]&0xC0 != 0x80 {
			if n--; n == 0 {
				return i
			}
		}
	}
	return len(s)
}

// isLetters reports that s has ASCII only, none of them among the 26 letters
// from first on: what appendLetters would leave as it is.
func isLetters(s string, first byte) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || byte(r)-first < 26 }) < 0
}

// IsLower reports that s is plainly what [Lower] makes of it.
func IsLower(s string) bool { return isLetters(s, 'A') }

// IsUpper is [IsLower] for AppendUpper.
func IsUpper(s string) bool { return isLetters(s, 'a') }
