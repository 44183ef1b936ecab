package pushdown

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Family is a set of types that share kernels and capability names.
type Family string

// The families.
const (
	FamilyBool      Family = "bool"
	FamilyInt       Family = "int"
	FamilyFloat     Family = "float"
	FamilyDecimal   Family = "decimal"
	FamilyString    Family = "string"
	FamilyBinary    Family = "binary"
	FamilyDate      Family = "date"
	FamilyTime      Family = "time"
	FamilyTimestamp Family = "timestamp"
)

// FamilyOf returns the family of t, a dictionary counting as its values. It is
// false for types that kernels only pass through.
func FamilyOf(t arrow.DataType) (Family, bool) {
	if t == nil {
		return "", false
	}
	if d, ok := t.(*arrow.DictionaryType); ok {
		if d == nil || d.IndexType == nil || !arrow.IsInteger(d.IndexType.ID()) || isDictionary(d.ValueType) {
			return "", false
		}
		return FamilyOf(d.ValueType)
	}
	f, ok := plainFamily(t.ID())
	return f, ok && saneParameters(t)
}

func isDictionary(t arrow.DataType) bool {
	_, ok := t.(*arrow.DictionaryType)
	return ok
}

func plainFamily(id arrow.Type) (Family, bool) {
	switch id {
	case arrow.BOOL:
		return FamilyBool, true
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64,
		arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return FamilyInt, true
	case arrow.FLOAT32, arrow.FLOAT64:
		return FamilyFloat, true
	case arrow.DECIMAL128:
		return FamilyDecimal, true
	case arrow.STRING, arrow.LARGE_STRING:
		return FamilyString, true
	case arrow.BINARY, arrow.LARGE_BINARY:
		return FamilyBinary, true
	case arrow.DATE32:
		return FamilyDate, true
	case arrow.TIME64:
		return FamilyTime, true
	case arrow.TIMESTAMP:
		return FamilyTimestamp, true
	}
	return "", false
}

func saneParameters(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return t != nil && t.Precision >= 1 && t.Precision <= 38 && t.Scale >= 0 && t.Scale <= t.Precision
	case *arrow.Time64Type:
		return t != nil && (t.Unit == arrow.Microsecond || t.Unit == arrow.Nanosecond)
	case *arrow.TimestampType:
		return t != nil && t.Unit >= arrow.Second && t.Unit <= arrow.Nanosecond
	}
	return true
}

// Comparable reports whether values of a and b compare with each other without
// a cast: the same type, save that dictionaries count as their values, 32- and
// 64-bit offsets mix, decimals need only the same scale and timestamps only the
// same unit and whether there is a zone.
func Comparable(a, b arrow.DataType) bool {
	fa, okA := FamilyOf(a)
	fb, okB := FamilyOf(b)
	if !okA || !okB || fa != fb {
		return false
	}
	a, b = ValueType(a), ValueType(b)
	switch a := a.(type) {
	case *arrow.Decimal128Type:
		return a.Scale == b.(*arrow.Decimal128Type).Scale
	case *arrow.Time64Type:
		return a.Unit == b.(*arrow.Time64Type).Unit
	case *arrow.TimestampType:
		o := b.(*arrow.TimestampType)
		return a.Unit == o.Unit && (a.TimeZone == "") == (o.TimeZone == "")
	}
	return fa == FamilyString || fa == FamilyBinary || a.ID() == b.ID()
}

// sameValues reports whether values of type from can stand for type to as they
// are: as Comparable, but a decimal must not lose precision.
func sameValues(from, to arrow.DataType) bool {
	if !Comparable(from, to) {
		return false
	}
	if d, ok := ValueType(from).(*arrow.Decimal128Type); ok {
		return d.Precision <= ValueType(to).(*arrow.Decimal128Type).Precision
	}
	return true
}

// typeText names t; for the families it does not depend on the Arrow library.
func typeText(t arrow.DataType) string {
	switch t := t.(type) {
	case nil:
		return "none"
	case *arrow.Decimal128Type:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *arrow.TimestampType:
		if t.TimeZone != "" {
			return fmt.Sprintf("timestamp[%s,%s]", t.Unit, t.TimeZone)
		}
		return fmt.Sprintf("timestamp[%s]", t.Unit)
	case *arrow.Time64Type:
		return fmt.Sprintf("time[%s]", t.Unit)
	case *arrow.DictionaryType:
		return fmt.Sprintf("dictionary<%s,%s>", typeText(t.IndexType), typeText(t.ValueType))
	}
	return t.String()
}
