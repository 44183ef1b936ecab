package duckdb

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// column is one column of a partition: how DuckDB has it and how the table
// shows it.
type column struct {
	name string
	// arrow is the type in the federated table.
	arrow arrow.DataType
	// physical is DuckDB's type, as SQL.
	physical string
	// read is the SQL type to read it as, equal to physical when no cast is
	// needed.
	read string
	// constant is what the column is in a file that does not have it.
	constant string
}

// uuid is the physical type of UUIDs, which are read as text.
const uuid = "UUID"

// field is the column of a table that has no other.
func (c column) field() arrow.Field {
	f := arrow.Field{Name: c.name, Type: c.arrow, Nullable: true}
	if c.physical == uuid {
		return pushdown.MarkUUID(f)
	}
	return f
}

// expr reads the column from its relation.
func (c column) expr() string {
	if c.constant != "" {
		return c.constant
	}
	if c.read == c.physical {
		return quoteIdent(c.name)
	}
	return fmt.Sprintf("CAST(%s AS %s)", quoteIdent(c.name), c.read)
}

// columnOf maps a column of a result; a type that Tributary cannot carry is an
// error that names the column.
func columnOf(name string, t bind.LogicalType) (column, error) {
	m, err := mapType(t)
	if err != nil {
		return column{}, status.Wrap(status.Unimplemented, err, "column %q", name)
	}
	return column{name: name, arrow: m.arrow, physical: m.physical, read: m.read}, nil
}

// mapping is a DuckDB type and what becomes of it.
type mapping struct {
	arrow          arrow.DataType
	physical, read string
}

// plainType maps the types that need no parameters.
func plainType(id bind.Type) (mapping, bool) {
	same := func(t arrow.DataType, sql string) (mapping, bool) { return mapping{t, sql, sql}, true }
	switch id {
	case bind.TypeBoolean:
		return same(arrow.FixedWidthTypes.Boolean, "BOOLEAN")
	case bind.TypeTinyInt:
		return same(arrow.PrimitiveTypes.Int8, "TINYINT")
	case bind.TypeSmallInt:
		return same(arrow.PrimitiveTypes.Int16, "SMALLINT")
	case bind.TypeInteger:
		return same(arrow.PrimitiveTypes.Int32, "INTEGER")
	case bind.TypeBigInt:
		return same(arrow.PrimitiveTypes.Int64, "BIGINT")
	case bind.TypeUTinyInt:
		return same(arrow.PrimitiveTypes.Uint8, "UTINYINT")
	case bind.TypeUSmallInt:
		return same(arrow.PrimitiveTypes.Uint16, "USMALLINT")
	case bind.TypeUInteger:
		return same(arrow.PrimitiveTypes.Uint32, "UINTEGER")
	case bind.TypeUBigInt:
		return same(arrow.PrimitiveTypes.Uint64, "UBIGINT")
	case bind.TypeFloat:
		return same(arrow.PrimitiveTypes.Float32, "FLOAT")
	case bind.TypeDouble:
		return same(arrow.PrimitiveTypes.Float64, "DOUBLE")
	case bind.TypeVarchar:
		return same(arrow.BinaryTypes.String, "VARCHAR")
	case bind.TypeBlob:
		return same(arrow.BinaryTypes.Binary, "BLOB")
	default:
		return otherPlainType(id)
	}
}

func otherPlainType(id bind.Type) (mapping, bool) {
	same := func(t arrow.DataType, sql string) (mapping, bool) { return mapping{t, sql, sql}, true }
	switch id {
	case bind.TypeDate:
		return same(arrow.FixedWidthTypes.Date32, "DATE")
	case bind.TypeTime:
		return same(arrow.FixedWidthTypes.Time64us, "TIME")
	case bind.TypeTimeNS:
		return same(arrow.FixedWidthTypes.Time64ns, "TIME_NS")
	case bind.TypeTimestamp:
		return same(&arrow.TimestampType{Unit: arrow.Microsecond}, "TIMESTAMP")
	case bind.TypeTimestampS:
		return same(&arrow.TimestampType{Unit: arrow.Second}, "TIMESTAMP_S")
	case bind.TypeTimestampMS:
		return same(&arrow.TimestampType{Unit: arrow.Millisecond}, "TIMESTAMP_MS")
	case bind.TypeTimestampNS:
		return same(&arrow.TimestampType{Unit: arrow.Nanosecond}, "TIMESTAMP_NS")
	case bind.TypeTimestampTZ:
		return same(&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, "TIMESTAMPTZ")
	case bind.TypeInterval:
		return same(arrow.FixedWidthTypes.MonthDayNanoInterval, "INTERVAL")
	case bind.TypeHugeInt:
		return mapping{&arrow.Decimal128Type{Precision: 38}, "HUGEINT", "DECIMAL(38,0)"}, true
	case bind.TypeUUID:
		return mapping{arrow.BinaryTypes.String, uuid, "VARCHAR"}, true
	default:
		return mapping{}, false
	}
}

