package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown"
)

func TestUnescape(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]struct {
		kind pushdown.LikeKind
		text string
	}{
		"a%_":    {pushdown.LikePattern, "a%_"},
		"a$b%":   {pushdown.LikePattern, "ab%"},
		"$$%":    {pushdown.LikePattern, "$%"},
		"a$%b":   {exactMatch, "a%b"},
		"$_%%":   {pushdown.LikePrefix, "_"},
		"%%$%":   {pushdown.LikeSuffix, "%"},
		"%a$_%":  {pushdown.LikeContains, "a_"},
		"%a$%%b": {}, "_$%": {}, "a$": {}, "%$%_": {}, "a%$": {},
	} {
		kind, text := unescape(pattern, "$")
		require.Equal(t, want.kind, kind, pattern)
		require.Equal(t, want.text, text, pattern)
	}
	for _, escape := range []string{"", "%", "_", "ab", "é", "\x00"} {
		kind, _ := unescape("a", escape)
		require.Zero(t, kind, escape)
	}
}

func TestBlobLiterals(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{`''::BLOB`: "", `'a\x00''\xFFb'::BLOB`: "a\x00'\xffb"} {
		l, err := literal(&Const{SQL: sql, Opaque: true, ConstType: "BLOB"})
		require.NoError(t, err)
		require.Equal(t, want, string(l.Value.(interface{ Data() []byte }).Data()))
	}
	for _, sql := range []string{`a::BLOB`, `'\x0'::BLOB`, `'\xZZ'::BLOB`, `'\y00'::BLOB`, `decode('a')`} {
		_, err := literal(&Const{SQL: sql, Opaque: true, ConstType: "BLOB"})
		require.Error(t, err, sql)
	}
}

func TestCallsRefused(t *testing.T) {
	t.Parallel()
	table := testTable(t, "t", allTypes, 0)
	s, d := &Ref{Index: 2, RefType: "VARCHAR"}, &Const{Value: int64(1), ConstType: "DATE"}
	text := func(v string) *Const { return &Const{Value: v, ConstType: "VARCHAR"} }
	for _, e := range []*Call{
		{Name: "date_trunc", Args: []Expr{text("century"), d}, Result: "TIMESTAMP"},
		{Name: "date_trunc", Args: []Expr{s, d}, Result: "TIMESTAMP"},
		{Name: "date_part", Args: []Expr{text("week"), d}, Result: "BIGINT"},
		{Name: "date_part", Args: []Expr{d}, Result: "BIGINT"},
		{Name: "lower", Args: []Expr{s}, Result: "JSON"},
		{Name: "left", Args: []Expr{s, &Const{Value: int64(-1), ConstType: "BIGINT"}}, Result: "VARCHAR"},
		{Name: "-", Args: []Expr{&Const{Value: int64(1), ConstType: "UINTEGER"}}, Result: "UINTEGER"},
		{Name: "~~*", Args: []Expr{s, s}, Result: "BOOLEAN"},
		{Name: "like_escape", Args: []Expr{s, text("a"), s}, Result: "BOOLEAN"},
		{Name: "abs", Args: []Expr{&Const{Value: int64(1), ConstType: "HUGEINT"}}, Result: "HUGEINT"},
	} {
		_, err := pushable(table, e)
		require.Error(t, err, e.Name)
	}
}
