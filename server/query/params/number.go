package params

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// String writes a decimal out.
func (d decimal) String() string {
	if d.scale <= 0 {
		return scaled(d.unscaled, -d.scale).String()
	}
	digits := new(big.Int).Abs(d.unscaled).String()
	if pad := d.scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	sign := ""
	if d.unscaled.Sign() < 0 {
		sign = "-"
	}
	cut := len(digits) - d.scale
	return sign + digits[:cut] + "." + digits[cut:]
}

// scaled is v times a power of ten.
func scaled(v *big.Int, zeros int) *big.Int {
	return new(big.Int).Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), nil))
}

// rescale is d with another scale; false when digits would be lost.
func (d decimal) rescale(scale int) (decimal, bool) {
	if scale >= d.scale {
		return decimal{scaled(d.unscaled, scale-d.scale), scale}, true
	}
	quotient, rest := new(big.Int).QuoRem(d.unscaled, scaled(big.NewInt(1), d.scale-scale), new(big.Int))
	return decimal{quotient, scale}, rest.Sign() == 0
}

// maxExponent bounds the exponents that are read: those of doubles.
const maxExponent = 400

// parseDecimal reads a number such as -12.5e3.
func parseDecimal(s string) (decimal, bool) {
	mantissa, exponent := strings.TrimSpace(s), 0
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		e, err := strconv.Atoi(mantissa[at+1:])
		if err != nil || e < -maxExponent || e > maxExponent {
			return decimal{}, false
		}
		mantissa, exponent = mantissa[:at], e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if len(digits) > maxExponent || strings.Contains(digits, "_") {
		return decimal{}, false
	}
	v, ok := new(big.Int).SetString(digits, 10)
	if !ok || strings.ContainsAny(fraction, "+-") {
		return decimal{}, false
	}
	d := decimal{v, len(fraction) - exponent}
	if d.scale < 0 {
		return d.rescale(0)
	}
	return d, true
}

// asDecimal is the exact value of a whole float, and otherwise the shortest
// decimal that reads back as it.
func asDecimal(v any) (decimal, bool) {
	switch v := v.(type) {
	case decimal:
		return v, true
	case string:
		return parseDecimal(v)
	case single:
		return floatDecimal(float64(v), 32)
	case float64:
		return floatDecimal(v, 64)
	}
	return decimal{}, false
}

func floatDecimal(f float64, bits int) (decimal, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return decimal{}, false
	}
	if f == math.Trunc(f) {
		v, _ := big.NewFloat(f).Int(nil)
		return decimal{unscaled: v}, true
	}
	return parseDecimal(strconv.FormatFloat(f, 'e', -1, bits))
}

// numberText is v as an integer or decimal of type t.
func numberText(v any, t arrow.DataType) (string, bool) {
	if b, ok := v.(bool); ok && t.ID() != arrow.DECIMAL128 {
		v = integer(0)
		if b {
			v = integer(1)
		}
	}
	d, ok := asDecimal(v)
	if !ok {
		return "", false
	}
	if t, ok := t.(*arrow.Decimal128Type); ok {
		d, exact := d.rescale(int(t.Scale))
		limit := scaled(big.NewInt(1), int(t.Precision))
		return d.String(), exact && d.unscaled.CmpAbs(limit) < 0
	}
	d, exact := d.rescale(0)
	return d.String(), exact && fits(d.unscaled, t)
}

func fits(v *big.Int, t arrow.DataType) bool {
	w, ok := t.(arrow.FixedWidthDataType)
	switch {
	case !ok || !arrow.IsInteger(t.ID()):
		return false
	case arrow.IsUnsignedInteger(t.ID()):
		return v.Sign() >= 0 && v.BitLen() <= w.BitWidth()
	case v.Sign() < 0:
		v = new(big.Int).Not(v)
	}
	return v.BitLen() < w.BitWidth()
}

func boolText(v any) (string, bool) {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v), true
	case string:
		s := strings.ToLower(strings.TrimSpace(v))
		return s, s == "true" || s == "false"
	case decimal:
		n, exact := v.rescale(0)
		if !exact || !n.unscaled.IsInt64() || n.unscaled.Int64()|1 != 1 {
			return "", false
		}
		return strconv.FormatBool(n.unscaled.Sign() > 0), true
	}
	return "", false
}

// floatText is v as a float. A number is kept when it is the shortest decimal
// of the float, or its exact value: 0.1 is kept, 2^53+1 is not.
func floatText(v any, is32 bool) (string, bool) {
	bits := 64
	if is32 {
		bits = 32
	}
	var d decimal
	switch v := v.(type) {
	case single:
		if !is32 {
			return formatFloat(float64(v), 64), true
		}
		return formatFloat(float64(v), 32), true
	case float64:
		if !is32 || math.IsNaN(v) || math.IsInf(v, 0) || float64(float32(v)) == v {
			return formatFloat(v, bits), true
		}
		d, _ = floatDecimal(v, 64)
	case decimal:
		d = v
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), bits)
		return formatFloat(f, bits), err == nil && !strings.ContainsAny(v, "xX_")
	default:
		return "", false
	}
	f, err := strconv.ParseFloat(d.String(), bits)
	if err != nil {
		return "", false
	}
	return formatFloat(f, bits), d.equalsFloat(f, bits)
}

func (d decimal) equalsFloat(f float64, bits int) bool {
	for _, text := range []string{strconv.FormatFloat(f, 'e', -1, bits), big.NewFloat(f).Text('e', 60)} {
		if back, ok := parseDecimal(text); ok && back.cmp(d) == 0 {
			return true
		}
	}
	return false
}

func (d decimal) cmp(e decimal) int {
	scale := max(d.scale, e.scale)
	x, _ := d.rescale(scale)
	y, _ := e.rescale(scale)
	return x.unscaled.Cmp(y.unscaled)
}

func formatFloat(f float64, bits int) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'e', -1, bits)
}
