package widen

import (
	"cmp"

	"github.com/apache/arrow-go/v18/arrow"
)

// Common is the least type that holds every value of a and of b; not ok when
// there is none. It is commutative but for the order of the fields of a struct,
// which is that of a, and associative but for the digits of a decimal that joins
// integers of both signs.
func Common(a, b arrow.DataType) (t arrow.DataType, ok bool) {
	if arrow.TypeEqual(a, b) {
		return a, true
	}
	for _, join := range []func(a, b arrow.DataType) (arrow.DataType, bool){
		absent, numbers, moments, texts, nested,
	} {
		if t, ok := join(a, b); ok {
			return t, true
		}
	}
	return nil, false
}

// Holds reports whether values of type from may be read as type to.
func Holds(to, from arrow.DataType) bool {
	t, ok := Common(to, from)
	return ok && arrow.TypeEqual(t, to)
}

// Carried is the type that coordinators know a column of type t as: decimals of
// 32, 64 and 256 bits are ones of 128 bits, with at most 38 digits.
func Carried(t arrow.DataType) arrow.DataType {
	if _, isDecimal := t.(arrow.DecimalType); !isDecimal {
		return t
	}
	n, ok := numberOf(t)
	if !ok {
		return t
	}
	return &arrow.Decimal128Type{Precision: n.digits, Scale: n.scale}
}

// absent joins a column without values with any other.
func absent(a, b arrow.DataType) (arrow.DataType, bool) {
	switch {
	case a.ID() == arrow.NULL:
		return b, true
	case b.ID() == arrow.NULL:
		return a, true
	}
	return nil, false
}

// number is what matters of a numeric type: a float, or digits of which scale
// lie behind the point.
type number struct {
	floatBits     int
	bits          int // of an integer, 0 for a decimal
	signed        bool
	digits, scale int32
}

func numberOf(t arrow.DataType) (number, bool) {
	switch t := t.(type) {
	case arrow.DecimalType:
		n := number{digits: min(t.GetPrecision(), maxDigits), scale: t.GetScale()}
		return n, n.scale >= 0 && n.scale <= n.digits
	case *arrow.Float32Type, *arrow.Float64Type:
		return number{floatBits: bitsOf(t)}, true
	}
	if !arrow.IsInteger(t.ID()) {
		return number{}, false
	}
	n := number{bits: bitsOf(t), signed: arrow.IsSignedInteger(t.ID())}
	n.digits = map[int]int32{8: 3, 16: 5, 32: 10, 64: 19}[n.bits]
	if n.bits == 64 && !n.signed {
		n.digits = 20
	}
	return n, true
}

func bitsOf(t arrow.DataType) int {
	fixed, _ := t.(arrow.FixedWidthDataType)
	return fixed.BitWidth()
}

func numbers(a, b arrow.DataType) (arrow.DataType, bool) {
	x, okX := numberOf(a)
	y, okY := numberOf(b)
	switch {
	case !okX || !okY:
		return nil, false
	case x.floatBits > 0 || y.floatBits > 0:
		return float(x, y)
	case x.bits > 0 && y.bits > 0:
		return integer(x, y)
	}
	return decimal(x, y)
}

// float joins a float with another number without fraction.
func float(x, y number) (arrow.DataType, bool) {
	return arrow.PrimitiveTypes.Float64, x.scale == 0 && y.scale == 0
}

func integer(x, y number) (arrow.DataType, bool) {
	bits := max(x.bits, y.bits)
	if x.signed == y.signed {
		return integerType(bits, x.signed), true
	}
	if unsigned := min(x.unsignedBits(), y.unsignedBits()); unsigned >= bits {
		bits = 2 * unsigned
	}
	if bits > 64 {
		return decimal(x, y)
	}
	return integerType(bits, true), true
}

// unsignedBits are those of an unsigned integer, and many for a signed one.
func (n number) unsignedBits() int {
	if n.signed {
		return 1 << 10
	}
	return n.bits
}

func integerType(bits int, signed bool) arrow.DataType {
	types := map[int][2]arrow.DataType{
		8:  {arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int8},
		16: {arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int16},
		32: {arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int32},
		64: {arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64},
	}[bits]
	if signed {
		return types[1]
	}
	return types[0]
}

const maxDigits = 38

func decimal(x, y number) (arrow.DataType, bool) {
	scale := max(x.scale, y.scale)
	digits := max(x.digits-x.scale, y.digits-y.scale) + scale
	return &arrow.Decimal128Type{Precision: digits, Scale: scale}, digits <= maxDigits
}

// moments joins dates, timestamps and times of day.
func moments(a, b arrow.DataType) (arrow.DataType, bool) {
	if isTime(a) && isTime(b) {
		return timeType(min(unitOf(a), unitOf(b), nanosIn(arrow.Microsecond))), true
	}
	x, okX := a.(*arrow.TimestampType)
	y, okY := b.(*arrow.TimestampType)
	switch {
	case okX && okY:
		return zones(x, y)
	case okX && isDate(b) && x.TimeZone == "":
		return x, true
	case okY && isDate(a) && y.TimeZone == "":
		return y, true
	case isDate(a) && isDate(b):
		return arrow.FixedWidthTypes.Date32, true
	}
	return nil, false
}

