package params

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// plainTypes maps the Arrow types without parameters to the type in which
// values of it are bound where the engine infers none, and to its SQL name.
var plainTypes = map[arrow.Type]struct {
	arrow arrow.DataType
	sql   string
}{
	arrow.NULL: {arrow.Null, ""}, arrow.BOOL: {arrow.FixedWidthTypes.Boolean, "BOOLEAN"},
	arrow.INT8: {arrow.PrimitiveTypes.Int8, "TINYINT"}, arrow.INT16: {arrow.PrimitiveTypes.Int16, "SMALLINT"},
	arrow.INT32: {arrow.PrimitiveTypes.Int32, "INTEGER"}, arrow.INT64: {arrow.PrimitiveTypes.Int64, "BIGINT"},
	arrow.UINT8: {arrow.PrimitiveTypes.Uint8, "UTINYINT"}, arrow.UINT16: {arrow.PrimitiveTypes.Uint16, "USMALLINT"},
	arrow.UINT32: {arrow.PrimitiveTypes.Uint32, "UINTEGER"}, arrow.UINT64: {arrow.PrimitiveTypes.Uint64, "UBIGINT"},
	arrow.FLOAT16: {arrow.PrimitiveTypes.Float32, "FLOAT"}, arrow.FLOAT32: {arrow.PrimitiveTypes.Float32, "FLOAT"},
	arrow.FLOAT64: {arrow.PrimitiveTypes.Float64, "DOUBLE"},
	arrow.STRING:  {arrow.BinaryTypes.String, "VARCHAR"}, arrow.LARGE_STRING: {arrow.BinaryTypes.String, "VARCHAR"},
	arrow.STRING_VIEW: {arrow.BinaryTypes.String, "VARCHAR"},
	arrow.BINARY:      {arrow.BinaryTypes.Binary, "BLOB"}, arrow.LARGE_BINARY: {arrow.BinaryTypes.Binary, "BLOB"},
	arrow.BINARY_VIEW: {arrow.BinaryTypes.Binary, "BLOB"}, arrow.FIXED_SIZE_BINARY: {arrow.BinaryTypes.Binary, "BLOB"},
	arrow.DATE32: {arrow.FixedWidthTypes.Date32, "DATE"}, arrow.DATE64: {arrow.FixedWidthTypes.Date32, "DATE"},
	arrow.TIME32:                  {arrow.FixedWidthTypes.Time64us, "TIME"},
	arrow.DURATION:                {arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL"},
	arrow.INTERVAL_MONTHS:         {arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL"},
	arrow.INTERVAL_DAY_TIME:       {arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL"},
	arrow.INTERVAL_MONTH_DAY_NANO: {arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL"},
}

// typeOf is the type, in Arrow and in SQL, in which a value of Arrow type t is
// bound where the engine infers none.
func typeOf(t arrow.DataType) (arrow.DataType, string, error) {
	if p, ok := plainTypes[t.ID()]; ok {
		return p.arrow, p.sql, nil
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return typeOf(t.ValueType)
	case *arrow.RunEndEncodedType:
		return typeOf(t.Encoded())
	case arrow.ExtensionType:
		if t.ExtensionName() == "arrow.uuid" {
			return arrow.BinaryTypes.String, "UUID", nil
		}
		return typeOf(t.StorageType())
	case *arrow.Time64Type:
		if t.Unit == arrow.Nanosecond {
			return t, "TIME_NS", nil
		}
		return t, "TIME", nil
	case *arrow.TimestampType:
		return t, timestampName(t), nil
	case arrow.DecimalType:
		return decimalOf(t)
	}
	return nestedType(t)
}

func timestampName(t *arrow.TimestampType) string {
	if t.TimeZone != "" {
		return "TIMESTAMP WITH TIME ZONE"
	}
	return map[arrow.TimeUnit]string{
		arrow.Second: "TIMESTAMP_S", arrow.Millisecond: "TIMESTAMP_MS", arrow.Microsecond: "TIMESTAMP", arrow.Nanosecond: "TIMESTAMP_NS",
	}[t.Unit]
}

func decimalOf(t arrow.DecimalType) (arrow.DataType, string, error) {
	p, s := t.GetPrecision(), t.GetScale()
	if s < 0 { // 12e3 has the precision 2 and the scale -3
		p, s = p-s, 0
	}
	p = max(p, s)
	if p > 38 {
		return nil, "", status.New(status.InvalidArgument, "a value of type %s cannot be bound: decimals have up to 38 digits", t)
	}
	return &arrow.Decimal128Type{Precision: p, Scale: s}, fmt.Sprintf("DECIMAL(%d,%d)", p, s), nil
}

func nestedType(t arrow.DataType) (arrow.DataType, string, error) {
	switch t := t.(type) {
	case *arrow.MapType:
		key, keySQL, err := typeOf(t.KeyType())
		if err != nil {
			return nil, "", err
		}
		item, itemSQL, err := typeOf(t.ItemType())
		if err != nil {
			return nil, "", err
		}
		return arrow.MapOf(key, item), "MAP(" + orInteger(keySQL) + ", " + orInteger(itemSQL) + ")", nil
	case arrow.ListLikeType:
		elem, sql, err := typeOf(t.Elem())
		if err != nil {
			return nil, "", err
		}
		return arrow.ListOf(elem), orInteger(sql) + "[]", nil
	case *arrow.StructType:
		return structOf(t)
	}
	return nil, "", status.New(status.InvalidArgument, "a value of type %s cannot be bound", t)
}

func structOf(t *arrow.StructType) (arrow.DataType, string, error) {
	fields, names := make([]arrow.Field, t.NumFields()), make([]string, t.NumFields())
	for i, f := range t.Fields() {
		typ, sql, err := typeOf(f.Type)
		if err != nil {
			return nil, "", err
		}
		fields[i] = arrow.Field{Name: f.Name, Type: typ, Nullable: true}
		names[i] = `"` + strings.ReplaceAll(f.Name, `"`, `""`) + `" ` + orInteger(sql)
	}
	return arrow.StructOf(fields...), "STRUCT(" + strings.Join(names, ", ") + ")", nil
}

// TypeName is the SQL name of a type, as the engine reads it; the Arrow name of
// one that it cannot read.
func TypeName(t arrow.DataType) string {
	_, sql, err := typeOf(t)
	switch {
	case err != nil:
		return strings.ToUpper(t.Name())
	case sql == "":
		return "NULL"
	}
	return sql
}

// orInteger is what the engine makes of a value without a type.
func orInteger(sql string) string {
	if sql == "" {
		return "INTEGER"
	}
	return sql
}
