package plan

import (
	"encoding/json"
	"fmt"
	"slices"
)

// lambdaParams are the list functions that take a lambda, with the number of its
// parameters when it does not ask for the index.
var lambdaParams = map[string]int{
	"list_transform": 1, "list_apply": 1, "array_transform": 1, "array_apply": 1, "apply": 1,
	"list_filter": 1, "array_filter": 1, "filter": 1, "list_reduce": 2, "array_reduce": 2, "reduce": 2,
}

// lambdaCall puts the lambda back among the arguments. In the bind data its body
// counts the parameters, the last one first, then the captured values, which
// binding made arguments of the function.
func (s scope) lambdaCall(e *jsonExpr, out *Call) (Expr, error) {
	var data struct {
		Lambda     *jsonExpr `json:"lambda_expr"`
		HasIndex   bool      `json:"has_index"`
		HasInitial bool      `json:"has_initial"`
	}
	if err := json.Unmarshal(e.FunctionData, &data); err != nil || data.Lambda == nil {
		return nil, unsupported("the function %s: its lambda", e.Name)
	}
	params, own := lambdaParams[e.Name], 1
	if data.HasIndex {
		params++
	}
	if data.HasInitial {
		own++
	}
	if len(out.Args) < own {
		return nil, unsupported("the function %s with %d arguments", e.Name, len(out.Args))
	}
	lambda := &Lambda{}
	inner := scope{depth: s.depth + 1}
	for i := range params {
		lambda.Params = append(lambda.Params, fmt.Sprintf("x%d_%d", s.depth, i))
	}
	for _, name := range slices.Backward(lambda.Params) {
		inner.refs = append(inner.refs, &LambdaParam{Name: name})
	}
	inner.refs = append(inner.refs, out.Args[own:]...)
	inner.columns = append(make([]Type, params), exprTypes(out.Args[own:])...)
	var err error
	lambda.Body, err = inner.expr(data.Lambda)
	out.Args = slices.Insert(slices.Clone(out.Args[:own]), 1, Expr(lambda))
	return out, err
}

// datePartList gives date_part back its list of parts: the fields of the result.
func datePartList(e *jsonExpr, out *Call) (Expr, error) {
	if len(out.Args) != 1 || e.ReturnType.Info == nil || len(e.ReturnType.Info.ChildTypes) == 0 {
		return nil, unsupported("the function %s: its parts", e.Name)
	}
	parts := &Const{Opaque: true, ConstType: "VARCHAR[]"}
	for _, f := range e.ReturnType.Info.ChildTypes {
		if parts.SQL != "" {
			parts.SQL += ", "
		}
		parts.SQL += quoteString(f.First)
	}
	parts.SQL = "[" + parts.SQL + "]::VARCHAR[]"
	out.Args = []Expr{parts, out.Args[0]}
	return out, nil
}

var listAggregateNames = []string{"list_aggr", "list_aggregate", "array_aggr", "array_aggregate", "aggregate"}

// listAggregates take no argument but the list, so none can be lost in binding.
var listAggregates = []string{
	"sum", "min", "max", "avg", "count", "first", "last", "any_value", "median", "mode", "product", "bool_and",
	"bool_or", "bit_and", "bit_or", "bit_xor", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp",
	"variance", "skewness", "kurtosis", "entropy", "sem", "approx_count_distinct", "histogram", "list",
}

// listAggregate reads an aggregate over a list's elements. Which one it is stands
// in the bind data: binding may have dropped the name or another argument.
func listAggregate(e *jsonExpr, out *Call) (Expr, error) {
	var data struct {
		Bind struct {
			Aggregate jsonExpr `json:"aggr_expr"`
		} `json:"bind_data"`
	}
	if err := json.Unmarshal(e.FunctionData, &data); err != nil {
		return nil, unsupported("the function %s: its bind data", e.Name)
	}
	inner := &data.Bind.Aggregate
	name, err := newConst("VARCHAR", inner.Name)
	if err != nil {
		return nil, err
	}
	out.Args = []Expr{out.Args[0], name}
	switch {
	case slices.Contains(listAggregates, inner.Name):
		return out, nil
	case inner.Name == "string_agg":
		call, err := stringAgg(inner, out.Args[:1:1])
		if err == nil {
			out.Args = append(out.Args, call.args[1])
		}
		return out, err
	}
	return nil, unsupported("the function %s: the aggregate %s", e.Name, inner.Name)
}
