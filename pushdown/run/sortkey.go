package run

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// sortKeys encodes rows so that comparing bytes compares rows: per key a rank
// (NULLs first, values, NULLs last), then the value, complemented when the order
// descends.
type sortKeys struct {
	at   []int
	keys []pushdown.SortKey
	// exact says that equal prefixes mean equal keys.
	exact bool
}

const (
	rankNullsFirst = 0
	rankValue      = 1
	rankNullsLast  = 2
)

func newSortKeys(keys []pushdown.SortKey, input *arrow.Schema) (*sortKeys, error) {
	s := &sortKeys{keys: keys}
	for _, k := range keys {
		at, err := find(input, k.Column)
		if err != nil {
			return nil, err
		}
		if _, ok := pushdown.FamilyOf(k.Column.DataType); !ok {
			return nil, status.New(status.Unimplemented, "rows cannot be ordered by column %q of type %s", k.Column.Name, k.Column.DataType)
		}
		s.at = append(s.at, at)
	}
	width, fixed := keys[0].Column.DataType.(arrow.FixedWidthDataType)
	s.exact = len(keys) == 1 && fixed && width.BitWidth() <= 32 && width.ID() != arrow.DICTIONARY
	return s, nil
}

func (s *sortKeys) check(batch arrow.RecordBatch) error {
	for i, k := range s.keys {
		if err := checkColumn(batch, s.at[i], arrow.Field{Name: k.Column.Name, Type: k.Column.DataType}); err != nil {
			return err
		}
	}
	return nil
}

// keyReader reads one sort key of a batch.
type keyReader struct {
	arr  arrow.Array
	dict *array.Dictionary // arr, when it is one
	flip byte              // 0xFF when descending
	null byte              // rank of NULL
	// nulls says that there may be NULLs.
	nulls bool
	word  func(i int) uint64
	text  func(i int) string
	wide  *array.Decimal128
}

func (s *sortKeys) reader(batch arrow.RecordBatch) []keyReader {
	out := make([]keyReader, len(s.keys))
	for i, k := range s.keys {
		out[i] = newKeyReader(batch.Column(s.at[i]))
		out[i].null = rankNullsLast
		if k.NullsFirst {
			out[i].null = rankNullsFirst
		}
		if k.Descending {
			out[i].flip = 0xFF
		}
	}
	return out
}

const signBit = 1 << 63

func newKeyReader(arr arrow.Array) keyReader {
	r := keyReader{arr: arr, nulls: arr.NullN() > 0}
	switch a := arr.(type) {
	case *array.Dictionary:
		return dictionaryReader(a)
	case *array.String:
		r.text = a.Value
	case *array.LargeString:
		r.text = a.Value
	case *array.Binary:
		r.text = a.ValueString
	case *array.LargeBinary:
		r.text = a.ValueString
	case *array.Decimal128:
		r.wide = a
	case *array.Boolean:
		r.word = func(i int) uint64 {
			if a.Value(i) {
				return 1 << 63
			}
			return 0
		}
	case *array.Float32:
		r.word = func(i int) uint64 { return orderedFloat(float64(a.Value(i))) }
	case *array.Float64:
		r.word = func(i int) uint64 { return orderedFloat(a.Value(i)) }
	default:
		r.word = integerWord(arr)
	}
	return r
}

// integerWord reads integers as words in their order, the value in the top bits.
func integerWord(arr arrow.Array) func(int) uint64 {
	switch a := arr.(type) {
	case *array.Int8:
		return func(i int) uint64 { return uint64(int64(a.Value(i)))<<56 ^ signBit }
	case *array.Int16:
		return func(i int) uint64 { return uint64(int64(a.Value(i)))<<48 ^ signBit }
	case *array.Int32:
		return func(i int) uint64 { return uint64(int64(a.Value(i)))<<32 ^ signBit }
	case *array.Date32:
		return func(i int) uint64 { return uint64(int64(a.Value(i)))<<32 ^ signBit }
	case *array.Int64:
		return func(i int) uint64 { return uint64(a.Value(i)) ^ signBit }
	case *array.Time64:
		return func(i int) uint64 { return uint64(a.Value(i)) ^ signBit }
	case *array.Timestamp:
		return func(i int) uint64 { return uint64(a.Value(i)) ^ signBit }
	case *array.Uint8:
		return func(i int) uint64 { return uint64(a.Value(i)) << 56 }
	case *array.Uint16:
		return func(i int) uint64 { return uint64(a.Value(i)) << 48 }
	case *array.Uint32:
		return func(i int) uint64 { return uint64(a.Value(i)) << 32 }
	}
	a := arr.(*array.Uint64)
	return func(i int) uint64 { return a.Value(i) }
}

