package eval

import (
	"strings"

	"github.com/tributary-db/tributary/pushdown"
)

// matcher tests one string.
type matcher func(s string) bool

// likeNode matches strings against a constant pattern.
type likeNode struct {
	arg     node
	match   matcher
	negated bool
	out     truth
}

func (n *likeNode) eval(f *frame) (vec, error) {
	v, err := evalCol[string](n.arg, f)
	if err != nil {
		return nil, err
	}
	n.out.resize(f.n)
	clear(n.out.yes)
	for i, s := range v.vals {
		n.out.yes[i>>6] |= b2u(n.match(s)) << (i & 63)
	}
	n.out.settle(v.valid, n.negated)
	return &n.out, nil
}

func newMatcher(kind pushdown.LikeKind, p string) matcher {
	switch kind {
	case pushdown.LikePrefix:
		return func(s string) bool { return strings.HasPrefix(s, p) }
	case pushdown.LikeSuffix:
		return func(s string) bool { return strings.HasSuffix(s, p) }
	case pushdown.LikeContains:
		return func(s string) bool { return strings.Contains(s, p) }
	}
	return newLike(p)
}

// newLike compiles a LIKE pattern: the pieces between its % match one after
// the other, each as early as it can; the first and last are anchored.
func newLike(p string) matcher {
	pieces := strings.Split(p, "%")
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 {
		if !strings.Contains(p, "_") {
			return func(s string) bool { return s == p }
		}
		return func(s string) bool { return matchAt(s, p) == len(s) }
	}
	var middle []string
	for _, m := range pieces[1 : len(pieces)-1] {
		if m != "" {
			middle = append(middle, m)
		}
	}
	if strings.Contains(p, "_") {
		return like{first, last, middle}.match
	}
	if len(middle) == 1 && first == "" && last == "" {
		return func(s string) bool { return strings.Contains(s, middle[0]) }
	}
	return like{first, last, middle}.matchPlain
}

type like struct {
	first, last string
	middle      []string
}

// matchPlain matches pieces without _.
func (l like) matchPlain(s string) bool {
	if len(s) < len(l.first)+len(l.last) || !strings.HasPrefix(s, l.first) || !strings.HasSuffix(s, l.last) {
		return false
	}
	s = s[len(l.first) : len(s)-len(l.last)]
	for _, m := range l.middle {
		i := strings.Index(s, m)
		if i < 0 {
			return false
		}
		s = s[i+len(m):]
	}
	return true
}

func (l like) match(s string) bool {
	n := matchAt(s, l.first)
	if n < 0 {
		return false
	}
	s = s[n:]
	for _, m := range l.middle {
		if s, n = find(s, m); n < 0 {
			return false
		}
	}
	start := lastRunes(s, runeCount(l.last))
	return start >= 0 && matchAt(s[start:], l.last) == len(s)-start
}

// find returns what follows the first match of piece in s.
func find(s, piece string) (rest string, n int) {
	for {
		if n = matchAt(s, piece); n >= 0 {
			return s[n:], n
		}
		if s == "" {
			return "", -1
		}
		s = s[runeLen(s):]
	}
}

// matchAt returns how many bytes of s the piece matches at its start, or -1.
func matchAt(s, piece string) int {
	at := 0
	for i := range len(piece) {
		if at >= len(s) {
			return -1
		}
		if piece[i] == '_' {
			at += runeLen(s[at:])
			continue
		}
		if s[at] != piece[i] {
			return -1
		}
		at++
	}
	return at
}

// runeLen is the length of the code point at the start of s, going by the
// bytes that continue it.
func runeLen(s string) int {
	n := 1
	for n < len(s) && s[n]&0xC0 == 0x80 {
		n++
	}
	return n
}

func runeCount(s string) int {
	n := 0
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

// lastRunes is where the last n code points of s start, or -1.
func lastRunes(s string, n int) int {
	at := len(s)
	for ; n > 0; n-- {
		if at == 0 {
			return -1
		}
		at--
		for at > 0 && s[at]&0xC0 == 0x80 {
			at--
		}
	}
	return at
}
