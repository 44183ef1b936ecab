package pushdown

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"
)

// maxShown is how many IN values or partitions the text for people lists.
const maxShown = 20

var (
	compareText = [...]string{
		Equal: "=", NotEqual: "<>", Less: "<", LessEqual: "<=", Greater: ">", GreaterEqual: ">=",
		Distinct: "is distinct from", NotDistinct: "is not distinct from",
	}
	arithText = [...]string{Add: "+", Subtract: "-", Multiply: "*"}
	likeText  = [...]string{LikePattern: "like", LikePrefix: "prefix", LikeSuffix: "suffix", LikeContains: "contains"}
	aggText   = [...]string{CountStar: "count", Count: "count", Sum: "sum", Min: "min", Max: "max"}
)

// String returns the operator as SQL spells it.
func (o CompareOp) String() string { return named(compareText[:], int(o)) }

// String returns the operator's sign.
func (o ArithOp) String() string { return named(arithText[:], int(o)) }

// String returns the name of the match.
func (k LikeKind) String() string { return named(likeText[:], int(k)) }

// String returns the function's SQL name.
func (f AggFunc) String() string { return named(aggText[:], int(f)) }

func named(names []string, i int) string {
	if i <= 0 || i >= len(names) {
		return "unknown(" + strconv.Itoa(i) + ")"
	}
	return names[i]
}

// ExprString is e on one line, for people: types are left out and long lists
// are cut.
func ExprString(e Expr) string {
	var p printer
	p.expr(e)
	return p.String()
}

// exactText is e with every type and value: two expressions with the same text
// are the same expression.
func exactText(e Expr) string {
	p := printer{exact: true}
	p.expr(e)
	return p.String()
}

// String is s on one line, for people, see [ExprString].
func (s *Spec) String() string {
	var p printer
	p.spec(s)
	return p.String()
}

// Hash is a stable hash of the canonical form of s, types included. It is the
// same in every process.
func (s *Spec) Hash() uint64 {
	filter := canonicalFilter(s.Filter)
	c := *s
	if s.Reduce != nil {
		c.Reduce = s.Reduce.canonical()
	}
	p := printer{exact: true, filter: filter}
	p.spec(&c)
	return xxh3.HashString(p.String())
}

type printer struct {
	strings.Builder
	exact bool
	shape bool // without constants, see [FilterShape]
	// filter is the text of the conjuncts of the spec, if it is known.
	filter []keyed
}

func (p *printer) typed(t arrow.DataType) {
	if p.exact {
		p.WriteString("::")
		p.WriteString(typeText(t))
	}
}

func (p *printer) name(s string) {
	if !p.exact && plainName(s) {
		p.WriteString(s)
		return
	}
	p.WriteString(quote(s, '"'))
}

func plainName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func (p *printer) expr(e Expr) {
	switch e := e.(type) {
	case Column:
		p.name(e.Name)
		p.typed(e.DataType)
	case Literal:
		p.literal(e)
	case Compare:
		p.infix(e.Left, e.Op.String(), e.Right)
	case And:
		p.list("(", " and ", ")", e.Args)
	case Or:
		p.list("(", " or ", ")", e.Args)
	case Not:
		p.list("not (", "", ")", []Expr{e.Arg})
	case IsNull:
		p.isNull(e)
	case In:
		p.in(e)
	case Like:
		p.like(e)
	case Arith:
		p.infix(e.Left, e.Op.String(), e.Right)
		p.typed(e.DataType)
	case Cast:
		p.list("cast(", "", " as "+typeText(e.DataType)+")", []Expr{e.Arg})
	case Case:
		p.caseWhen(e)
	case Coalesce:
		p.list("coalesce(", ", ", ")", e.Args)
		p.typed(e.DataType)
	case Call:
		p.list(e.Func.String()+"(", ", ", ")", e.Args)
		p.typed(e.DataType)
	default:
		p.WriteString("?")
	}
}

func (p *printer) literal(e Literal) {
	if e.Value == nil {
		p.WriteString("?")
		return
	}
	if p.shape {
		p.WriteString(hole)
		p.typed(e.Type())
		return
	}
	p.WriteString(literalText(e.Value, p.exact))
	p.typed(e.Type())
}

func (p *printer) infix(l Expr, op string, r Expr) {
	p.WriteByte('(')
	p.expr(l)
	p.WriteString(" " + op + " ")
	p.expr(r)
	p.WriteByte(')')
}

func (p *printer) list(open, sep, end string, args []Expr) {
	p.WriteString(open)
	for i, a := range args {
		if i > 0 {
			p.WriteString(sep)
		}
		p.expr(a)
	}
	p.WriteString(end)
}

func (p *printer) negated(not bool) {
	if not {
		p.WriteString(" not")
	}
}

func (p *printer) isNull(e IsNull) {
	p.expr(e.Arg)
	p.WriteString(" is")
	p.negated(e.Negated)
	p.WriteString(" null")
}

func (p *printer) in(e In) {
	p.expr(e.Arg)
	p.negated(e.Negated)
	if p.shape {
		p.WriteString(" in " + listHole(len(e.Values)))
		return
	}
	p.WriteString(" in (")
	values := e.Values
	if !p.exact && len(values) > maxShown {
		values = values[:maxShown]
	}
	p.values(values)
	if more := len(e.Values) - len(values); more > 0 {
		p.WriteString(", … " + strconv.Itoa(more) + " more")
	}
	p.WriteByte(')')
}

// values prints a list, of integers each without an allocation.
func (p *printer) values(list []Literal) {
	var room [20]byte
	var of arrow.DataType // whose text typed is
	typed := ""
	for i, v := range list {
		p.comma(i)
		text, ok := room[:0], false
		if v.Value != nil && v.Value.IsValid() {
			text, ok = appendInteger(text, v.Value)
		}
		if !ok {
			p.literal(v)
			continue
		}
		p.Write(text)
		if t := v.Value.DataType(); p.exact && t != of {
			of, typed = t, "::"+typeText(t)
		}
		p.WriteString(typed)
	}
}

func (p *printer) like(e Like) {
	p.expr(e.Arg)
	p.negated(e.Negated)
	pattern := hole
	if !p.shape {
		pattern = quote(e.Pattern, '\'')
	}
	p.WriteString(" " + e.Kind.String() + " " + pattern)
}

func (p *printer) caseWhen(e Case) {
	p.WriteString("case")
	for _, w := range e.Whens {
		p.WriteString(" when ")
		p.expr(w.Cond)
		p.WriteString(" then ")
		p.expr(w.Then)
	}
	if e.Else != nil {
		p.WriteString(" else ")
		p.expr(e.Else)
	}
	p.WriteString(" end")
	p.typed(e.DataType)
}
