package params

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Literal is the i-th value of a as an SQL literal of p's type, or of its own
// where p has none. It fails when the type cannot hold the value exactly.
func Literal(a arrow.Array, i int, p Param) (string, error) {
	v, err := value(a, i)
	if err != nil {
		return "", err
	}
	t, sql := p.Type, p.SQL
	open := t == nil || t.ID() == arrow.NULL
	if !open && !(sql == "VARCHAR" && spelled(v)) {
		return literal(v, t, sql)
	}
	own, ownSQL, err := typeOf(a.DataType())
	if err != nil {
		return "", err
	}
	out, err := literal(v, own, ownSQL)
	if err == nil && !open {
		out = cast(out, sql) // the engine's text of it: 5.0, inf, 1 month
	}
	return out, err
}

// spelled: v is a scalar whose text is the engine's to write; those of numbers
// with exact digits are anybody's.
func spelled(v any) bool {
	switch v.(type) {
	case single, float64, day, clock, instant, span:
		return true
	}
	return false
}

func cast(literal, sql string) string { return "CAST(" + literal + " AS " + sql + ")" }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// literal writes v as a literal of type t, which sql names.
func literal(v any, t arrow.DataType, sql string) (string, error) {
	switch {
	case v == nil && sql == "":
		return "NULL", nil
	case v == nil:
		return cast("NULL", sql), nil
	}
	switch t := t.(type) {
	case *arrow.MapType:
		return mapLiteral(v, t, sql)
	case arrow.ListLikeType:
		return listLiteral(v, t, sql)
	case *arrow.StructType:
		return structLiteral(v, t, sql)
	}
	text, err := convert(v, t, sql)
	if err != nil {
		return "", err
	}
	return cast(quote(text), sql), nil
}

// convert is the text that, cast to type t, is exactly v.
func convert(v any, t arrow.DataType, sql string) (string, error) {
	var text string
	var ok bool
	switch t.ID() {
	case arrow.BOOL:
		text, ok = boolText(v)
	case arrow.FLOAT32, arrow.FLOAT64:
		text, ok = floatText(v, t.ID() == arrow.FLOAT32)
	case arrow.STRING, arrow.DICTIONARY:
		if text, ok = stringText(v, sql); ok && strings.ContainsRune(text, 0) {
			return "", status.New(status.InvalidArgument, "a text with a NUL character cannot be bound; bind it as binary")
		}
	case arrow.BINARY:
		text, ok = blobText(v)
	case arrow.DATE32:
		text, ok = dateText(v)
	case arrow.TIME64:
		text, ok = timeText(v, t.(*arrow.Time64Type).Unit)
	case arrow.TIMESTAMP:
		text, ok = timestampText(v, t.(*arrow.TimestampType))
	case arrow.INTERVAL_MONTH_DAY_NANO:
		text, ok = intervalText(v)
	default:
		text, ok = numberText(v, t)
	}
	if !ok {
		return "", status.New(status.InvalidArgument, "%s cannot become %s without loss", describe(v), sql)
	}
	return text, nil
}

// describe names a value in an error.
func describe(v any) string {
	switch v := v.(type) {
	case []byte:
		return "a binary value"
	case list, record, mapping:
		return "a nested value"
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:40]) + "…"
		}
		return "the text " + quote(v)
	}
	text, _ := stringText(v, "VARCHAR")
	return "the value " + text
}

func blobText(v any) (string, bool) {
	var raw []byte
	switch v := v.(type) {
	case []byte:
		raw = v
	case string:
		raw = []byte(v)
	default:
		return "", false
	}
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 4*len(raw))
	for _, c := range raw {
		if c >= ' ' && c < 0x7f && c != '\\' && c != '\'' && c != '"' {
			out = append(out, c)
			continue
		}
		out = append(out, '\\', 'x', digits[c>>4], digits[c&15])
	}
	return string(out), true
}

// stringText is the text of any scalar but a blob, of which only a UUID has one.
func stringText(v any, sql string) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		if sql != "UUID" || len(v) != 16 {
			return "", false
		}
		h := hex.EncodeToString(v)
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], true
	case bool:
		return boolText(v)
	case decimal:
		return v.String(), true
	case single:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case day:
		return dateText(v)
	case clock:
		return timeText(v, arrow.Nanosecond)
	case instant:
		return timestampText(v, &arrow.TimestampType{Unit: arrow.Nanosecond})
	case span:
		return intervalText(v)
	}
	return "", false
}

func listLiteral(v any, t arrow.ListLikeType, sql string) (string, error) {
	elems, ok := v.(list)
	if !ok {
		return "", status.New(status.InvalidArgument, "%s is not a list", describe(v))
	}
	if f, ok := t.(*arrow.FixedSizeListType); ok && int(f.Len()) != len(elems) {
		return "", status.New(status.InvalidArgument, "a list of %d elements is bound to an array of %d", len(elems), f.Len())
	}
	texts, err := literals(elems, t.Elem())
	return cast("["+strings.Join(texts, ", ")+"]", sql), err
}

// literals writes all values as literals of one type.
func literals(vs []any, t arrow.DataType) ([]string, error) {
	elem, sql, err := typeOf(t)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(vs))
	for i, v := range vs {
		if texts[i], err = literal(v, elem, sql); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func structLiteral(v any, t *arrow.StructType, sql string) (string, error) {
	r, ok := v.(record)
	if !ok || len(r.values) != t.NumFields() {
		return "", status.New(status.InvalidArgument, "%s is not a struct of %d fields", describe(v), t.NumFields())
	}
	parts := make([]string, t.NumFields())
	for i, f := range t.Fields() {
		if !strings.EqualFold(f.Name, r.names[i]) {
			return "", status.New(status.InvalidArgument, "field %d of the struct is %q, not %q", i+1, r.names[i], f.Name)
		}
		text, err := literals(r.values[i:i+1], f.Type)
		if err != nil {
			return "", status.Wrap(status.InvalidArgument, err, "field %q", f.Name)
		}
		parts[i] = quote(f.Name) + ": " + text[0]
	}
	return cast("{"+strings.Join(parts, ", ")+"}", sql), nil
}

func mapLiteral(v any, t *arrow.MapType, sql string) (string, error) {
	m, ok := v.(mapping)
	if !ok {
		return "", status.New(status.InvalidArgument, "%s is not a map", describe(v))
	}
	keys, err := literals(m.keys, t.KeyType())
	if err != nil {
		return "", err
	}
	items, err := literals(m.values, t.ItemType())
	return cast("map(["+strings.Join(keys, ", ")+"], ["+strings.Join(items, ", ")+"])", sql), err
}
