package codec

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/codec/pb"
	"github.com/tributary-db/tributary/pushdown/status"
)

// literalToProto encodes a constant.
func literalToProto(v scalar.Scalar) (*pb.Literal, error) {
	if v == nil {
		return nil, status.New(status.InvalidArgument, "a literal has no value")
	}
	dt, err := typeToProto(v.DataType())
	if err != nil {
		return nil, err
	}
	lit := &pb.Literal{Type: dt}
	if !v.IsValid() {
		return lit, nil
	}
	if !setNumber(lit, v) && !setTemporal(lit, v) && !setBytes(lit, v) {
		return nil, status.New(status.Unimplemented, "a literal of type %s cannot be sent to a scanner", v.DataType())
	}
	return lit, nil
}

func setNumber(lit *pb.Literal, v scalar.Scalar) bool {
	switch v := v.(type) {
	case *scalar.Boolean:
		lit.Value = &pb.Literal_BoolValue{BoolValue: v.Value}
	case *scalar.Int8:
		setInt(lit, int64(v.Value))
	case *scalar.Int16:
		setInt(lit, int64(v.Value))
	case *scalar.Int32:
		setInt(lit, int64(v.Value))
	case *scalar.Int64:
		setInt(lit, v.Value)
	case *scalar.Uint8:
		setUint(lit, uint64(v.Value))
	case *scalar.Uint16:
		setUint(lit, uint64(v.Value))
	case *scalar.Uint32:
		setUint(lit, uint64(v.Value))
	case *scalar.Uint64:
		setUint(lit, v.Value)
	case *scalar.Float16:
		setFloat(lit, float64(v.Value.Float32()))
	case *scalar.Float32:
		setFloat(lit, float64(v.Value))
	case *scalar.Float64:
		setFloat(lit, v.Value)
	default:
		return false
	}
	return true
}

func setTemporal(lit *pb.Literal, v scalar.Scalar) bool {
	switch v := v.(type) {
	case *scalar.Date32:
		setInt(lit, int64(v.Value))
	case *scalar.Date64:
		setInt(lit, int64(v.Value))
	case *scalar.Time32:
		setInt(lit, int64(v.Value))
	case *scalar.Time64:
		setInt(lit, int64(v.Value))
	case *scalar.Timestamp:
		setInt(lit, int64(v.Value))
	case *scalar.Duration:
		setInt(lit, int64(v.Value))
	case *scalar.MonthInterval:
		setInt(lit, int64(v.Value))
	default:
		return false
	}
	return true
}

func setBytes(lit *pb.Literal, v scalar.Scalar) bool {
	var data []byte
	switch v := v.(type) {
	case scalar.BinaryScalar:
		data = append(data, v.Data()...)
	case *scalar.Decimal128:
		data = appendWords(v.Value.LowBits(), uint64(v.Value.HighBits()))
	case *scalar.Decimal256:
		words := v.Value.Array()
		data = appendWords(words[:]...)
	case *scalar.DayTimeInterval:
		data = binary.LittleEndian.AppendUint32(data, uint32(v.Value.Days))
		data = binary.LittleEndian.AppendUint32(data, uint32(v.Value.Milliseconds))
	case *scalar.MonthDayNanoInterval:
		data = binary.LittleEndian.AppendUint32(data, uint32(v.Value.Months))
		data = binary.LittleEndian.AppendUint32(data, uint32(v.Value.Days))
		data = binary.LittleEndian.AppendUint64(data, uint64(v.Value.Nanoseconds))
	default:
		return false
	}
	lit.Value = &pb.Literal_BytesValue{BytesValue: data}
	return true
}

func setInt(lit *pb.Literal, v int64)   { lit.Value = &pb.Literal_IntValue{IntValue: v} }
func setUint(lit *pb.Literal, v uint64) { lit.Value = &pb.Literal_UintValue{UintValue: v} }
func setFloat(lit *pb.Literal, v float64) {
	lit.Value = &pb.Literal_DoubleValue{DoubleValue: v}
}

