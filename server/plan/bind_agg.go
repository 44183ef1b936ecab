package plan

import (
	"encoding/json"
	"strings"
)

// aggregate reads an aggregate function call.
func (s scope) aggregate(e *jsonExpr) (Expr, error) {
	args, err := s.exprs(e.Children)
	if err != nil {
		return nil, err
	}
	out := &AggCall{Distinct: e.AggregateType == "DISTINCT"}
	if out.Result, err = readType(e.ReturnType); err != nil {
		return nil, err
	}
	if out.Filter, err = s.optional(e.Filter); err != nil {
		return nil, err
	}
	if e.OrderBys != nil {
		if out.OrderBy, err = s.keys(e.OrderBys.Orders); err != nil {
			return nil, err
		}
	}
	call, err := aggregateCall(e, args, out.Result)
	out.Name, out.Args = call.name, call.args
	if call.descending {
		if len(out.OrderBy) > 0 {
			return nil, unsupported("the aggregate %s with two orders", e.Name)
		}
		out.OrderBy = []SortKey{{Expr: args[0], Descending: true}}
	}
	return out, err
}

// boundCall is an aggregate as SQL would have it: with the constants that
// binding moved from the arguments to the bind data.
type boundCall struct {
	name string
	args []Expr
	// descending: over the first argument in descending order.
	descending bool
}

func aggregateCall(e *jsonExpr, args []Expr, result Type) (boundCall, error) {
	switch e.Name {
	case "sum_no_overflow":
		return boundCall{name: "sum", args: args}, nil
	case "count":
		if len(args) == 0 {
			return boundCall{name: "count_star"}, nil
		}
	case "string_agg", "group_concat", "listagg":
		return stringAgg(e, args)
	case "quantile_cont", "quantile_disc", "median":
		return quantile(e, args, result)
	case "approx_quantile":
		return approxQuantile(e, args, result)
	}
	if e.HasSerialize && len(e.FunctionData) > 0 {
		return boundCall{}, unsupported("the aggregate %s: its bind data", e.Name)
	}
	if len(e.Arguments) > len(args) || len(e.OriginalArguments) > len(args) {
		return boundCall{}, unsupported("the aggregate %s: binding dropped some of its arguments", e.Name)
	}
	return boundCall{name: e.Name, args: args}, nil
}

func stringAgg(e *jsonExpr, args []Expr) (boundCall, error) {
	var data struct {
		Separator *string `json:"separator"`
	}
	if len(args) != 1 || json.Unmarshal(e.FunctionData, &data) != nil || data.Separator == nil {
		return boundCall{}, unsupported("the aggregate %s: its separator", e.Name)
	}
	separator, err := newConst("VARCHAR", *data.Separator)
	return boundCall{name: e.Name, args: append(args, separator)}, err
}

func quantile(e *jsonExpr, args []Expr, result Type) (boundCall, error) {
	var data struct {
		Quantiles []jsonValue `json:"quantiles"`
		Desc      bool        `json:"desc"`
	}
	if len(args) != 1 || json.Unmarshal(e.FunctionData, &data) != nil {
		return boundCall{}, unsupported("the aggregate %s: its quantiles", e.Name)
	}
	out := boundCall{name: e.Name, args: args, descending: data.Desc}
	if e.Name == "median" {
		return out, nil
	}
	return withQuantiles(out, data.Quantiles, result)
}

// approxQuantile has its quantiles as plain FLOATs.
func approxQuantile(e *jsonExpr, args []Expr, result Type) (boundCall, error) {
	var data struct {
		Quantiles []json.RawMessage `json:"quantiles"`
	}
	if len(args) != 1 || json.Unmarshal(e.FunctionData, &data) != nil {
		return boundCall{}, unsupported("the aggregate %s: its quantiles", e.Name)
	}
	values := mapSlice(data.Quantiles, func(q json.RawMessage) jsonValue {
		return jsonValue{Type: jsonType{ID: "FLOAT"}, Value: q}
	})
	return withQuantiles(boundCall{name: e.Name, args: args}, values, result)
}

// withQuantiles appends the constant argument: a list when the result is one.
func withQuantiles(out boundCall, values []jsonValue, result Type) (boundCall, error) {
	if _, list := elementType(out.args[0].Type()); list {
		return out, unsupported("the aggregate %s of lists", out.name)
	}
	parts := make([]string, len(values))
	for i := range values {
		c, err := readConst(&values[i])
		if err != nil {
			return out, err
		}
		parts[i] = c.SQL
	}
	c := &Const{Opaque: true, ConstType: "DOUBLE"}
	switch {
	case strings.HasSuffix(string(result), "[]"):
		c.SQL, c.ConstType = "["+strings.Join(parts, ", ")+"]", "DOUBLE[]"
	case len(parts) == 1:
		c.SQL = parts[0]
	default:
		return out, unsupported("%d quantiles", len(parts))
	}
	out.args = append(out.args, c)
	return out, nil
}
