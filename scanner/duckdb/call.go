package duckdb

import (
	"strings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

var infixCalls = map[pushdown.Func]string{
	pushdown.FuncModulo: "%", pushdown.FuncIntegerDivide: "//", pushdown.FuncDivide: "/",
}

// renderCall writes a function. All but the truncations and the operators have
// DuckDB's names.
func renderCall(e pushdown.Call) (string, error) {
	typ, err := sqlType(e.DataType)
	if err != nil {
		return "", err
	}
	args, err := renderList(e.Args)
	if err != nil {
		return "", err
	}
	name := e.Func.String()
	part, truncates := strings.CutPrefix(name, "trunc_")
	infix := infixCalls[e.Func]
	switch {
	case e.Func < pushdown.FuncYear || e.Func > pushdown.FuncAbs:
		return "", status.New(status.Unimplemented, "DuckDB source: unknown function %d", e.Func)
	case truncates:
		return cast("date_trunc('"+part+"', "+strings.Join(args, ", ")+")", typ), nil
	case infix != "" && len(args) == 2:
		return cast("("+args[0]+" "+infix+" "+args[1]+")", typ), nil
	}
	return cast(name+"("+strings.Join(args, ", ")+")", typ), nil
}
