package plan

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
)

// uuidType is the type of UUIDs. They are texts in canonical form inside a
// pushdown.Spec, which are equal and ordered as UUIDs are.
const uuidType Type = "UUID"

// arrowType is the Arrow type that values of a SQL type have inside a
// pushdown.Spec, or nil when the specification does not know the type.
func arrowType(t Type) arrow.DataType {
	switch t {
	case "BOOLEAN":
		return arrow.FixedWidthTypes.Boolean
	case "HUGEINT":
		return &arrow.Decimal128Type{Precision: 38}
	case "FLOAT":
		return arrow.PrimitiveTypes.Float32
	case "DOUBLE":
		return arrow.PrimitiveTypes.Float64
	case "VARCHAR", uuidType:
		return arrow.BinaryTypes.String
	case "BLOB":
		return arrow.BinaryTypes.Binary
	}
	if dt := integerType(t); dt != nil {
		return dt
	}
	if dt := timeType(t); dt != nil {
		return dt
	}
	return decimalType(t)
}

func integerType(t Type) arrow.DataType {
	switch t {
	case "TINYINT":
		return arrow.PrimitiveTypes.Int8
	case "SMALLINT":
		return arrow.PrimitiveTypes.Int16
	case "INTEGER":
		return arrow.PrimitiveTypes.Int32
	case "BIGINT":
		return arrow.PrimitiveTypes.Int64
	case "UTINYINT":
		return arrow.PrimitiveTypes.Uint8
	case "USMALLINT":
		return arrow.PrimitiveTypes.Uint16
	case "UINTEGER":
		return arrow.PrimitiveTypes.Uint32
	case "UBIGINT":
		return arrow.PrimitiveTypes.Uint64
	}
	return nil
}

func timeType(t Type) arrow.DataType {
	switch t {
	case "DATE":
		return arrow.FixedWidthTypes.Date32
	case "TIME":
		return arrow.FixedWidthTypes.Time64us
	case "TIME_NS":
		return arrow.FixedWidthTypes.Time64ns
	case "TIMESTAMP":
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case "TIMESTAMP_S":
		return &arrow.TimestampType{Unit: arrow.Second}
	case "TIMESTAMP_MS":
		return &arrow.TimestampType{Unit: arrow.Millisecond}
	case "TIMESTAMP_NS":
		return &arrow.TimestampType{Unit: arrow.Nanosecond}
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ":
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	}
	return nil
}

func decimalType(t Type) arrow.DataType {
	p, s, ok := decimalParts(t)
	if !ok {
		return nil
	}
	return &arrow.Decimal128Type{Precision: p, Scale: s}
}

// decimalParts reads "DECIMAL(p,s)".
func decimalParts(t Type) (precision, scale int32, ok bool) {
	inner, found := strings.CutPrefix(string(t), "DECIMAL(")
	p, s, comma := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
	if !found || !comma {
		return 0, 0, false
	}
	pn, err1 := strconv.Atoi(strings.TrimSpace(p))
	sn, err2 := strconv.Atoi(strings.TrimSpace(s))
	return int32(pn), int32(sn), err1 == nil && err2 == nil && pn >= 1 && pn <= 38 && sn >= 0 && sn <= pn
}

// importedType is the SQL type that the engine gives to an Arrow column, or ""
// when the type is nested or unusual.
func importedType(dt arrow.DataType) Type {
	switch dt := pushdown.ValueType(dt).(type) {
	case *arrow.Decimal128Type:
		return Type("DECIMAL(" + strconv.Itoa(int(dt.Precision)) + "," + strconv.Itoa(int(dt.Scale)) + ")")
	case *arrow.TimestampType:
		return importedTimestamp(dt)
	case *arrow.Time64Type:
		if dt.Unit == arrow.Nanosecond {
			return "TIME_NS"
		}
		return "TIME"
	case *arrow.LargeStringType, *arrow.StringType:
		return "VARCHAR"
	case *arrow.LargeBinaryType, *arrow.BinaryType:
		return "BLOB"
	default:
		return importedFixed(dt.ID())
	}
}

func importedTimestamp(dt *arrow.TimestampType) Type {
	if dt.TimeZone != "" {
		return "TIMESTAMP WITH TIME ZONE"
	}
	return [...]Type{"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"}[dt.Unit]
}

func importedFixed(id arrow.Type) Type {
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
	case arrow.DATE32:
		return "DATE"
	}
	return ""
}

// sameValues reports whether two Arrow types hold the same values in the same
// order, so that a constant of one may be written as the other: strings of both
// offset widths, and instants whatever their zone is called.
func sameValues(a, b arrow.DataType) bool {
	a, b = pushdown.ValueType(a), pushdown.ValueType(b)
	at, aok := a.(*arrow.TimestampType)
	bt, bok := b.(*arrow.TimestampType)
	if aok && bok {
		return at.Unit == bt.Unit && (at.TimeZone == "") == (bt.TimeZone == "")
	}
	return arrow.TypeEqual(a, b) || narrowOffsets(a.ID()) == narrowOffsets(b.ID()) && narrowOffsets(a.ID()) != arrow.NULL
}

// narrowOffsets folds the string and the binary types; NULL for all others.
func narrowOffsets(id arrow.Type) arrow.Type {
	switch id {
	case arrow.STRING, arrow.LARGE_STRING:
		return arrow.STRING
	case arrow.BINARY, arrow.LARGE_BINARY:
		return arrow.BINARY
	}
	return arrow.NULL
}

// width estimates the bytes of one value, to choose the cheapest column.
func width(dt arrow.DataType) int {
	if dt.ID() == arrow.BOOL {
		return 0
	}
	if f, ok := dt.(arrow.FixedWidthDataType); ok && dt.ID() != arrow.DICTIONARY {
		return f.BitWidth() / 8
	}
	if dt.ID() == arrow.DICTIONARY {
		return 32
	}
	if arrow.IsNested(dt.ID()) {
		return 1 << 20
	}
	return 64
}
