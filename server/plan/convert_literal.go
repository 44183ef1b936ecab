package plan

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// literal converts a constant to the Arrow type of its SQL type.
func literal(e *Const) (pushdown.Literal, error) {
	none := pushdown.Literal{}
	dt := arrowType(e.ConstType)
	switch {
	case e.Opaque && e.ConstType == "BLOB":
		return blobLiteral(e.SQL)
	case e.Opaque && e.ConstType == uuidType:
		return uuidLiteral(e.SQL)
	case e.Opaque:
		return none, notPushed("a constant of type %s is not pushed", e.ConstType)
	case e.Value == nil && dt == nil && isUntypedNull(e.ConstType):
		return pushdown.Literal{Value: scalar.ScalarNull}, nil
	case dt == nil:
		return none, notPushed("a constant of type %s is not pushed", e.ConstType)
	case e.Value == nil:
		return nullLiteral(dt), nil
	}
	return valueLiteral(e.Value, dt)
}

func isUntypedNull(t Type) bool { return t == "NULL" || t == `"NULL"` || t == "SQLNULL" }

func valueLiteral(value any, dt arrow.DataType) (pushdown.Literal, error) {
	switch v := value.(type) {
	case bool:
		if dt.ID() == arrow.BOOL {
			return pushdown.Literal{Value: scalar.NewBooleanScalar(v)}, nil
		}
	case int64:
		return numberLiteral(big.NewInt(v), dt)
	case *big.Int:
		return numberLiteral(v, dt)
	case float64:
		return floatLiteral(v, dt)
	case string:
		return stringLiteral(v, dt)
	}
	return pushdown.Literal{}, notPushed("a constant of type %s is not pushed", dt)
}

func floatLiteral(v float64, dt arrow.DataType) (pushdown.Literal, error) {
	switch dt.ID() {
	case arrow.FLOAT32:
		return pushdown.Literal{Value: scalar.NewFloat32Scalar(float32(v))}, nil
	case arrow.FLOAT64:
		return pushdown.Literal{Value: scalar.NewFloat64Scalar(v)}, nil
	}
	return pushdown.Literal{}, notPushed("a constant of type %s is not pushed", dt)
}

func stringLiteral(v string, dt arrow.DataType) (pushdown.Literal, error) {
	if dt.ID() == arrow.STRING {
		return pushdown.Literal{Value: scalar.NewStringScalar(v)}, nil
	}
	return pushdown.Literal{}, notPushed("a constant of type %s is not pushed", dt)
}

// uuidLiteral reads the SQL text of a UUID.
func uuidLiteral(sql string) (pushdown.Literal, error) {
	text := strings.TrimPrefix(strings.TrimSuffix(sql, "'::UUID"), "'")
	if !pushdown.CanonicalUUID(text) {
		return pushdown.Literal{}, notPushed("the constant %s is not pushed", sql)
	}
	return pushdown.Literal{Value: scalar.NewStringScalar(text)}, nil
}

// blobLiteral reads the SQL text of a BLOB, in which \xNN stands for a byte.
func blobLiteral(sql string) (pushdown.Literal, error) {
	text, ok1 := strings.CutPrefix(sql, "'")
	text, ok2 := strings.CutSuffix(text, "'::BLOB")
	if !ok1 || !ok2 {
		return pushdown.Literal{}, notPushed("the constant %s is not pushed", sql)
	}
	text = strings.ReplaceAll(text, "''", "'")
	bytes := []byte{}
	for text != "" {
		if text[0] != '\\' {
			bytes, text = append(bytes, text[0]), text[1:]
			continue
		}
		if len(text) < 4 || text[1] != 'x' {
			return pushdown.Literal{}, notPushed("the constant %s is not pushed", sql)
		}
		b, err := strconv.ParseUint(text[2:4], 16, 8)
		if err != nil {
			return pushdown.Literal{}, notPushed("the constant %s is not pushed", sql)
		}
		bytes, text = append(bytes, byte(b)), text[4:]
	}
	return pushdown.Literal{Value: scalar.NewBinaryScalar(memory.NewBufferBytes(bytes), arrow.BinaryTypes.Binary)}, nil
}

// numberLiteral serves everything that is an integer inside: integers, unscaled
// decimals, days and instants.
func numberLiteral(v *big.Int, dt arrow.DataType) (pushdown.Literal, error) {
	if d, ok := dt.(*arrow.Decimal128Type); ok {
		return decimalLiteral(v, d)
	}
	if dt.ID() == arrow.UINT64 && v.IsUint64() {
		return pushdown.Literal{Value: scalar.NewUint64Scalar(v.Uint64())}, nil
	}
	if s := integerScalar(v, dt); s != nil {
		return pushdown.Literal{Value: s}, nil
	}
	return pushdown.Literal{}, notPushed("constant %s does not fit type %s", v, dt)
}

func decimalLiteral(v *big.Int, dt *arrow.Decimal128Type) (pushdown.Literal, error) {
	if v.BitLen() > 127 {
		return pushdown.Literal{}, notPushed("constant %s does not fit type %s", v, dt)
	}
	n := decimal128.FromBigInt(v)
	if !n.FitsInPrecision(dt.Precision) {
		return pushdown.Literal{}, notPushed("constant %s does not fit type %s", v, dt)
	}
	return pushdown.Literal{Value: scalar.NewDecimal128Scalar(n, dt)}, nil
}

// integerScalar is nil when v does not fit dt, or dt is no integer inside.
func integerScalar(v *big.Int, dt arrow.DataType) scalar.Scalar {
	f, ok := dt.(arrow.FixedWidthDataType)
	if !ok || !v.IsInt64() || !fits(v, f) {
		return nil
	}
	n := v.Int64()
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
	case arrow.FLOAT32:
		return scalar.NewFloat32Scalar(float32(n))
	case arrow.FLOAT64:
		return scalar.NewFloat64Scalar(float64(n))
	case arrow.DATE32:
		return scalar.NewDate32Scalar(arrow.Date32(n))
	case arrow.TIME64:
		return scalar.NewTime64Scalar(arrow.Time64(n), dt)
	case arrow.TIMESTAMP:
		return scalar.NewTimestampScalar(arrow.Timestamp(n), dt)
	}
	return nil
}

func fits(v *big.Int, dt arrow.FixedWidthDataType) bool {
	if arrow.IsUnsignedInteger(dt.ID()) {
		return v.Sign() >= 0 && v.BitLen() <= dt.BitWidth()
	}
	if v.Sign() < 0 {
		v = new(big.Int).Not(v) // two's complement has one more negative value
	}
	return arrow.IsFloating(dt.ID()) || v.BitLen() < dt.BitWidth()
}

func nullLiteral(t arrow.DataType) pushdown.Literal {
	return pushdown.Literal{Value: scalar.MakeNullScalar(pushdown.ValueType(t))}
}
