package plan

import (
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

var _ Rule = aggregatePushdown{}

// aggregatePushdown splits an aggregate over one table into partial aggregates
// in the scan and a final aggregate above it.
type aggregatePushdown struct{ left ungrouped }

// Name is "aggregate_pushdown".
func (aggregatePushdown) Name() string { return "aggregate_pushdown" }

// Apply splits every aggregate that can be split; the scans below the others
// learn why not. Those over joins have a rule of their own.
func (r aggregatePushdown) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		if a, ok := n.(*Aggregate); ok && !isFinal(a) && !overJoin(a.Input) {
			return pushAggregate(a, r.left)
		}
		return n
	})
	return out, differs(root, out), nil
}

// isFinal: the aggregate merges partial rows already.
func isFinal(a *Aggregate) bool {
	s, ok := a.Input.(*Scan)
	return ok && s.Partial != nil
}

func pushAggregate(a *Aggregate, left ungrouped) Node {
	final, err := splitAggregate(a, left)
	if err == nil {
		return final
	}
	c := *a
	c.Input = explainScans(a.Input, "aggregate stays at the coordinator: "+err.Error())
	return &c
}

func splitAggregate(a *Aggregate, left ungrouped) (Node, error) {
	v, why := viewOf(a.Input)
	if v == nil {
		return nil, notPushed("%s", why)
	}
	if len(a.Keys)+len(a.Aggregates) == 0 {
		return nil, notPushed("it has neither keys nor functions")
	}
	b := newPartialBuilder(v)
	final, err := b.split(a)
	if err != nil {
		return nil, err
	}
	spec, err := specOf(b.scan())
	if err == nil {
		err = left.check(spec)
	}
	return final, err
}

// partialBuilder collects keys and partial aggregates over the table's columns,
// each once.
type partialBuilder struct {
	view    *view
	partial Partial
	keys    map[string]int
	aggs    map[string]int
	// ungrouped: the final aggregate has no keys.
	ungrouped bool
	// total: it has a row for no rows at all, in which COUNT is 0.
	total bool
}

func newPartialBuilder(v *view) *partialBuilder {
	return &partialBuilder{view: v, keys: map[string]int{}, aggs: map[string]int{}}
}

// scan is the view's scan with the partial aggregate.
func (b *partialBuilder) scan() *Scan {
	s := *b.view.scan
	partial := b.partial
	s.Partial, s.Output, s.Types = &partial, nil, nil
	return &s
}

// split adds all that a needs and returns a as the final aggregate. The keys
// come first, because references to aggregates count from their end.
func (b *partialBuilder) split(a *Aggregate) (Node, error) {
	b.ungrouped = len(a.Keys) == 0
	b.total = hasTotal(a)
	out := &Aggregate{Groupings: a.Groupings, Sets: a.Sets}
	for _, k := range a.Keys {
		ref, err := b.key(k)
		if err != nil {
			return nil, err
		}
		out.Keys = append(out.Keys, ref)
	}
	if a.Sets != nil && len(b.partial.Keys) < len(a.Keys) {
		return nil, notPushed("it has GROUPING SETS over a key that occurs twice")
	}
	calls, err := aggCalls(a)
	if err != nil {
		return nil, err
	}
	if err := b.distinctKeys(calls); err != nil {
		return nil, err
	}
	for _, c := range calls {
		final, err := b.final(c)
		if err != nil {
			return nil, err
		}
		out.Aggregates = append(out.Aggregates, final)
	}
	out.Input = b.scan()
	return out, nil
}

// hasTotal: the aggregate has a row for no rows at all.
func hasTotal(a *Aggregate) bool {
	return len(a.Keys) == 0 || slices.ContainsFunc(a.Sets, func(set []int) bool { return len(set) == 0 })
}

func aggCalls(a *Aggregate) ([]*AggCall, error) {
	out := make([]*AggCall, len(a.Aggregates))
	for i, e := range a.Aggregates {
		c, ok := e.(*AggCall)
		if !ok {
			return nil, notPushed("it computes with aggregates")
		}
		if len(c.OrderBy) > 0 {
			return nil, notPushed("%s has an ORDER BY", c.Name)
		}
		out[i] = c
	}
	return out, nil
}

// key adds a group key and returns its column.
func (b *partialBuilder) key(e Expr) (*Ref, error) {
	e, err := b.overTable(e)
	if err != nil {
		return nil, err
	}
	text := ExprString(e)
	at, ok := b.keys[text]
	if !ok {
		at = len(b.partial.Keys)
		b.keys[text] = at
		b.partial.Keys = append(b.partial.Keys, e)
	}
	return &Ref{Index: at, RefType: e.Type()}, nil
}

// overTable writes e over the table's columns, if scanners can evaluate it.
func (b *partialBuilder) overTable(e Expr) (Expr, error) {
	out := b.view.inline(e)
	if out == nil {
		return nil, notPushed("the expressions below it are too large to be combined")
	}
	_, err := pushable(b.view.scan.wide(), out)
	return out, err
}

