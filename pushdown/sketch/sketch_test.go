package sketch

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func longs(low, high int) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for v := low; v < high; v++ {
		b.Append(int64(v))
		b.AppendNull()
		b.Append(int64(v)) // again
	}
	return b.NewArray()
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 10, 100, 500, 1000, 10_000, 300_000} {
		s := Of([]arrow.Array{longs(0, n/3), longs(n/4, n)})
		require.InEpsilon(t, float64(n)+1, s.Count()+1, 0.2, "%d", n)
		parsed := Parse(s.Bytes())
		require.Equal(t, s, parsed)
		require.LessOrEqual(t, len(s.Bytes()), size)
	}
	require.LessOrEqual(t, len(Of([]arrow.Array{longs(0, 10)}).Bytes()), 20, "few values take few bytes")
}

// TestMerge: the sketch of all rows is that of their parts, however they are
// divided.
func TestMerge(t *testing.T) {
	t.Parallel()
	whole := Of([]arrow.Array{longs(0, 5000)})
	a, b := Of([]arrow.Array{longs(0, 3000)}), Of([]arrow.Array{longs(2000, 5000)})
	a.Merge(b)
	a.Merge(b)
	require.Equal(t, whole, a)
}

// TestWidth: equal values of different types are one.
func TestWidth(t *testing.T) {
	t.Parallel()
	b := array.NewInt16Builder(memory.DefaultAllocator)
	defer b.Release()
	for v := range 1000 {
		b.Append(int16(v))
	}
	require.Equal(t, Of([]arrow.Array{longs(0, 1000)}), Of([]arrow.Array{b.NewArray()}))
	d := array.NewDictionaryBuilder(memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}).(*array.BinaryDictionaryBuilder)
	defer d.Release()
	s := array.NewStringBuilder(memory.DefaultAllocator)
	defer s.Release()
	for v := range 1000 {
		require.NoError(t, d.AppendString(fmt.Sprint(v%40)))
		s.Append(fmt.Sprint(v % 40))
	}
	texts := Of([]arrow.Array{d.NewArray()})
	require.Equal(t, Of([]arrow.Array{s.NewArray()}), texts)
	require.InDelta(t, 40, texts.Count(), 4)
	list := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64)
	defer list.Release()
	require.Nil(t, Of([]arrow.Array{list.NewArray()}), "lists are not counted")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 57})
	f.Add([]byte{1, 58, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		if s := Parse(data); s != nil {
			require.Equal(t, s, Parse(s.Bytes()))
			require.GreaterOrEqual(t, s.Count(), 0.0)
		}
	})
}
