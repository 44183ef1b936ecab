package plan

import (
	"encoding/json"
	"slices"
	"strings"
)

// volatileFunctions may give another value at every call.
var volatileFunctions = map[string]bool{
	"random": true, "setseed": true, "uuid": true, "uuidv4": true, "uuidv7": true, "gen_random_uuid": true,
	"nextval": true, "currval": true, "error": true, "stats": true, "write_log": true, "sleep_ms": true,
	"current_query": true, "current_query_id": true, "current_connection_id": true, "current_transaction_id": true,
}

// function reads a scalar function call. A function without serialised bind data
// is bound again from its arguments by DuckDB's own reader of plans, so calling
// it by name is as exact. Of those with such data a few are known here.
func (s scope) function(e *jsonExpr) (Expr, error) {
	args, err := s.exprs(e.Children)
	if err != nil {
		return nil, err
	}
	t, err := readType(e.ReturnType)
	if err != nil {
		return nil, err
	}
	out := &Call{Name: e.Name, Args: args, Result: t, Volatile: volatileFunctions[e.Name]}
	if e.HasSerialize {
		return knownBindData(e, out)
	}
	if len(e.Arguments) > len(args) || len(e.OriginalArguments) > len(args) {
		return nil, unsupported("the function %s: binding dropped some of its arguments", e.Name)
	}
	return out, nil
}

func knownBindData(e *jsonExpr, out *Call) (Expr, error) {
	switch e.Name {
	case "+", "-", "*": // of decimals: the data are the types
		return out, nil
	case "row":
		return out, nil
	case "struct_pack", "struct_insert", "union_value":
		return namedArguments(e, out)
	case "list_aggr", "list_aggregate", "array_aggr", "array_aggregate", "aggregate":
		if len(out.Args) == 2 && plainListAggregate(out.Args[1]) {
			return out, nil
		}
	}
	return nil, unsupported("the function %s: its bind data", e.Name)
}

// namedArguments takes the names from the fields of the result type.
func namedArguments(e *jsonExpr, out *Call) (Expr, error) {
	named := len(out.Args)
	if e.Name == "struct_insert" {
		named--
	}
	if e.ReturnType.Info == nil || named < 1 || named > len(e.ReturnType.Info.ChildTypes) {
		return nil, unsupported("the function %s: its result type", e.Name)
	}
	fields := e.ReturnType.Info.ChildTypes
	for _, f := range fields[len(fields)-named:] {
		if f.First == "" {
			return nil, unsupported("the function %s: unnamed fields", e.Name)
		}
		out.ArgNames = append(out.ArgNames, f.First)
	}
	return out, nil
}

// listAggregates take no argument but the list, so none can be lost in binding.
var listAggregates = []string{
	"sum", "min", "max", "avg", "count", "first", "last", "any_value", "median", "mode", "product", "bool_and",
	"bool_or", "bit_and", "bit_or", "bit_xor", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp",
	"variance", "skewness", "kurtosis", "entropy", "sem", "approx_count_distinct", "histogram", "list",
}

func plainListAggregate(name Expr) bool {
	c, ok := name.(*Const)
	if !ok {
		return false
	}
	text, ok := c.Value.(string)
	return ok && slices.Contains(listAggregates, text)
}

// aggregate reads an aggregate function call.
func (s scope) aggregate(e *jsonExpr) (Expr, error) {
	args, err := s.exprs(e.Children)
	if err != nil {
		return nil, err
	}
	out := &AggCall{Name: e.Name, Args: args, Distinct: e.AggregateType == "DISTINCT"}
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
	out.Name, out.Args, err = aggregateCall(e, args, out.Result)
	return out, err
}

// aggregateCall returns name and arguments as SQL would have them: it gives back
// the constants that binding moved from the arguments to the bind data.
func aggregateCall(e *jsonExpr, args []Expr, result Type) (string, []Expr, error) {
	switch e.Name {
	case "sum_no_overflow":
		return "sum", args, nil
	case "count":
		if len(args) == 0 {
			return "count_star", args, nil
		}
	case "string_agg", "group_concat", "listagg":
		return stringAgg(e, args)
	case "quantile_cont", "quantile_disc", "median":
		return quantile(e, args, result)
	}
	if e.HasSerialize && len(e.FunctionData) > 0 && !slices.Contains(plainDataAggregates, e.Name) {
		return "", nil, unsupported("the aggregate %s: its bind data", e.Name)
	}
	if len(e.Arguments) > len(args) || len(e.OriginalArguments) > len(args) {
		return "", nil, unsupported("the aggregate %s: binding dropped some of its arguments", e.Name)
	}
	return e.Name, args, nil
}

// plainDataAggregates have bind data that follow from the arguments' types.
var plainDataAggregates = []string{"sum", "avg", "min", "max", "first", "last", "any_value", "arg_min", "arg_max"}

func stringAgg(e *jsonExpr, args []Expr) (string, []Expr, error) {
	var data struct {
		Separator *string `json:"separator"`
	}
	if len(args) != 1 || json.Unmarshal(e.FunctionData, &data) != nil || data.Separator == nil {
		return "", nil, unsupported("the aggregate %s: its separator", e.Name)
	}
	separator, err := newConst("VARCHAR", *data.Separator)
	return e.Name, append(args, separator), err
}

func quantile(e *jsonExpr, args []Expr, result Type) (string, []Expr, error) {
	var data struct {
		Quantiles []jsonValue `json:"quantiles"`
		Desc      bool        `json:"desc"`
	}
	if len(args) != 1 || json.Unmarshal(e.FunctionData, &data) != nil || data.Desc {
		return "", nil, unsupported("the aggregate %s: its quantiles", e.Name)
	}
	if e.Name == "median" {
		return e.Name, args, nil
	}
	if _, list := elementType(args[0].Type()); list {
		return "", nil, unsupported("the aggregate %s of lists", e.Name)
	}
	q, err := quantileConst(data.Quantiles, strings.HasSuffix(string(result), "[]"))
	return e.Name, append(args, q), err
}

func quantileConst(values []jsonValue, list bool) (Expr, error) {
	parts := make([]string, len(values))
	for i := range values {
		c, err := readConst(&values[i])
		if err != nil {
			return nil, err
		}
		parts[i] = c.SQL
	}
	switch {
	case list:
		return &Const{SQL: "[" + strings.Join(parts, ", ") + "]", Opaque: true, ConstType: "DOUBLE[]"}, nil
	case len(parts) == 1:
		return &Const{SQL: parts[0], Opaque: true, ConstType: "DOUBLE"}, nil
	}
	return nil, unsupported("%d quantiles", len(parts))
}
