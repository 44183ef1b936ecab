package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// readConst reads a constant of the bound plan.
func readConst(v *jsonValue) (*Const, error) {
	if v == nil {
		return nil, unsupported("a constant without a value")
	}
	t, err := readType(&v.Type)
	if err != nil {
		return nil, err
	}
	if v.IsNull {
		return nullConst(t), nil
	}
	value, err := readScalar(v, t)
	if err != nil {
		return nil, err
	}
	if value != nil {
		return newConst(t, value)
	}
	sql, err := readOther(v, t)
	return &Const{SQL: sql, Opaque: true, ConstType: t}, err
}

// nullConst is a NULL of a type.
func nullConst(t Type) *Const {
	if t == nullType || !nameable(t) {
		return &Const{SQL: "NULL", ConstType: t}
	}
	return &Const{SQL: "NULL::" + string(t), ConstType: t}
}

// nameable reports whether t can be written in SQL.
func nameable(t Type) bool { return !strings.Contains(string(t), unnamedStruct) }

// readScalar returns the value in the form that [Const] describes, or nil for
// the types that rules do not look into.
func readScalar(v *jsonValue, t Type) (any, error) {
	switch t {
	case "BOOLEAN":
		return decodeAs[bool](v)
	case "VARCHAR":
		return decodeAs[string](v)
	case "HUGEINT", "UHUGEINT":
		return readBig(v)
	case "UBIGINT":
		return readUint64(v)
	case "FLOAT", "DOUBLE":
		return readFloat(v)
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "DATE", "TIME",
		"TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE":
		return decodeAs[int64](v)
	}
	if v.Type.ID == "DECIMAL" {
		return readBig(v)
	}
	return nil, nil
}

func decodeAs[T any](v *jsonValue) (any, error) {
	var out T
	if err := json.Unmarshal(v.Value, &out); err != nil {
		return nil, unsupported("the constant %s of type %s", v.Value, v.Type.ID)
	}
	return out, nil
}

type jsonHuge struct {
	Upper json.Number `json:"upper"`
	Lower json.Number `json:"lower"`
}

// readBig reads an integer, or the two halves of a 128-bit one.
func readBig(v *jsonValue) (any, error) {
	if len(v.Value) > 0 && v.Value[0] != '{' {
		n, ok := new(big.Int).SetString(string(v.Value), 10)
		if !ok {
			return nil, unsupported("the constant %s of type %s", v.Value, v.Type.ID)
		}
		return n, nil
	}
	upper, lower, err := readHalves(v)
	if err != nil {
		return nil, err
	}
	return upper.Add(upper.Lsh(upper, 64), lower), nil
}

func readHalves(v *jsonValue) (upper, lower *big.Int, err error) {
	var h jsonHuge
	if err := json.Unmarshal(v.Value, &h); err != nil {
		return nil, nil, unsupported("the constant %s of type %s", v.Value, v.Type.ID)
	}
	upper, ok1 := new(big.Int).SetString(h.Upper.String(), 10)
	lower, ok2 := new(big.Int).SetString(h.Lower.String(), 10)
	if !ok1 || !ok2 {
		return nil, nil, unsupported("the constant %s of type %s", v.Value, v.Type.ID)
	}
	return upper, lower, nil
}

// readUint64 yields an int64 where the value fits.
func readUint64(v *jsonValue) (any, error) {
	n, err := strconv.ParseUint(string(v.Value), 10, 64)
	if err != nil {
		return nil, unsupported("the constant %s of type UBIGINT", v.Value)
	}
	if n <= math.MaxInt64 {
		return int64(n), nil
	}
	return new(big.Int).SetUint64(n), nil
}

func readFloat(v *jsonValue) (any, error) {
	f, err := strconv.ParseFloat(strings.Trim(string(v.Value), `"`), 64)
	if err != nil {
		return nil, unsupported("the constant %s of type %s", v.Value, v.Type.ID)
	}
	return f, nil
}

// newConst writes a value as SQL that evaluates to exactly that value and type.
func newConst(t Type, value any) (*Const, error) {
	c := &Const{Value: value, ConstType: t}
	text, err := literalText(t, value)
	if err != nil {
		return nil, err
	}
	switch {
	case t == "BOOLEAN":
		c.SQL = text
	case t == "VARCHAR" && strings.ContainsRune(text, 0):
		c.SQL = "decode(" + quoteString(escapeBlob(text)) + "::BLOB)"
	default:
		c.SQL = quoteString(text) + "::" + string(t)
	}
	return c, nil
}

// literalText is the text that casts to the value.
func literalText(t Type, value any) (string, error) {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v), nil
	case string:
		return v, nil
	case float64:
		return floatText(t, v), nil
	case *big.Int:
		return decimalText(t, v), nil
	case int64:
		return integerText(t, v)
	}
	return "", unsupported("a constant of type %s", t)
}

// floatText is the shortest text that reads back as the same bits.
func floatText(t Type, v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	case t == "FLOAT":
		return strconv.FormatFloat(v, 'g', -1, 32)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func decimalText(t Type, v *big.Int) string {
	_, scale, _ := decimalParts(t)
	if scale == 0 {
		return v.String()
	}
	digits := new(big.Int).Abs(v).String()
	if pad := int(scale) + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	cut := len(digits) - int(scale)
	sign := ""
	if v.Sign() < 0 {
		sign = "-"
	}
	return sign + digits[:cut] + "." + digits[cut:]
}

func integerText(t Type, v int64) (string, error) {
	switch t {
	case "DATE":
		return instantText(t, v, 24*time.Hour, v == math.MaxInt32, v == -math.MaxInt32)
	case "TIME":
		return timeText(v), nil
	case "TIMESTAMP_S":
		return instantText(t, v, time.Second, v == math.MaxInt64, v == -math.MaxInt64)
	case "TIMESTAMP_MS":
		return instantText(t, v, time.Millisecond, v == math.MaxInt64, v == -math.MaxInt64)
	case "TIMESTAMP", "TIMESTAMP WITH TIME ZONE":
		return instantText(t, v, time.Microsecond, v == math.MaxInt64, v == -math.MaxInt64)
	case "TIMESTAMP_NS":
		return instantText(t, v, time.Nanosecond, v == math.MaxInt64, v == -math.MaxInt64)
	}
	return strconv.FormatInt(v, 10), nil
}

// instantText writes v units since the epoch. Years outside 1 to 9999 are left
// to the engine.
func instantText(t Type, v int64, unit time.Duration, inf, negInf bool) (string, error) {
	if inf {
		return "infinity", nil
	}
	if negInf {
		return "-infinity", nil
	}
	at := instant(v, unit)
	if at.Year() < 1 || at.Year() > 9999 {
		return "", unsupported("a %s outside the years 1 to 9999", t)
	}
	switch {
	case t == "DATE":
		return at.Format("2006-01-02"), nil
	case t == "TIMESTAMP WITH TIME ZONE":
		return at.Format("2006-01-02 15:04:05.999999999") + "+00", nil
	}
	return at.Format("2006-01-02 15:04:05.999999999"), nil
}

func instant(v int64, unit time.Duration) time.Time {
	switch unit {
	case 24 * time.Hour:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(v))
	case time.Second:
		return time.Unix(v, 0).UTC()
	case time.Millisecond:
		return time.UnixMilli(v).UTC()
	case time.Microsecond:
		return time.UnixMicro(v).UTC()
	}
	return time.Unix(0, v).UTC()
}

func timeText(micros int64) string {
	seconds := micros / 1e6
	return fmt.Sprintf("%02d:%02d:%02d.%06d", seconds/3600, seconds/60%60, seconds%60, micros%1e6)
}
