package partition

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// letters begin the canonical bytes of the families.
var letters = map[pushdown.Family]byte{
	pushdown.FamilyBool: 'b', pushdown.FamilyInt: 'n', pushdown.FamilyDecimal: 'n', pushdown.FamilyFloat: 'f',
	pushdown.FamilyString: 's', pushdown.FamilyBinary: 'x', pushdown.FamilyDate: 't', pushdown.FamilyTimestamp: 't',
	pushdown.FamilyTime: 'c',
}

// Hashable reports whether values of a type have canonical bytes.
func Hashable(t arrow.DataType) bool {
	_, ok := pushdown.FamilyOf(t)
	return ok
}

// SameBytes reports whether a value has the same canonical bytes in both types,
// given that both hold it.
func SameBytes(a, b arrow.DataType) bool {
	x, okX := pushdown.FamilyOf(a)
	y, okY := pushdown.FamilyOf(b)
	return okX && okY && letters[x] == letters[y]
}

// Bytes appends the canonical bytes of a value; not ok for NULL and for types
// that have none.
func Bytes(dst []byte, v scalar.Scalar) (out []byte, ok bool) {
	if v == nil || !v.IsValid() || !Hashable(v.DataType()) {
		return dst, false
	}
	one, err := scalar.MakeArrayFromScalar(v, 1, memory.DefaultAllocator)
	if err != nil {
		return dst, false
	}
	defer one.Release()
	return newColumn(one).append(dst, 0)
}

// column encodes the values of an array.
type column struct {
	// row finds a value; not ok for NULL.
	row    func(i int) (at int, ok bool)
	encode func(dst []byte, at int) []byte
}

// newColumn reads an array of a hashable type.
func newColumn(a arrow.Array) column {
	if d, ok := a.(*array.Dictionary); ok {
		return column{encode: encoder(d.Dictionary()), row: func(i int) (int, bool) {
			if d.IsNull(i) {
				return 0, false
			}
			at := d.GetValueIndex(i)
			return at, d.Dictionary().IsValid(at)
		}}
	}
	return column{encode: encoder(a), row: func(i int) (int, bool) { return i, a.IsValid(i) }}
}

// append appends the canonical bytes of a row; not ok for NULL.
func (c column) append(dst []byte, i int) ([]byte, bool) {
	at, ok := c.row(i)
	if !ok {
		return dst, false
	}
	return c.encode(dst, at), true
}

// encoder is never nil for a hashable type.
func encoder(a arrow.Array) func(dst []byte, i int) []byte {
	switch a := a.(type) {
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return appendBool(dst, a.Value(i)) }
	case *array.Float32:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i))) }
	case *array.Float64:
		return func(dst []byte, i int) []byte { return appendFloat(dst, a.Value(i)) }
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return func(dst []byte, i int) []byte { return appendNumber(dst, a.Value(i), scale) }
	case *array.String:
		return func(dst []byte, i int) []byte { return appendText(dst, 's', a.Value(i)) }
	case *array.LargeString:
		return func(dst []byte, i int) []byte { return appendText(dst, 's', a.Value(i)) }
	case *array.Binary:
		return func(dst []byte, i int) []byte { return appendText(dst, 'x', a.Value(i)) }
	case *array.LargeBinary:
		return func(dst []byte, i int) []byte { return appendText(dst, 'x', a.Value(i)) }
	}
	return momentEncoder(a)
}

func momentEncoder(a arrow.Array) func(dst []byte, i int) []byte {
	switch a := a.(type) {
	case *array.Date32:
		return func(dst []byte, i int) []byte { return appendMoment(dst, int64(a.Value(i)), secondsPerDay, 1) }
	case *array.Timestamp:
		per := int64(a.DataType().(*arrow.TimestampType).Unit.Multiplier())
		return func(dst []byte, i int) []byte { return appendMoment(dst, int64(a.Value(i)), 1, nanosPerSecond/per) }
	case *array.Time64:
		nanos := int64(a.DataType().(*arrow.Time64Type).Unit.Multiplier())
		return func(dst []byte, i int) []byte {
			return binary.LittleEndian.AppendUint64(append(dst, 'c'), uint64(int64(a.Value(i))*nanos))
		}
	}
	return integerEncoder(a)
}

const (
	secondsPerDay  = 86400
	nanosPerSecond = 1e9
)

func integerEncoder(a arrow.Array) func(dst []byte, i int) []byte {
	switch a := a.(type) {
	case *array.Int8:
		return integers(a.Value)
	case *array.Int16:
		return integers(a.Value)
	case *array.Int32:
		return integers(a.Value)
	case *array.Int64:
		return integers(a.Value)
	case *array.Uint8:
		return integers(a.Value)
	case *array.Uint16:
		return integers(a.Value)
	case *array.Uint32:
		return integers(a.Value)
	case *array.Uint64:
		return func(dst []byte, i int) []byte { return appendNumber(dst, decimal128.FromU64(a.Value(i)), 0) }
	}
	return nil
}

func integers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](value func(int) T) func(dst []byte, i int) []byte {
	return func(dst []byte, i int) []byte { return appendNumber(dst, decimal128.FromI64(int64(value(i))), 0) }
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 'b', 1)
	}
	return append(dst, 'b', 0)
}

const canonicalNaN = 0x7ff8000000000000

func appendFloat(dst []byte, v float64) []byte {
	bits := math.Float64bits(v)
	switch {
	case math.IsNaN(v):
		bits = canonicalNaN
	case v == 0:
		bits = 0
	}
	return binary.LittleEndian.AppendUint64(append(dst, 'f'), bits)
}

func appendText[T string | []byte](dst []byte, letter byte, v T) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, letter), uint64(len(v)))
	return append(dst, v...)
}

// appendMoment encodes a number of units: of seconds each, or perSecond of them.
func appendMoment(dst []byte, units, seconds, perSecond int64) []byte {
	whole, rest := units/perSecond, units%perSecond
	if rest < 0 {
		whole, rest = whole-1, rest+perSecond
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, 't'), uint64(whole*seconds))
	return binary.LittleEndian.AppendUint32(dst, uint32(rest*(nanosPerSecond/perSecond)))
}

// appendNumber drops the zeros at the end of a fraction.
func appendNumber(dst []byte, n decimal128.Num, scale int32) []byte {
	ten := decimal128.FromI64(10)
	for scale > 0 {
		whole, rest := n.Div(ten)
		if rest.Sign() != 0 {
			break
		}
		n, scale = whole, scale-1
	}
	dst = append(dst, 'n', byte(scale))
	dst = binary.LittleEndian.AppendUint64(dst, n.LowBits())
	return binary.LittleEndian.AppendUint64(dst, uint64(n.HighBits()))
}
