package plan

import "slices"

// volatileFunctions may give another value at every call.
var volatileFunctions = map[string]bool{
	"random": true, "setseed": true, "uuid": true, "uuidv4": true, "uuidv7": true, "gen_random_uuid": true,
	"nextval": true, "currval": true, "error": true, "stats": true, "write_log": true, "sleep_ms": true,
	"current_query": true, "current_query_id": true, "current_connection_id": true, "current_transaction_id": true,
}

// contextFunctions look at the statement that they stand in.
var contextFunctions = map[string]bool{"alias": true, "stats": true, "current_query": true}

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
	if contextFunctions[e.Name] {
		return nil, unsupported("the function %s: its value depends on the statement's text", e.Name)
	}
	out := &Call{Name: e.Name, Args: args, Result: t, Volatile: volatileFunctions[e.Name]}
	if e.HasSerialize {
		return s.knownBindData(e, out)
	}
	if len(e.Arguments) > len(args) || len(e.OriginalArguments) > len(args) {
		return nil, unsupported("the function %s: binding dropped some of its arguments", e.Name)
	}
	return out, nil
}

func (s scope) knownBindData(e *jsonExpr, out *Call) (Expr, error) {
	switch {
	case e.Name == "+" || e.Name == "-" || e.Name == "*": // of decimals: the data are the types
		return out, nil
	case e.Name == "row":
		return out, nil
	case e.Name == "struct_pack" || e.Name == "struct_insert" || e.Name == "union_value":
		return namedArguments(e, out)
	case e.Name == "date_part":
		return datePartList(e, out)
	case lambdaParams[e.Name] > 0:
		return s.lambdaCall(e, out)
	case slices.Contains(listAggregateNames, e.Name) && len(out.Args) == 2:
		return listAggregate(e, out)
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
