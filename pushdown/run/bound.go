package run

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// Bound is what a top-N knows once it has as many rows as it wants: a row for
// which Expr is not true is worse than all of them. It compares the first key
// only, and lets ties pass. The zero value knows nothing.
type Bound struct {
	// Expr is nil when nothing is known.
	Expr pushdown.Expr
	key  []byte
}

// Tighter reports that b lets fewer rows pass than o, which bounds the same order.
func (b Bound) Tighter(o Bound) bool {
	return b.Expr != nil && (o.Expr == nil || bytes.Compare(b.key, o.key) < 0)
}

// maxBoundBytes keeps long strings out of bounds.
const maxBoundBytes = 1 << 10

// Bound is the bound of a top-N so far; nothing for other specs.
func (r *Runner) Bound() Bound {
	t, ok := r.rest.(*topN)
	if !ok || t.limit == 0 || len(t.heap) < t.limit {
		return Bound{}
	}
	return t.keys.bound(t.heap[0].key)
}

// bound reads the first key of an encoded one back.
func (s *sortKeys) bound(key []byte) Bound {
	k := s.keys[0]
	isNull := pushdown.IsNull{Arg: k.Column}
	switch key[0] {
	case rankNullsFirst:
		return Bound{Expr: isNull, key: slices.Clone(key[:1])}
	case rankNullsLast:
		return Bound{} // everything may still tie with it
	}
	value, n := decodeKey(k, key[1:])
	if value == nil || n > maxBoundBytes {
		return Bound{}
	}
	op := pushdown.LessEqual
	if k.Descending {
		op = pushdown.GreaterEqual
	}
	var e pushdown.Expr = pushdown.Compare{Op: op, Left: k.Column, Right: pushdown.Literal{Value: value}}
	if k.NullsFirst {
		e = pushdown.Or{Args: []pushdown.Expr{e, isNull}}
	}
	return Bound{Expr: e, key: slices.Clone(key[:1+n])}
}

// decodeKey is the value at the start of an encoded one and the length of its
// encoding, without the rank; nil for what bounds do not carry.
func decodeKey(k pushdown.SortKey, key []byte) (scalar.Scalar, int) {
	dt := pushdown.ValueType(k.Column.DataType)
	plain := func(n int) []byte {
		out := slices.Clone(key[:n])
		if k.Descending {
			for i := range out {
				out[i] = ^out[i]
			}
		}
		return out
	}
	switch {
	case arrow.IsBaseBinary(dt.ID()):
		n := textEnd(key, k.Descending)
		return textScalar(dt, unescape(plain(n))), n
	case dt.ID() == arrow.DECIMAL128:
		b := plain(16)
		high := int64(binary.BigEndian.Uint64(b) ^ signBit)
		return scalar.NewDecimal128Scalar(decimal128.New(high, binary.BigEndian.Uint64(b[8:])), dt), 16
	}
	return wordScalar(dt, binary.BigEndian.Uint64(plain(8))), 8
}

// textEnd is the length of an encoded string with its end mark.
func textEnd(key []byte, flipped bool) int {
	zero := byte(0)
	if flipped {
		zero = 0xFF
	}
	for i := 0; ; i++ {
		if key[i] != zero {
			continue
		}
		if i++; key[i] == zero {
			return i + 1
		}
	}
}

// unescape undoes appendText.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text)-2; i++ {
		out = append(out, text[i])
		if text[i] == 0 {
			i++ // the FF that marks it
		}
	}
	return out
}

func textScalar(dt arrow.DataType, text []byte) scalar.Scalar {
	switch dt.ID() {
	case arrow.STRING:
		return scalar.NewStringScalar(string(text))
	case arrow.LARGE_STRING:
		return scalar.NewLargeStringScalar(string(text))
	}
	value, err := scalar.MakeScalarParam(text, dt)
	if err != nil {
		return nil
	}
	return value
}

// wordScalar undoes integerWord and orderedFloat.
func wordScalar(dt arrow.DataType, w uint64) scalar.Scalar {
	signed := int64(w ^ signBit)
	switch dt.ID() {
	case arrow.BOOL:
		return scalar.NewBooleanScalar(w != 0)
	case arrow.INT8:
		return scalar.NewInt8Scalar(int8(signed >> 56))
	case arrow.INT16:
		return scalar.NewInt16Scalar(int16(signed >> 48))
	case arrow.INT32:
		return scalar.NewInt32Scalar(int32(signed >> 32))
	case arrow.INT64:
		return scalar.NewInt64Scalar(signed)
	case arrow.UINT8:
		return scalar.NewUint8Scalar(uint8(w >> 56))
	case arrow.UINT16:
		return scalar.NewUint16Scalar(uint16(w >> 48))
	case arrow.UINT32:
		return scalar.NewUint32Scalar(uint32(w >> 32))
	case arrow.UINT64:
		return scalar.NewUint64Scalar(w)
	case arrow.DATE32:
		return scalar.NewDate32Scalar(arrow.Date32(signed >> 32))
	case arrow.TIME64:
		return scalar.NewTime64Scalar(arrow.Time64(signed), dt)
	case arrow.TIMESTAMP:
		return scalar.NewTimestampScalar(arrow.Timestamp(signed), dt)
	case arrow.FLOAT32:
		return scalar.NewFloat32Scalar(float32(wordFloat(w)))
	case arrow.FLOAT64:
		return scalar.NewFloat64Scalar(wordFloat(w))
	}
	return nil
}

func wordFloat(w uint64) float64 {
	switch {
	case w == math.MaxUint64:
		return math.NaN()
	case w&signBit != 0:
		return math.Float64frombits(w &^ signBit)
	}
	return math.Float64frombits(^w)
}
