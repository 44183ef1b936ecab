package ipc

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	// messageOverhead is the flatbuffer message without fields and buffers.
	messageOverhead = 256
	// nodeOverhead is the field node and up to three buffer entries of one array.
	nodeOverhead = 16 + 3*16
	// alignment is the padding that an encoder may add to a buffer.
	alignment = 64
)

// EncodedSize is an upper bound of the encoded size of batch as one IPC message,
// close to the exact one. Dictionaries are not counted: they travel in messages
// of their own.
func EncodedSize(batch arrow.RecordBatch) int64 {
	return encodedRange(batch, 0, batch.NumRows())
}

// encodedRange is EncodedSize of n rows from start; it never falls as n rises.
func encodedRange(batch arrow.RecordBatch, start, n int64) int64 {
	total := int64(messageOverhead)
	for _, col := range batch.Columns() {
		data := col.Data()
		total += rangeSize(data, int64(data.Offset())+start, n)
	}
	return total
}

// rangeSize is the size of n values from the absolute index start, which counts
// from the beginning of data's buffers.
func rangeSize(data arrow.ArrayData, start, n int64) int64 {
	return nodeOverhead + validitySize(data, n) + valuesSize(data.DataType(), data, start, n)
}

func validitySize(data arrow.ArrayData, n int64) int64 {
	if data.NullN() == 0 {
		return 0
	}
	return bitmapSize(n)
}

func valuesSize(dt arrow.DataType, data arrow.ArrayData, start, n int64) int64 {
	switch dt := dt.(type) {
	case *arrow.NullType:
		return 0
	case *arrow.BooleanType:
		return bitmapSize(n)
	case arrow.ExtensionType:
		return valuesSize(dt.StorageType(), data, start, n)
	case *arrow.DictionaryType:
		return valuesSize(dt.IndexType, data, start, n)
	case arrow.BinaryDataType:
		return binarySize(dt, data, start, n)
	case *arrow.StructType:
		return structSize(data, start, n)
	case *arrow.FixedSizeListType:
		return childSize(data, start*int64(dt.Len()), n*int64(dt.Len()))
	case *arrow.ListType, *arrow.LargeListType, *arrow.MapType:
		width := offsetWidth(dt)
		from, to := offsets(data, width, start, n)
		return padded((n+1)*width) + childSize(data, from, to-from)
	case arrow.FixedWidthDataType:
		return padded(n * int64(dt.BitWidth()) / 8)
	}
	return wholeSize(data)
}

func binarySize(dt arrow.DataType, data arrow.ArrayData, start, n int64) int64 {
	if _, ok := dt.(arrow.OffsetsDataType); !ok {
		return wholeSize(data) // views: the encoder sends every data buffer
	}
	width := offsetWidth(dt)
	from, to := offsets(data, width, start, n)
	return padded((n+1)*width) + padded(to-from)
}

func structSize(data arrow.ArrayData, start, n int64) int64 {
	var total int64
	for _, child := range data.Children() {
		total += rangeSize(child, int64(child.Offset())+start, n)
	}
	return total
}

func childSize(data arrow.ArrayData, start, n int64) int64 {
	child := data.Children()[0]
	return rangeSize(child, int64(child.Offset())+start, n)
}

// wholeSize bounds types that are not cut by range.
func wholeSize(data arrow.ArrayData) int64 {
	var total int64
	for _, b := range data.Buffers() {
		if b != nil {
			total += padded(int64(b.Len()))
		}
	}
	for _, child := range data.Children() {
		total += nodeOverhead + wholeSize(child)
	}
	return total
}

func offsetWidth(dt arrow.DataType) int64 {
	switch dt.ID() {
	case arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST:
		return 8
	}
	return 4
}

// offsets reads the value offsets at start and start+n.
func offsets(data arrow.ArrayData, width, start, n int64) (from, to int64) {
	buf := data.Buffers()[1]
	if buf == nil || int64(buf.Len()) < (start+n+1)*width {
		return 0, 0 // an empty array may have no offsets
	}
	return readOffset(buf.Bytes()[start*width:], width), readOffset(buf.Bytes()[(start+n)*width:], width)
}

func readOffset(b []byte, width int64) int64 {
	if width == 8 {
		return int64(binary.NativeEndian.Uint64(b))
	}
	return int64(int32(binary.NativeEndian.Uint32(b)))
}

func bitmapSize(n int64) int64 { return padded((n + 7) / 8) }

func padded(n int64) int64 { return (n + alignment - 1) &^ (alignment - 1) }