func zones(x, y *arrow.TimestampType) (arrow.DataType, bool) {
	zone := x.TimeZone
	if zone != y.TimeZone {
		zone = "UTC" // what a zone adds to an instant is how it is shown
	}
	unit := x.Unit
	if nanosIn(y.Unit) < nanosIn(unit) {
		unit = y.Unit
	}
	return &arrow.TimestampType{Unit: unit, TimeZone: zone}, (x.TimeZone == "") == (y.TimeZone == "")
}

func isDate(t arrow.DataType) bool { return t.ID() == arrow.DATE32 || t.ID() == arrow.DATE64 }

func isTime(t arrow.DataType) bool { return t.ID() == arrow.TIME32 || t.ID() == arrow.TIME64 }

func nanosIn(u arrow.TimeUnit) int64 { return int64(u.Multiplier()) }

// unitOf is the unit of a time in nanoseconds.
func unitOf(t arrow.DataType) int64 {
	timed, _ := t.(arrow.TemporalWithUnit)
	return nanosIn(timed.TimeUnit())
}

func timeType(nanos int64) arrow.DataType {
	if nanos == 1 {
		return arrow.FixedWidthTypes.Time64ns
	}
	return arrow.FixedWidthTypes.Time64us
}

// texts joins text with text and bytes with bytes, in any encoding.
func texts(a, b arrow.DataType) (arrow.DataType, bool) {
	if x, ok := a.(*arrow.DictionaryType); ok {
		return Common(x.ValueType, b)
	}
	if y, ok := b.(*arrow.DictionaryType); ok {
		return Common(a, y.ValueType)
	}
	x, y := encodings[a.ID()], encodings[b.ID()]
	if x.narrow == nil || y.narrow == nil || x.narrow != y.narrow {
		return nil, false
	}
	if x.large || y.large {
		return x.wide, true
	}
	return x.narrow, true
}

// encoding is how an array has text or bytes, and the arrays it can become.
type encoding struct {
	narrow, wide arrow.DataType
	large        bool
}

var encodings = map[arrow.Type]encoding{
	arrow.STRING:            {arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, false},
	arrow.STRING_VIEW:       {arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, false},
	arrow.LARGE_STRING:      {arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, true},
	arrow.BINARY:            {arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, false},
	arrow.BINARY_VIEW:       {arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, false},
	arrow.FIXED_SIZE_BINARY: {arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, false},
	arrow.LARGE_BINARY:      {arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, true},
}

// nested joins the children of lists, maps and structs.
func nested(a, b arrow.DataType) (arrow.DataType, bool) {
	switch x := a.(type) {
	case *arrow.StructType:
		y, ok := b.(*arrow.StructType)
		if !ok {
			return nil, false
		}
		return structs(x, y)
	case *arrow.MapType:
		y, ok := b.(*arrow.MapType)
		if !ok {
			return nil, false
		}
		key, okKey := Common(x.KeyType(), y.KeyType())
		item, okItem := Common(x.ItemType(), y.ItemType())
		if !okKey || !okItem {
			return nil, false
		}
		return arrow.MapOf(key, item), true
	}
	return lists(a, b)
}

func structs(x, y *arrow.StructType) (arrow.DataType, bool) {
	fields := make([]arrow.Field, 0, x.NumFields())
	for _, f := range x.Fields() {
		if g, ok := y.FieldByName(f.Name); ok {
			t, ok := Common(f.Type, g.Type)
			if !ok {
				return nil, false
			}
			f.Type = t
		}
		fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
	}
	for _, g := range y.Fields() {
		if _, ok := x.FieldByName(g.Name); !ok {
			fields = append(fields, arrow.Field{Name: g.Name, Type: g.Type, Nullable: true})
		}
	}
	return arrow.StructOf(fields...), true
}

func lists(a, b arrow.DataType) (arrow.DataType, bool) {
	x, okX := a.(arrow.ListLikeType)
	y, okY := b.(arrow.ListLikeType)
	if !okX || !okY || b.ID() == arrow.MAP || isView(a) || isView(b) {
		return nil, false
	}
	elem, ok := Common(x.Elem(), y.Elem())
	if !ok {
		return nil, false
	}
	field := arrow.Field{Name: cmp.Or(x.ElemField().Name, "l"), Type: elem, Nullable: true}
	fx, fixedX := a.(*arrow.FixedSizeListType)
	fy, fixedY := b.(*arrow.FixedSizeListType)
	switch {
	case fixedX && fixedY && fx.Len() == fy.Len():
		return arrow.FixedSizeListOfField(fx.Len(), field), true
	case a.ID() == arrow.LARGE_LIST || b.ID() == arrow.LARGE_LIST:
		return arrow.LargeListOfField(field), true
	}
	return arrow.ListOfField(field), true
}

func isView(t arrow.DataType) bool {
	return t.ID() == arrow.LIST_VIEW || t.ID() == arrow.LARGE_LIST_VIEW
}
