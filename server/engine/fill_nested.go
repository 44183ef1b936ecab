package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// listEntry has the layout of duckdb_list_entry.
type listEntry struct{ offset, length uint64 }

// listFiller writes lists and maps: DuckDB's map is a list of structs too.
type listFiller[O offset] struct {
	validity
	offsets []O
	child   filler
}

func newListFiller[O offset](arr, values arrow.Array, v validity, c *cursor) (filler, error) {
	f := listFiller[O]{validity: v, offsets: offsetsOf[O](arr)}
	err := checkOffsets(f.offsets, values.Len())
	if err == nil {
		f.child, err = newFiller(values, c)
	}
	return f, err
}

func (f listFiller[O]) fill(vec duckdb.Vector, start, n int) error {
	base, total := f.offsets[start], f.offsets[start+n]-f.offsets[start]
	for i, out := 0, dataOf[listEntry](vec, n); i < n; i++ {
		from, to := f.offsets[start+i], f.offsets[start+i+1]
		out[i] = listEntry{uint64(from - base), uint64(to - from)}
	}
	f.copyTo(vec, start, n)
	duckdb.ListVectorReserve(vec, duckdb.IdxT(total))
	duckdb.ListVectorSetSize(vec, duckdb.IdxT(total))
	if total == 0 {
		return nil
	}
	return f.child.fill(duckdb.ListVectorGetChild(vec), int(base), int(total))
}

// arrayFiller writes lists of one size.
type arrayFiller struct {
	validity
	first, size int
	child       filler
}

func newArrayFiller(arr *array.FixedSizeList, v validity, c *cursor) (filler, error) {
	size := int(arr.DataType().(*arrow.FixedSizeListType).Len())
	f := arrayFiller{validity: v, first: arr.Data().Offset() * size, size: size}
	if f.first+arr.Len()*size > arr.ListValues().Len() {
		return nil, status.New(status.DataLoss, "a batch has a list without its values")
	}
	var err error
	f.child, err = newFiller(arr.ListValues(), c)
	return f, err
}

func (f arrayFiller) fill(vec duckdb.Vector, start, n int) error {
	f.copyTo(vec, start, n)
	return f.child.fill(duckdb.ArrayVectorGetChild(vec), f.first+start*f.size, n*f.size)
}

// structFiller writes structs. DuckDB reads a field of a NULL struct from the
// field's own vector, so that a NULL is pushed down to the fields.
type structFiller struct {
	validity
	fields []filler
}

func newStructFiller(arr *array.Struct, v validity, c *cursor) (filler, error) {
	f := structFiller{v, make([]filler, arr.NumField())}
	for i := range f.fields {
		child, err := newFiller(arr.Field(i), c)
		if err != nil {
			return nil, err
		}
		f.fields[i] = child
	}
	return f, nil
}

func (f structFiller) fill(vec duckdb.Vector, start, n int) error {
	for i, child := range f.fields {
		if err := child.fill(duckdb.StructVectorGetChild(vec, duckdb.IdxT(i)), start, n); err != nil {
			return err
		}
	}
	f.copyTo(vec, start, n)
	if f.bits != nil {
		f.nullFields(vec, start, n)
	}
	return nil
}

func (f structFiller) nullFields(vec duckdb.Vector, start, n int) {
	var rows []int
	for i := range n {
		if f.null(start + i) {
			rows = append(rows, i)
		}
	}
	if len(rows) > 0 {
		f.clearFields(vec, rows, n)
	}
}

// clearFields makes the fields of some rows NULL, at every depth of structs.
func (f structFiller) clearFields(vec duckdb.Vector, rows []int, n int) {
	for i, child := range f.fields {
		field := duckdb.StructVectorGetChild(vec, duckdb.IdxT(i))
		mask := maskOf(field, n)
		for _, row := range rows {
			mask[row>>3] &^= 1 << (row & 7)
		}
		if inner, ok := child.(structFiller); ok {
			inner.clearFields(field, rows, n)
		}
	}
}
