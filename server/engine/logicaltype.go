package engine

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// simpleType is what an unparameterised DuckDB type is in Arrow and in SQL.
type simpleType struct {
	arrow arrow.DataType
	sql   string
}

// simpleTypes has the types without parameters that results can have.
var simpleTypes = map[duckdb.Type]simpleType{
	duckdb.TypeSQLNull:     {arrow.Null, `"NULL"`},
	duckdb.TypeBoolean:     {arrow.FixedWidthTypes.Boolean, "BOOLEAN"},
	duckdb.TypeTinyInt:     {arrow.PrimitiveTypes.Int8, "TINYINT"},
	duckdb.TypeSmallInt:    {arrow.PrimitiveTypes.Int16, "SMALLINT"},
	duckdb.TypeInteger:     {arrow.PrimitiveTypes.Int32, "INTEGER"},
	duckdb.TypeBigInt:      {arrow.PrimitiveTypes.Int64, "BIGINT"},
	duckdb.TypeUTinyInt:    {arrow.PrimitiveTypes.Uint8, "UTINYINT"},
	duckdb.TypeUSmallInt:   {arrow.PrimitiveTypes.Uint16, "USMALLINT"},
	duckdb.TypeUInteger:    {arrow.PrimitiveTypes.Uint32, "UINTEGER"},
	duckdb.TypeUBigInt:     {arrow.PrimitiveTypes.Uint64, "UBIGINT"},
	duckdb.TypeHugeInt:     {&arrow.Decimal128Type{Precision: 38}, "HUGEINT"},
	duckdb.TypeFloat:       {arrow.PrimitiveTypes.Float32, "FLOAT"},
	duckdb.TypeDouble:      {arrow.PrimitiveTypes.Float64, "DOUBLE"},
	duckdb.TypeVarchar:     {arrow.BinaryTypes.String, "VARCHAR"},
	duckdb.TypeBlob:        {arrow.BinaryTypes.Binary, "BLOB"},
	duckdb.TypeUUID:        {arrow.BinaryTypes.String, "UUID"},
	duckdb.TypeDate:        {arrow.FixedWidthTypes.Date32, "DATE"},
	duckdb.TypeTime:        {arrow.FixedWidthTypes.Time64us, "TIME"},
	duckdb.TypeTimeNS:      {arrow.FixedWidthTypes.Time64ns, "TIME_NS"},
	duckdb.TypeTimestamp:   {&arrow.TimestampType{Unit: arrow.Microsecond}, "TIMESTAMP"},
	duckdb.TypeTimestampS:  {&arrow.TimestampType{Unit: arrow.Second}, "TIMESTAMP_S"},
	duckdb.TypeTimestampMS: {&arrow.TimestampType{Unit: arrow.Millisecond}, "TIMESTAMP_MS"},
	duckdb.TypeTimestampNS: {&arrow.TimestampType{Unit: arrow.Nanosecond}, "TIMESTAMP_NS"},
	duckdb.TypeTimestampTZ: {&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "TIMESTAMP WITH TIME ZONE"},
	duckdb.TypeInterval:    {arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL"},
}

// uncarried names the DuckDB types that have no Arrow form here.
var uncarried = map[duckdb.Type]string{
	duckdb.TypeUHugeInt: "UHUGEINT", duckdb.TypeBit: "BIT", duckdb.TypeBigNum: "BIGNUM",
	duckdb.TypeTimeTZ: "TIME WITH TIME ZONE", duckdb.TypeUnion: "UNION", duckdb.TypeVariant: "VARIANT",
	duckdb.TypeGeometry: "GEOMETRY",
}

// columnType is one DuckDB type in Arrow and in SQL text.
type columnType struct {
	arrow arrow.DataType
	sql   string
}

// describeType reads a logical type; it does not consume it.
func describeType(t duckdb.LogicalType) (columnType, error) {
	id := duckdb.GetTypeId(t)
	if s, ok := simpleTypes[id]; ok {
		return columnType{s.arrow, aliasOr(t, s.sql)}, nil
	}
	switch id {
	case duckdb.TypeDecimal:
		w, s := duckdb.DecimalWidth(t), duckdb.DecimalScale(t)
		return columnType{&arrow.Decimal128Type{Precision: int32(w), Scale: int32(s)}, fmt.Sprintf("DECIMAL(%d,%d)", w, s)}, nil
	case duckdb.TypeEnum:
		return describeEnum(t), nil
	case duckdb.TypeList:
		return describeList(t)
	case duckdb.TypeArray:
		return describeArray(t)
	case duckdb.TypeStruct:
		return describeStruct(t)
	case duckdb.TypeMap:
		return describeMap(t)
	}
	name, ok := uncarried[id]
	if !ok {
		name = fmt.Sprintf("number %d", id)
	}
	return columnType{}, status.New(status.Unimplemented, "results cannot carry the type %s; cast it to VARCHAR", name)
}

// aliasOr keeps the name of an aliased type, such as JSON.
func aliasOr(t duckdb.LogicalType, name string) string {
	if alias := duckdb.LogicalTypeGetAlias(t); alias != "" {
		return alias
	}
	return name
}

func describeEnum(t duckdb.LogicalType) columnType {
	values := enumValues(t)
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quoteString(v)
	}
	index := arrow.DataType(arrow.PrimitiveTypes.Uint32)
	switch duckdb.EnumInternalType(t) {
	case duckdb.TypeUTinyInt:
		index = arrow.PrimitiveTypes.Uint8
	case duckdb.TypeUSmallInt:
		index = arrow.PrimitiveTypes.Uint16
	}
	return columnType{
		&arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String},
		"ENUM(" + strings.Join(quoted, ", ") + ")",
	}
}

