package codec

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// maxTypeDepth bounds the nesting of a data type.
const maxTypeDepth = 32

// simpleTypes pairs the kinds that have no parameters.
var simpleTypes = [...]struct {
	kind pb.Kind
	dt   arrow.DataType
}{
	{pb.Kind_KIND_NULL, arrow.Null},
	{pb.Kind_KIND_BOOL, arrow.FixedWidthTypes.Boolean},
	{pb.Kind_KIND_INT8, arrow.PrimitiveTypes.Int8},
	{pb.Kind_KIND_INT16, arrow.PrimitiveTypes.Int16},
	{pb.Kind_KIND_INT32, arrow.PrimitiveTypes.Int32},
	{pb.Kind_KIND_INT64, arrow.PrimitiveTypes.Int64},
	{pb.Kind_KIND_UINT8, arrow.PrimitiveTypes.Uint8},
	{pb.Kind_KIND_UINT16, arrow.PrimitiveTypes.Uint16},
	{pb.Kind_KIND_UINT32, arrow.PrimitiveTypes.Uint32},
	{pb.Kind_KIND_UINT64, arrow.PrimitiveTypes.Uint64},
	{pb.Kind_KIND_FLOAT16, arrow.FixedWidthTypes.Float16},
	{pb.Kind_KIND_FLOAT32, arrow.PrimitiveTypes.Float32},
	{pb.Kind_KIND_FLOAT64, arrow.PrimitiveTypes.Float64},
	{pb.Kind_KIND_STRING, arrow.BinaryTypes.String},
	{pb.Kind_KIND_LARGE_STRING, arrow.BinaryTypes.LargeString},
	{pb.Kind_KIND_BINARY, arrow.BinaryTypes.Binary},
	{pb.Kind_KIND_LARGE_BINARY, arrow.BinaryTypes.LargeBinary},
	{pb.Kind_KIND_DATE32, arrow.FixedWidthTypes.Date32},
	{pb.Kind_KIND_DATE64, arrow.FixedWidthTypes.Date64},
	{pb.Kind_KIND_INTERVAL_MONTHS, arrow.FixedWidthTypes.MonthInterval},
	{pb.Kind_KIND_INTERVAL_DAY_TIME, arrow.FixedWidthTypes.DayTimeInterval},
	{pb.Kind_KIND_INTERVAL_MONTH_DAY_NANO, arrow.FixedWidthTypes.MonthDayNanoInterval},
}

// typeToProto encodes a data type.
func typeToProto(dt arrow.DataType) (*pb.DataType, error) {
	if dt == nil {
		return nil, status.New(status.InvalidArgument, "a column or expression has no data type")
	}
	for _, s := range simpleTypes {
		if s.dt.ID() == dt.ID() {
			return &pb.DataType{Kind: s.kind}, nil
		}
	}
	if p := parametricToProto(dt); p != nil {
		return p, nil
	}
	return nestedToProto(dt)
}

// parametricToProto encodes the flat types with parameters, nil for others.
func parametricToProto(dt arrow.DataType) *pb.DataType {
	switch dt := dt.(type) {
	case *arrow.FixedSizeBinaryType:
		return &pb.DataType{Kind: pb.Kind_KIND_FIXED_SIZE_BINARY, Width: int32(dt.ByteWidth)}
	case *arrow.Time32Type:
		return &pb.DataType{Kind: pb.Kind_KIND_TIME32, Unit: unitToProto(dt.Unit)}
	case *arrow.Time64Type:
		return &pb.DataType{Kind: pb.Kind_KIND_TIME64, Unit: unitToProto(dt.Unit)}
	case *arrow.TimestampType:
		return &pb.DataType{Kind: pb.Kind_KIND_TIMESTAMP, Unit: unitToProto(dt.Unit), TimeZone: dt.TimeZone}
	case *arrow.DurationType:
		return &pb.DataType{Kind: pb.Kind_KIND_DURATION, Unit: unitToProto(dt.Unit)}
	case *arrow.Decimal32Type:
		return decimalToProto(pb.Kind_KIND_DECIMAL32, dt)
	case *arrow.Decimal64Type:
		return decimalToProto(pb.Kind_KIND_DECIMAL64, dt)
	case *arrow.Decimal128Type:
		return decimalToProto(pb.Kind_KIND_DECIMAL128, dt)
	case *arrow.Decimal256Type:
		return decimalToProto(pb.Kind_KIND_DECIMAL256, dt)
	}
	return nil
}

