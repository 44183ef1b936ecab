package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/tributary-db/tributary/pushdown"
)

var _ Rule = eagerAggregation{}

// eagerAggregation groups the rows of one table below the joins that an
// aggregate reads, by all that the operators between look at: rows that these
// cannot tell apart have the same partners. The aggregate above merges the
// groups, once for each partner that they have.
type eagerAggregation struct{}

// Name is "eager_aggregation".
func (eagerAggregation) Name() string { return "eager_aggregation" }

// Apply groups below the joins where that is exact and statistics promise that
// it saves rows; elsewhere the scans learn why not.
func (eagerAggregation) Apply(root Node) (Node, bool, error) {
	out := Transform(root, func(n Node) Node {
		if a, ok := n.(*Aggregate); ok && overJoin(a.Input) {
			return aggregateBelow(a)
		}
		return n
	})
	return out, differs(root, out), nil
}

// overJoin: nothing but filters and projections stand between n and a join.
func overJoin(n Node) bool { return joinsBelow(n) > 0 }

// maxJoins bounds the joins that are looked through: the work grows with the cube
// of their number.
const maxJoins = 24

// joinsBelow counts the joins that the ways down from n go through.
func joinsBelow(n Node) int {
	switch n := n.(type) {
	case *Filter:
		return joinsBelow(n.Input)
	case *Project:
		return joinsBelow(n.Input)
	case *Join:
		return 1 + joinsBelow(n.Left) + joinsBelow(n.Right)
	}
	return 0
}

// minReduction is how many rows a group must have on average.
const minReduction = 4

// aggregateBelow chooses the table of which most rows are saved.
func aggregateBelow(a *Aggregate) Node {
	if joinsBelow(a.Input) > maxJoins {
		return WithInputs(a, []Node{explainScans(a.Input, fmt.Sprintf("aggregate stays at the coordinator: it reads more than %d joins", maxJoins))})
	}
	ways := routes(a.Input)
	if slices.ContainsFunc(ways, (*route).grouped) {
		return a // done
	}
	var best *eager
	why := map[*Scan]error{}
	for _, r := range ways {
		e, err := newEager(a, r)
		if err != nil {
			why[r.scan()] = err
			continue
		}
		if best == nil || e.saved() > best.saved() {
			best = e
		}
	}
	if best != nil {
		return best.plan()
	}
	return WithInputs(a, []Node{explainRoutes(a.Input, why)})
}

// explainRoutes is explainScans with what is known of single scans.
func explainRoutes(n Node, why map[*Scan]error) Node {
	switch n := n.(type) {
	case *Scan:
		reason := "aggregate stays at the coordinator: it reads a join, not a table"
		if err := why[n]; err != nil {
			reason += "; below the join: " + err.Error()
		}
		return explainScans(n, reason)
	case *Aggregate, *Distinct:
		return n
	}
	return WithInputs(n, mapSlice(n.Inputs(), func(in Node) Node { return explainRoutes(in, why) }))
}

// eager is an aggregate whose partial aggregates run below the joins.
type eager struct {
	agg   *Aggregate
	route *route
	b     *partialBuilder
	// at are the leaf's columns among the partial aggregate's, -1 for dropped ones.
	at []int
	// keys are the group keys that scanners compute, over the partial's columns;
	// nil for those that are computed above the joins, as before.
	keys []Expr
	// aggs likewise are the final aggregates.
	aggs         []Expr
	rows, groups float64
}

