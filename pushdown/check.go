package pushdown

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Limits on what one spec may hold; beyond them it is refused before any work.
const (
	// MaxDepth is how deep expressions nest.
	MaxDepth = 200
	// MaxNodes is how many expression nodes and IN values a spec has.
	MaxNodes = 1 << 20
	// MaxColumns bounds each of columns, conjuncts, group keys, aggregates and
	// sort keys.
	MaxColumns = 1 << 14
	// MaxPartitions bounds the partition list.
	MaxPartitions = 1 << 20
)

// Supported returns nil when the kernels evaluate e exactly, and otherwise an
// Unimplemented error that names the part they do not know or that is ill
// typed. Columns are taken at their declared types.
func Supported(e Expr) error {
	return new(checker).expr(e, 1)
}

// checker walks expressions that may be hostile: it never calls Type on a node
// before the node is checked.
type checker struct {
	nodes int
	// column checks a column against the table, nil for any column.
	column func(Column) error
}

func unsupported(format string, args ...any) error {
	return status.New(status.Unimplemented, format, args...)
}

func (c *checker) count(n int) error {
	if c.nodes += n; c.nodes > MaxNodes {
		return unsupported("more than %d expression nodes: simplify the filter", MaxNodes)
	}
	return nil
}

func (c *checker) expr(e Expr, depth int) error {
	if depth > MaxDepth {
		return unsupported("expressions nest deeper than %d levels", MaxDepth)
	}
	if err := c.count(1); err != nil {
		return err
	}
	switch e.(type) {
	case Column, Literal:
		return c.leaf(e)
	case Compare, And, Or, Not, IsNull, In, Like, Arith, Cast, Case, Coalesce, Call:
	default:
		return unsupported("unknown expression %T", e)
	}
	for _, child := range Children(e) {
		if err := c.expr(child, depth+1); err != nil {
			return err
		}
	}
	return c.node(e)
}

func (c *checker) leaf(e Expr) error {
	if l, ok := e.(Literal); ok {
		return checkLiteral(l)
	}
	col := e.(Column)
	if col.DataType == nil {
		return unsupported("column %q has no type", col.Name)
	}
	if c.column != nil {
		return c.column(col)
	}
	return nil
}

// node checks e, whose children are already checked.
func (c *checker) node(e Expr) error {
	switch e := e.(type) {
	case Compare:
		return checkCompare(e)
	case And:
		return checkLogic("AND", e.Args)
	case Or:
		return checkLogic("OR", e.Args)
	case Not:
		return checkBool("NOT", e.Arg)
	case In:
		return c.in(e)
	case Like:
		return checkLike(e)
	case Arith:
		return checkArith(e)
	case Cast:
		return checkCast(e)
	case Case:
		return checkCase(e)
	case Coalesce:
		return checkBranches("COALESCE", e.DataType, e.Args)
	case Call:
		return checkCall(e)
	}
	return nil
}

func checkCompare(e Compare) error {
	if e.Op < Equal || e.Op > NotDistinct {
		return unsupported("unknown comparison operator %d", e.Op)
	}
	if !Comparable(e.Left.Type(), e.Right.Type()) {
		return unsupported("cannot compare %s with %s: cast one side", typeText(e.Left.Type()), typeText(e.Right.Type()))
	}
	return nil
}

func checkLogic(name string, args []Expr) error {
	if len(args) == 0 {
		return unsupported("%s without arguments", name)
	}
	for _, a := range args {
		if err := checkBool(name, a); err != nil {
			return err
		}
	}
	return nil
}

func checkBool(where string, e Expr) error {
	if f, _ := FamilyOf(e.Type()); f != FamilyBool {
		return unsupported("%s needs a boolean, not %s", where, typeText(e.Type()))
	}
	return nil
}

func (c *checker) in(e In) error {
	if len(e.Values) == 0 {
		return unsupported("IN without values")
	}
	if err := c.count(len(e.Values)); err != nil {
		return err
	}
	for _, v := range e.Values {
		if err := checkLiteral(v); err != nil {
			return err
		}
		if !Comparable(e.Arg.Type(), v.Type()) {
			return unsupported("IN over %s has a value of type %s", typeText(e.Arg.Type()), typeText(v.Type()))
		}
	}
	return nil
}

