package eval

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/scalar"

	"github.com/tributary-db/tributary/pushdown"
)

// family makes the nodes of one storage.
type family interface {
	column(index int) node
	literal(s scalar.Scalar) node
	compare(op pushdown.CompareOp, l, r node) node
	in(arg node, values []scalar.Scalar, hasNull, negated bool) node
	choose(branches []branch, coalesce bool) node
	// arith and cast are nil where there is none.
	arith(op pushdown.ArithOp, l, r node, t arrow.DataType) node
	cast(arg node, from, to arrow.DataType) node
	// sink collects results into an array of type t.
	sink(t arrow.DataType, rows int, mem memory.Allocator) sink
}

// values is the family of a storage with plain Go values.
type values[T comparable] struct {
	read    func(t arrow.DataType) reader[T]
	order   ordering[T]
	key     func(T) uint64
	doArith func(op pushdown.ArithOp, t arrow.DataType) arithmetic[T]
	doCast  func(arg node, from, to arrow.DataType) node
	// source is the type that columns are read as.
	source arrow.DataType
}

func (v *values[T]) column(index int) node {
	return &columnNode[T]{index: index, read: v.read(v.source)}
}

func (v *values[T]) literal(s scalar.Scalar) node {
	if !s.IsValid() {
		return &literalNode[T]{}
	}
	return &literalNode[T]{value: scalarValue[T](s), valid: true}
}

func (v *values[T]) compare(op pushdown.CompareOp, l, r node) node {
	markSingle[T](l, r)
	return &compareNode[T]{op: op, left: l, right: r, order: v.order}
}

func (v *values[T]) in(arg node, list []scalar.Scalar, hasNull, negated bool) node {
	var vals []T
	for _, s := range list {
		vals = append(vals, scalarValue[T](s))
	}
	n := &inNode[T]{arg: arg, hasNull: hasNull, negated: negated}
	switch {
	case len(vals) <= shortList:
		n.set = &listed[T]{values: vals, eqLit: v.order.eqLit}
	case v.key != nil:
		n.set = newHashed(vals, v.key)
	default:
		n.set = newMapped(vals)
	}
	return n
}

func (v *values[T]) choose(branches []branch, coalesce bool) node {
	return &chooseNode[T]{branches: branches, coalesce: coalesce}
}

func (v *values[T]) arith(op pushdown.ArithOp, l, r node, t arrow.DataType) node {
	if v.doArith == nil {
		return nil
	}
	return &arithNode[T]{left: l, right: r, op: v.doArith(op, t)}
}

func (v *values[T]) cast(arg node, from, to arrow.DataType) node {
	if v.doCast == nil {
		return nil
	}
	return v.doCast(arg, from, to)
}

// booleans is the family of bool.
type booleans struct{}

func (booleans) column(index int) node        { return &boolColumn{index: index} }
func (booleans) literal(s scalar.Scalar) node { return &boolLiteral{value: s} }

func (booleans) compare(op pushdown.CompareOp, l, r node) node {
	return &boolCompare{op: op, left: l, right: r}
}

func (booleans) in(arg node, list []scalar.Scalar, hasNull, negated bool) node {
	n := &boolIn{arg: arg, hasNull: hasNull, negated: negated}
	for _, s := range list {
		if s.(*scalar.Boolean).Value {
			n.hasTrue = true
		} else {
			n.hasFalse = true
		}
	}
	return n
}

func (booleans) choose(branches []branch, coalesce bool) node {
	return &chooseBool{branches: branches, coalesce: coalesce}
}

func (booleans) arith(pushdown.ArithOp, node, node, arrow.DataType) node { return nil }
func (booleans) cast(node, arrow.DataType, arrow.DataType) node          { return nil }

// familyOf returns the family that holds values of t, nil for none.
func familyOf(t arrow.DataType) family {
	t = pushdown.ValueType(t)
	switch t.ID() {
	case arrow.BOOL:
		return booleans{}
	case arrow.INT8:
		return narrow[int8](t)
	case arrow.INT16:
		return narrow[int16](t)
	case arrow.INT32, arrow.DATE32:
		return narrow[int32](t)
	case arrow.UINT8:
		return narrow[uint8](t)
	case arrow.UINT16:
		return narrow[uint16](t)
	case arrow.UINT32:
		return narrow[uint32](t)
	case arrow.INT64, arrow.TIME64, arrow.TIMESTAMP:
		return word(t, int64Arith)
	case arrow.UINT64:
		return word(t, uint64Arith)
	case arrow.FLOAT32:
		return floats[float32](t)
	case arrow.FLOAT64:
		return floats[float64](t)
	case arrow.DECIMAL128:
		return decimals(t)
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return texts(t)
	}
	return nil
}