// newEager fails where it would not be exact, or would not pay.
func newEager(a *Aggregate, r *route) (*eager, error) {
	v, _ := viewOf(r.leaf())
	e := &eager{agg: a, route: r, b: newPartialBuilder(v), keys: make([]Expr, len(a.Keys)), aggs: make([]Expr, len(a.Aggregates))}
	// COUNT is 0 for no rows, and for rows without a partner.
	e.b.total = r.nullable || hasTotal(a)
	if r.volatile() || slices.ContainsFunc(a.Keys, isVolatile) || slices.ContainsFunc(a.Aggregates, isVolatile) {
		return nil, notPushed("a volatile function sees every row")
	}
	below, err := e.divide()
	if err != nil {
		return nil, err
	}
	if err := e.group(below); err != nil {
		return nil, err
	}
	for i, c := range below {
		if c != nil {
			if e.aggs[i], err = e.b.final(c); err != nil {
				return nil, err
			}
		}
	}
	return e, e.pays()
}

// divide returns the aggregates that merge groups, over the leaf's columns, and
// nil for those that stay above the joins.
func (e *eager) divide() ([]*AggCall, error) {
	calls, err := aggCalls(e.agg)
	if err != nil {
		return nil, err
	}
	out := make([]*AggCall, len(calls))
	for i, c := range calls {
		if out[i], err = e.below(c); err != nil && !repeatable(c) {
			return nil, err
		}
	}
	return out, nil
}

// repeatable: the aggregate is the same whether rows are repeated or not.
func repeatable(c *AggCall) bool {
	return len(c.Args) == 1 && (extreme(c.Name) || c.Distinct && checkDistinct(c) == nil)
}

// below is c over the leaf's columns, if scanners can evaluate it and it cannot
// fail: they also see rows that have no partner.
func (e *eager) below(c *AggCall) (*AggCall, error) {
	if dedupes(c) {
		return nil, notPushed("%s has DISTINCT", c.Name)
	}
	over, ok := e.route.over(c).(*AggCall)
	if !ok {
		return nil, notPushed("%s reads another table", c.Name)
	}
	if e.route.nullable && !ofColumn(over) {
		return nil, notPushed("%s may be of rows without a partner", c.Name)
	}
	for _, x := range args(over) {
		if err := e.harmless(x, c.Name == "count"); err != nil {
			return nil, err
		}
	}
	if err := e.summable(over); err != nil {
		return nil, err
	}
	return over, nil
}

// ofColumn: where the leaf's columns are NULL, the aggregate has nothing to do.
func ofColumn(c *AggCall) bool {
	if len(c.Args) != 1 {
		return false
	}
	_, plain := c.Args[0].(*Ref)
	return plain
}

// harmless: scanners evaluate x, over the leaf's columns, and it never fails.
// Columns of any type can be counted.
func (e *eager) harmless(x Expr, counted bool) error {
	if ref, ok := e.b.view.inline(x).(*Ref); ok && ref.Index >= 0 && counted {
		return nil
	}
	x, err := e.b.overTable(x)
	if err != nil {
		return err
	}
	converted, err := pushable(e.b.view.scan.Table, x)
	if err == nil && !pushdown.Infallible(converted) {
		err = notPushed("%s can fail on rows that the join removes", filterText(e.b.view.scan, x))
	}
	return err
}

// summable: no sum overflows, even over all rows and many more.
func (e *eager) summable(c *AggCall) error {
	if len(c.Args) != 1 || c.Name != "sum" && c.Name != "sum_no_overflow" && c.Name != "avg" {
		return nil
	}
	rows, digits := float64(max(TableRows(e.b.view.scan.Table), 1)), sumDigits(summand(c.Args[0]).Type())
	if rows*math.Pow10(digits) > 1e36 {
		return notPushed("%s of rows that the join removes could overflow", c.Name)
	}
	return nil
}

// sumDigits bounds the digits of a value of a type that is summed.
func sumDigits(t Type) int {
	if p, _, ok := decimalParts(t); ok {
		return int(p)
	}
	if bits := integerBits(t); bits > 0 {
		return bits*3/10 + 1
	}
	return 0
}