// maxDistinct bounds the different arguments of DISTINCT aggregates: each makes
// the partial groups finer.
const maxDistinct = 2

// distinctKeys makes the arguments of the DISTINCT aggregates group keys: the
// partial groups are then at most as many as the distinct combinations of keys
// and arguments, and each combination is there.
func (b *partialBuilder) distinctKeys(calls []*AggCall) error {
	keys := len(b.partial.Keys)
	for _, c := range calls {
		if !dedupes(c) {
			continue
		}
		if err := checkDistinct(c); err != nil {
			return err
		}
		if _, err := b.key(distinctArg(c)); err != nil {
			return err
		}
	}
	if len(b.partial.Keys)-keys > maxDistinct {
		return notPushed("it has DISTINCT over more than %d arguments", maxDistinct)
	}
	return nil
}

// distinctArg is NULL, which the functions skip, where the filter rejects a row.
func distinctArg(c *AggCall) Expr {
	if c.Filter == nil {
		return c.Args[0]
	}
	t := c.Args[0].Type()
	return &Case{Whens: []When{{Cond: c.Filter, Then: c.Args[0]}}, Else: nullConst(t), Result: t}
}

// dedupes: DISTINCT matters to the function.
func dedupes(c *AggCall) bool { return c.Distinct && !extreme(c.Name) }

// extreme functions give the same with and without duplicates.
func extreme(name string) bool {
	return slices.Contains([]string{"min", "max", "bool_and", "bool_or"}, name)
}

func checkDistinct(c *AggCall) error {
	if !slices.Contains([]string{"count", "sum", "avg"}, c.Name) || len(c.Args) != 1 {
		return notPushed("%s(DISTINCT …) is not pushed", c.Name)
	}
	return nil
}

// final adds the partial aggregates that c needs and returns c over them.
func (b *partialBuilder) final(c *AggCall) (Expr, error) {
	if dedupes(c) {
		ref, err := b.key(distinctArg(c))
		return &AggCall{Name: c.Name, Args: []Expr{ref}, Distinct: true, Result: c.Result}, err
	}
	if c.Name == "count_star" && len(c.Args) == 0 {
		return b.count(c, nil)
	}
	if len(c.Args) != 1 {
		return nil, notPushed("%s with %d arguments is not pushed", c.Name, len(c.Args))
	}
	switch c.Name {
	case "count":
		return b.count(c, c.Args[0])
	case "sum", "sum_no_overflow":
		return b.sum(c)
	case "avg":
		return b.average(c)
	case "min", "bool_and":
		return b.extreme(c, pushdown.Min, "min")
	case "max", "bool_or":
		return b.extreme(c, pushdown.Max, "max")
	}
	return nil, notPushed("function %s is not pushed", c.Name)
}

// add adds a partial aggregate and returns its column.
func (b *partialBuilder) add(f pushdown.AggFunc, arg, filter Expr, t Type) (*Ref, error) {
	a := PartialAggregate{Func: f, Type: t}
	var err error
	if arg != nil {
		if a.Arg, err = b.argument(f, arg); err != nil {
			return nil, err
		}
	}
	if filter != nil {
		if a.Filter, err = b.overTable(filter); err != nil {
			return nil, err
		}
	}
	text := partialText(&Partial{Aggregates: []PartialAggregate{a}}, func(i int) string { return scanColumn(b.view.scan, i) })
	at, ok := b.aggs[text]
	if !ok {
		at = len(b.partial.Aggregates)
		b.aggs[text] = at
		b.partial.Aggregates = append(b.partial.Aggregates, a)
	}
	return &Ref{Index: len(b.partial.Keys) + at, RefType: t}, nil
}

// argument is overTable, save that a column of any type can be counted.
func (b *partialBuilder) argument(f pushdown.AggFunc, e Expr) (Expr, error) {
	if ref, ok := b.view.inline(e).(*Ref); ok && f == pushdown.Count && ref.Index >= 0 {
		return ref, nil
	}
	return b.overTable(e)
}

// count is the sum of the partial counts; without groups it is 0, not NULL,
// when there is no partial row.
func (b *partialBuilder) count(c *AggCall, arg Expr) (Expr, error) {
	f := pushdown.Count
	if k, ok := arg.(*Const); arg == nil || ok && (k.Value != nil || k.Opaque) {
		f, arg = pushdown.CountStar, nil
	}
	ref, err := b.add(f, arg, c.Filter, "BIGINT")
	if err != nil {
		return nil, err
	}
	out := castTo(sumOf(ref, "HUGEINT"), c.Result)
	if !b.total {
		return out, nil
	}
	return &Operator{Kind: "COALESCE", Args: []Expr{out, zero(c.Result)}, Result: c.Result}, nil
}

