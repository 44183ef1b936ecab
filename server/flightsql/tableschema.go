package flightsql

import (
	"maps"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/query"
)

// clientSchema is the schema of SELECT * FROM t, with more metadata than that
// of a result has.
func clientSchema(t *catalog.Table, types query.ResultTypes) *arrow.Schema {
	if t.Arrow == nil { // the table cannot be read; a query says why
		return arrow.NewSchema(nil, nil)
	}
	fields := make([]arrow.Field, t.Arrow.NumFields())
	for i, f := range t.Arrow.Fields() {
		f = types.Field(arrow.Field{Name: f.Name, Type: engineType(f.Type), Nullable: true})
		meta := flightsql.NewColumnMetadataBuilder()
		meta.CatalogName(query.CatalogName).SchemaName(t.Schema).TableName(t.Name).IsReadOnly(true).IsSearchable(true)
		all := meta.Metadata()
		pairs := all.ToMap()
		maps.Copy(pairs, f.Metadata.ToMap())
		f.Metadata = arrow.MetadataFrom(pairs)
		fields[i] = f
	}
	return arrow.NewSchema(fields, nil)
}

// engineTypes are the types in which the engine yields columns of another type.
var engineTypes = map[arrow.Type]arrow.DataType{
	arrow.NULL:         arrow.PrimitiveTypes.Int32,
	arrow.LARGE_STRING: arrow.BinaryTypes.String, arrow.STRING_VIEW: arrow.BinaryTypes.String,
	arrow.LARGE_BINARY: arrow.BinaryTypes.Binary, arrow.BINARY_VIEW: arrow.BinaryTypes.Binary, arrow.FIXED_SIZE_BINARY: arrow.BinaryTypes.Binary,
	arrow.DATE64: arrow.FixedWidthTypes.Date32,
	arrow.TIME32: arrow.FixedWidthTypes.Time64us,
}

// engineType is the type in which the engine yields a column of type t.
func engineType(t arrow.DataType) arrow.DataType {
	if e, ok := engineTypes[t.ID()]; ok {
		return e
	}
	switch t := t.(type) {
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return arrow.FixedWidthTypes.Timestamp_us
		}
	case *arrow.DictionaryType:
		return engineType(t.ValueType)
	case arrow.ExtensionType:
		return engineType(t.StorageType())
	case *arrow.MapType:
		return arrow.MapOf(engineType(t.KeyType()), engineType(t.ItemType()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), element(t.Elem()))
	case arrow.ListLikeType:
		return arrow.ListOfField(element(t.Elem()))
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = arrow.Field{Name: f.Name, Type: engineType(f.Type), Nullable: true}
		}
		return arrow.StructOf(fields...)
	}
	return t
}

// element is the element of a list, named as the engine names it.
func element(t arrow.DataType) arrow.Field {
	return arrow.Field{Name: "l", Type: engineType(t), Nullable: true}
}