// group chooses the keys of the groups: whatever is read above the leaf, save
// by the aggregates that run below.
func (e *eager) group(below []*AggCall) error {
	need := make(bits, len(e.agg.Input.Columns()))
	for i, c := range below {
		if c == nil {
			need.refs(e.agg.Aggregates[i], 0)
		}
	}
	computed := map[int]Expr{}
	for i, k := range e.agg.Keys {
		if over := e.computable(k); over != nil {
			computed[i] = over
		} else {
			need.refs(k, 0)
		}
	}
	carried := e.route.mark(need)
	for i, over := range computed {
		if !readsOnly(over, carried) {
			continue
		}
		delete(computed, i) // of columns that are keys anyway
		need.refs(e.agg.Keys[i], 0)
	}
	return e.addKeys(e.route.mark(need), computed)
}

// computable is a group key over the leaf's columns, if scanners can compute it;
// nil otherwise, and for plain columns.
func (e *eager) computable(k Expr) Expr {
	over := e.route.over(k)
	if over == nil || e.route.nullable || e.harmless(over, false) != nil || !exactKey(over.Type()) {
		return nil
	}
	switch over.(type) {
	case *Ref, *Const:
		return nil
	}
	return over
}

// exactKey: equal values of the type cannot be told apart, as 0.0 and -0.0 can.
func exactKey(t Type) bool { return t != "FLOAT" && t != "DOUBLE" }

func readsOnly(x Expr, columns bits) bool {
	only := true
	WalkExpr(x, func(x Expr) bool {
		if r, ok := x.(*Ref); ok {
			only = only && columns[r.Index]
		}
		return only
	})
	return only
}

// addKeys adds the leaf's columns that are needed, then the computed keys.
func (e *eager) addKeys(carried bits, computed map[int]Expr) error {
	types := e.route.leaf().Columns()
	e.at = make([]int, len(types))
	for i, t := range types {
		if e.at[i] = -1; !carried[i] {
			continue
		}
		ref, err := e.carry(&Ref{Index: i, RefType: t})
		if err != nil {
			return err
		}
		e.at[i] = ref.Index
	}
	for i := range e.agg.Keys {
		if over := computed[i]; over != nil {
			key, err := e.b.key(over)
			if err != nil {
				return err
			}
			e.keys[i] = key
		}
	}
	if len(e.b.partial.Keys) == 0 {
		return notPushed("neither the join nor a key reads a column of it")
	}
	return nil
}

func (e *eager) carry(column *Ref) (*Ref, error) {
	if !exactKey(column.RefType) {
		return nil, notPushed("values of type %s that are equal may be different", column.RefType)
	}
	if err := e.harmless(column, false); err != nil {
		return nil, err
	}
	return e.b.key(column)
}

// pays: statistics promise few groups.
func (e *eager) pays() error {
	spec, err := specOf(e.b.scan())
	if err != nil {
		return err
	}
	e.rows, e.groups, err = estimatedGroups(e.b.view.scan.Table, spec)
	if err == nil && e.groups*minReduction >= e.rows {
		err = notPushed("there may be %.0f groups of %.0f rows", e.groups, e.rows)
	}
	return err
}

// saved are the rows that the joins need not read.
func (e *eager) saved() float64 { return e.rows - e.groups }

// plan is the aggregate over the joins with groups in the place of the table.
func (e *eager) plan() Node {
	s := e.b.scan()
	types := s.Columns()
	read := make(bits, len(types))
	for _, x := range slices.Concat(e.keys, e.aggs) {
		read.refs(x, 0)
	}
	in, at, groups := e.route.rebuild(s, e.at, needed(read))
	above := func(old []Expr, computed []Expr) []Expr {
		return mapSlice(positions(len(old)), func(i int) Expr {
			if computed[i] == nil {
				return remap(old[i], at)
			}
			return mapRefs(computed[i], func(r *Ref) Expr { return &Ref{Index: groups[r.Index], RefType: types[r.Index]} })
		})
	}
	return &Aggregate{Input: in, Keys: above(e.agg.Keys, e.keys), Aggregates: above(e.agg.Aggregates, e.aggs), Sets: e.agg.Sets, Groupings: e.agg.Groupings}
}