// dictionaryReader reads the values behind the codes; a code may stand for NULL.
func dictionaryReader(a *array.Dictionary) keyReader {
	r := newKeyReader(a.Dictionary())
	r.arr, r.dict, r.nulls = a, a, r.nulls || a.NullN() > 0
	if word := r.word; word != nil {
		r.word = func(i int) uint64 { return word(a.GetValueIndex(i)) }
	}
	if text := r.text; text != nil {
		r.text = func(i int) string { return text(a.GetValueIndex(i)) }
	}
	return r
}

func (r *keyReader) isNull(i int) bool {
	if !r.nulls {
		return false
	}
	return r.arr.IsNull(i) || r.dict != nil && r.dict.Dictionary().IsNull(r.dict.GetValueIndex(i))
}

func orderedFloat(f float64) uint64 {
	switch {
	case f != f:
		return math.MaxUint64
	case f == 0:
		return signBit
	}
	b := math.Float64bits(f)
	if b&signBit != 0 {
		return ^b
	}
	return b | signBit
}

// encodeKey appends the key of row i.
func encodeKey(buf []byte, readers []keyReader, i int) []byte {
	for k := range readers {
		r := &readers[k]
		if r.isNull(i) {
			buf = append(buf, r.null)
			continue
		}
		buf = append(buf, rankValue)
		start := len(buf)
		buf = r.encode(buf, i)
		if r.flip != 0 {
			for j := start; j < len(buf); j++ {
				buf[j] = ^buf[j]
			}
		}
	}
	return buf
}

func (r *keyReader) encode(buf []byte, i int) []byte {
	switch {
	case r.word != nil:
		return binary.BigEndian.AppendUint64(buf, r.word(i))
	case r.text != nil:
		return appendText(buf, r.text(i))
	}
	if r.dict != nil {
		i = r.dict.GetValueIndex(i)
	}
	v := r.wide.Value(i)
	buf = binary.BigEndian.AppendUint64(buf, uint64(v.HighBits())^signBit)
	return binary.BigEndian.AppendUint64(buf, v.LowBits())
}

// appendText ends a string with 00 00, below every continuation; a 00 inside is
// followed by FF.
func appendText(buf []byte, s string) []byte {
	for j := range len(s) {
		buf = append(buf, s[j])
		if s[j] == 0 {
			buf = append(buf, 0xFF)
		}
	}
	return append(buf, 0, 0)
}

// prefixes writes for every row the rank and the top 62 bits of the first key.
func (s *sortKeys) prefixes(out []uint64, batch arrow.RecordBatch) []uint64 {
	n := int(batch.NumRows())
	if cap(out) < n {
		out = make([]uint64, n)
	}
	out = out[:n]
	r := s.reader(batch)[0]
	flip := uint64(0)
	if r.flip != 0 {
		flip = math.MaxUint64
	}
	for i := range out {
		if r.isNull(i) {
			out[i] = uint64(r.null) << 62
		} else {
			out[i] = rankValue<<62 | (r.top(i)^flip)>>2
		}
	}
	return out
}

// top is the first 64 bits of the encoded value.
func (r *keyReader) top(i int) uint64 {
	switch {
	case r.word != nil:
		return r.word(i)
	case r.text != nil:
		return topText(r.text(i))
	}
	if r.dict != nil {
		i = r.dict.GetValueIndex(i)
	}
	return uint64(r.wide.Value(i).HighBits()) ^ signBit
}

// topText is the first eight bytes of s, up to a zero byte: what the encoding
// puts there is compared in full.
func topText(s string) uint64 {
	var w uint64
	for j := range 8 {
		w <<= 8
		if j < len(s) {
			w |= uint64(s[j])
		}
	}
	return w
}
