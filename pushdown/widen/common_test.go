package widen_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tributary-db/tributary/pushdown/widen"
)

func dec(p, s int32) arrow.DataType { return &arrow.Decimal128Type{Precision: p, Scale: s} }

func dec256(p, s int32) arrow.DataType { return &arrow.Decimal256Type{Precision: p, Scale: s} }

func ts(u arrow.TimeUnit, zone string) arrow.DataType {
	return &arrow.TimestampType{Unit: u, TimeZone: zone}
}

func dict(index arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
}

func record(fields ...arrow.Field) arrow.DataType { return arrow.StructOf(fields...) }

func field(name string, t arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: true}
}

var (
	i8, i16, i32, i64 = arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64
	u8, u16, u32, u64 = arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64
	f32, f64          = arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64
	text, bytes       = arrow.BinaryTypes.String, arrow.BinaryTypes.Binary
	day, truth        = arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Boolean
)

func TestCarried(t *testing.T) {
	t.Parallel()
	for from, want := range map[arrow.DataType]arrow.DataType{
		dec256(50, 2): dec(38, 2), dec256(20, 2): dec(20, 2), &arrow.Decimal32Type{Precision: 4, Scale: 4}: dec(4, 4),
		dec256(50, 40): dec256(50, 40), dec(5, 1): dec(5, 1), text: text,
	} {
		require.Equal(t, want, widen.Carried(from), from)
	}
}

func TestCommon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, b, want arrow.DataType }{
		{i32, i64, i64}, {u8, i8, i16}, {u8, i16, i16}, {u32, i8, i64}, {u16, u64, u64}, {u64, i8, dec(20, 0)},
		{i32, dec(9, 2), dec(12, 2)}, {i64, dec(38, 20), nil}, {i64, dec(38, 2), dec(38, 2)}, {dec(9, 2), dec(4, 3), dec(10, 3)}, {dec(38, 0), dec(4, 1), nil},
		{dec256(50, 2), dec(38, 2), dec(38, 2)}, {dec256(50, 2), i8, dec(38, 2)}, {&arrow.Decimal64Type{Precision: 5}, i32, dec(10, 0)}, {dec256(50, 40), i8, nil},
		{f32, f64, f64}, {i16, f32, f64}, {i32, f32, f64}, {i64, f64, f64}, {u64, f32, f64}, {dec(5, 0), f64, f64}, {dec(5, 1), f64, nil},
		{day, ts(arrow.Microsecond, ""), ts(arrow.Microsecond, "")}, {day, ts(arrow.Microsecond, "UTC"), nil},
		{ts(arrow.Second, ""), ts(arrow.Nanosecond, ""), ts(arrow.Nanosecond, "")}, {ts(arrow.Second, ""), ts(arrow.Second, "UTC"), nil},
		{ts(arrow.Second, "Asia/Tokyo"), ts(arrow.Millisecond, "UTC"), ts(arrow.Millisecond, "UTC")},
		{arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Time64ns},
		{text, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeString}, {dict(u8), dict(u16), text}, {dict(u8), text, text},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, &arrow.FixedSizeBinaryType{ByteWidth: 3}, bytes}, {text, bytes, nil},
		{arrow.Null, i8, i8}, {arrow.Null, arrow.ListOf(i8), arrow.ListOf(i8)},
		{text, i32, nil}, {truth, i8, nil}, {day, i32, nil}, {arrow.FixedWidthTypes.MonthDayNanoInterval, i64, nil},
		{arrow.ListOf(i8), arrow.ListOf(i16), arrow.ListOf(i16)}, {arrow.ListOf(i8), i8, nil}, {arrow.ListOf(i8), arrow.ListOf(text), nil},
		{arrow.FixedSizeListOf(2, i8), arrow.FixedSizeListOf(2, i16), arrow.FixedSizeListOf(2, i16)}, {arrow.FixedSizeListOf(2, i8), arrow.FixedSizeListOf(3, i8), arrow.ListOf(i8)},
		{arrow.MapOf(text, i8), arrow.MapOf(dict(u8), i32), arrow.MapOf(text, i32)}, {arrow.MapOf(text, i8), arrow.ListOf(i8), nil},
		{
			record(field("a", i8), field("b", text)), record(field("b", text), field("a", i32), field("c", day)),
			record(field("a", i32), field("b", text), field("c", day)),
		},
		{record(field("a", i8)), record(field("a", text)), nil},
	} {
		for _, pair := range [][2]arrow.DataType{{c.a, c.b}, {c.b, c.a}} {
			got, ok := widen.Common(pair[0], pair[1])
			require.Equal(t, c.want != nil, ok, "%s and %s: %s", pair[0], pair[1], got)
			if ok && c.want.ID() != arrow.STRUCT {
				require.True(t, arrow.TypeEqual(c.want, got), "%s and %s: %s", pair[0], pair[1], got)
			}
		}
		if got, _ := widen.Common(c.a, c.b); c.want != nil {
			require.True(t, arrow.TypeEqual(c.want, got), "%s and %s: %s", c.a, c.b, got)
		}
	}
}

func drawType(t *rapid.T, depth int) arrow.DataType {
	flat := []arrow.DataType{
		arrow.Null, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, dec(4, 0), dec(9, 2), dec(38, 0), dec(20, 10), text, bytes, day, truth, dict(u8), dict(u16),
		arrow.BinaryTypes.LargeString, ts(arrow.Second, ""), ts(arrow.Nanosecond, ""), ts(arrow.Microsecond, "UTC"), ts(arrow.Second, "Asia/Tokyo"),
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.MonthDayNanoInterval,
	}
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 9).Draw(t, "kind")
	}
	switch kind {
	case 7:
		return arrow.ListOf(drawType(t, depth-1))
	case 8:
		return arrow.FixedSizeListOf(int32(rapid.IntRange(1, 2).Draw(t, "size")), drawType(t, depth-1))
	case 9:
		return record(field("a", drawType(t, depth-1)), field("b", drawType(t, depth-1)))
	}
	return rapid.SampledFrom(flat).Draw(t, "flat")
}

// TestLattice: whatever the order in which partitions are met, the table has
// the same type, and it holds all of them.
func TestLattice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawType(t, 2), drawType(t, 2), drawType(t, 2)
		join := func(x, y arrow.DataType) arrow.DataType {
			if x == nil || y == nil {
				return nil
			}
			if z, ok := widen.Common(x, y); ok {
				return z
			}
			return nil
		}
		same := func(x, y arrow.DataType) bool {
			return x == nil && y == nil || x != nil && y != nil && arrow.TypeEqual(x, y)
		}
		require.True(t, same(join(a, b), join(b, a)), "%s %s", a, b)
		left, right := join(join(a, b), c), join(a, join(b, c))
		require.True(t, same(left, right) || digits(left) || digits(right), "%s %s %s: %v and %v", a, b, c, left, right)
		if left != nil {
			for _, x := range []arrow.DataType{a, b, c} {
				require.True(t, widen.Holds(left, x), "%s holds %s", left, x)
			}
		}
	})
}

// digits reports whether the digits of a decimal matter in a type, of which a
// join of integers may have more than a decimal next to them needs.
func digits(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Decimal128Type:
		return true
	case arrow.NestedType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return digits(f.Type) })
	}
	return false
}
