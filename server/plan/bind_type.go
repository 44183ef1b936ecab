package plan

import (
	"strconv"
	"strings"
)

// plainTypes are the types that are written as they are named.
var plainTypes = map[string]bool{
	"BOOLEAN": true, "TINYINT": true, "SMALLINT": true, "INTEGER": true, "BIGINT": true, "HUGEINT": true,
	"UTINYINT": true, "USMALLINT": true, "UINTEGER": true, "UBIGINT": true, "UHUGEINT": true,
	"FLOAT": true, "DOUBLE": true, "DATE": true, "TIME": true, "TIME_NS": true, "TIME WITH TIME ZONE": true,
	"TIMESTAMP": true, "TIMESTAMP_S": true, "TIMESTAMP_MS": true, "TIMESTAMP_NS": true,
	"TIMESTAMP WITH TIME ZONE": true, "INTERVAL": true, "VARCHAR": true, "BLOB": true, "BIT": true, "UUID": true,
}

// nullType is the type of an untyped NULL.
const nullType Type = `"NULL"`

// unnamedStruct starts the text of a struct type without field names. SQL has no
// such type name, so an expression that must name it cannot be written.
const unnamedStruct = "ROW("

// readType returns the SQL text of a type. Collations are left out: in a bound
// plan they are function calls already.
func readType(t *jsonType) (Type, error) {
	if t == nil {
		return "", unsupported("an expression without a type")
	}
	if t.Info != nil && t.Info.Alias != "" {
		return aliasType(t)
	}
	if plainTypes[t.ID] {
		return Type(t.ID), nil
	}
	switch t.ID {
	case "NULL", "SQLNULL", `"NULL"`:
		return nullType, nil
	case "DECIMAL", "LIST", "ARRAY", "STRUCT", "MAP", "ENUM", "UNION":
		if t.Info != nil {
			return nestedType(t)
		}
	}
	return "", unsupported("the type %s", t.ID)
}

func aliasType(t *jsonType) (Type, error) {
	if t.ID == "VARCHAR" && t.Info.Alias == "JSON" {
		return "JSON", nil
	}
	return "", unsupported("the type %s", t.Info.Alias)
}

func nestedType(t *jsonType) (Type, error) {
	switch t.ID {
	case "DECIMAL":
		return Type("DECIMAL(" + strconv.Itoa(t.Info.Width) + "," + strconv.Itoa(t.Info.Scale) + ")"), nil
	case "LIST":
		child, err := readType(t.Info.ChildType)
		return child + "[]", err
	case "ARRAY":
		child, err := readType(t.Info.ChildType)
		return child + Type("["+strconv.Itoa(t.Info.Size)+"]"), err
	case "STRUCT":
		return structType(t.Info.ChildTypes)
	case "UNION":
		return unionType(t.Info.ChildTypes)
	case "MAP":
		return mapType(t.Info.ChildType)
	default:
		return enumType(t.Info.Values)
	}
}

func structType(children []jsonPair) (Type, error) {
	open, named := unnamedStruct, false
	parts := make([]string, len(children))
	for i, c := range children {
		child, err := readType(&c.Second)
		if err != nil {
			return "", err
		}
		parts[i] = string(child)
		if c.First != "" {
			named = true
			parts[i] = quoteName(c.First) + " " + string(child)
		}
	}
	if named {
		open = "STRUCT("
	}
	return Type(open + strings.Join(parts, ", ") + ")"), nil
}

// unionType leaves out the first child, DuckDB's tag.
func unionType(children []jsonPair) (Type, error) {
	if len(children) < 2 {
		return "", unsupported("an empty UNION type")
	}
	t, err := structType(children[1:])
	return Type("UNION(" + strings.TrimPrefix(string(t), "STRUCT(")), err
}

func mapType(entry *jsonType) (Type, error) {
	if entry == nil || entry.Info == nil || len(entry.Info.ChildTypes) != 2 {
		return "", unsupported("a MAP type without key and value")
	}
	key, err := readType(&entry.Info.ChildTypes[0].Second)
	if err != nil {
		return "", err
	}
	value, err := readType(&entry.Info.ChildTypes[1].Second)
	return "MAP(" + key + ", " + value + ")", err
}

func enumType(values []string) (Type, error) {
	if len(values) == 0 {
		return "", unsupported("an ENUM type without values")
	}
	return Type("ENUM(" + strings.Join(mapSlice(values, quoteString), ", ") + ")"), nil
}

func readTypes(in []jsonType) ([]Type, error) {
	out := make([]Type, len(in))
	for i := range in {
		t, err := readType(&in[i])
		if err != nil {
			return nil, err
		}
		out[i] = t
	}
	return out, nil
}

func decimalOf(width, scale int32) Type {
	return Type("DECIMAL(" + strconv.Itoa(int(width)) + "," + strconv.Itoa(int(scale)) + ")")
}