func readFixed[T any](arrow.DataType) reader[T] { return fixedReader[T]{} }

func integers[T integer](t arrow.DataType) *values[T] {
	return &values[T]{
		read: readFixed[T], order: integerOrdering[T](), key: integerKey[T], doCast: castInteger[T], source: t,
	}
}

func narrow[T integer](t arrow.DataType) family {
	v := integers[T](t)
	v.doArith = func(op pushdown.ArithOp, _ arrow.DataType) arithmetic[T] { return narrowArith[T](op) }
	return v
}

func word[T integer](t arrow.DataType, arith func(pushdown.ArithOp) arithmetic[T]) family {
	v := integers[T](t)
	v.doArith = func(op pushdown.ArithOp, _ arrow.DataType) arithmetic[T] { return arith(op) }
	return v
}

func floats[T float](t arrow.DataType) family {
	return &values[T]{
		read: readFixed[T], order: floatOrdering[T](), key: floatKey[T], source: t,
		doArith: func(op pushdown.ArithOp, _ arrow.DataType) arithmetic[T] { return floatArith[T](op) },
		doCast: func(arg node, _, _ arrow.DataType) node {
			return &castNode[T, float64]{arg: arg, conv: numberToFloat[T]()}
		},
	}
}

func decimals(t arrow.DataType) family {
	return &values[i128]{
		read: readFixed[i128], order: wideOrdering(), source: t, doCast: castDecimal,
		doArith: func(op pushdown.ArithOp, t arrow.DataType) arithmetic[i128] {
			return decimalArith(op, t.(*arrow.Decimal128Type))
		},
	}
}

func texts(t arrow.DataType) family {
	return &values[string]{read: readText, order: textOrdering(), source: t}
}

func readText(t arrow.DataType) reader[string] {
	if t.ID() == arrow.LARGE_STRING || t.ID() == arrow.LARGE_BINARY {
		return textReader[int64]{}
	}
	return textReader[int32]{}
}

func castInteger[S integer](arg node, from, to arrow.DataType) node {
	switch to.ID() {
	case arrow.INT8:
		return &castNode[S, int8]{arg: arg, conv: toInteger[S, int8](), to: to}
	case arrow.INT16:
		return &castNode[S, int16]{arg: arg, conv: toInteger[S, int16](), to: to}
	case arrow.INT32:
		return &castNode[S, int32]{arg: arg, conv: toInteger[S, int32](), to: to}
	case arrow.INT64:
		return &castNode[S, int64]{arg: arg, conv: toInteger[S, int64](), to: to}
	case arrow.UINT8:
		return &castNode[S, uint8]{arg: arg, conv: toInteger[S, uint8](), to: to}
	case arrow.UINT16:
		return &castNode[S, uint16]{arg: arg, conv: toInteger[S, uint16](), to: to}
	case arrow.UINT32:
		return &castNode[S, uint32]{arg: arg, conv: toInteger[S, uint32](), to: to}
	case arrow.UINT64:
		return &castNode[S, uint64]{arg: arg, conv: toInteger[S, uint64](), to: to}
	case arrow.FLOAT64:
		return &castNode[S, float64]{arg: arg, conv: numberToFloat[S]()}
	case arrow.DECIMAL128:
		return &castNode[S, i128]{arg: arg, conv: integerToDecimal[S](to.(*arrow.Decimal128Type)), to: to}
	case arrow.TIMESTAMP:
		return castToTimestamp(arg, from, to.(*arrow.TimestampType))
	}
	return nil
}

func castToTimestamp(arg node, from arrow.DataType, to *arrow.TimestampType) node {
	if t, ok := from.(*arrow.TimestampType); ok {
		factor := int64(t.Unit.Multiplier() / to.Unit.Multiplier())
		return &castNode[int64, int64]{arg: arg, conv: scaleTimestamp(factor), to: to}
	}
	return &castNode[int32, int64]{arg: arg, conv: dateToTimestamp(), to: to}
}

func castDecimal(arg node, from, to arrow.DataType) node {
	source := from.(*arrow.Decimal128Type)
	if target, ok := to.(*arrow.Decimal128Type); ok {
		return &castNode[i128, i128]{arg: arg, conv: rescale(source, target), to: to}
	}
	return &castNode[i128, float64]{arg: arg, conv: decimalToFloat(source)}
}
