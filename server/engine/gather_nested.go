package engine

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// stringGatherer copies VARCHAR and BLOB.
type stringGatherer struct {
	nulls
	offsets grown
	data    grown
}

// extendOffsets makes room for the ends of n more values.
func (g *stringGatherer) extendOffsets(n int) []int32 { return extendOffsets(&g.offsets, n) }

func extendOffsets(g *grown, n int) []int32 {
	if g.len() == 0 {
		clear(g.extend(4))
	}
	return valuesOf[int32](g.extend(4 * n))
}

func (g *stringGatherer) append(vec duckdb.Vector, start, n int) error {
	mask := g.add(vec, start, n)
	values := stringsOf(vec, start+n)[start:]
	total := 0
	for i := range values {
		if mask == nil || bitutil.BitIsSet(mask, start+i) {
			total += int(values[i].length)
		}
	}
	at := g.data.len()
	if at+total > math.MaxInt32 {
		return status.New(status.ResourceExhausted, "one batch of strings has more than 2 GiB")
	}
	offsets, out := g.extendOffsets(n), g.data.extend(total)
	for i := range values {
		if mask == nil || bitutil.BitIsSet(mask, start+i) {
			k := copy(out, values[i].bytes())
			out, at = out[k:], at+k
		}
		offsets[i] = int32(at)
	}
	return nil
}

func (g *stringGatherer) bytes() int { return g.data.len() + g.offsets.len() }

func (g *stringGatherer) finish() arrow.ArrayData {
	extendOffsets(&g.offsets, 0)
	return g.nulls.data([]*memory.Buffer{g.offsets.take(), g.data.take()}, nil)
}

func (g *stringGatherer) release() {
	g.nulls.release()
	g.offsets.release()
	g.data.release()
}

// enumGatherer copies the indexes of an ENUM; its values are the dictionary.
type enumGatherer struct {
	fixedGatherer
	values arrow.Array
}

func newEnumGatherer(t duckdb.LogicalType, base nulls) gatherer {
	b := array.NewStringBuilder(base.mem)
	defer b.Release()
	b.AppendValues(enumValues(t), nil)
	width := base.out.(*arrow.DictionaryType).IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	return &enumGatherer{fixedGatherer{nulls: base, data: grown{mem: base.mem}, width: width}, b.NewArray()}
}

func (g *enumGatherer) finish() arrow.ArrayData {
	d := g.fixedGatherer.finish()
	defer d.Release()
	return array.NewDataWithDictionary(g.out, d.Len(), d.Buffers(), d.NullN(), 0, g.values.Data().(*array.Data))
}

func (g *enumGatherer) release() {
	g.fixedGatherer.release()
	g.values.Release()
}

// newNested makes the gatherer of a type with children.
func newNested(id duckdb.Type, t duckdb.LogicalType, base nulls) gatherer {
	switch id {
	case duckdb.TypeList:
		child := gathererOf(duckdb.ListTypeChildType(t), base.out.(*arrow.ListType).Elem(), base.mem)
		return &listGatherer{nulls: base, offsets: grown{mem: base.mem}, child: child}
	case duckdb.TypeArray:
		out := base.out.(*arrow.FixedSizeListType)
		child := gathererOf(duckdb.ArrayTypeChildType(t), out.Elem(), base.mem)
		return &arrayGatherer{nulls: base, size: int(out.Len()), child: child}
	case duckdb.TypeMap:
		return newMapGatherer(t, base)
	}
	g := &structGatherer{nulls: base}
	for i, f := range base.out.(*arrow.StructType).Fields() {
		g.fields = append(g.fields, gathererOf(duckdb.StructTypeChildType(t, duckdb.IdxT(i)), f.Type, base.mem))
	}
	return g
}

// gathererOf consumes the logical type.
func gathererOf(t duckdb.LogicalType, out arrow.DataType, mem memory.Allocator) gatherer {
	defer duckdb.DestroyLogicalType(&t)
	return newGatherer(t, out, mem)
}