func mapType(t bind.LogicalType) (mapping, error) {
	id := bind.GetTypeId(t)
	if m, ok := plainType(id); ok {
		// JSON and other aliases keep the physical type's meaning.
		return m, nil
	}
	switch id {
	case bind.TypeDecimal:
		w, s := bind.DecimalWidth(t), bind.DecimalScale(t)
		sql := fmt.Sprintf("DECIMAL(%d,%d)", w, s)
		return mapping{&arrow.Decimal128Type{Precision: int32(w), Scale: int32(s)}, sql, sql}, nil
	case bind.TypeEnum:
		return mapEnum(t)
	case bind.TypeList, bind.TypeArray, bind.TypeStruct, bind.TypeMap:
		return mapNested(id, t)
	default:
		return mapping{}, status.New(status.Unimplemented,
			"DuckDB type %s cannot be carried; cast it to VARCHAR in a view or leave it out", typeName(id))
	}
}

// mapEnum shows an ENUM as a dictionary and reads it as text: DuckDB compares
// an ENUM with text by casting the text, which fails on an unknown member.
func mapEnum(t bind.LogicalType) (mapping, error) {
	n := bind.EnumDictionarySize(t)
	members := make([]string, n)
	for i := range members {
		members[i] = quoteText(bind.EnumDictionaryValue(t, bind.IdxT(i)))
	}
	var index arrow.DataType = arrow.PrimitiveTypes.Uint8
	switch bind.EnumInternalType(t) {
	case bind.TypeUSmallInt:
		index = arrow.PrimitiveTypes.Uint16
	case bind.TypeUInteger:
		index = arrow.PrimitiveTypes.Uint32
	}
	return mapping{
		arrow:    &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String},
		physical: "ENUM(" + strings.Join(members, ", ") + ")",
		read:     "VARCHAR",
	}, nil
}

func mapNested(id bind.Type, t bind.LogicalType) (mapping, error) {
	switch id {
	case bind.TypeList:
		child, err := mapChild(bind.ListTypeChildType(t))
		list := arrow.ListOfField(arrow.Field{Name: "l", Type: child.arrow, Nullable: true})
		return mapping{list, child.physical + "[]", child.read + "[]"}, err
	case bind.TypeArray:
		n := bind.ArrayTypeArraySize(t)
		child, err := mapChild(bind.ArrayTypeChildType(t))
		list := arrow.FixedSizeListOfField(int32(n), arrow.Field{Name: "l", Type: child.arrow, Nullable: true})
		return mapping{list, fmt.Sprintf("%s[%d]", child.physical, n), fmt.Sprintf("%s[%d]", child.read, n)}, err
	case bind.TypeMap:
		return mapMap(t)
	default:
		return mapStruct(t)
	}
}

// mapChild maps a nested type and destroys it; inside nested types an ENUM is
// plain text.
func mapChild(t bind.LogicalType) (mapping, error) {
	defer bind.DestroyLogicalType(&t)
	m, err := mapType(t)
	if err != nil {
		return mapping{arrow: arrow.Null}, err
	}
	if d, ok := m.arrow.(*arrow.DictionaryType); ok {
		m.arrow = d.ValueType
	}
	return m, nil
}

func mapMap(t bind.LogicalType) (mapping, error) {
	key, err := mapChild(bind.MapTypeKeyType(t))
	if err != nil {
		return mapping{}, err
	}
	value, err := mapChild(bind.MapTypeValueType(t))
	if err != nil {
		return mapping{}, err
	}
	return mapping{
		arrow:    arrow.MapOf(key.arrow, value.arrow),
		physical: fmt.Sprintf("MAP(%s, %s)", key.physical, value.physical),
		read:     fmt.Sprintf("MAP(%s, %s)", key.read, value.read),
	}, nil
}

func mapStruct(t bind.LogicalType) (mapping, error) {
	n := bind.StructTypeChildCount(t)
	fields := make([]arrow.Field, n)
	physical, read := make([]string, n), make([]string, n)
	for i := range fields {
		name := bind.StructTypeChildName(t, bind.IdxT(i))
		child, err := mapChild(bind.StructTypeChildType(t, bind.IdxT(i)))
		if err != nil {
			return mapping{}, status.Wrap(status.Unimplemented, err, "field %q", name)
		}
		fields[i] = arrow.Field{Name: name, Type: child.arrow, Nullable: true}
		physical[i] = quoteIdent(name) + " " + child.physical
		read[i] = quoteIdent(name) + " " + child.read
	}
	return mapping{
		arrow:    arrow.StructOf(fields...),
		physical: "STRUCT(" + strings.Join(physical, ", ") + ")",
		read:     "STRUCT(" + strings.Join(read, ", ") + ")",
	}, nil
}

func typeName(id bind.Type) string {
	switch id {
	case bind.TypeUHugeInt:
		return "UHUGEINT"
	case bind.TypeBit:
		return "BIT"
	case bind.TypeTimeTZ:
		return "TIME WITH TIME ZONE"
	case bind.TypeUnion:
		return "UNION"
	case bind.TypeBigNum:
		return "BIGNUM"
	case bind.TypeSQLNull:
		return `"NULL"`
	case bind.TypeVariant:
		return "VARIANT"
	case bind.TypeGeometry:
		return "GEOMETRY"
	default:
		return fmt.Sprintf("number %d", id)
	}
}
