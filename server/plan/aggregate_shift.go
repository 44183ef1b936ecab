package plan

import "github.com/tributary-db/tributary/pushdown"

// plusConstant takes x + k or k + x over integers, k constant, apart; x is nil for
// everything else.
func plusConstant(e Expr) (x Expr, k *Const) {
	call, ok := e.(*Call)
	if !ok || call.Name != "+" || len(call.Args) != 2 || integerBits(call.Result) == 0 {
		return nil, nil
	}
	for i, arg := range call.Args {
		if k, ok := arg.(*Const); ok && k.Value != nil {
			return call.Args[1-i], k
		}
	}
	return nil, nil
}

// shiftedSum writes SUM(x + k) as SUM(x) + k * COUNT(x), as DuckDB does without
// groups: many such sums share one, and none overflows before it is summed.
func (b *partialBuilder) shiftedSum(c *AggCall, x Expr, k *Const) (Expr, error) {
	plain := &AggCall{Name: "sum", Args: []Expr{x}, Filter: c.Filter, Result: "HUGEINT"}
	sum, err := b.sum(plain)
	if err != nil {
		return nil, err
	}
	n, err := b.add(pushdown.Count, summand(x), c.Filter, "BIGINT")
	if err != nil {
		return nil, err
	}
	total := &Call{Name: "*", Args: []Expr{castTo(k, "HUGEINT"), castTo(sumOf(n, "HUGEINT"), "HUGEINT")}, Result: "HUGEINT"}
	return castTo(&Call{Name: "+", Args: []Expr{sum, total}, Result: "HUGEINT"}, c.Result), nil
}