func enumValues(t duckdb.LogicalType) []string {
	values := make([]string, duckdb.EnumDictionarySize(t))
	for i := range values {
		values[i] = duckdb.EnumDictionaryValue(t, duckdb.IdxT(i))
	}
	return values
}

func describeChild(child duckdb.LogicalType) (columnType, error) {
	defer duckdb.DestroyLogicalType(&child)
	return describeType(child)
}

// listField is the element of a list, named as DuckDB names it in Arrow.
func listField(t arrow.DataType) arrow.Field {
	return arrow.Field{Name: "l", Type: t, Nullable: true}
}

func describeList(t duckdb.LogicalType) (columnType, error) {
	c, err := describeChild(duckdb.ListTypeChildType(t))
	if err != nil {
		return c, err
	}
	return columnType{arrow.ListOfField(listField(c.arrow)), c.sql + "[]"}, nil
}

func describeArray(t duckdb.LogicalType) (columnType, error) {
	c, err := describeChild(duckdb.ArrayTypeChildType(t))
	if err != nil {
		return c, err
	}
	n := int32(duckdb.ArrayTypeArraySize(t))
	return columnType{arrow.FixedSizeListOfField(n, listField(c.arrow)), fmt.Sprintf("%s[%d]", c.sql, n)}, nil
}

func describeStruct(t duckdb.LogicalType) (columnType, error) {
	n := int(duckdb.StructTypeChildCount(t))
	fields, texts := make([]arrow.Field, n), make([]string, n)
	for i := range n {
		c, err := describeChild(duckdb.StructTypeChildType(t, duckdb.IdxT(i)))
		if err != nil {
			return c, err
		}
		name := duckdb.StructTypeChildName(t, duckdb.IdxT(i))
		fields[i] = arrow.Field{Name: name, Type: c.arrow, Nullable: true}
		texts[i] = quoteIdent(name) + " " + c.sql
	}
	return columnType{arrow.StructOf(fields...), "STRUCT(" + strings.Join(texts, ", ") + ")"}, nil
}

func describeMap(t duckdb.LogicalType) (columnType, error) {
	k, err := describeChild(duckdb.MapTypeKeyType(t))
	if err != nil {
		return k, err
	}
	v, err := describeChild(duckdb.MapTypeValueType(t))
	if err != nil {
		return v, err
	}
	return columnType{arrow.MapOf(k.arrow, v.arrow), "MAP(" + k.sql + ", " + v.sql + ")"}, nil
}
