package engine

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// SQLType returns the DuckDB type, as SQL text, of an Arrow type. Dictionaries
// read as their values; a type that the engine cannot read is an error.
func SQLType(t arrow.DataType) (string, error) {
	if name, ok := simpleSQLTypes[t.ID()]; ok {
		return name, nil
	}
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), nil
	case *arrow.TimestampType:
		return timestampSQLType(t), nil
	case *arrow.DictionaryType:
		return SQLType(t.ValueType)
	case *arrow.StructType:
		return structSQLType(t)
	case *arrow.MapType:
		return mapSQLType(t)
	case *arrow.FixedSizeListType:
		return suffixed(t.Elem(), fmt.Sprintf("[%d]", t.Len()))
	case arrow.ListLikeType:
		return suffixed(t.Elem(), "[]")
	case arrow.ExtensionType:
		return SQLType(t.StorageType())
	}
	return "", status.New(status.Unimplemented, "the engine cannot read the Arrow type %s", t)
}

// simpleSQLTypes are the types without parameters that change the SQL type.
var simpleSQLTypes = map[arrow.Type]string{
	arrow.NULL: "INTEGER", arrow.BOOL: "BOOLEAN",
	arrow.INT8: "TINYINT", arrow.INT16: "SMALLINT", arrow.INT32: "INTEGER", arrow.INT64: "BIGINT",
	arrow.UINT8: "UTINYINT", arrow.UINT16: "USMALLINT", arrow.UINT32: "UINTEGER", arrow.UINT64: "UBIGINT",
	arrow.FLOAT32: "FLOAT", arrow.FLOAT64: "DOUBLE",
	arrow.STRING: "VARCHAR", arrow.LARGE_STRING: "VARCHAR", arrow.STRING_VIEW: "VARCHAR",
	arrow.BINARY: "BLOB", arrow.LARGE_BINARY: "BLOB", arrow.BINARY_VIEW: "BLOB", arrow.FIXED_SIZE_BINARY: "BLOB",
	arrow.DATE32: "DATE", arrow.DATE64: "DATE", arrow.TIME32: "TIME", arrow.TIME64: "TIME",
	arrow.INTERVAL_MONTH_DAY_NANO: "INTERVAL",
}

func timestampSQLType(t *arrow.TimestampType) string {
	switch {
	case t.TimeZone != "":
		return "TIMESTAMP WITH TIME ZONE"
	case t.Unit == arrow.Second:
		return "TIMESTAMP_S"
	case t.Unit == arrow.Millisecond:
		return "TIMESTAMP_MS"
	case t.Unit == arrow.Nanosecond:
		return "TIMESTAMP_NS"
	}
	return "TIMESTAMP"
}

func structSQLType(t *arrow.StructType) (string, error) {
	if t.NumFields() == 0 {
		return "", status.New(status.Unimplemented, "the engine cannot read a struct without fields")
	}
	fields := make([]string, t.NumFields())
	for i, f := range t.Fields() {
		name, err := SQLType(f.Type)
		if err != nil {
			return "", err
		}
		fields[i] = quoteIdent(f.Name) + " " + name
	}
	return "STRUCT(" + strings.Join(fields, ", ") + ")", nil
}

func mapSQLType(t *arrow.MapType) (string, error) {
	key, err := SQLType(t.KeyType())
	if err != nil {
		return "", err
	}
	value, err := SQLType(t.ItemType())
	if err != nil {
		return "", err
	}
	return "MAP(" + key + ", " + value + ")", nil
}

func suffixed(elem arrow.DataType, suffix string) (string, error) {
	name, err := SQLType(elem)
	if err != nil {
		return "", err
	}
	return name + suffix, nil
}

func quoteIdent(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
