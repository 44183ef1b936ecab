package pushdown

import (
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/scalar"
)

// checkLiteral accepts a scalar of a family's plain type whose Go value is
// present and, for decimals, within the precision.
func checkLiteral(l Literal) error {
	if l.Value == nil || reflect.ValueOf(l.Value).IsNil() {
		return unsupported("a literal has no value")
	}
	t := l.Value.DataType()
	if _, ok := FamilyOf(t); !ok || isDictionary(t) {
		return unsupported("no literals of type %s", typeText(t))
	}
	if !l.Value.IsValid() {
		return nil
	}
	if !scalarMatches(l.Value, t) {
		return unsupported("a literal of type %s is malformed", typeText(t))
	}
	if d, ok := l.Value.(*scalar.Decimal128); ok && !decimalInRange(d, t.(*arrow.Decimal128Type)) {
		return unsupported("a literal exceeds its type %s", typeText(t))
	}
	return nil
}

func scalarMatches(s scalar.Scalar, t arrow.DataType) bool {
	switch s := s.(type) {
	case *scalar.Boolean:
		return t.ID() == arrow.BOOL
	case *scalar.Int8:
		return t.ID() == arrow.INT8
	case *scalar.Int16:
		return t.ID() == arrow.INT16
	case *scalar.Int32:
		return t.ID() == arrow.INT32
	case *scalar.Int64:
		return t.ID() == arrow.INT64
	case *scalar.Uint8:
		return t.ID() == arrow.UINT8
	case *scalar.Uint16:
		return t.ID() == arrow.UINT16
	case *scalar.Uint32:
		return t.ID() == arrow.UINT32
	case *scalar.Uint64:
		return t.ID() == arrow.UINT64
	case *scalar.Float32:
		return t.ID() == arrow.FLOAT32
	case *scalar.Float64:
		return t.ID() == arrow.FLOAT64
	case *scalar.Decimal128:
		return t.ID() == arrow.DECIMAL128
	case *scalar.Date32:
		return t.ID() == arrow.DATE32
	case *scalar.Time64:
		return t.ID() == arrow.TIME64
	case *scalar.Timestamp:
		return t.ID() == arrow.TIMESTAMP
	case scalar.BinaryScalar:
		return arrow.IsBaseBinary(t.ID()) && s.Buffer() != nil
	}
	return false
}

// decimalInRange lets decimal(38,0) hold any 128-bit value: that is HUGEINT.
func decimalInRange(d *scalar.Decimal128, t *arrow.Decimal128Type) bool {
	if t.Precision == 38 && t.Scale == 0 {
		return true
	}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)
	return d.Value.BigInt().CmpAbs(limit) < 0
}

// literalText is the value as SQL would write it. With raw, dates and times
// are their integers.
func literalText(s scalar.Scalar, raw bool) string {
	if s == nil || !s.IsValid() {
		return "null"
	}
	if text, ok := IntegerText(s); ok {
		return text
	}
	switch s := s.(type) {
	case *scalar.Float32:
		return strconv.FormatFloat(float64(s.Value), 'g', -1, 32)
	case *scalar.Float64:
		return strconv.FormatFloat(s.Value, 'g', -1, 64)
	case *scalar.Decimal128:
		if t, ok := s.Type.(*arrow.Decimal128Type); ok {
			return decimalText(s.Value.BigInt(), int(t.Scale))
		}
		return s.Value.BigInt().String()
	case *scalar.Date32:
		return dateText(int64(s.Value), raw)
	case *scalar.Time64:
		return timeText(int64(s.Value), s.Type, raw)
	case *scalar.Timestamp:
		return timestampText(int64(s.Value), s.Type, raw)
	case scalar.BinaryScalar:
		return bytesText(s)
	}
	return s.String()
}

// IntegerText is the value of an integer that is not NULL; not ok for another
// scalar. Long IN lists are written often, and Arrow's String takes a hundred
// times as long.
func IntegerText(s scalar.Scalar) (text string, ok bool) {
	var room [20]byte
	out, ok := appendInteger(room[:0], s)
	return string(out), ok
}

func appendInteger(out []byte, s scalar.Scalar) ([]byte, bool) {
	switch s := s.(type) {
	case *scalar.Int8:
		return strconv.AppendInt(out, int64(s.Value), 10), true
	case *scalar.Int16:
		return strconv.AppendInt(out, int64(s.Value), 10), true
	case *scalar.Int32:
		return strconv.AppendInt(out, int64(s.Value), 10), true
	case *scalar.Int64:
		return strconv.AppendInt(out, s.Value, 10), true
	case *scalar.Uint8:
		return strconv.AppendUint(out, uint64(s.Value), 10), true
	case *scalar.Uint16:
		return strconv.AppendUint(out, uint64(s.Value), 10), true
	case *scalar.Uint32:
		return strconv.AppendUint(out, uint64(s.Value), 10), true
	case *scalar.Uint64:
		return strconv.AppendUint(out, s.Value, 10), true
	}
	return out, false
}

func decimalText(v *big.Int, scale int) string {
	digits := new(big.Int).Abs(v).String()
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if v.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

func dateText(days int64, raw bool) string {
	if raw {
		return strconv.FormatInt(days, 10)
	}
	return "'" + time.Unix(days*86400, 0).UTC().Format("2006-01-02") + "'"
}

func timeText(v int64, t arrow.DataType, raw bool) string {
	tt, ok := t.(*arrow.Time64Type)
	if raw || !ok {
		return strconv.FormatInt(v, 10)
	}
	return "'" + time.Unix(0, v*int64(tt.Unit.Multiplier())).UTC().Format("15:04:05.999999999") + "'"
}

func timestampText(v int64, t arrow.DataType, raw bool) string {
	tt, ok := t.(*arrow.TimestampType)
	if raw || !ok {
		return strconv.FormatInt(v, 10)
	}
	return "'" + arrow.Timestamp(v).ToTime(tt.Unit).UTC().Format("2006-01-02 15:04:05.999999999") + "'"
}

func bytesText(s scalar.BinaryScalar) string {
	if s.Buffer() == nil {
		return "null"
	}
	if f, _ := FamilyOf(s.DataType()); f == FamilyBinary {
		return "x" + quote(string(s.Data()), '\'')
	}
	return quote(string(s.Data()), '\'')
}

// quote puts s between marks on one line: the mark is doubled, backslashes and
// what does not print are escaped. Different strings give different texts.
func quote(s string, mark rune) string {
	var b strings.Builder
	b.WriteRune(mark)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == mark:
			b.WriteRune(mark)
			b.WriteRune(mark)
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && n == 1 || !unicode.IsPrint(r):
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(`\x`)
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		default:
			b.WriteRune(r)
		}
		i += n
	}
	b.WriteRune(mark)
	return b.String()
}

const hexDigits = "0123456789abcdef"
