package widen

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/eval"
	"github.com/tributary-db/tributary/pushdown/status"
)

// decoded takes the entries that the rows of a dictionary array name; entries
// that no row names do not matter.
func decoded(a *array.Dictionary, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	if a.Dictionary().Len() == 0 {
		return array.MakeArrayOfNull(mem, to, a.Len()), nil
	}
	rows := make([]int32, a.Len())
	for i := range rows {
		if a.IsValid(i) {
			rows[i] = int32(a.GetValueIndex(i))
		}
	}
	taken, err := eval.TakeArray(a.Dictionary(), rows, mem)
	if err != nil {
		return nil, err
	}
	defer taken.Release()
	dense := masked(taken, a, mem)
	defer dense.Release()
	return Array(dense, to, mem)
}

// masked is values, whose first row is that of its buffers, with NULL where
// valid has it too.
func masked(values, valid arrow.Array, mem memory.Allocator) arrow.Array {
	if valid.NullN() == 0 {
		values.Retain()
		return values
	}
	bits := memory.NewResizableBuffer(mem)
	defer bits.Release()
	bits.Resize(int(bitutil.BytesForBits(int64(values.Len()))))
	clear(bits.Bytes())
	for i := range values.Len() {
		bitutil.SetBitTo(bits.Bytes(), i, values.IsValid(i) && valid.IsValid(i))
	}
	d := values.Data()
	buffers := append([]*memory.Buffer{bits}, d.Buffers()[1:]...)
	out := array.NewData(d.DataType(), d.Len(), buffers, d.Children(), array.UnknownNullCount, 0)
	defer out.Release()
	return array.MakeFromData(out)
}

// toText makes text of another width, toBytes bytes of another encoding.
func toText(a array.StringLike, to arrow.DataType, mem memory.Allocator) arrow.Array {
	b := array.NewBuilder(mem, to).(array.StringLikeBuilder)
	return built(b, a, func(i int) { b.Append(a.Value(i)) })
}

// bytesLike are the arrays of bytes.
type bytesLike interface {
	arrow.Array
	Value(int) []byte
}

func toBytes(a bytesLike, to arrow.DataType, mem memory.Allocator) arrow.Array {
	b := array.NewBuilder(mem, to).(array.BinaryLikeBuilder)
	return built(b, a, func(i int) { b.Append(a.Value(i)) })
}

// built appends the rows of a that are not NULL.
func built(b array.Builder, a arrow.Array, each func(int)) arrow.Array {
	defer b.Release()
	b.Reserve(a.Len())
	for i := range a.Len() {
		if a.IsNull(i) {
			b.AppendNull()
		} else {
			each(i)
		}
	}
	return b.NewArray()
}

type integers interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// toInteger makes integers of another width.
func toInteger(a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch to.ID() {
	case arrow.INT8:
		return integersOf[int8](a, to, mem)
	case arrow.INT16:
		return integersOf[int16](a, to, mem)
	case arrow.INT32:
		return integersOf[int32](a, to, mem)
	case arrow.INT64:
		return integersOf[int64](a, to, mem)
	case arrow.UINT8:
		return integersOf[uint8](a, to, mem)
	case arrow.UINT16:
		return integersOf[uint16](a, to, mem)
	case arrow.UINT32:
		return integersOf[uint32](a, to, mem)
	case arrow.UINT64:
		return integersOf[uint64](a, to, mem)
	}
	return nil, uncast(a, to)
}

func integersOf[D integers](a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch a.DataType().ID() {
	case arrow.INT8:
		return convert(a, to, mem, fitting[int8, D])
	case arrow.INT16:
		return convert(a, to, mem, fitting[int16, D])
	case arrow.INT32:
		return convert(a, to, mem, fitting[int32, D])
	case arrow.INT64:
		return convert(a, to, mem, fitting[int64, D])
	case arrow.UINT8:
		return convert(a, to, mem, fitting[uint8, D])
	case arrow.UINT16:
		return convert(a, to, mem, fitting[uint16, D])
	case arrow.UINT32:
		return convert(a, to, mem, fitting[uint32, D])
	case arrow.UINT64:
		return convert(a, to, mem, fitting[uint64, D])
	}
	return nil, uncast(a, to)
}

// fitting is not ok when D has no such number.
func fitting[S, D integers](x S) (D, bool) {
	y := D(x)
	return y, S(y) == x && (x < 0) == (y < 0)
}

// uncast is for a type that Holds allows and nothing here makes.
func uncast(a arrow.Array, to arrow.DataType) error {
	return status.New(status.Internal, "values of type %s are not read as %s", a.DataType(), to)
}

const millisPerDay = 86_400_000

func toDays(a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	return convert(a, to, mem, func(x arrow.Date64) (arrow.Date32, bool) {
		return arrow.Date32(x / millisPerDay), x%millisPerDay == 0
	})
}
