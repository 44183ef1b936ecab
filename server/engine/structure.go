package engine

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// structured are the functions that make a type of a JSON text. DuckDB reads it by
// recursion: brackets 50,000 deep would end the process.
var structured = map[string]bool{"from_json": true, "from_json_strict": true, "json_transform": true, "json_transform_strict": true}

// maxStructure is how deep such a text may nest.
const maxStructure = 64

// checkStructures refuses a parsed statement that makes a type of a text that is
// not written out in it, or that nests too deep.
func checkStructures(statement []byte) error {
	lower, mentioned := bytes.ToLower(statement), false
	for name := range structured {
		mentioned = mentioned || bytes.Contains(lower, []byte(`"function_name":"`+name+`"`))
	}
	if !mentioned {
		return nil
	}
	var tree any
	if err := json.Unmarshal(statement, &tree); err != nil {
		return status.Wrap(status.Internal, err, "read the parsed statement")
	}
	return structures(tree)
}

func structures(tree any) error {
	var children []any
	switch t := tree.(type) {
	case []any:
		children = t
	case map[string]any:
		if name, _ := t["function_name"].(string); structured[strings.ToLower(name)] && !plainStructure(t) {
			return status.New(status.InvalidArgument,
				"%s needs a structure that is a constant text of JSON, its last argument, of at most %d levels and without VARIANT", name, maxStructure)
		}
		for _, child := range t {
			children = append(children, child)
		}
	}
	for _, child := range children {
		if err := structures(child); err != nil {
			return err
		}
	}
	return nil
}

// plainStructure: the last argument is a constant that can be read, and none is
// named, since that might be another one.
func plainStructure(call map[string]any) bool {
	args, _ := call["children"].([]any)
	if len(args) == 0 {
		return true // the binder says what is missing
	}
	for _, a := range args {
		if node, _ := a.(map[string]any); node["alias"] != "" {
			return false
		}
	}
	last, _ := args[len(args)-1].(map[string]any)
	value, _ := last["value"].(map[string]any)
	text, ok := value["value"].(string)
	if !ok || last["class"] != "CONSTANT" || nesting(text) > maxStructure || strings.Count(text, "[")+strings.Count(text, "{") > maxColumns {
		return false
	}
	var structure any
	return json.Unmarshal([]byte(text), &structure) == nil && plainTypes(structure, 0)
}

// maxColumns bounds the nested types in a structure.
const maxColumns = 4096

// plainTypes: the types that a structure names nest no deeper, and are not VARIANT.
func plainTypes(structure any, depth int) bool {
	if depth > maxStructure {
		return false
	}
	switch t := structure.(type) {
	case string:
		return nesting(t)+depth <= maxStructure && strings.Count(t, "[") <= maxStructure && !strings.Contains(strings.ToUpper(t), "VARIANT")
	case []any:
		for _, e := range t {
			if !plainTypes(e, depth+1) {
				return false
			}
		}
	case map[string]any:
		for _, e := range t {
			if !plainTypes(e, depth+1) {
				return false
			}
		}
	}
	return true
}
