package eval

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// reader reads the values of an array that is not a dictionary.
type reader[T any] interface {
	// dense returns the values of n rows from row off, in place or in scratch.
	dense(data arrow.ArrayData, off, n int, scratch *[]T) ([]T, error)
	// gather sets dst[i] to the value of row base+rows[i].
	gather(data arrow.ArrayData, base int, rows []int32, dst []T) error
}

// view reinterprets a buffer as values of a fixed width.
func view[T any](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

func buffer(data arrow.ArrayData, i int) []byte {
	if i >= len(data.Buffers()) || data.Buffers()[i] == nil {
		return nil
	}
	return data.Buffers()[i].Bytes()
}

func shortBuffer(data arrow.ArrayData) error {
	return status.New(status.DataLoss, "an array of %s has fewer values than rows", data.DataType())
}

// fixedReader reads values that lie in the buffer as they are.
type fixedReader[T any] struct{}

func (fixedReader[T]) values(data arrow.ArrayData) ([]T, error) {
	all := view[T](buffer(data, 1))
	if len(all) < data.Offset()+data.Len() {
		return nil, shortBuffer(data)
	}
	return all[data.Offset() : data.Offset()+data.Len()], nil
}

func (r fixedReader[T]) dense(data arrow.ArrayData, off, n int, _ *[]T) ([]T, error) {
	vals, err := r.values(data)
	if err != nil {
		return nil, err
	}
	return vals[off : off+n], nil
}

func (r fixedReader[T]) gather(data arrow.ArrayData, base int, rows []int32, dst []T) error {
	vals, err := r.values(data)
	if err != nil {
		return err
	}
	vals = vals[base:]
	for i, row := range rows {
		dst[i] = vals[row]
	}
	return nil
}

// textReader reads strings and binaries as views of the buffer. O is the type
// of the offsets.
type textReader[O int32 | int64] struct{}

func (textReader[O]) buffers(data arrow.ArrayData) ([]O, []byte, error) {
	offsets := view[O](buffer(data, 1))
	if data.Len() == 0 {
		return nil, nil, nil
	}
	if len(offsets) <= data.Offset()+data.Len() {
		return nil, nil, shortBuffer(data)
	}
	offsets = offsets[data.Offset() : data.Offset()+data.Len()+1]
	bytes := buffer(data, 2)
	if int(offsets[data.Len()]) > len(bytes) || offsets[0] < 0 {
		return nil, nil, shortBuffer(data)
	}
	return offsets, bytes, nil
}

func (r textReader[O]) dense(data arrow.ArrayData, off, n int, scratch *[]string) ([]string, error) {
	offsets, bytes, err := r.buffers(data)
	if err != nil {
		return nil, err
	}
	vals := resize(*scratch, n)
	*scratch = vals
	if n == 0 {
		return vals, nil
	}
	offsets = offsets[off : off+n+1]
	start := offsets[0]
	for i, end := range offsets[1:] {
		vals[i] = text(bytes[start:end])
		start = end
	}
	return vals, nil
}

func (r textReader[O]) gather(data arrow.ArrayData, base int, rows []int32, dst []string) error {
	offsets, bytes, err := r.buffers(data)
	if err != nil || len(rows) == 0 {
		return err
	}
	offsets = offsets[base:]
	for i, row := range rows {
		dst[i] = text(bytes[offsets[row]:offsets[row+1]])
	}
	return nil
}

func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// readCodes decodes the indices of a dictionary array: rows off to off+n, or
// the rows that sel picks from off on.
func readCodes(data arrow.ArrayData, f *frame, dst []int32) ([]int32, error) {
	dst = resize(dst, f.n)
	switch data.DataType().(*arrow.DictionaryType).IndexType.ID() {
	case arrow.INT8:
		return codes[int8](data, f, dst)
	case arrow.UINT8:
		return codes[uint8](data, f, dst)
	case arrow.INT16:
		return codes[int16](data, f, dst)
	case arrow.UINT16:
		return codes[uint16](data, f, dst)
	case arrow.INT32:
		return codes[int32](data, f, dst)
	case arrow.UINT32:
		return codes[uint32](data, f, dst)
	case arrow.INT64:
		return codes[int64](data, f, dst)
	}
	return codes[uint64](data, f, dst)
}

func codes[T integer](data arrow.ArrayData, f *frame, dst []int32) ([]int32, error) {
	vals, err := fixedReader[T]{}.values(data)
	if err != nil {
		return nil, err
	}
	vals = vals[f.off:]
	if f.sel == nil {
		for i, v := range vals[:f.n] {
			dst[i] = int32(v)
		}
		return dst, nil
	}
	for i, r := range f.sel {
		dst[i] = int32(vals[r])
	}
	return dst, nil
}

// readValidity returns the rows of f that are not NULL in an array, nil for all.
func readValidity(data arrow.ArrayData, f *frame, scratch []uint64) []uint64 {
	bitmap := buffer(data, 0)
	if bitmap == nil || data.NullN() == 0 {
		return nil
	}
	scratch = resize(scratch, wordsFor(f.n))
	if f.sel == nil {
		loadBits(scratch, bitmap, data.Offset()+f.off, f.n)
	} else {
		gatherBits(scratch, bitmap, data.Offset()+f.off, f.sel)
	}
	return scratch
}
