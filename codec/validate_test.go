package codec

import (
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestRising(t *testing.T) {
	t.Parallel()
	for _, good := range [][]int32{{0}, {0, 0, 3}, {5, 7, math.MaxInt32}} {
		require.NoError(t, rising(good))
	}
	for _, bad := range [][]int32{{0, 3, 2}, {-1, 0}, {5, math.MinInt32, -1, 10}, {0, math.MaxInt32, 0}} {
		require.Equal(t, status.DataLoss, status.CodeOf(rising(bad)), bad)
	}
}

func TestValidateArrayRefusesWhatWouldPanic(t *testing.T) {
	t.Parallel()
	stringsOf := func(offsets ...int32) arrow.Array {
		raw := arrow.Int32Traits.CastToBytes(offsets)
		data := array.NewData(arrow.BinaryTypes.String, len(offsets)-1, []*memory.Buffer{nil, memory.NewBufferBytes(raw), memory.NewBufferBytes([]byte("abcdef"))}, nil, 0, 0)
		return array.NewStringData(data)
	}
	require.NoError(t, validateArray(stringsOf(0, 2, 6)))
	require.Error(t, validateArray(stringsOf(0, 5, 2, 6)))

	index := func(codes ...int8) arrow.Array {
		dict := stringsOf(0, 1, 2)
		typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
		raw := arrow.Int8Traits.CastToBytes(codes)
		data := array.NewDataWithDictionary(typ, len(codes), []*memory.Buffer{nil, memory.NewBufferBytes(raw)}, 0, 0, dict.Data().(*array.Data))
		return array.NewDictionaryData(data)
	}
	require.NoError(t, validateArray(index(0, 1, 1)))
	require.Error(t, validateArray(index(0, 2)))
	require.Error(t, validateArray(index(-1)))
}
