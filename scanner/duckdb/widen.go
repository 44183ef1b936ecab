package duckdb

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// inexact begins the message of a value that a wider type does not hold.
const inexact = "Out of Range: the value "

// Widens reports whether columns of the source can be read as type to, where
// package widen says that it holds them.
func (s *Source) Widens(to arrow.DataType) bool {
	_, err := readType(to)
	return err == nil
}

// readType is the SQL type of values that are read as an Arrow type.
func readType(t arrow.DataType) (string, error) {
	switch t := t.(type) {
	case *arrow.MonthDayNanoIntervalType:
		return "INTERVAL", nil
	case *arrow.NullType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		return "", status.New(status.Unimplemented, "DuckDB does not yield values of type %s", t)
	case *arrow.ListType:
		child, err := readType(t.Elem())
		return child + "[]", err
	case *arrow.FixedSizeListType:
		child, err := readType(t.Elem())
		return fmt.Sprintf("%s[%d]", child, t.Len()), err
	case *arrow.MapType:
		key, err := readType(t.KeyType())
		if err != nil {
			return "", err
		}
		item, err := readType(t.ItemType())
		return fmt.Sprintf("MAP(%s, %s)", key, item), err
	case *arrow.StructType:
		fields := make([]string, t.NumFields())
		for i, f := range t.Fields() {
			child, err := readType(f.Type)
			if err != nil {
				return "", err
			}
			fields[i] = quoteIdent(f.Name) + " " + child
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")", nil
	}
	return sqlType(t)
}

// as reads a column with the type that is wanted of it.
func (c column) as(want arrow.DataType) (string, error) {
	if arrow.TypeEqual(c.arrow, want) {
		return c.expr(), nil
	}
	w := widener{column: c.name}
	return w.value(c.expr(), c.arrow, want)
}

// widener writes the expressions that read values of one type as another, which
// holds them.
type widener struct {
	column string
	depth  int
}

func (w widener) value(x string, from, to arrow.DataType) (string, error) {
	typ, err := readType(to)
	if err != nil {
		return "", status.Wrap(status.Unimplemented, err, "column %q", w.column)
	}
	from = pushdown.ValueType(from)
	switch {
	case arrow.TypeEqual(from, to):
		return x, nil
	case castable(from, to):
		return cast(x, typ), nil
	}
	switch to := to.(type) {
	case *arrow.StructType:
		return w.record(x, from.(*arrow.StructType), to)
	case *arrow.MapType:
		text, err := w.entries(x, from.(*arrow.MapType), to)
		return cast(text, typ), err
	case arrow.ListLikeType:
		text, err := w.list(x, from.(arrow.ListLikeType), to)
		return cast(text, typ), err
	}
	return fmt.Sprintf("CASE WHEN CAST(CAST(%[1]s AS DOUBLE) AS HUGEINT) = %[1]s THEN CAST(%[1]s AS DOUBLE) WHEN %[1]s IS NOT NULL THEN error(%[2]s || %[1]s || %[3]s) END",
		x, quoteText(inexact), quoteText(fmt.Sprintf(" of column %q has no exact counterpart in DOUBLE", w.column))), nil
}

// castable reports whether DuckDB's own cast is exact or fails, and goes by the
// names of fields: not of large integers to DOUBLE, which it rounds.
func castable(from, to arrow.DataType) bool {
	switch to := to.(type) {
	case *arrow.StructType:
		return arrow.TypeEqual(from, to)
	case *arrow.MapType:
		m, ok := from.(*arrow.MapType)
		return ok && castable(m.KeyType(), to.KeyType()) && castable(m.ItemType(), to.ItemType())
	case arrow.ListLikeType:
		list, ok := from.(arrow.ListLikeType)
		return ok && castable(list.Elem(), to.Elem())
	case *arrow.Float64Type:
		id := from.ID()
		return id != arrow.INT64 && id != arrow.UINT64 && id != arrow.DECIMAL128
	}
	return true
}

func (w widener) record(x string, from, to *arrow.StructType) (string, error) {
	fields := make([]string, to.NumFields())
	for i, f := range to.Fields() {
		var err error
		g, ok := from.FieldByName(f.Name)
		text := "NULL"
		if ok {
			text, err = w.value("struct_extract("+x+", "+quoteText(f.Name)+")", g.Type, f.Type)
		} else if text, err = readType(f.Type); err == nil {
			text = cast("NULL", text)
		}
		if err != nil {
			return "", err
		}
		fields[i] = quoteIdent(f.Name) + " := " + text
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN struct_pack(%s) END", x, strings.Join(fields, ", ")), nil
}

// list applies the expression of the elements to each.
func (w widener) list(x string, from, to arrow.ListLikeType) (string, error) {
	item := fmt.Sprintf("item%d", w.depth)
	w.depth++
	text, err := w.value(item, from.Elem(), to.Elem())
	if _, fixed := from.(*arrow.FixedSizeListType); fixed { // the functions are of lists
		child, childErr := readType(from.Elem())
		if childErr != nil {
			return "", childErr
		}
		x = cast(x, child+"[]")
	}
	return fmt.Sprintf("list_transform(%s, lambda %s: %s)", x, item, text), err
}

func (w widener) entries(x string, from, to *arrow.MapType) (string, error) {
	item := fmt.Sprintf("item%d", w.depth)
	w.depth++
	key, err := w.value(item+".key", from.KeyType(), to.KeyType())
	if err != nil {
		return "", err
	}
	value, err := w.value(item+".value", from.ItemType(), to.ItemType())
	return fmt.Sprintf("map_from_entries(list_transform(map_entries(%s), lambda %s: struct_pack(k := %s, v := %s)))", x, item, key, value), err
}
