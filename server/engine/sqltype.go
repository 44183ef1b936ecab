package engine

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// SQLType returns the DuckDB type, as SQL text, of an Arrow type. Dictionaries
// read as their values; a type that the engine cannot read is an error.
func SQLType(t arrow.DataType) (string, error) {
	lt, err := logicalType(t)
	if err != nil {
		return "", err
	}
	desc, err := describeChild(lt)
	return desc.sql, err
}

// SQLTypeOf is SQLType for a column of a table, which may be marked as UUIDs.
func SQLTypeOf(f arrow.Field) (string, error) {
	if pushdown.IsUUID(f) {
		return "UUID", nil
	}
	return SQLType(f.Type)
}

// readable maps the Arrow types without parameters to what DuckDB reads them as.
var readable = map[arrow.Type]duckdb.Type{
	arrow.NULL: duckdb.TypeInteger, arrow.BOOL: duckdb.TypeBoolean,
	arrow.INT8: duckdb.TypeTinyInt, arrow.INT16: duckdb.TypeSmallInt,
	arrow.INT32: duckdb.TypeInteger, arrow.INT64: duckdb.TypeBigInt,
	arrow.UINT8: duckdb.TypeUTinyInt, arrow.UINT16: duckdb.TypeUSmallInt,
	arrow.UINT32: duckdb.TypeUInteger, arrow.UINT64: duckdb.TypeUBigInt,
	arrow.FLOAT32: duckdb.TypeFloat, arrow.FLOAT64: duckdb.TypeDouble,
	arrow.STRING: duckdb.TypeVarchar, arrow.LARGE_STRING: duckdb.TypeVarchar, arrow.STRING_VIEW: duckdb.TypeVarchar,
	arrow.BINARY: duckdb.TypeBlob, arrow.LARGE_BINARY: duckdb.TypeBlob, arrow.BINARY_VIEW: duckdb.TypeBlob,
	arrow.FIXED_SIZE_BINARY: duckdb.TypeBlob,
	arrow.DATE32:            duckdb.TypeDate, arrow.DATE64: duckdb.TypeDate,
	arrow.TIME32:                  duckdb.TypeTime,
	arrow.INTERVAL_MONTH_DAY_NANO: duckdb.TypeInterval,
}

// logicalType is the DuckDB type that an Arrow type reads as. The caller
// destroys it.
func logicalType(t arrow.DataType) (duckdb.LogicalType, error) {
	if id, ok := readable[t.ID()]; ok {
		return duckdb.CreateLogicalType(id), nil
	}
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return decimalType(t)
	case *arrow.TimestampType:
		return duckdb.CreateLogicalType(timestampType(t)), nil
	case *arrow.Time64Type:
		if t.Unit == arrow.Nanosecond {
			return duckdb.CreateLogicalType(duckdb.TypeTimeNS), nil
		}
		return duckdb.CreateLogicalType(duckdb.TypeTime), nil
	case *arrow.DictionaryType:
		return logicalType(t.ValueType)
	case *arrow.StructType:
		return structType(t)
	case *arrow.MapType:
		return mapType(t)
	case *arrow.FixedSizeListType:
		return ofChild(t.Elem(), func(c duckdb.LogicalType) duckdb.LogicalType {
			return duckdb.CreateArrayType(c, duckdb.IdxT(t.Len()))
		})
	case *arrow.ListType:
		return ofChild(t.Elem(), duckdb.CreateListType)
	case *arrow.LargeListType:
		return ofChild(t.Elem(), duckdb.CreateListType)
	case arrow.ExtensionType:
		return logicalType(t.StorageType())
	}
	return duckdb.LogicalType{}, status.New(status.Unimplemented, "the engine cannot read the Arrow type %s", t)
}

func decimalType(t *arrow.Decimal128Type) (duckdb.LogicalType, error) {
	if t.Precision < 1 || t.Precision > 38 || t.Scale < 0 || t.Scale > t.Precision {
		return duckdb.LogicalType{}, status.New(status.Unimplemented, "the engine cannot read the Arrow type %s", t)
	}
	return duckdb.CreateDecimalType(uint8(t.Precision), uint8(t.Scale)), nil
}

// timestampType: with a zone every unit reads as TIMESTAMPTZ, in microseconds.
func timestampType(t *arrow.TimestampType) duckdb.Type {
	switch {
	case t.TimeZone != "":
		return duckdb.TypeTimestampTZ
	case t.Unit == arrow.Second:
		return duckdb.TypeTimestampS
	case t.Unit == arrow.Millisecond:
		return duckdb.TypeTimestampMS
	case t.Unit == arrow.Nanosecond:
		return duckdb.TypeTimestampNS
	}
	return duckdb.TypeTimestamp
}

func ofChild(elem arrow.DataType, wrap func(duckdb.LogicalType) duckdb.LogicalType) (duckdb.LogicalType, error) {
	child, err := logicalType(elem)
	if err != nil {
		return child, err
	}
	defer duckdb.DestroyLogicalType(&child)
	return wrap(child), nil
}

func structType(t *arrow.StructType) (duckdb.LogicalType, error) {
	if t.NumFields() == 0 {
		return duckdb.LogicalType{}, status.New(status.Unimplemented, "the engine cannot read a struct without fields")
	}
	names, types := make([]string, 0, t.NumFields()), make([]duckdb.LogicalType, 0, t.NumFields())
	defer func() {
		for i := range types {
			duckdb.DestroyLogicalType(&types[i])
		}
	}()
	for _, f := range t.Fields() {
		child, err := logicalType(f.Type)
		if err != nil {
			return child, err
		}
		names, types = append(names, f.Name), append(types, child)
	}
	return duckdb.CreateStructType(types, names), nil
}

func mapType(t *arrow.MapType) (duckdb.LogicalType, error) {
	value, err := logicalType(t.ItemType())
	if err != nil {
		return value, err
	}
	defer duckdb.DestroyLogicalType(&value)
	return ofChild(t.KeyType(), func(key duckdb.LogicalType) duckdb.LogicalType {
		return duckdb.CreateMapType(key, value)
	})
}

func quoteIdent(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func quoteString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
