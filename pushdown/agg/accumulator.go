package agg

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// accumulator is one aggregate of all groups.
//
// In add and merge, groups holds the group of each of the n rows; nil means that
// all rows are of group 0. Every group is below the number given to grow.
type accumulator interface {
	grow(groups int)
	// add folds raw values in; arr is nil for COUNT(*).
	add(groups []uint32, arr arrow.Array, n int) error
	// merge folds partial results in.
	merge(groups []uint32, arr arrow.Array, n int) error
	// array yields the results of the groups from (inclusive) to (exclusive).
	array(mem memory.Allocator, from, to int) (arrow.Array, error)
	bytes() int64
	reset()
}

// newAccumulator returns the accumulator of a.
func newAccumulator(a pushdown.Aggregate) (accumulator, error) {
	if a.Func == pushdown.CountStar || a.Func == pushdown.Count {
		return &countAcc{}, nil
	}
	if a.Arg == nil {
		return nil, status.New(status.InvalidArgument, "aggregate %q has no argument", a.Name)
	}
	dt := pushdown.ValueType(a.Arg.Type())
	var acc accumulator
	switch a.Func {
	case pushdown.Sum:
		acc = newSum(dt)
	case pushdown.Min, pushdown.Max:
		acc = newExtreme(dt, a.Func == pushdown.Max)
	}
	if acc == nil {
		return nil, status.New(status.Unimplemented, "aggregate %q: function %d cannot be computed over type %s", a.Name, a.Func, dt)
	}
	return acc, nil
}

// countAcc counts rows, or values that are not NULL.
type countAcc struct {
	counts []int64
	valid  []uint32 // scratch
}

func (c *countAcc) grow(n int)   { c.counts = extend(c.counts, n) }
func (c *countAcc) bytes() int64 { return int64(cap(c.counts)) * 8 }
func (c *countAcc) reset()       { c.counts = c.counts[:0] }

func (c *countAcc) add(groups []uint32, arr arrow.Array, n int) error {
	if groups == nil {
		c.counts[0] += int64(n - nullCount(arr))
		return nil
	}
	if arr != nil && nullCount(arr) > 0 {
		groups = c.dropNulls(groups, arr)
	}
	counts := c.counts
	for _, g := range groups {
		counts[g]++
	}
	return nil
}

func (c *countAcc) dropNulls(groups []uint32, arr arrow.Array) []uint32 {
	if _, ok := arr.(*array.Dictionary); !ok {
		c.valid = compact(c.valid, groups, validityOf(arr))
		return c.valid
	}
	c.valid = c.valid[:0]
	for i, g := range groups {
		if !nullAt(arr, i) {
			c.valid = append(c.valid, g)
		}
	}
	return c.valid
}

// nullCount counts the NULLs of arr, those in a dictionary too; nil has none.
func nullCount(arr arrow.Array) int {
	if arr == nil {
		return 0
	}
	d, ok := arr.(*array.Dictionary)
	if !ok || d.Len() == 0 || d.Dictionary().NullN() == 0 {
		return arr.NullN()
	}
	nulls := 0
	for i := range d.Len() {
		if nullAt(d, i) {
			nulls++
		}
	}
	return nulls
}

func nullAt(arr arrow.Array, i int) bool {
	if arr.IsNull(i) {
		return true
	}
	d, ok := arr.(*array.Dictionary)
	return ok && d.Dictionary().IsNull(d.GetValueIndex(i))
}

func (c *countAcc) merge(groups []uint32, arr arrow.Array, n int) error {
	vals, v := fixedValues[int64](arr), validityOf(arr)
	for i := range n {
		if !v.at(i) {
			continue
		}
		g := groupAt(groups, i)
		sum := c.counts[g] + vals[i]
		if vals[i] < 0 || sum < 0 {
			return status.New(status.OutOfRange, "a count exceeds the range of BIGINT")
		}
		c.counts[g] = sum
	}
	return nil
}

func groupAt(groups []uint32, i int) uint32 {
	if groups == nil {
		return 0
	}
	return groups[i]
}

func (c *countAcc) array(mem memory.Allocator, from, to int) (arrow.Array, error) {
	return fixedArray(mem, arrow.PrimitiveTypes.Int64, c.counts[from:to], nil), nil
}

// extend grows s to n elements, the new ones zero.
func extend[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		fresh := s[len(s):n]
		clear(fresh)
		return s[:n]
	}
	grown := make([]T, n, max(n, 2*cap(s)))
	copy(grown, s)
	return grown
}

// present drops the rows of arr that are NULL from groups and vals. The scratch
// is the caller's.
type present[T any] struct {
	groups []uint32
	vals   []T
}

func (p *present[T]) of(groups []uint32, vals []T, arr arrow.Array) ([]uint32, []T) {
	v := validityOf(arr)
	if v.all() {
		return groups, vals
	}
	p.vals = compact(p.vals, vals, v)
	if groups == nil {
		return nil, p.vals
	}
	p.groups = compact(p.groups, groups, v)
	return p.groups, p.vals
}

// sumFloat adds floats in double precision.
type sumFloat[T float32 | float64] struct {
	sums    []float64
	seen    []bool
	scratch present[T]
	partial present[float64]
}

func (s *sumFloat[T]) grow(n int)   { s.sums, s.seen = extend(s.sums, n), extend(s.seen, n) }
func (s *sumFloat[T]) bytes() int64 { return int64(cap(s.sums))*8 + int64(cap(s.seen)) }
func (s *sumFloat[T]) reset()       { s.sums, s.seen = s.sums[:0], s.seen[:0] }

func (s *sumFloat[T]) add(groups []uint32, arr arrow.Array, _ int) error {
	groups, vals := s.scratch.of(groups, fixedValues[T](arr), arr)
	addFloats(s.sums, s.seen, groups, vals)
	return nil
}

func (s *sumFloat[T]) merge(groups []uint32, arr arrow.Array, _ int) error {
	groups, vals := s.partial.of(groups, fixedValues[float64](arr), arr)
	addFloats(s.sums, s.seen, groups, vals)
	return nil
}

func addFloats[T float32 | float64](sums []float64, seen []bool, groups []uint32, vals []T) {
	if groups != nil {
		for i, g := range groups {
			sums[g] += float64(vals[i])
			seen[g] = true
		}
		return
	}
	sum := 0.0
	for _, v := range vals {
		sum += float64(v)
	}
	sums[0] += sum
	seen[0] = seen[0] || len(vals) > 0
}

func (s *sumFloat[T]) array(mem memory.Allocator, from, to int) (arrow.Array, error) {
	for i, f := range s.sums[from:to] {
		s.sums[from+i] = math.Float64frombits(canonical64(f))
	}
	return fixedArray(mem, arrow.PrimitiveTypes.Float64, s.sums[from:to], s.seen[from:to]), nil
}
