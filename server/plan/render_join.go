package plan

import (
	"fmt"
	"slices"
	"strings"
)

// sides renders both inputs of a join. The source of a correlated join is
// computed once: the join reads it, and so do the correlated values.
func (r *renderer) sides(n *Join) (left, right relation) {
	if n.Delim == nil {
		return r.relation(n.Left), r.relation(n.Right)
	}
	if r.step > 0 {
		r.fail(unsupported("a correlated subquery inside a recursive step"))
	}
	source, other := n.Left, n.Right
	if n.Delim.Flipped {
		source, other = other, source
	}
	name := fmt.Sprintf("source%d", n.Delim.ID)
	r.define(name, r.query(source).text())
	src := r.tableNamed(name, len(source.Columns()))
	r.defineDelim(n.Delim, src)
	if n.Delim.Flipped {
		return r.relation(other), src
	}
	return src, r.relation(other)
}

// defineDelim names the distinct correlated values of a source.
func (r *renderer) defineDelim(d *Delim, src relation) {
	name := fmt.Sprintf("delim%d", d.ID)
	q := query{relation: src, distinct: "DISTINCT "}
	q.cols = r.exprs(d.Columns, src.cols)
	r.ctes = append(r.ctes, name+" AS ("+q.text()+")")
	r.delims[d.ID] = name
}

// conditions renders the conditions of a join over both sides' columns.
func (r *renderer) conditions(n *Join, left, right []string) []string {
	return mapSlice(n.Conditions, func(c JoinCondition) string {
		if c.Op == "" {
			return r.expr(c.Left, slices.Concat(left, right))
		}
		return "(" + r.expr(c.Left, left) + " " + c.Op + " " + r.expr(c.Right, right) + ")"
	})
}

// joinRelation renders the joins that are an item of FROM or, inner joins, only
// add to FROM and WHERE.
func (r *renderer) joinRelation(n *Join) (relation, bool) {
	if n.Kind == MarkJoin || n.Kind == SingleJoin {
		return relation{}, false
	}
	left, right := r.sides(n)
	conditions := r.conditions(n, left.cols, right.cols)
	if n.Kind == InnerJoin {
		return relation{
			from:  slices.Concat(left.from, right.from),
			where: slices.Concat(left.where, right.where, conditions),
			cols:  r.joinColumns(n, left.cols, right.cols),
		}, true
	}
	return r.outerJoin(n, left, right), true
}

// joinWords are the joins with a word of their own; the right-handed semi joins
// are written the other way round.
var joinWords = map[JoinKind]string{
	LeftJoin: "LEFT JOIN", RightJoin: "RIGHT JOIN", OuterJoin: "FULL JOIN", SemiJoin: "SEMI JOIN", AntiJoin: "ANTI JOIN",
	RightSemiJoin: "SEMI JOIN", RightAntiJoin: "ANTI JOIN", AsofJoin: "ASOF JOIN", AsofLeftJoin: "ASOF LEFT JOIN",
	PositionalJoin: "POSITIONAL JOIN",
}

func (r *renderer) outerJoin(n *Join, left, right relation) relation {
	word := joinWords[n.Kind]
	if word == "" {
		r.fail(unsupported("a join of kind %s", n.Kind))
	}
	flipped := n.Kind == RightSemiJoin || n.Kind == RightAntiJoin
	left, right = r.operand(left, !flipped), r.operand(right, flipped)
	conditions := r.conditions(n, left.cols, right.cols)
	if len(conditions) == 0 {
		conditions = []string{"true"}
	}
	first, second := left, right
	if flipped {
		first, second = right, left
	}
	text := first.from[0] + " " + word + " " + second.from[0]
	if n.Kind != PositionalJoin {
		text += " ON " + strings.Join(conditions, " AND ")
	}
	return relation{from: []string{text}, cols: r.joinColumns(n, left.cols, right.cols), joined: true}
}

// operand makes a relation one item of FROM; the first operand of a chain may be
// a chain.
func (r *renderer) operand(in relation, first bool) relation {
	if len(in.from) == 1 && len(in.where) == 0 && (first || !in.joined) {
		return in
	}
	return r.sub(&query{relation: in})
}

// joinColumns are the output columns of a join from those of its sides.
func (r *renderer) joinColumns(n *Join, left, right []string) []string {
	left, right = selectColumns(left, n.LeftProjection), selectColumns(right, n.RightProjection)
	switch n.Kind {
	case SemiJoin, AntiJoin:
		return left
	case RightSemiJoin, RightAntiJoin:
		return right
	}
	return slices.Concat(left, right)
}

// joinQuery renders the joins that are a SELECT.
func (r *renderer) joinQuery(n *Join) *query {
	switch n.Kind {
	case MarkJoin:
		return r.markJoin(n)
	case SingleJoin:
		return r.singleJoin(n)
	}
	rel, _ := r.joinRelation(n)
	return &query{relation: rel}
}

// markJoin renders the mark as IN, ANY or EXISTS. Conditions that treat NULL as
// a value correlate the subquery; the others have its three-valued result.
func (r *renderer) markJoin(n *Join) *query {
	left, right := r.sides(n)
	mark := r.mark(n, left, right)
	q := &query{relation: left}
	q.cols = append(slices.Clone(selectColumns(left.cols, n.LeftProjection)), mark)
	return q
}

func (r *renderer) mark(n *Join, left, right relation) string {
	if slices.ContainsFunc(n.Conditions, func(c JoinCondition) bool { return nullSafe(c.Op) }) {
		right = r.hoist(right)
	}
	var compared []JoinCondition
	inner := query{relation: right}
	for i, text := range r.conditions(n, left.cols, right.cols) {
		switch c := n.Conditions[i]; {
		case nullSafe(c.Op):
			inner.where = append(slices.Clone(inner.where), text)
		case c.Op == "":
			r.fail(unsupported("a mark join on an expression"))
		default:
			compared = append(compared, c)
		}
	}
	if len(compared) == 0 {
		inner.cols = []string{"1"}
		return "EXISTS (" + inner.text() + ")"
	}
	needles := mapSlice(compared, func(c JoinCondition) string { return r.expr(c.Left, left.cols) })
	inner.cols = mapSlice(compared, func(c JoinCondition) string { return r.expr(c.Right, right.cols) })
	return r.quantified(compared, needles, inner.text())
}

func nullSafe(op string) bool { return op == "IS NOT DISTINCT FROM" || op == "IS DISTINCT FROM" }

// hoist names a relation, so that a subquery that will be correlated reads no
// more than a table: the engine cannot correlate every kind of join.
func (r *renderer) hoist(in relation) relation {
	if r.step > 0 {
		r.fail(unsupported("a correlated subquery inside a recursive step"))
	}
	q := query{relation: in}
	name := "side_" + r.alias()
	r.define(name, q.text())
	return r.tableNamed(name, len(in.cols))
}

// quantified compares needles with the rows of a subquery.
func (r *renderer) quantified(conditions []JoinCondition, needles []string, subquery string) string {
	op := conditions[0].Op
	if len(conditions) == 1 && op != "=" {
		return "(" + needles[0] + " " + op + " ANY (" + subquery + "))"
	}
	if slices.ContainsFunc(conditions, func(c JoinCondition) bool { return c.Op != "=" }) {
		r.fail(unsupported("a mark join on several comparisons"))
	}
	needle := needles[0]
	if len(needles) > 1 {
		needle = "(" + strings.Join(needles, ", ") + ")"
	}
	return "(" + needle + " IN (" + subquery + "))"
}