func decimalToProto(kind pb.Kind, dt arrow.DecimalType) *pb.DataType {
	return &pb.DataType{Kind: kind, Precision: dt.GetPrecision(), Scale: dt.GetScale()}
}

func nestedToProto(dt arrow.DataType) (*pb.DataType, error) {
	switch dt := dt.(type) {
	case *arrow.DictionaryType:
		index, value := arrow.Field{Type: dt.IndexType}, arrow.Field{Type: dt.ValueType}
		return withChildren(&pb.DataType{Kind: pb.Kind_KIND_DICTIONARY, Ordered: dt.Ordered}, index, value)
	case *arrow.ListType:
		return withChildren(&pb.DataType{Kind: pb.Kind_KIND_LIST}, dt.ElemField())
	case *arrow.LargeListType:
		return withChildren(&pb.DataType{Kind: pb.Kind_KIND_LARGE_LIST}, dt.ElemField())
	case *arrow.FixedSizeListType:
		return withChildren(&pb.DataType{Kind: pb.Kind_KIND_FIXED_SIZE_LIST, Width: dt.Len()}, dt.ElemField())
	case *arrow.StructType:
		return withChildren(&pb.DataType{Kind: pb.Kind_KIND_STRUCT}, dt.Fields()...)
	case *arrow.MapType:
		return withChildren(&pb.DataType{Kind: pb.Kind_KIND_MAP, Ordered: dt.KeysSorted}, dt.KeyField(), dt.ItemField())
	}
	return nil, status.New(status.Unimplemented, "data type %s cannot be sent to a scanner", dt)
}

func withChildren(p *pb.DataType, fields ...arrow.Field) (*pb.DataType, error) {
	for _, f := range fields {
		child, err := typeToProto(f.Type)
		if err != nil {
			return nil, err
		}
		p.Children = append(p.Children, &pb.Field{Name: f.Name, Type: child, Nullable: f.Nullable})
	}
	return p, nil
}

// typeFromProto decodes a data type.
func typeFromProto(p *pb.DataType) (arrow.DataType, error) { return decodeType(p, 0) }

func decodeType(p *pb.DataType, depth int) (arrow.DataType, error) {
	if p == nil {
		return nil, status.New(status.InvalidArgument, "a data type is missing")
	}
	if depth > maxTypeDepth {
		return nil, status.New(status.InvalidArgument, "a data type is nested deeper than %d levels", maxTypeDepth)
	}
	for _, s := range simpleTypes {
		if s.kind == p.Kind {
			return s.dt, nil
		}
	}
	if dt, err := decodeTemporal(p); dt != nil || err != nil {
		return dt, err
	}
	if dt, err := decodeSized(p); dt != nil || err != nil {
		return dt, err
	}
	return decodeNested(p, depth)
}

// decodeTemporal decodes the types with a unit; nil for others.
func decodeTemporal(p *pb.DataType) (arrow.DataType, error) {
	unit, err := unitFromProto(p.Unit)
	switch p.Kind {
	case pb.Kind_KIND_TIMESTAMP:
		return &arrow.TimestampType{Unit: unit, TimeZone: p.TimeZone}, err
	case pb.Kind_KIND_DURATION:
		return &arrow.DurationType{Unit: unit}, err
	case pb.Kind_KIND_TIME32:
		if err == nil && unit != arrow.Second && unit != arrow.Millisecond {
			err = status.New(status.InvalidArgument, "time32 cannot have unit %s", unit)
		}
		return &arrow.Time32Type{Unit: unit}, err
	case pb.Kind_KIND_TIME64:
		if err == nil && unit != arrow.Microsecond && unit != arrow.Nanosecond {
			err = status.New(status.InvalidArgument, "time64 cannot have unit %s", unit)
		}
		return &arrow.Time64Type{Unit: unit}, err
	}
	return nil, nil
}

