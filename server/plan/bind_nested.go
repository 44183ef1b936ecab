package plan

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
)

// readOther writes constants of the types that rules treat as opaque.
func readOther(v *jsonValue, t Type) (string, error) {
	switch v.Type.ID {
	case "VARCHAR", "BLOB": // VARCHAR with an alias: JSON. A BLOB's text is its escaped form.
		text, err := decodeAs[string](v)
		if err != nil {
			return "", err
		}
		return quoteString(text.(string)) + "::" + string(t), nil
	case "INTERVAL":
		return intervalSQL(v)
	case "UUID":
		return uuidSQL(v)
	case "ENUM":
		return enumSQL(v, t)
	case "LIST", "ARRAY", "STRUCT", "MAP":
		return nestedSQL(v, t)
	}
	return "", unsupported("a constant of type %s", t)
}

func intervalSQL(v *jsonValue) (string, error) {
	var i struct{ Months, Days, Micros json.Number }
	if err := json.Unmarshal(v.Value, &i); err != nil || i.Months == "" || i.Days == "" || i.Micros == "" {
		return "", unsupported("the INTERVAL %s", v.Value)
	}
	return fmt.Sprintf("'%s months %s days %s microseconds'::INTERVAL", i.Months, i.Days, i.Micros), nil
}

// uuidSQL undoes DuckDB's flip of the topmost bit.
func uuidSQL(v *jsonValue) (string, error) {
	upper, lower, err := readHalves(v)
	if err != nil {
		return "", err
	}
	hi := uint64(upper.Int64()) ^ 1<<63
	digits := fmt.Sprintf("%016x%016x", hi, new(big.Int).Set(lower).Uint64())
	parts := []string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}
	return quoteString(strings.Join(parts, "-")) + "::UUID", nil
}

func enumSQL(v *jsonValue, t Type) (string, error) {
	i, err := decodeAs[int](v)
	if err != nil {
		return "", err
	}
	if n := i.(int); n >= 0 && n < len(v.Type.Info.Values) {
		return quoteString(v.Type.Info.Values[n]) + "::" + string(t), nil
	}
	return "", unsupported("the ENUM value %s", v.Value)
}

func nestedSQL(v *jsonValue, t Type) (string, error) {
	children, err := nestedChildren(v)
	if err != nil {
		return "", err
	}
	if v.Type.ID == "MAP" {
		return mapSQL(children, t)
	}
	parts := make([]string, len(children))
	for i := range children {
		c, err := readConst(&children[i])
		if err != nil {
			return "", err
		}
		parts[i] = c.SQL
	}
	if v.Type.ID == "STRUCT" {
		if len(parts) != len(v.Type.Info.ChildTypes) {
			return "", unsupported("a %s of %d fields", t, len(parts))
		}
		return structSQL(v.Type.Info.ChildTypes, parts), nil
	}
	list := "[" + strings.Join(parts, ", ") + "]"
	if !nameable(t) || strings.Contains(string(t), string(nullType)) {
		return list, nil
	}
	return list + "::" + string(t), nil
}

func nestedChildren(v *jsonValue) ([]jsonValue, error) {
	var n struct {
		Children []jsonValue `json:"children"`
	}
	if err := json.Unmarshal(v.Value, &n); err != nil {
		return nil, unsupported("the constant %s of type %s", v.Value, v.Type.ID)
	}
	return n.Children, nil
}

// structSQL writes a struct from its fields' SQL.
func structSQL(fields []jsonPair, values []string) string {
	parts := make([]string, len(values))
	for i, v := range values {
		if fields[i].First == "" {
			return "row(" + strings.Join(values, ", ") + ")"
		}
		parts[i] = quoteString(fields[i].First) + ": " + v
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func mapSQL(entries []jsonValue, t Type) (string, error) {
	if !nameable(t) {
		return "", unsupported("a constant of type %s", t)
	}
	var keys, values []string
	for i := range entries {
		pair, err := nestedChildren(&entries[i])
		if err != nil || len(pair) != 2 {
			return "", unsupported("a MAP entry %s", entries[i].Value)
		}
		k, err := readConst(&pair[0])
		if err != nil {
			return "", err
		}
		x, err := readConst(&pair[1])
		if err != nil {
			return "", err
		}
		keys, values = append(keys, k.SQL), append(values, x.SQL)
	}
	return "map([" + strings.Join(keys, ", ") + "], [" + strings.Join(values, ", ") + "])::" + string(t), nil
}

// escapeBlob writes every byte as \xNN, the text form of a BLOB.
func escapeBlob(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02X`, s[i])
	}
	return b.String()
}
