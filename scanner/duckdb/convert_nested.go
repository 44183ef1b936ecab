package duckdb

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

func newNestedAppender(base validity, to arrow.DataType, from bind.LogicalType) (appender, error) {
	id := bind.GetTypeId(from)
	switch t := to.(type) {
	case *arrow.MapType:
		if id != bind.TypeMap {
			return nil, expect(false, to, id)
		}
		return newMapAppender(base, t, from)
	case *arrow.ListType:
		if id != bind.TypeList {
			return nil, expect(false, to, id)
		}
		child, err := childAppender(base.mem, t.Elem(), bind.ListTypeChildType(from))
		return &listAppender{validity: base, offsets: newGrowing(base.mem), child: child}, err
	case *arrow.FixedSizeListType:
		if id != bind.TypeArray {
			return nil, expect(false, to, id)
		}
		child, err := childAppender(base.mem, t.Elem(), bind.ArrayTypeChildType(from))
		return &arrayAppender{validity: base, size: int(t.Len()), child: child}, err
	case *arrow.StructType:
		if id != bind.TypeStruct {
			return nil, expect(false, to, id)
		}
		return newStructAppender(base, t, func(i int) bind.LogicalType {
			return bind.StructTypeChildType(from, bind.IdxT(i))
		})
	default:
		return nil, expect(false, to, id)
	}
}

func childAppender(mem memory.Allocator, to arrow.DataType, from bind.LogicalType) (appender, error) {
	defer bind.DestroyLogicalType(&from)
	return newAppender(mem, to, from)
}

// newMapAppender treats a MAP as what it is in DuckDB: a list of structs.
func newMapAppender(base validity, t *arrow.MapType, from bind.LogicalType) (appender, error) {
	entries := validity{mem: base.mem, dt: t.Elem(), bits: newGrowing(base.mem)}
	child, err := newStructAppender(entries, t.Elem().(*arrow.StructType), func(i int) bind.LogicalType {
		if i == 0 {
			return bind.MapTypeKeyType(from)
		}
		return bind.MapTypeValueType(from)
	})
	return &listAppender{validity: base, offsets: newGrowing(base.mem), child: child}, err
}

func newStructAppender(base validity, t *arrow.StructType, childType func(int) bind.LogicalType) (appender, error) {
	a := &structAppender{validity: base}
	for i, f := range t.Fields() {
		child, err := childAppender(base.mem, f.Type, childType(i))
		if err != nil {
			return nil, err
		}
		a.children = append(a.children, child)
	}
	return a, nil
}

type structAppender struct {
	validity
	children []appender
}

func (a *structAppender) append(v bind.Vector, from, n int) error {
	a.add(v, from, n)
	for i, c := range a.children {
		if err := c.append(bind.StructVectorGetChild(v, bind.IdxT(i)), from, n); err != nil {
			return err
		}
	}
	return nil
}

func (a *structAppender) bytes() int {
	n := 0
	for _, c := range a.children {
		n += c.bytes()
	}
	return n
}

func (a *structAppender) finish() arrow.ArrayData {
	children := make([]arrow.ArrayData, len(a.children))
	for i, c := range a.children {
		children[i] = c.finish()
	}
	return a.build(nil, children)
}

func (a *structAppender) release() {
	a.validity.release()
	for _, c := range a.children {
		c.release()
	}
}

// duckList is DuckDB's list entry: a range of the child vector.
type duckList struct{ offset, length uint64 }

type listAppender struct {
	validity
	offsets growing
	child   appender
	items   int
}

func (a *listAppender) append(v bind.Vector, from, n int) error {
	mask := a.add(v, from, n)
	if a.offsets.buf.Len() == 0 {
		clear(a.offsets.extend(offsetBytes))
	}
	offsets := viewAs[int32](a.offsets.extend(n * offsetBytes))
	child := bind.ListVectorGetChild(v)
	run := duckList{} // neighbouring ranges are copied at once
	for i, entry := range values[duckList](v, from, n) {
		if mask == nil || bitutil.BitIsSet(mask, from+i) {
			if entry.offset != run.offset+run.length {
				if err := a.copyRun(child, run); err != nil {
					return err
				}
				run = duckList{offset: entry.offset}
			}
			run.length += entry.length
			a.items += int(entry.length)
		}
		if a.items > math.MaxInt32 {
			return status.New(status.ResourceExhausted, "more than 2^31 list items in %d rows", a.rows)
		}
		offsets[i] = int32(a.items)
	}
	return a.copyRun(child, run)
}

func (a *listAppender) copyRun(child bind.Vector, run duckList) error {
	if run.length == 0 {
		return nil
	}
	return a.child.append(child, int(run.offset), int(run.length))
}

func (a *listAppender) bytes() int { return a.offsets.buf.Len() + a.child.bytes() }

func (a *listAppender) finish() arrow.ArrayData {
	if a.offsets.buf.Len() == 0 {
		clear(a.offsets.extend(offsetBytes))
	}
	a.items = 0
	return a.build([]*memory.Buffer{take(&a.offsets, a.mem)}, []arrow.ArrayData{a.child.finish()})
}

func (a *listAppender) release() {
	a.validity.release()
	a.offsets.buf.Release()
	a.child.release()
}

// arrayAppender is for DuckDB's arrays of a fixed length.
type arrayAppender struct {
	validity
	size  int
	child appender
}

func (a *arrayAppender) append(v bind.Vector, from, n int) error {
	a.add(v, from, n)
	return a.child.append(bind.ArrayVectorGetChild(v), from*a.size, n*a.size)
}

func (a *arrayAppender) bytes() int { return a.child.bytes() }

func (a *arrayAppender) finish() arrow.ArrayData {
	return a.build(nil, []arrow.ArrayData{a.child.finish()})
}

func (a *arrayAppender) release() {
	a.validity.release()
	a.child.release()
}
