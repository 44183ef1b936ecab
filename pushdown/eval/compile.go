package eval

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// compiler turns expressions into nodes and collects the columns they read.
type compiler struct {
	input *arrow.Schema
	// columns are the input fields that the program reads; a node's index is a
	// position in this list.
	columns []int
}

func invalid(format string, args ...any) error {
	return status.New(status.InvalidArgument, format, args...)
}

// compile checks e and compiles it.
func (c *compiler) compile(e pushdown.Expr) (node, error) {
	if err := pushdown.Supported(e); err != nil {
		return nil, err
	}
	return c.node(e)
}

func (c *compiler) node(e pushdown.Expr) (node, error) {
	switch e := e.(type) {
	case pushdown.Column:
		return c.columnNode(e)
	case pushdown.Literal:
		return familyOf(e.Type()).literal(e.Value), nil
	case pushdown.Compare:
		return c.overDictionary(e, []pushdown.Expr{e.Left, e.Right}, func(c *compiler, args []pushdown.Expr) (node, error) {
			return c.compareNode(e.Op, args[0], args[1])
		})
	case pushdown.And:
		return c.conjunction(e.Args, false)
	case pushdown.Or:
		return c.conjunction(e.Args, true)
	case pushdown.Not:
		arg, err := c.node(e.Arg)
		return &negation{arg: arg}, err
	case pushdown.IsNull:
		return c.nullTest(e)
	case pushdown.In:
		return c.overDictionary(e, []pushdown.Expr{e.Arg}, func(c *compiler, args []pushdown.Expr) (node, error) {
			return c.inNode(e, args[0])
		})
	case pushdown.Like:
		return c.overDictionary(e, []pushdown.Expr{e.Arg}, func(c *compiler, args []pushdown.Expr) (node, error) {
			arg, err := c.node(args[0])
			return &likeNode{arg: arg, match: newMatcher(e.Kind, e.Pattern), negated: e.Negated}, err
		})
	case pushdown.Arith:
		return c.arithNode(e)
	case pushdown.Cast:
		return c.castNode(e)
	case pushdown.Case:
		return c.caseNode(e)
	case pushdown.Coalesce:
		return c.coalesceNode(e)
	case pushdown.Call:
		return c.callNode(e)
	}
	return nil, unimplemented(e)
}

func unimplemented(e pushdown.Expr) error {
	return status.New(status.Unimplemented, "no kernel for %s", pushdown.ExprString(e))
}

// position returns the index of a column among those that the program reads.
func (c *compiler) position(col pushdown.Column) (int, error) {
	fields := c.input.FieldIndices(col.Name)
	if len(fields) != 1 {
		return 0, invalid("the input has %d columns named %q, not one", len(fields), col.Name)
	}
	if got := c.input.Field(fields[0]).Type; !arrow.TypeEqual(got, col.DataType) {
		return 0, invalid("column %q of the input is %s, not %s", col.Name, got, col.DataType)
	}
	if at := slices.Index(c.columns, fields[0]); at >= 0 {
		return at, nil
	}
	c.columns = append(c.columns, fields[0])
	return len(c.columns) - 1, nil
}

func (c *compiler) columnNode(col pushdown.Column) (node, error) {
	at, err := c.position(col)
	if err != nil {
		return nil, err
	}
	if _, ok := pushdown.FamilyOf(col.DataType); !ok {
		return nil, status.New(status.Unimplemented, "no kernels for column %q of type %s", col.Name, col.DataType)
	}
	return familyOf(col.DataType).column(at), nil
}

// overDictionary compiles a predicate. When its only input is a dictionary
// column and every other operand is a literal, the predicate is evaluated on
// the dictionary. It must be NULL on NULL.
func (c *compiler) overDictionary(e pushdown.Expr, args []pushdown.Expr, build func(*compiler, []pushdown.Expr) (node, error)) (node, error) {
	plain, err := build(c, args)
	at := slices.IndexFunc(args, isDictionaryColumn)
	if err != nil || at < 0 || !strict(e) {
		return plain, err
	}
	for i, a := range args {
		if _, literal := a.(pushdown.Literal); i != at && !literal {
			return plain, nil
		}
	}
	col := args[at].(pushdown.Column)
	index, err := c.position(col)
	if err != nil {
		return nil, err
	}
	values := pushdown.Column{Name: col.Name, DataType: pushdown.ValueType(col.DataType)}
	inner := &compiler{input: arrow.NewSchema([]arrow.Field{{Name: values.Name, Type: values.DataType, Nullable: true}}, nil)}
	args = slices.Clone(args)
	args[at] = values
	test, err := build(inner, args)
	return &dictTest{index: index, inner: test, plain: plain}, err
}