func newMapGatherer(t duckdb.LogicalType, base nulls) gatherer {
	out := base.out.(*arrow.MapType)
	entries := &structGatherer{nulls: nulls{mem: base.mem, out: out.Elem()}, fields: []gatherer{
		gathererOf(duckdb.MapTypeKeyType(t), out.KeyType(), base.mem),
		gathererOf(duckdb.MapTypeValueType(t), out.ItemType(), base.mem),
	}}
	return &listGatherer{nulls: base, offsets: grown{mem: base.mem}, child: entries}
}

// listGatherer copies lists and maps.
type listGatherer struct {
	nulls
	offsets grown
	child   gatherer
	total   int // rows of the child
}

func (g *listGatherer) append(vec duckdb.Vector, start, n int) error {
	mask := g.add(vec, start, n)
	offsets := extendOffsets(&g.offsets, n)
	entries := dataOf[listEntry](vec, start+n)
	child := duckdb.ListVectorGetChild(vec)
	var from, to int // a run of child rows not yet copied
	for i := range n {
		if e := entries[start+i]; e.length > 0 && (mask == nil || bitutil.BitIsSet(mask, start+i)) {
			if int(e.offset) != to {
				if err := g.copyRun(child, from, to); err != nil {
					return err
				}
				from, to = int(e.offset), int(e.offset)
			}
			to += int(e.length)
			g.total += int(e.length)
		}
		if g.total > math.MaxInt32 {
			return status.New(status.ResourceExhausted, "one batch of lists has more than 2^31 values")
		}
		offsets[i] = int32(g.total)
	}
	return g.copyRun(child, from, to)
}

func (g *listGatherer) copyRun(child duckdb.Vector, from, to int) error {
	if from == to {
		return nil
	}
	return g.child.append(child, from, to-from)
}

func (g *listGatherer) bytes() int { return g.offsets.len() + g.child.bytes() }

func (g *listGatherer) finish() arrow.ArrayData {
	extendOffsets(&g.offsets, 0)
	g.total = 0
	return g.nulls.data([]*memory.Buffer{g.offsets.take()}, []arrow.ArrayData{g.child.finish()})
}

func (g *listGatherer) release() {
	g.nulls.release()
	g.offsets.release()
	g.child.release()
}

// arrayGatherer copies lists of one size.
type arrayGatherer struct {
	nulls
	size  int
	child gatherer
}

func (g *arrayGatherer) append(vec duckdb.Vector, start, n int) error {
	g.add(vec, start, n)
	return g.child.append(duckdb.ArrayVectorGetChild(vec), start*g.size, n*g.size)
}

func (g *arrayGatherer) bytes() int { return g.child.bytes() }

func (g *arrayGatherer) finish() arrow.ArrayData {
	return g.nulls.data(nil, []arrow.ArrayData{g.child.finish()})
}

func (g *arrayGatherer) release() {
	g.nulls.release()
	g.child.release()
}

type structGatherer struct {
	nulls
	fields []gatherer
}

func (g *structGatherer) append(vec duckdb.Vector, start, n int) error {
	g.add(vec, start, n)
	for i, f := range g.fields {
		if err := f.append(duckdb.StructVectorGetChild(vec, duckdb.IdxT(i)), start, n); err != nil {
			return err
		}
	}
	return nil
}

func (g *structGatherer) bytes() int {
	n := 0
	for _, f := range g.fields {
		n += f.bytes()
	}
	return n
}

func (g *structGatherer) finish() arrow.ArrayData {
	children := make([]arrow.ArrayData, len(g.fields))
	for i, f := range g.fields {
		children[i] = f.finish()
	}
	return g.nulls.data(nil, children)
}

func (g *structGatherer) release() {
	g.nulls.release()
	for _, f := range g.fields {
		f.release()
	}
}
