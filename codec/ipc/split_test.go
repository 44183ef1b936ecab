package ipc

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown/status"
)

// anySchema has every layout that the wire carries.
func anySchema() *arrow.Schema {
	text := arrow.BinaryTypes.String
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64,
		&arrow.Decimal128Type{Precision: 38}, &arrow.FixedSizeBinaryType{ByteWidth: 3},
		text, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text},
		arrow.ListOf(text), arrow.LargeListOf(arrow.PrimitiveTypes.Int16), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int8),
		arrow.StructOf(arrow.Field{Name: "x", Type: text, Nullable: true}, arrow.Field{Name: "y", Type: arrow.ListOf(text), Nullable: true}),
		arrow.MapOf(text, arrow.PrimitiveTypes.Int64), arrow.Null, arrow.FixedWidthTypes.MonthDayNanoInterval,
	}
	var fields []arrow.Field
	for i, dt := range types {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: dt, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// fill appends a random value to b, now and then a NULL.
func fill(r *rand.Rand, b array.Builder) {
	if r.IntN(5) == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		b.Append(true)
		fillMany(r, b.ValueBuilder(), r.IntN(3))
	case *array.LargeListBuilder:
		b.Append(true)
		fillMany(r, b.ValueBuilder(), r.IntN(3))
	case *array.FixedSizeListBuilder:
		b.Append(true)
		fillMany(r, b.ValueBuilder(), 3)
	case *array.MapBuilder:
		b.Append(true)
		for range r.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append("key")
			fill(r, b.ItemBuilder())
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(r, b.FieldBuilder(i))
		}
	case *array.StringBuilder:
		b.Append(strings.Repeat("v", r.IntN(20)))
	case *array.BinaryBuilder:
		b.Append(make([]byte, r.IntN(20)))
	case *array.BinaryDictionaryBuilder:
		_ = b.AppendString(strings.Repeat("d", r.IntN(3)))
	case *array.Int64Builder:
		b.Append(r.Int64())
	default:
		b.AppendEmptyValue()
	}
}

func fillMany(r *rand.Rand, b array.Builder, n int) {
	for range n {
		fill(r, b)
	}
}

func randomBatch(mem memory.Allocator, seed uint64, rows int) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(seed, 1))
	b := array.NewRecordBuilder(mem, anySchema())
	defer b.Release()
	for _, f := range b.Fields() {
		fillMany(r, f, rows)
	}
	return b.NewRecordBatch()
}

// encoded is the real size of batch as one message.
func encoded(t require.TestingT, batch arrow.RecordBatch) int64 {
	p, err := ipc.GetRecordBatchPayload(batch)
	require.NoError(t, err)
	defer p.Release()
	var out bytes.Buffer
	_, err = p.WritePayload(&out)
	require.NoError(t, err)
	return int64(out.Len())
}

func TestEncodedSizeIsATightBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		batch := randomBatch(memory.DefaultAllocator, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 120).Draw(t, "rows"))
		defer batch.Release()
		from := rapid.Int64Range(0, batch.NumRows()).Draw(t, "from")
		slice := batch.NewSlice(from, rapid.Int64Range(from, batch.NumRows()).Draw(t, "to"))
		defer slice.Release()
		real, bound := encoded(t, slice), EncodedSize(slice)
		require.LessOrEqual(t, real, bound)
		const arrays = 25 // with children
		require.LessOrEqual(t, bound, real+messageOverhead+arrays*(nodeOverhead+3*alignment))
	})
}

func TestPiecesAreTheBatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer alloc.AssertSize(failer{t}, 0)
		batch := randomBatch(alloc, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 120).Draw(t, "rows"))
		defer batch.Release()
		target := rapid.Int64Range(1, 20_000).Draw(t, "target")
		start := int64(0)
		for piece, err := range SplitByBytes(batch, target, 1<<20) {
			require.NoError(t, err)
			require.True(t, piece.NumRows() <= 1 || encoded(t, piece) <= target)
			requireSame(t, batch, piece, start)
			start += piece.NumRows()
			piece.Release()
		}
		require.Equal(t, batch.NumRows(), start)
	})
}

