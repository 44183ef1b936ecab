package query

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
	"github.com/tributary-db/tributary/server/query/params"
)

// ResultTypes says which Arrow types results have.
type ResultTypes string

const (
	// RawTypes are the types of the engine.
	RawTypes ResultTypes = "raw"
	// ClientTypes are those that common clients read right: JDBC reads unsigned
	// integers as signed ones, and dictionaries as their indices.
	ClientTypes ResultTypes = "client"
)

// edge turns what the executor yields into what clients were promised.
type edge struct {
	schema *arrow.Schema
	cast   []int // the columns of another type
}

func newEdge(raw *arrow.Schema, types ResultTypes) *edge {
	e := &edge{}
	fields := make([]arrow.Field, raw.NumFields())
	for i, f := range raw.Fields() {
		fields[i] = types.Field(f)
		if !arrow.TypeEqual(f.Type, fields[i].Type) {
			e.cast = append(e.cast, i)
		}
	}
	e.schema = arrow.NewSchema(fields, nil)
	return e
}

// Field is how a result carries a field of the engine: its type, and the
// metadata that clients look for.
func (r ResultTypes) Field(f arrow.Field) arrow.Field {
	meta := flightsql.NewColumnMetadataBuilder()
	meta.TypeName(typeName(f.Type))
	if r == ClientTypes {
		f.Type = clientType(f.Type)
	}
	if d, ok := f.Type.(arrow.DecimalType); ok {
		meta.Precision(d.GetPrecision()).Scale(d.GetScale())
	}
	f.Metadata = meta.Metadata()
	return f
}

// typeName is the SQL name of a type, of a decimal without its digits.
func typeName(t arrow.DataType) string {
	name := params.TypeName(t)
	if strings.HasPrefix(name, "DECIMAL(") && !strings.HasSuffix(name, "]") {
		return "DECIMAL"
	}
	return name
}

// apply consumes a batch and returns it with the promised schema.
func (e *edge) apply(batch arrow.RecordBatch, mem memory.Allocator) (arrow.RecordBatch, error) {
	defer batch.Release()
	columns := append([]arrow.Array(nil), batch.Columns()...)
	for _, i := range e.cast {
		col, err := toType(columns[i], e.schema.Field(i).Type, mem)
		if err != nil {
			return nil, status.Wrap(status.Internal, err, "column %q", e.schema.Field(i).Name)
		}
		defer col.Release()
		columns[i] = col
	}
	return array.NewRecordBatch(e.schema, columns, batch.NumRows()), nil
}

var signed = map[arrow.Type]arrow.DataType{
	arrow.UINT8: arrow.PrimitiveTypes.Int16, arrow.UINT16: arrow.PrimitiveTypes.Int32, arrow.UINT32: arrow.PrimitiveTypes.Int64,
	arrow.UINT64: &arrow.Decimal128Type{Precision: 20},
}

// clientType is the type in which clients get a column of type t.
func clientType(t arrow.DataType) arrow.DataType {
	if s, ok := signed[t.ID()]; ok {
		return s
	}
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return clientType(t.ValueType)
	case *arrow.ListType:
		return arrow.ListOfField(clientField(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), clientField(t.ElemField()))
	case *arrow.MapType:
		return arrow.MapOfFields(clientField(t.KeyField()), clientField(t.ItemField()))
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i, f := range t.Fields() {
			fields[i] = clientField(f)
		}
		return arrow.StructOf(fields...)
	}
	return t
}

func clientField(f arrow.Field) arrow.Field {
	f.Type = clientType(f.Type)
	return f
}

// toType casts an array to what clientType gave; the caller releases it.
func toType(a arrow.Array, to arrow.DataType, mem memory.Allocator) (arrow.Array, error) {
	switch {
	case arrow.TypeEqual(a.DataType(), to):
		a.Retain()
		return a, nil
	case a.DataType().ID() == arrow.DICTIONARY:
		dict := a.(*array.Dictionary)
		values, err := compute.CastArray(compute.WithAllocator(context.Background(), mem), a, compute.SafeCastOptions(dict.Dictionary().DataType()))
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return toType(values, to, mem)
	case a.DataType().ID() == to.ID():
		return toNested(a, to.(arrow.NestedType), mem)
	}
	return widen.Array(a, to, mem)
}

// toNested keeps the offsets and the validity of a, and casts its children.
func toNested(a arrow.Array, to arrow.NestedType, mem memory.Allocator) (arrow.Array, error) {
	data := a.Data()
	children := make([]arrow.ArrayData, len(data.Children()))
	for i, c := range data.Children() {
		child := array.MakeFromData(c)
		defer child.Release()
		cast, err := toType(child, to.Fields()[i].Type, mem)
		if err != nil {
			return nil, err
		}
		defer cast.Release()
		children[i] = cast.Data()
	}
	out := array.NewData(to, data.Len(), data.Buffers(), children, data.NullN(), data.Offset())
	defer out.Release()
	return array.MakeFromData(out), nil
}
