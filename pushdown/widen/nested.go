package widen

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func widenNested(a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch to := to.(type) {
	case *arrow.StructType:
		return widenStruct(a.(*array.Struct), to, mem)
	case *arrow.FixedSizeListType:
		first, last := a.Data().Offset()*int(to.Len()), (a.Data().Offset()+a.Len())*int(to.Len())
		return withChild(a, to, int64(first), int64(last), nil, mem)
	default:
		return widenList(a.(array.ListLike), to, mem)
	}
}

func widenStruct(a *array.Struct, to *arrow.StructType, mem memory.Allocator) (arrow.Array, error) {
	from := a.DataType().(*arrow.StructType)
	children := make([]arrow.ArrayData, 0, to.NumFields())
	defer func() {
		for _, c := range children {
			c.Release()
		}
	}()
	for _, f := range to.Fields() {
		at, ok := from.FieldIdx(f.Name)
		var child arrow.Array
		if !ok {
			child = array.MakeArrayOfNull(mem, f.Type, a.Len())
		} else {
			var err error
			if child, err = Array(a.Field(at), f.Type, mem); err != nil {
				return nil, err
			}
		}
		child.Data().Retain()
		children = append(children, child.Data())
		child.Release()
	}
	return assemble(a.Data(), to, mem, nil, children), nil
}

// widenList makes a list of any of the kinds, with offsets that start at zero.
func widenList(a array.ListLike, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	n := a.Len()
	offsets := memory.NewResizableBuffer(mem)
	defer offsets.Release()
	start, end := int64(0), int64(0)
	if n > 0 {
		start, _ = a.ValueOffsets(0)
		_, end = a.ValueOffsets(n - 1)
	}
	if to.ID() == arrow.LARGE_LIST {
		fillOffsets[int64](offsets, a, start)
	} else {
		fillOffsets[int32](offsets, a, start)
	}
	return withChild(a, to, start, end, []*memory.Buffer{offsets}, mem)
}

func fillOffsets[O int32 | int64](buf *memory.Buffer, a array.ListLike, start int64) {
	n := a.Len()
	var width int
	if width = 4; any(O(0)) == any(int64(0)) {
		width = 8
	}
	buf.Resize((n + 1) * width)
	out := arrow.GetData[O](buf.Bytes())
	out[0] = 0
	for i := range n {
		_, end := a.ValueOffsets(i)
		out[i+1] = O(end - start)
	}
}

// withChild widens the values [start, end) of a list's child.
func withChild(a arrow.Array, to arrow.DataType, start, end int64, buffers []*memory.Buffer, mem memory.Allocator) (arrow.Array, error) {
	values := array.NewSlice(a.(array.ListLike).ListValues(), start, end)
	defer values.Release()
	child, err := widenChild(values, to, mem)
	if err != nil {
		return nil, err
	}
	defer child.Release()
	return assemble(a.Data(), to, mem, buffers, []arrow.ArrayData{child.Data()}), nil
}

func widenChild(values arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	if m, ok := to.(*arrow.MapType); ok { // its keys are not nullable, unlike the fields of other structs
		return widenStruct(values.(*array.Struct), m.Elem().(*arrow.StructType), mem)
	}
	return Array(values, to.(arrow.ListLikeType).Elem(), mem)
}