func requireSame(t require.TestingT, batch, piece arrow.RecordBatch, start int64) {
	want := batch.NewSlice(start, start+piece.NumRows())
	defer want.Release()
	a, err := want.MarshalJSON()
	require.NoError(t, err)
	b, err := piece.MarshalJSON()
	require.NoError(t, err)
	require.True(t, bytes.Equal(a, b))
}

// failer lets the checked allocator report to rapid.
type failer struct{ t *rapid.T }

func (f failer) Errorf(format string, args ...any) { f.t.Errorf(format, args...) }
func (failer) Helper()                             {}

func textBatch(t *testing.T, sizes ...int) arrow.RecordBatch {
	t.Helper()
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, n := range sizes {
		b.Append(strings.Repeat("x", n))
	}
	col := b.NewArray()
	defer col.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{col}, int64(len(sizes)))
}

func pieces(t *testing.T, batch arrow.RecordBatch, target, limit int64) (rows []int64, err error) {
	t.Helper()
	for piece, err := range SplitByBytes(batch, target, limit) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, piece.NumRows())
		piece.Release()
	}
	return rows, nil
}

func TestGiantRows(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sizes []int
		rows  []int64
		fails bool
	}{
		"small":             {[]int{1, 1, 1}, []int64{3}, false},
		"empty":             {nil, []int64{0}, false},
		"a giant alone":     {[]int{1, 5000, 1, 1}, []int64{1, 1, 2}, false},
		"only giants":       {[]int{5000, 5000}, []int64{1, 1}, false},
		"beyond the limit":  {[]int{1, 1, 50_000, 1}, []int64{2}, true},
		"the first too big": {[]int{50_000, 1}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			batch := textBatch(t, tc.sizes...)
			defer batch.Release()
			rows, err := pieces(t, batch, 1000, 10_000)
			require.Equal(t, tc.rows, rows)
			if !tc.fails {
				require.NoError(t, err)
				return
			}
			require.Equal(t, status.ResourceExhausted, status.CodeOf(err))
			require.ErrorContains(t, err, "single row of 50")
		})
	}
}

func TestTargetMayGrow(t *testing.T) {
	t.Parallel()
	batch := textBatch(t, slices.Repeat([]int{100}, 300)...)
	defer batch.Release()
	target := int64(1000)
	var rows []int64
	for piece, err := range SplitGrowing(batch, func() int64 { target *= 2; return target }, 1<<20) {
		require.NoError(t, err)
		rows = append(rows, piece.NumRows())
		piece.Release()
	}
	require.True(t, slices.IsSorted(rows[:len(rows)-1]), "%v", rows)
	require.Less(t, len(rows), 6)
}

func TestUnchangedBatchIsNotCopied(t *testing.T) {
	t.Parallel()
	batch := textBatch(t, 1, 2)
	defer batch.Release()
	for piece, err := range SplitByBytes(batch, 1<<20, 1<<20) {
		require.NoError(t, err)
		require.Same(t, batch, piece)
		piece.Release()
	}
}

func TestBreakingOffLeaksNothing(t *testing.T) {
	t.Parallel()
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	batch := randomBatch(alloc, 7, 100)
	defer batch.Release()
	for piece, err := range SplitByBytes(batch, 100, 1<<20) {
		require.NoError(t, err)
		piece.Release()
		break
	}
}

func BenchmarkSplitByBytes(b *testing.B) {
	batch := randomBatch(memory.DefaultAllocator, 1, 100_000)
	defer batch.Release()
	b.SetBytes(EncodedSize(batch))
	for b.Loop() {
		for piece := range SplitByBytes(batch, 1<<20, 1<<26) {
			piece.Release()
		}
	}
}
