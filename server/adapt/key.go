package adapt

import (
	"cmp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// key is a value of a join key that equals another one exactly when SQL's = says
// so: numbers as 128 bits in two's complement, strings and blobs as text.
type key struct {
	high int64
	low  uint64
	text string
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low), strings.Compare(a.text, b.text))
}

// joinable reports whether values of a type can be keys. Floats cannot: a NaN or
// a zero has several forms.
func joinable(dt arrow.DataType) bool {
	family, ok := pushdown.FamilyOf(dt)
	return ok && family != pushdown.FamilyFloat && family != pushdown.FamilyBool
}

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}

type unsigned interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64
}

func signedKeys[T signed](v []T) func(int) key {
	return func(i int) key { return key{high: int64(v[i]) >> 63, low: uint64(int64(v[i]))} }
}

func unsignedKeys[T unsigned](v []T) func(int) key {
	return func(i int) key { return key{low: uint64(v[i])} }
}

func textKeys(value func(int) string) func(int) key {
	return func(i int) key { return key{text: value(i)} }
}

// keysOf reads the values of an array that are not NULL; nil for a type without
// keys. Texts are views of the array.
func keysOf(arr arrow.Array) func(int) key {
	switch a := arr.(type) {
	case *array.Int8:
		return signedKeys(a.Int8Values())
	case *array.Int16:
		return signedKeys(a.Int16Values())
	case *array.Int32:
		return signedKeys(a.Int32Values())
	case *array.Int64:
		return signedKeys(a.Int64Values())
	case *array.Uint8:
		return unsignedKeys(a.Uint8Values())
	case *array.Uint16:
		return unsignedKeys(a.Uint16Values())
	case *array.Uint32:
		return unsignedKeys(a.Uint32Values())
	case *array.Uint64:
		return unsignedKeys(a.Uint64Values())
	case *array.Date32:
		return signedKeys(a.Date32Values())
	case *array.Time64:
		return signedKeys(a.Time64Values())
	case *array.Timestamp:
		return signedKeys(a.TimestampValues())
	}
	return wideKeysOf(arr)
}

func wideKeysOf(arr arrow.Array) func(int) key {
	switch a := arr.(type) {
	case *array.Decimal128:
		return func(i int) key { v := a.Value(i); return key{high: v.HighBits(), low: v.LowBits()} }
	case *array.String:
		return textKeys(a.Value)
	case *array.LargeString:
		return textKeys(a.Value)
	case *array.Binary:
		return textKeys(a.ValueString)
	case *array.LargeBinary:
		return textKeys(a.ValueString)
	case *array.Dictionary:
		if inner := keysOf(a.Dictionary()); inner != nil {
			return func(i int) key { return inner(a.GetValueIndex(i)) }
		}
	}
	return nil
}

// isNull reports whether a value is NULL, be it in the dictionary.
func isNull(arr arrow.Array, i int) bool {
	if d, ok := arr.(*array.Dictionary); ok && d.IsValid(i) {
		return d.Dictionary().IsNull(d.GetValueIndex(i))
	}
	return arr.IsNull(i)
}

// literal writes a key of a type as a constant.
func (k key) literal(dt arrow.DataType) pushdown.Literal {
	return pushdown.Literal{Value: k.scalar(pushdown.ValueType(dt))}
}

func (k key) scalar(dt arrow.DataType) scalar.Scalar {
	n := int64(k.low)
	switch dt.ID() {
	case arrow.INT8:
		return scalar.NewInt8Scalar(int8(n))
	case arrow.INT16:
		return scalar.NewInt16Scalar(int16(n))
	case arrow.INT32:
		return scalar.NewInt32Scalar(int32(n))
	case arrow.INT64:
		return scalar.NewInt64Scalar(n)
	case arrow.UINT8:
		return scalar.NewUint8Scalar(uint8(n))
	case arrow.UINT16:
		return scalar.NewUint16Scalar(uint16(n))
	case arrow.UINT32:
		return scalar.NewUint32Scalar(uint32(n))
	case arrow.UINT64:
		return scalar.NewUint64Scalar(k.low)
	case arrow.DATE32:
		return scalar.NewDate32Scalar(arrow.Date32(n))
	case arrow.TIME64:
		return scalar.NewTime64Scalar(arrow.Time64(n), dt)
	case arrow.TIMESTAMP:
		return scalar.NewTimestampScalar(arrow.Timestamp(n), dt)
	case arrow.DECIMAL128:
		return scalar.NewDecimal128Scalar(decimal128.New(k.high, k.low), dt)
	case arrow.BINARY, arrow.LARGE_BINARY:
		return scalar.NewBinaryScalar(memory.NewBufferBytes([]byte(k.text)), arrow.BinaryTypes.Binary)
	}
	return scalar.NewStringScalar(k.text)
}
