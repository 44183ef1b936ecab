package engine

import (
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// stringT has the layout of duckdb_string_t: up to 12 bytes inline after the
// length; longer strings as a prefix of 4 bytes and a pointer. The pointer is an
// integer here because vectors are C memory, where Go must not use write barriers.
type stringT struct {
	length uint32
	prefix [4]byte
	tail   uint64
}

const inlineBytes = 12

// set makes the string refer to (or, when short, hold) the bytes of s.
func (t *stringT) set(s []byte) {
	t.length = uint32(len(s))
	if len(s) <= inlineBytes {
		inline := (*[inlineBytes]byte)(unsafe.Pointer(&t.prefix))
		*inline = [inlineBytes]byte{}
		copy(inline[:], s)
		return
	}
	t.prefix = [4]byte(s)
	t.tail = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s))))
}

// bytes are the bytes of a string in a DuckDB vector; they live as long as it.
func (t *stringT) bytes() []byte {
	if t.length <= inlineBytes {
		return (*[inlineBytes]byte)(unsafe.Pointer(&t.prefix))[:t.length]
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&t.tail)), t.length)
}

// stringsOf is the data of a VARCHAR or BLOB vector.
func stringsOf(vec duckdb.Vector, n int) []stringT { return dataOf[stringT](vec, n) }

// dataOf is the data of a flat vector.
func dataOf[T any](vec duckdb.Vector, n int) []T {
	return unsafe.Slice((*T)(duckdb.VectorGetData(vec)), n)
}

// valuesOf is a buffer as values of a fixed width.
func valuesOf[T any](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}
