package agg

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// integer is the raw form of a summable integer column.
type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// newSum returns the accumulator of SUM over dt, or nil.
func newSum(dt arrow.DataType) accumulator {
	switch dt.ID() {
	case arrow.INT8:
		return newSumInt[int8]()
	case arrow.INT16:
		return newSumInt[int16]()
	case arrow.INT32:
		return newSumInt[int32]()
	case arrow.INT64:
		return newSumInt[int64]()
	case arrow.UINT8:
		return newSumInt[uint8]()
	case arrow.UINT16:
		return newSumInt[uint16]()
	case arrow.UINT32:
		return newSumInt[uint32]()
	case arrow.UINT64:
		return newSumInt[uint64]()
	case arrow.FLOAT32:
		return &sumFloat[float32]{}
	case arrow.FLOAT64:
		return &sumFloat[float64]{}
	case arrow.DECIMAL128:
		return &sumDecimal{exactSums{dt: pushdown.SumType(dt)}}
	}
	return nil
}

// wide is a 128-bit two's complement integer.
type wide struct {
	lo uint64
	hi int64
}

// plus adds and reports whether the result is exact.
func (w wide) plus(o wide) (wide, bool) {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	hi := w.hi + o.hi + int64(carry)
	// Overflow: both operands have the sign that the result lacks.
	return wide{lo, hi}, (w.hi^hi)&(o.hi^hi) >= 0
}

// exactSums are 128-bit sums. As in DuckDB, only leaving 128 bits is an error: a
// sum may have a 39th digit.
type exactSums struct {
	dt      arrow.DataType
	sums    []wide
	seen    []bool
	scratch present[decimal128.Num]
}

func (s *exactSums) grow(n int)   { s.sums, s.seen = extend(s.sums, n), extend(s.seen, n) }
func (s *exactSums) bytes() int64 { return int64(cap(s.sums))*16 + int64(cap(s.seen)) }
func (s *exactSums) reset()       { s.sums, s.seen = s.sums[:0], s.seen[:0] }

func (s *exactSums) merge(groups []uint32, arr arrow.Array, _ int) error {
	groups, vals := s.scratch.of(groups, fixedValues[decimal128.Num](arr), arr)
	for i, v := range vals {
		g := groupAt(groups, i)
		sum, ok := s.sums[g].plus(wide{v.LowBits(), v.HighBits()})
		if !ok {
			return errSumOverflow()
		}
		s.sums[g], s.seen[g] = sum, true
	}
	return nil
}

func (s *exactSums) array(mem memory.Allocator, from, to int) (arrow.Array, error) {
	out := make([]decimal128.Num, to-from)
	for i, w := range s.sums[from:to] {
		out[i] = decimal128.New(w.hi, w.lo)
	}
	return fixedArray(mem, s.dt, out, s.seen[from:to]), nil
}

func errSumOverflow() error {
	return status.New(status.OutOfRange, "a sum exceeds the range of HUGEINT")
}

// sumDecimal adds decimals; their partial sums look the same.
type sumDecimal struct{ exactSums }

func (s *sumDecimal) add(groups []uint32, arr arrow.Array, n int) error {
	return s.merge(groups, arr, n)
}

// sumInt adds integers.
type sumInt[T integer] struct {
	exactSums
	raw present[T]
}

func newSumInt[T integer]() *sumInt[T] {
	return &sumInt[T]{exactSums: exactSums{dt: pushdown.SumType(arrow.PrimitiveTypes.Int64)}}
}

func (s *sumInt[T]) add(groups []uint32, arr arrow.Array, _ int) error {
	groups, vals := s.raw.of(groups, intValues[T](arr), arr)
	if groups == nil {
		s.addAll(vals)
	} else {
		addInts(s.sums, s.seen, groups, vals)
	}
	return nil
}

// signMask is -1 for signed types: it selects the sign extension.
func signMask[T integer]() int64 {
	minusOne := T(0) - 1
	if minusOne < 0 {
		return -1
	}
	return 0
}

// addInts cannot overflow: 128 bits hold the sum of 2^64 integers.
func addInts[T integer](sums []wide, seen []bool, groups []uint32, vals []T) {
	sign := signMask[T]()
	vals = vals[:len(groups)]
	for i, g := range groups {
		v := vals[i]
		s := &sums[g]
		lo, carry := bits.Add64(s.lo, uint64(v), 0)
		s.lo = lo
		s.hi += int64(v)>>63&sign + int64(carry)
		seen[g] = true
	}
}

// addAll sums in 64 bits and checks for overflow once per chunk: a chunk of
// values below 2^48 in magnitude cannot overflow.
func (s *sumInt[T]) addAll(vals []T) {
	if len(vals) == 0 {
		return
	}
	s.seen[0] = true
	sign := signMask[T]()
	var sum int64
	var spread uint64
	for _, v := range vals {
		x := int64(v)
		sum += x
		spread |= uint64(x ^ x>>63&sign)
	}
	if spread>>48 == 0 && len(vals) < 1<<15 {
		s.sums[0], _ = s.sums[0].plus(wide{uint64(sum), sum >> 63})
		return
	}
	for _, v := range vals {
		s.sums[0], _ = s.sums[0].plus(wide{uint64(v), int64(v) >> 63 & sign})
	}
}

// intValues is fixedValues for the integer types.
func intValues[T integer](arr arrow.Array) []T {
	if arr.Len() == 0 {
		return nil
	}
	return arrow.GetData[T](arr.Data().Buffers()[1].Bytes())[arr.Data().Offset():][:arr.Len()]
}
