package duckdb

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown/status"
)

// quoteIdent quotes an identifier.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteText quotes a string that holds no NUL byte.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// textLiteral renders any text: a statement is a C string, so that NUL bytes
// are put in by chr.
func textLiteral(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", status.New(status.InvalidArgument, "the text %q is not valid UTF-8", s)
	}
	parts := strings.Split(s, "\x00")
	if len(parts) == 1 {
		return quoteText(s), nil
	}
	for i, p := range parts {
		parts[i] = quoteText(p)
	}
	return "(" + strings.Join(parts, " || chr(0) || ") + ")", nil
}

// sqlType is the SQL name of an Arrow type.
func sqlType(t arrow.DataType) (string, error) {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return sqlType(t.ValueType)
	case *arrow.Decimal128Type:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), nil
	case *arrow.TimestampType:
		return timestampType(t)
	case *arrow.Time64Type:
		if t.Unit == arrow.Nanosecond {
			return "TIME_NS", nil
		}
		return "TIME", nil
	default:
		if name := plainSQLType(t.ID()); name != "" {
			return name, nil
		}
	}
	return "", status.New(status.Unimplemented, "DuckDB has no expressions of type %s", t)
}

func timestampType(t *arrow.TimestampType) (string, error) {
	switch {
	case t.TimeZone != "" && t.Unit == arrow.Microsecond:
		return "TIMESTAMPTZ", nil
	case t.TimeZone != "":
		return "", status.New(status.Unimplemented, "DuckDB has no %s", t)
	}
	return [...]string{"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"}[t.Unit], nil
}

func plainSQLType(id arrow.Type) string {
	switch id {
	case arrow.BOOL:
		return "BOOLEAN"
	case arrow.INT8:
		return "TINYINT"
	case arrow.INT16:
		return "SMALLINT"
	case arrow.INT32:
		return "INTEGER"
	case arrow.INT64:
		return "BIGINT"
	case arrow.UINT8:
		return "UTINYINT"
	case arrow.UINT16:
		return "USMALLINT"
	case arrow.UINT32:
		return "UINTEGER"
	case arrow.UINT64:
		return "UBIGINT"
	case arrow.FLOAT32:
		return "FLOAT"
	case arrow.FLOAT64:
		return "DOUBLE"
	case arrow.STRING, arrow.LARGE_STRING:
		return "VARCHAR"
	case arrow.BINARY, arrow.LARGE_BINARY:
		return "BLOB"
	case arrow.DATE32:
		return "DATE"
	default:
		return ""
	}
}

// literal renders a constant so that DuckDB folds it to exactly that value of
// exactly that type.
func literal(s scalar.Scalar) (string, error) {
	if d, ok := s.(*scalar.Dictionary); ok && d.Valid {
		value, err := d.GetEncodedValue()
		if err != nil {
			return "", status.Wrap(status.InvalidArgument, err, "dictionary literal")
		}
		s = value
	}
	typ, err := sqlType(s.DataType())
	if err != nil {
		return "", err
	}
	if !s.IsValid() {
		return cast("NULL", typ), nil
	}
	switch s := s.(type) {
	case *scalar.Boolean:
		return strings.ToUpper(strconv.FormatBool(s.Value)), nil
	case *scalar.Float32:
		return cast(floatText(float64(s.Value), 32), typ), nil
	case *scalar.Float64:
		return cast(floatText(s.Value, 64), typ), nil
	case *scalar.Decimal128:
		return cast("'"+s.Value.ToString(s.DataType().(*arrow.Decimal128Type).Scale)+"'", typ), nil
	case *scalar.Date32:
		return dateLiteral(int64(s.Value)), nil
	case *scalar.Time64:
		if s.DataType().(*arrow.Time64Type).Unit == arrow.Nanosecond {
			const nanosPerSecond = 1_000_000_000
			v := int64(s.Value)
			return cast(fmt.Sprintf("'%s%09d'", clockText(v/nanosPerSecond), v%nanosPerSecond), typ), nil
		}
		return timeLiteral(int64(s.Value)), nil
	case *scalar.Timestamp:
		return timestampLiteral(int64(s.Value), s.DataType().(*arrow.TimestampType), typ)
	case scalar.BinaryScalar:
		return bytesLiteral(s, typ)
	default:
		return cast("'"+s.String()+"'", typ), nil // the integers
	}
}

func cast(value, typ string) string { return "CAST(" + value + " AS " + typ + ")" }

func floatText(x float64, bits int) string {
	switch {
	case math.IsNaN(x):
		return "'nan'"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(fmt.Sprintf("'%+f'", x), "+")
	default:
		return "'" + strconv.FormatFloat(x, 'g', -1, bits) + "'"
	}
}

func bytesLiteral(s scalar.BinaryScalar, typ string) (string, error) {
	if typ == "VARCHAR" {
		return textLiteral(string(s.Data()))
	}
	var b strings.Builder
	for _, c := range s.Data() {
		fmt.Fprintf(&b, `\x%02X`, c)
	}
	return cast("'"+b.String()+"'", typ), nil
}

// dateLiteral counts from the epoch, since text cannot name every year. The
// ends of the range are DuckDB's infinities.
func dateLiteral(days int64) string {
	switch days {
	case math.MaxInt32:
		return "DATE 'infinity'"
	case -math.MaxInt32:
		return "DATE '-infinity'"
	}
	return fmt.Sprintf("(DATE '1970-01-01' + CAST('%d' AS INTEGER))", days)
}

const (
	microsPerSecond = 1_000_000
	secondsPerHour  = 3600
	secondsPerMin   = 60
)

func timeLiteral(micros int64) string {
	return fmt.Sprintf("TIME '%s%06d'", clockText(micros/microsPerSecond), micros%microsPerSecond)
}

func clockText(sec int64) string {
	return fmt.Sprintf("%02d:%02d:%02d.", sec/secondsPerHour, sec/secondsPerMin%secondsPerMin, sec%secondsPerMin)
}

// timestampLiteral goes through microseconds, which hold whatever DuckDB can
// read in the coarser units.
func timestampLiteral(v int64, t *arrow.TimestampType, typ string) (string, error) {
	switch v {
	case math.MaxInt64:
		return cast("'infinity'", typ), nil
	case -math.MaxInt64:
		return cast("'-infinity'", typ), nil
	}
	if t.Unit == arrow.Nanosecond {
		return fmt.Sprintf("make_timestamp_ns(CAST('%d' AS BIGINT))", v), nil
	}
	factor := [...]int64{microsPerSecond, 1000, 1}[t.Unit]
	micros := v * factor
	if micros/factor != v || micros == math.MinInt64 {
		return "", status.New(status.OutOfRange, "the timestamp %d %s is beyond DuckDB's range", v, t.Unit)
	}
	text := fmt.Sprintf("make_timestamp(CAST('%d' AS BIGINT))", micros)
	if typ == "TIMESTAMP" {
		return text, nil
	}
	return cast(text, typ), nil
}