func isDictionaryColumn(e pushdown.Expr) bool {
	col, ok := e.(pushdown.Column)
	if !ok {
		return false
	}
	_, ok = col.DataType.(*arrow.DictionaryType)
	return ok
}

// strict reports that a predicate is NULL when its argument is.
func strict(e pushdown.Expr) bool {
	cmp, ok := e.(pushdown.Compare)
	return !ok || cmp.Op != pushdown.Distinct && cmp.Op != pushdown.NotDistinct
}

func (c *compiler) pair(left, right pushdown.Expr) (l, r node, err error) {
	if l, err = c.node(left); err != nil {
		return nil, nil, err
	}
	r, err = c.node(right)
	return l, r, err
}

func (c *compiler) compareNode(op pushdown.CompareOp, left, right pushdown.Expr) (node, error) {
	l, r, err := c.pair(left, right)
	if err != nil {
		return nil, err
	}
	return familyOf(left.Type()).compare(op, l, r), nil
}

// conjunction puts what can fail last.
func (c *compiler) conjunction(args []pushdown.Expr, disjunction bool) (node, error) {
	out := &conjunction{disjunction: disjunction}
	for _, a := range args {
		n, err := c.node(a)
		if err != nil {
			return nil, err
		}
		if pushdown.Infallible(a) {
			out.safe = append(out.safe, n)
		} else {
			out.risky = append(out.risky, n)
		}
	}
	return out, nil
}

func (c *compiler) nullTest(e pushdown.IsNull) (node, error) {
	if col, ok := e.Arg.(pushdown.Column); ok {
		at, err := c.position(col)
		return &nullTest{arg: &presence{index: at}, negated: e.Negated}, err
	}
	arg, err := c.node(e.Arg)
	return &nullTest{arg: arg, negated: e.Negated}, err
}

func (c *compiler) inNode(e pushdown.In, argument pushdown.Expr) (node, error) {
	arg, err := c.node(argument)
	if err != nil {
		return nil, err
	}
	var list []scalar.Scalar
	hasNull := false
	for _, v := range e.Values {
		if v.Value.IsValid() {
			list = append(list, v.Value)
		} else {
			hasNull = true
		}
	}
	return familyOf(argument.Type()).in(arg, list, hasNull, e.Negated), nil
}

func (c *compiler) arithNode(e pushdown.Arith) (node, error) {
	l, r, err := c.pair(e.Left, e.Right)
	if err != nil {
		return nil, err
	}
	n := familyOf(e.DataType).arith(e.Op, l, r, e.DataType)
	if n == nil {
		return nil, unimplemented(e)
	}
	return n, nil
}

func (c *compiler) castNode(e pushdown.Cast) (node, error) {
	arg, err := c.node(e.Arg)
	if err != nil {
		return nil, err
	}
	from := pushdown.ValueType(e.Arg.Type())
	if sameStorage(from, e.DataType) {
		return arg, nil
	}
	n := familyOf(from).cast(arg, from, e.DataType)
	if n == nil {
		return nil, unimplemented(e)
	}
	return n, nil
}

// sameStorage reports that a cast changes no value.
func sameStorage(from, to arrow.DataType) bool {
	if !pushdown.Comparable(from, to) {
		return false
	}
	d, ok := from.(*arrow.Decimal128Type)
	return !ok || d.Precision <= to.(*arrow.Decimal128Type).Precision
}

func (c *compiler) caseNode(e pushdown.Case) (node, error) {
	var branches []branch
	for _, w := range e.Whens {
		cond, then, err := c.pair(w.Cond, w.Then)
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch{cond, then, pushdown.Infallible(w.Cond), pushdown.Infallible(w.Then)})
	}
	if e.Else != nil {
		then, err := c.node(e.Else)
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch{then: then, thenSafe: pushdown.Infallible(e.Else)})
	}
	return familyOf(e.DataType).choose(branches, false), nil
}

func (c *compiler) coalesceNode(e pushdown.Coalesce) (node, error) {
	var branches []branch
	for _, a := range e.Args {
		then, err := c.node(a)
		if err != nil {
			return nil, err
		}
		branches = append(branches, branch{then: then, thenSafe: pushdown.Infallible(a)})
	}
	return familyOf(e.DataType).choose(branches, true), nil
}
