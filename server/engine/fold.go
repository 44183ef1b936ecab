package engine

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// DuckDB computes constant expressions while it plans, where neither an
// interrupt nor a memory limit reaches: repeat('x', 4000000000) would hold the
// planner for seconds and gigabytes. growing are the functions whose result can
// be much longer than their text.
var growing = map[string]bool{
	"repeat": true, "lpad": true, "rpad": true, "range": true, "generate_series": true,
	"list_resize": true, "array_resize": true, "bar": true, "printf": true, "format": true,
	"replace": true, "regexp_replace": true,
}

// raising are the functions whose value is much greater than their arguments.
var raising = map[string]bool{
	"**": true, "^": true, "pow": true, "power": true, "<<": true, "exp": true, "factorial": true, "!__postfix": true,
}

// maxFolded is the greatest estimate of a constant's size that is accepted.
const maxFolded = 16 << 20

// checkFolding refuses constants that would be too large to compute in planning.
// The estimate multiplies the numbers and the lengths of the texts in a call.
func checkFolding(statement []byte) error {
	if !callsGrowing(statement) {
		return nil
	}
	var tree any
	if err := json.Unmarshal(statement, &tree); err != nil {
		return status.Wrap(status.Internal, err, "read the parsed statement")
	}
	if name, size := largest(tree, false); size > maxFolded {
		return status.New(status.InvalidArgument,
			"%s of constants may yield %.3g values or bytes; at most %d are accepted in an expression (FROM range(…) makes rows of any number)",
			name, size, maxFolded)
	}
	return nil
}

func callsGrowing(statement []byte) bool {
	for name := range growing {
		if bytes.Contains(statement, []byte(`"function_name":"`+name+`"`)) {
			return true
		}
	}
	return false
}

// largest finds the growing call with the greatest estimate. asTable says that
// the node is the call of a table function, which makes rows, not a constant.
func largest(tree any, asTable bool) (name string, size float64) {
	visit := func(child any, asTable bool) {
		if n, s := largest(child, asTable); s > size {
			name, size = n, s
		}
	}
	switch t := tree.(type) {
	case []any:
		for _, child := range t {
			visit(child, false)
		}
	case map[string]any:
		if f, _ := t["function_name"].(string); growing[f] && !asTable && constant(t) {
			name, size = f, callSize(f, t)
		}
		for key, child := range t {
			visit(child, t["type"] == "TABLE_FUNCTION" && key == "function")
		}
	}
	return name, size
}

// constant says that an expression reads no column and no parameter.
func constant(tree any) bool {
	switch t := tree.(type) {
	case []any:
		for _, child := range t {
			if !constant(child) {
				return false
			}
		}
	case map[string]any:
		switch t["class"] {
		case "COLUMN_REF", "PARAMETER", "SUBQUERY", "POSITIONAL_REFERENCE":
			return false
		}
		for _, child := range t {
			if !constant(child) {
				return false
			}
		}
	}
	return true
}

// callSize estimates the length of a call's result.
func callSize(name string, call map[string]any) float64 {
	args, _ := call["children"].([]any)
	if name == "range" || name == "generate_series" {
		if n, ok := steps(args); ok {
			return n
		}
	}
	size := 1.0
	for _, a := range args {
		size *= product(a)
	}
	return size
}

// steps is the length of a range whose bounds are plain numbers.
func steps(args []any) (float64, bool) {
	bounds := [3]float64{0, 0, 1}
	for i, a := range args {
		node, _ := a.(map[string]any)
		n, ok := number(node)
		if !ok || i > 2 {
			return 0, false
		}
		if bounds[i] = n; len(args) == 1 {
			bounds = [3]float64{0, n, 1}
		}
	}
	return math.Abs((bounds[1] - bounds[0]) / bounds[2]), len(args) > 0
}

// product multiplies all literals of an expression.
func product(tree any) float64 {
	size := 1.0
	switch t := tree.(type) {
	case []any:
		for _, child := range t {
			size *= product(child)
		}
	case map[string]any:
		if t["class"] == "CONSTANT" {
			return literalSize(t)
		}
		if f, _ := t["function_name"].(string); raising[f] {
			size = maxFolded
		}
		if n, ok := castNumber(t); ok {
			return n
		}
		for _, child := range t {
			size *= product(child)
		}
	}
	return size
}

// literalSize is the magnitude of a number, or the length of a text.
func literalSize(node map[string]any) float64 {
	if n, ok := number(node); ok {
		return math.Max(1, math.Abs(n))
	}
	value, _ := node["value"].(map[string]any)
	switch v := value["value"].(type) {
	case string:
		return math.Max(1, float64(len(v)))
	case map[string]any: // a 128-bit integer, an interval
		if upper, ok := v["upper"].(float64); ok && upper != 0 {
			return math.Inf(1)
		}
	}
	return 1
}

// number is the value of a numeric literal.
func number(node map[string]any) (float64, bool) {
	value, _ := node["value"].(map[string]any)
	n, ok := value["value"].(float64)
	if !ok || node["class"] != "CONSTANT" {
		return 0, false
	}
	kind, _ := value["type"].(map[string]any)
	if info, ok := kind["type_info"].(map[string]any); ok {
		if scale, ok := info["scale"].(float64); ok {
			n /= math.Pow(10, scale)
		}
	}
	return n, true
}

// castNumber is the magnitude of a cast text that spells a number.
func castNumber(node map[string]any) (float64, bool) {
	child, _ := node["child"].(map[string]any)
	value, _ := child["value"].(map[string]any)
	text, ok := value["value"].(string)
	if !ok || node["class"] != "CAST" {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return math.Max(1, math.Abs(n)), err == nil
}