// decodeSized decodes decimals and fixed-size binaries; nil for others.
func decodeSized(p *pb.DataType) (arrow.DataType, error) {
	id := arrow.NULL
	switch p.Kind {
	case pb.Kind_KIND_FIXED_SIZE_BINARY:
		if p.Width < 0 {
			return nil, status.New(status.InvalidArgument, "a fixed-size binary has width %d", p.Width)
		}
		return &arrow.FixedSizeBinaryType{ByteWidth: int(p.Width)}, nil
	case pb.Kind_KIND_DECIMAL32:
		id = arrow.DECIMAL32
	case pb.Kind_KIND_DECIMAL64:
		id = arrow.DECIMAL64
	case pb.Kind_KIND_DECIMAL128:
		id = arrow.DECIMAL128
	case pb.Kind_KIND_DECIMAL256:
		id = arrow.DECIMAL256
	default:
		return nil, nil
	}
	dt, err := arrow.NewDecimalType(id, p.Precision, p.Scale)
	if err == nil && max(p.Scale, -p.Scale) > p.Precision {
		err = status.New(status.InvalidArgument, "the scale exceeds the precision")
	}
	return dt, status.Wrap(status.InvalidArgument, err, "decimal(%d,%d)", p.Precision, p.Scale)
}

func decodeNested(p *pb.DataType, depth int) (arrow.DataType, error) {
	fields, err := decodeFields(p, depth)
	if err != nil {
		return nil, err
	}
	switch p.Kind {
	case pb.Kind_KIND_STRUCT:
		return arrow.StructOf(fields...), nil
	case pb.Kind_KIND_DICTIONARY:
		return decodeDictionary(p, fields)
	case pb.Kind_KIND_MAP:
		return decodeMap(p, fields)
	case pb.Kind_KIND_LIST, pb.Kind_KIND_LARGE_LIST, pb.Kind_KIND_FIXED_SIZE_LIST:
		return decodeList(p, fields)
	}
	return nil, status.New(status.Unimplemented, "data type kind %d is unknown to this version", p.Kind)
}

func decodeFields(p *pb.DataType, depth int) ([]arrow.Field, error) {
	fields := make([]arrow.Field, 0, len(p.Children))
	for _, c := range p.Children {
		dt, err := decodeType(c.GetType(), depth+1)
		if err != nil {
			return nil, err
		}
		fields = append(fields, arrow.Field{Name: c.Name, Type: dt, Nullable: c.Nullable})
	}
	return fields, nil
}

func decodeDictionary(p *pb.DataType, fields []arrow.Field) (arrow.DataType, error) {
	if len(fields) != 2 || !arrow.IsInteger(fields[0].Type.ID()) {
		return nil, status.New(status.InvalidArgument, "a dictionary type needs an integer index and a value")
	}
	return &arrow.DictionaryType{IndexType: fields[0].Type, ValueType: fields[1].Type, Ordered: p.Ordered}, nil
}

func decodeMap(p *pb.DataType, fields []arrow.Field) (arrow.DataType, error) {
	if len(fields) != 2 || fields[0].Nullable {
		return nil, status.New(status.InvalidArgument, "a map type needs a key that is not nullable and an item")
	}
	m := arrow.MapOfFields(fields[0], fields[1])
	m.KeysSorted = p.Ordered
	return m, nil
}

func decodeList(p *pb.DataType, fields []arrow.Field) (arrow.DataType, error) {
	if len(fields) != 1 {
		return nil, status.New(status.InvalidArgument, "a list type needs one element")
	}
	switch p.Kind {
	case pb.Kind_KIND_LIST:
		return arrow.ListOfField(fields[0]), nil
	case pb.Kind_KIND_LARGE_LIST:
		return arrow.LargeListOfField(fields[0]), nil
	}
	if p.Width <= 0 {
		return nil, status.New(status.InvalidArgument, "a fixed-size list has length %d", p.Width)
	}
	return arrow.FixedSizeListOfField(p.Width, fields[0]), nil
}

func unitToProto(u arrow.TimeUnit) pb.TimeUnit { return pb.TimeUnit(u) + 1 }

func unitFromProto(u pb.TimeUnit) (arrow.TimeUnit, error) {
	if u < pb.TimeUnit_TIME_UNIT_SECOND || u > pb.TimeUnit_TIME_UNIT_NANO {
		return 0, status.New(status.InvalidArgument, "time unit %d is unknown", u)
	}
	return arrow.TimeUnit(u - 1), nil
}
