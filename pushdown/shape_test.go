package pushdown

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/scalar"
	"github.com/stretchr/testify/require"
)

func TestFilterShape(t *testing.T) {
	t.Parallel()
	like := func(p string) Expr { return Like{Arg: str, Kind: LikePattern, Pattern: p} }
	in := func(n int) Expr { return In{Arg: i32, Values: make([]Literal, n)} }
	for name, c := range map[string]struct {
		a, b []Expr
		same bool
	}{
		"constants":          {[]Expr{cmpr(Less, i32, num(1))}, []Expr{cmpr(Less, i32, num(7))}, true},
		"operators":          {[]Expr{cmpr(Less, i32, num(1))}, []Expr{cmpr(Greater, i32, num(1))}, false},
		"columns":            {[]Expr{cmpr(Less, i32, num(1))}, []Expr{cmpr(Less, i64, num(1))}, false},
		"types of constants": {[]Expr{cmpr(Less, i32, num(1))}, []Expr{cmpr(Less, i32, Literal{scalar.NewInt64Scalar(1)})}, false},
		"patterns":           {[]Expr{like("a%")}, []Expr{like("%b")}, true},
		"lists of about":     {[]Expr{in(5)}, []Expr{in(7)}, true},
		"lists":              {[]Expr{in(5)}, []Expr{in(50)}, false},
		"order of constants": {[]Expr{cmpr(Less, i32, num(1)), like("z")}, []Expr{like("a"), cmpr(Less, i32, num(9))}, true},
		"a conjunct more":    {[]Expr{like("z")}, []Expr{like("z"), cmpr(Less, i32, num(9))}, false},
	} {
		require.Equal(t, c.same, FilterShape(c.a) == FilterShape(c.b), name)
	}
	require.Equal(t, `"str"::utf8 like ? and ("i32"::int32 < ?::int32)`, FilterShape([]Expr{like("x"), cmpr(Less, i32, num(1))}))
}
