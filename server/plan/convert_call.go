package plan

import (
	"strings"

	"github.com/tributary-db/tributary/pushdown"
)

// plainFuncs are the functions of the specification by DuckDB's names.
var plainFuncs = map[string]pushdown.Func{
	"year": pushdown.FuncYear, "quarter": pushdown.FuncQuarter, "month": pushdown.FuncMonth,
	"day": pushdown.FuncDay, "dayofmonth": pushdown.FuncDay,
	"hour": pushdown.FuncHour, "minute": pushdown.FuncMinute, "second": pushdown.FuncSecond,
	"lower": pushdown.FuncLower, "lcase": pushdown.FuncLower, "upper": pushdown.FuncUpper, "ucase": pushdown.FuncUpper,
	"length": pushdown.FuncLength, "len": pushdown.FuncLength, "char_length": pushdown.FuncLength, "character_length": pushdown.FuncLength,
	"substring": pushdown.FuncSubstring, "substr": pushdown.FuncSubstring, "left": pushdown.FuncLeft, "right": pushdown.FuncRight,
	"%": pushdown.FuncModulo, "mod": pushdown.FuncModulo, "//": pushdown.FuncIntegerDivide, "divide": pushdown.FuncIntegerDivide,
	"/": pushdown.FuncDivide, "abs": pushdown.FuncAbs, "@": pushdown.FuncAbs,
}

var partFuncs = map[string]pushdown.Func{
	"year": pushdown.FuncYear, "quarter": pushdown.FuncQuarter, "month": pushdown.FuncMonth, "day": pushdown.FuncDay,
	"hour": pushdown.FuncHour, "minute": pushdown.FuncMinute, "second": pushdown.FuncSecond,
}

var truncFuncs = map[string]pushdown.Func{
	"year": pushdown.FuncTruncYear, "quarter": pushdown.FuncTruncQuarter, "month": pushdown.FuncTruncMonth, "week": pushdown.FuncTruncWeek,
	"day": pushdown.FuncTruncDay, "hour": pushdown.FuncTruncHour, "minute": pushdown.FuncTruncMinute, "second": pushdown.FuncTruncSecond,
}

// function converts a call of a function that the specification has.
func (c converter) function(e *Call) (pushdown.Expr, error) {
	f, args := plainFuncs[e.Name], e.Args
	switch e.Name {
	case "date_part", "datepart":
		f, args = namedPart(e, partFuncs)
	case "date_trunc", "datetrunc":
		f, args = namedPart(e, truncFuncs)
	}
	if f == 0 || len(e.ArgNames) > 0 {
		return nil, notPushed("function %s is not pushed", e.Name)
	}
	dt := arrowType(e.Result)
	if dt == nil {
		return nil, notPushed("%s giving %s is not pushed", e.Name, e.Result)
	}
	list, err := c.list(args)
	if err != nil {
		return nil, err
	}
	return pushdown.Call{Func: f, Args: list, DataType: dt}, nil
}

// namedPart looks up the function that a constant first argument names.
func namedPart(e *Call, funcs map[string]pushdown.Func) (pushdown.Func, []Expr) {
	if len(e.Args) != 2 {
		return 0, nil
	}
	part, ok := stringConst(e.Args[0])
	if !ok {
		return 0, nil
	}
	return funcs[strings.TrimSuffix(strings.ToLower(part), "s")], e.Args[1:]
}

// stringConst is the value of a constant string.
func stringConst(e Expr) (string, bool) {
	k, ok := e.(*Const)
	if !ok {
		return "", false
	}
	s, ok := k.Value.(string)
	return s, ok && k.ConstType == "VARCHAR"
}