func appendWords(words ...uint64) []byte {
	var out []byte
	for _, w := range words {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// literalFromProto decodes a constant.
func literalFromProto(lit *pb.Literal) (scalar.Scalar, error) {
	dt, err := typeFromProto(lit.GetType())
	if err != nil {
		return nil, err
	}
	var v scalar.Scalar
	switch value := lit.Value.(type) {
	case nil:
		return nullScalar(dt)
	case *pb.Literal_BoolValue:
		if dt.ID() == arrow.BOOL {
			v = scalar.NewBooleanScalar(value.BoolValue)
		}
	case *pb.Literal_IntValue:
		v = intScalar(dt, value.IntValue)
	case *pb.Literal_UintValue:
		v = uintScalar(dt, value.UintValue)
	case *pb.Literal_DoubleValue:
		v = floatScalar(dt, value.DoubleValue)
	case *pb.Literal_BytesValue:
		v = bytesScalar(dt, value.BytesValue)
	}
	if v == nil {
		return nil, status.New(status.InvalidArgument, "a literal's value does not fit its type %s", dt)
	}
	return v, nil
}

// nullScalar is a NULL of a type that literals may have.
func nullScalar(dt arrow.DataType) (scalar.Scalar, error) {
	switch id := dt.ID(); {
	case arrow.IsNested(id), id == arrow.DICTIONARY, id == arrow.DECIMAL32, id == arrow.DECIMAL64:
		return nil, status.New(status.Unimplemented, "a literal of type %s is not supported", dt)
	}
	return scalar.MakeNullScalar(dt), nil
}

// intScalar is nil when v does not fit dt.
func intScalar(dt arrow.DataType, v int64) scalar.Scalar {
	if bits, ok := dt.(arrow.FixedWidthDataType); !ok || bits.BitWidth() < 64 && v != int64(int32(v)) {
		return nil
	}
	switch dt.ID() {
	case arrow.INT8:
		if v == int64(int8(v)) {
			return scalar.NewInt8Scalar(int8(v))
		}
	case arrow.INT16:
		if v == int64(int16(v)) {
			return scalar.NewInt16Scalar(int16(v))
		}
	case arrow.INT32:
		return scalar.NewInt32Scalar(int32(v))
	case arrow.INT64:
		return scalar.NewInt64Scalar(v)
	}
	return temporalScalar(dt, v)
}

func temporalScalar(dt arrow.DataType, v int64) scalar.Scalar {
	switch dt.ID() {
	case arrow.DATE32:
		return scalar.NewDate32Scalar(arrow.Date32(v))
	case arrow.DATE64:
		return scalar.NewDate64Scalar(arrow.Date64(v))
	case arrow.TIME32:
		return scalar.NewTime32Scalar(arrow.Time32(v), dt)
	case arrow.TIME64:
		return scalar.NewTime64Scalar(arrow.Time64(v), dt)
	case arrow.TIMESTAMP:
		return scalar.NewTimestampScalar(arrow.Timestamp(v), dt)
	case arrow.DURATION:
		return scalar.NewDurationScalar(arrow.Duration(v), dt)
	case arrow.INTERVAL_MONTHS:
		return scalar.NewMonthIntervalScalar(arrow.MonthInterval(v))
	}
	return nil
}

func uintScalar(dt arrow.DataType, v uint64) scalar.Scalar {
	switch {
	case dt.ID() == arrow.UINT8 && v <= math.MaxUint8:
		return scalar.NewUint8Scalar(uint8(v))
	case dt.ID() == arrow.UINT16 && v <= math.MaxUint16:
		return scalar.NewUint16Scalar(uint16(v))
	case dt.ID() == arrow.UINT32 && v <= math.MaxUint32:
		return scalar.NewUint32Scalar(uint32(v))
	case dt.ID() == arrow.UINT64:
		return scalar.NewUint64Scalar(v)
	}
	return nil
}

func floatScalar(dt arrow.DataType, v float64) scalar.Scalar {
	switch dt.ID() {
	case arrow.FLOAT16:
		return scalar.NewFloat16Scalar(float16.New(float32(v)))
	case arrow.FLOAT32:
		return scalar.NewFloat32Scalar(float32(v))
	case arrow.FLOAT64:
		return scalar.NewFloat64Scalar(v)
	}
	return nil
}

func bytesScalar(dt arrow.DataType, b []byte) scalar.Scalar {
	switch dt := dt.(type) {
	case *arrow.StringType:
		return scalar.NewStringScalar(string(b))
	case *arrow.LargeStringType:
		return scalar.NewLargeStringScalar(string(b))
	case *arrow.BinaryType:
		return scalar.NewBinaryScalar(bufferOf(b), dt)
	case *arrow.LargeBinaryType:
		return scalar.NewLargeBinaryScalar(bufferOf(b))
	case *arrow.FixedSizeBinaryType:
		if len(b) == dt.ByteWidth {
			return scalar.NewFixedSizeBinaryScalar(bufferOf(b), dt)
		}
		return nil
	}
	if w, ok := dt.(arrow.FixedWidthDataType); !ok || w.BitWidth() != 8*len(b) {
		return nil
	}
	return wordScalar(dt, b)
}

// wordScalar decodes decimals and intervals; b has the type's width.
func wordScalar(dt arrow.DataType, b []byte) scalar.Scalar {
	le := binary.LittleEndian
	switch dt.ID() {
	case arrow.DECIMAL128:
		return scalar.NewDecimal128Scalar(decimal128.New(int64(le.Uint64(b[8:])), le.Uint64(b)), dt)
	case arrow.DECIMAL256:
		return scalar.NewDecimal256Scalar(decimal256.New(le.Uint64(b[24:]), le.Uint64(b[16:]), le.Uint64(b[8:]), le.Uint64(b)), dt)
	case arrow.INTERVAL_DAY_TIME:
		return scalar.NewDayTimeIntervalScalar(arrow.DayTimeInterval{
			Days: int32(le.Uint32(b)), Milliseconds: int32(le.Uint32(b[4:])),
		})
	case arrow.INTERVAL_MONTH_DAY_NANO:
		return scalar.NewMonthDayNanoIntervalScalar(arrow.MonthDayNanoInterval{
			Months: int32(le.Uint32(b)), Days: int32(le.Uint32(b[4:])), Nanoseconds: int64(le.Uint64(b[8:])),
		})
	}
	return nil
}

// bufferOf copies b: the message that b came from may be reused.
func bufferOf(b []byte) *memory.Buffer { return memory.NewBufferBytes(append([]byte{}, b...)) }