func checkLike(e Like) error {
	if e.Kind < LikePattern || e.Kind > LikeContains {
		return unsupported("unknown string match %d", e.Kind)
	}
	if f, _ := FamilyOf(e.Arg.Type()); f != FamilyString {
		return unsupported("LIKE needs a string, not %s", typeText(e.Arg.Type()))
	}
	return nil
}

func checkArith(e Arith) error {
	if e.Op < Add || e.Op > Multiply {
		return unsupported("unknown arithmetic operator %d", e.Op)
	}
	l, r := ValueType(e.Left.Type()), ValueType(e.Right.Type())
	family, _ := FamilyOf(e.DataType)
	ok := false
	switch family {
	case FamilyInt, FamilyFloat:
		ok = arrow.TypeEqual(l, e.DataType) && arrow.TypeEqual(r, e.DataType)
	case FamilyDecimal:
		ok = decimalArith(e, l, r)
	}
	if !ok {
		return unsupported("no arithmetic %s %s %s giving %s", typeText(l), arithText[e.Op], typeText(r), typeText(e.DataType))
	}
	return nil
}

func decimalArith(e Arith, l, r arrow.DataType) bool {
	t, okT := e.DataType.(*arrow.Decimal128Type)
	dl, okL := l.(*arrow.Decimal128Type)
	dr, okR := r.(*arrow.Decimal128Type)
	if !okT || !okL || !okR {
		return false
	}
	if e.Op == Multiply {
		return t.Scale == dl.Scale+dr.Scale
	}
	return t.Scale == dl.Scale && t.Scale == dr.Scale
}

func checkCast(e Cast) error {
	from := ValueType(e.Arg.Type())
	if castKnown(from, e.DataType) {
		return nil
	}
	return unsupported("no exact cast from %s to %s", typeText(from), typeText(e.DataType))
}

// castKnown is the table of casts in the package documentation.
func castKnown(from, to arrow.DataType) bool {
	source, okFrom := FamilyOf(from)
	target, okTo := FamilyOf(to)
	if !okFrom || !okTo || isDictionary(to) {
		return false
	}
	exact := source == FamilyInt || source == FamilyDecimal
	switch target {
	case FamilyInt:
		return source == FamilyInt
	case FamilyDecimal:
		return exact
	case FamilyFloat:
		return arrow.TypeEqual(from, to) || to.ID() == arrow.FLOAT64 && (exact || source == FamilyFloat)
	case FamilyTimestamp:
		return castToTimestamp(from, to.(*arrow.TimestampType))
	}
	return sameValues(from, to)
}

func castToTimestamp(from arrow.DataType, to *arrow.TimestampType) bool {
	if t, ok := from.(*arrow.TimestampType); ok {
		return t.Unit <= to.Unit && (t.TimeZone == "") == (to.TimeZone == "")
	}
	return from.ID() == arrow.DATE32 && to.Unit == arrow.Microsecond && to.TimeZone == ""
}

func checkCase(e Case) error {
	if len(e.Whens) == 0 {
		return unsupported("CASE without WHEN")
	}
	var results []Expr
	for _, w := range e.Whens {
		if err := checkBool("WHEN", w.Cond); err != nil {
			return err
		}
		results = append(results, w.Then)
	}
	if e.Else != nil {
		results = append(results, e.Else)
	}
	return checkBranches("CASE", e.DataType, results)
}

func checkBranches(name string, t arrow.DataType, args []Expr) error {
	if _, ok := FamilyOf(t); !ok || isDictionary(t) {
		return unsupported("%s cannot yield %s", name, typeText(t))
	}
	if len(args) == 0 {
		return unsupported("%s without arguments", name)
	}
	for _, a := range args {
		if !sameValues(a.Type(), t) {
			return unsupported("%s yields %s but a branch has %s: cast it", name, typeText(t), typeText(a.Type()))
		}
	}
	return nil
}