func zero(t Type) Expr {
	return &Const{SQL: "CAST(0 AS " + string(t) + ")", Value: int64(0), ConstType: t}
}

func sumOf(ref *Ref, t Type) Expr { return &AggCall{Name: "sum", Args: []Expr{ref}, Result: t} }

func castTo(e Expr, t Type) Expr {
	if e.Type() == t {
		return e
	}
	return &Cast{Arg: e, Target: t}
}

func (b *partialBuilder) sum(c *AggCall) (Expr, error) {
	if x, shift := plusConstant(c.Args[0]); x != nil && b.ungrouped {
		return b.shiftedSum(c, x, shift)
	}
	ref, err := b.partialSum(c)
	if err != nil {
		return nil, err
	}
	return castTo(sumOf(ref, ref.RefType), c.Result), nil
}

// partialSum sums c's argument at its full width.
func (b *partialBuilder) partialSum(c *AggCall) (*Ref, error) {
	arg := summand(c.Args[0])
	t := sumType(arg.Type())
	if t == "" {
		return nil, notPushed("%s of %s is not pushed", c.Name, arg.Type())
	}
	return b.add(pushdown.Sum, arg, c.Filter, t)
}

// summand strips casts that only widen the sum, which is exact anyway, and
// counts booleans.
func summand(e Expr) Expr {
	if c, ok := e.(*Cast); ok && !c.Try && widens(c.Arg.Type(), c.Target) {
		return c.Arg
	}
	if e.Type() != "BOOLEAN" {
		return e
	}
	one := &Const{SQL: "1", Value: int64(1), ConstType: "INTEGER"}
	none := &Const{SQL: "0", Value: int64(0), ConstType: "INTEGER"}
	not := &Operator{Kind: "NOT", Args: []Expr{e}, Result: "BOOLEAN"}
	return &Case{Whens: []When{{Cond: e, Then: one}, {Cond: not, Then: none}}, Else: &Const{SQL: "NULL", ConstType: "INTEGER"}, Result: "INTEGER"}
}

// widens: every value of from is a value of to, and both are summed exactly.
func widens(from, to Type) bool {
	if from == "FLOAT" {
		return to == "DOUBLE"
	}
	f, t := integerBits(from), integerBits(to)
	if f == 0 || t == 0 {
		return false
	}
	if unsigned(from) && !unsigned(to) {
		return t > f
	}
	return unsigned(from) == unsigned(to) && t >= f
}

func integerBits(t Type) int {
	switch t {
	case "TINYINT", "UTINYINT":
		return 8
	case "SMALLINT", "USMALLINT":
		return 16
	case "INTEGER", "UINTEGER":
		return 32
	case "BIGINT", "UBIGINT":
		return 64
	case "HUGEINT":
		return 128
	}
	return 0
}

func unsigned(t Type) bool { return t != "" && t[0] == 'U' }

// sumType is the type of a partial sum, "" when there is none.
func sumType(arg Type) Type {
	if integerBits(arg) > 0 {
		return "HUGEINT"
	}
	if arg == "FLOAT" || arg == "DOUBLE" {
		return "DOUBLE"
	}
	if dt := decimalType(arg); dt != nil {
		return importedType(pushdown.SumType(dt))
	}
	return ""
}

// average is the sum divided by the count, which is NULL when nothing was
// summed. DuckDB divides the exact sum, as a double, too.
func (b *partialBuilder) average(c *AggCall) (Expr, error) {
	if c.Args[0].Type() == "HUGEINT" && summand(c.Args[0]) == c.Args[0] {
		return nil, notPushed("avg of HUGEINT is not pushed")
	}
	if c.Result != "DOUBLE" || c.Args[0].Type() == "BOOLEAN" {
		return nil, notPushed("avg of %s is not pushed", c.Args[0].Type())
	}
	sum, err := b.partialSum(c)
	if err != nil {
		return nil, err
	}
	n, err := b.add(pushdown.Count, summand(c.Args[0]), c.Filter, "BIGINT")
	if err != nil {
		return nil, err
	}
	dividend, divisor := castTo(sumOf(sum, sum.RefType), "DOUBLE"), castTo(sumOf(n, "HUGEINT"), "DOUBLE")
	return &Call{Name: "/", Args: []Expr{dividend, divisor}, Result: "DOUBLE"}, nil
}

// extreme serves MIN and MAX, and the booleans' AND and OR.
func (b *partialBuilder) extreme(c *AggCall, f pushdown.AggFunc, name string) (Expr, error) {
	if c.Args[0].Type() != c.Result {
		return nil, notPushed("%s of %s is not pushed", c.Name, c.Args[0].Type())
	}
	ref, err := b.add(f, c.Args[0], c.Filter, c.Result)
	if err != nil {
		return nil, err
	}
	return &AggCall{Name: name, Args: []Expr{ref}, Result: c.Result}, nil
}
