package plan

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// match is a string match by DuckDB's name of it.
type match struct {
	kind                      pushdown.LikeKind
	negated, anyCase, escapes bool
}

var matches = map[string]match{
	"~~": {kind: pushdown.LikePattern}, "!~~": {kind: pushdown.LikePattern, negated: true},
	"~~*": {kind: pushdown.LikePattern, anyCase: true}, "!~~*": {kind: pushdown.LikePattern, anyCase: true, negated: true},
	"like_escape":      {kind: pushdown.LikePattern, escapes: true},
	"not_like_escape":  {kind: pushdown.LikePattern, escapes: true, negated: true},
	"ilike_escape":     {kind: pushdown.LikePattern, escapes: true, anyCase: true},
	"not_ilike_escape": {kind: pushdown.LikePattern, escapes: true, anyCase: true, negated: true},
	"prefix":           {kind: pushdown.LikePrefix}, "starts_with": {kind: pushdown.LikePrefix}, "^@": {kind: pushdown.LikePrefix},
	"suffix": {kind: pushdown.LikeSuffix}, "ends_with": {kind: pushdown.LikeSuffix},
	"contains": {kind: pushdown.LikeContains},
}

// matchOf is the string match that e is.
func matchOf(e *Call) (match, bool) {
	m, ok := matches[e.Name]
	args := 2
	if m.escapes {
		args = 3
	}
	return m, ok && len(e.Args) == args && e.Args[0].Type() == "VARCHAR"
}

// like converts a string match. ILIKE is LIKE of both sides in lower case, as
// in DuckDB.
func (c converter) like(e *Call, m match) (pushdown.Expr, error) {
	pattern, ok := stringConst(e.Args[1])
	if !ok {
		return nil, notPushed("%s with a pattern that is not a constant is not pushed", e.Name)
	}
	arg, err := c.expr(e.Args[0])
	if err != nil {
		return nil, err
	}
	if m.anyCase {
		pattern = pushdown.Lower(pattern)
		arg = pushdown.Call{Func: pushdown.FuncLower, Args: []pushdown.Expr{arg}, DataType: arrowType("VARCHAR")}
	}
	if !m.escapes {
		return pushdown.Like{Arg: arg, Kind: m.kind, Pattern: pattern, Negated: m.negated}, nil
	}
	escape, ok := stringConst(e.Args[2])
	if !ok {
		return nil, notPushed("%s with an escape that is not a constant is not pushed", e.Name)
	}
	kind, text := unescape(pattern, escape)
	switch kind {
	case 0:
		return nil, notPushed("%s with the pattern %q and the escape %q is not pushed", e.Name, pattern, escape)
	case exactMatch:
		op := pushdown.Equal
		if m.negated {
			op = pushdown.NotEqual
		}
		return pushdown.Compare{Op: op, Left: arg, Right: pushdown.Literal{Value: scalar.NewStringScalar(text)}}, nil
	}
	return pushdown.Like{Arg: arg, Kind: kind, Pattern: text, Negated: m.negated}, nil
}

// exactMatch stands for equality among the kinds of matches.
const exactMatch = pushdown.LikeContains + 1

// unescape writes a pattern without its escapes. That can be a plain pattern,
// when it escapes nothing that is special, or a text to look for; kind is 0 for
// others and where DuckDB may object.
func unescape(pattern, escape string) (kind pushdown.LikeKind, text string) {
	if len(escape) != 1 || escape[0] >= 0x80 || strings.Contains("%_\x00", escape) {
		return 0, ""
	}
	var plain []byte
	wild, special := "", false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == escape[0]:
			if i++; i == len(pattern) {
				return 0, ""
			}
			special = special || pattern[i] == '%' || pattern[i] == '_'
			plain, wild = append(plain, pattern[i]), wild+"."
		case c == '%', c == '_':
			plain, wild = append(plain, c), wild+string(rune(c))
		default:
			plain, wild = append(plain, c), wild+"."
		}
	}
	if !special {
		return pushdown.LikePattern, string(plain)
	}
	return anchored(string(plain), wild)
}

// anchored finds the form of a pattern with % at its ends only; wild has the
// wildcards where they stand and a dot for every other byte.
func anchored(plain, wild string) (pushdown.LikeKind, string) {
	inner := strings.TrimLeft(wild, "%")
	from := len(wild) - len(inner)
	inner = strings.TrimRight(inner, "%")
	to := from + len(inner)
	text := plain[from:to]
	switch {
	case strings.Trim(inner, ".") != "":
		return 0, ""
	case from > 0 && to < len(wild):
		return pushdown.LikeContains, text
	case from > 0:
		return pushdown.LikeSuffix, text
	case to < len(wild):
		return pushdown.LikePrefix, text
	}
	return exactMatch, text
}
