package plan

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// carried are the SQL types that specs carry.
func carried() []Type {
	return []Type{
		"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE",
		"DECIMAL(15,2)", "DECIMAL(38,0)", "VARCHAR", "BLOB", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
		"TIMESTAMP WITH TIME ZONE",
	}
}

func TestTypesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, sql := range carried() {
		dt := arrowType(sql)
		require.NotNil(t, dt, sql)
		require.Equal(t, sql, importedType(dt), sql)
		require.True(t, sameValues(dt, dt), sql)
	}
	require.Equal(t, Type("DECIMAL(38,0)"), importedType(arrowType("HUGEINT")))
	require.Equal(t, Type("VARCHAR"), importedType(arrowType("UUID")))
}

func TestTypesWithoutArrow(t *testing.T) {
	t.Parallel()
	for _, sql := range []Type{
		"", "UHUGEINT", "INTERVAL", "INTEGER[]", "STRUCT(\"a\" INTEGER)", "DECIMAL(39,0)", "DECIMAL(3,4)", "DECIMAL(x,1)", "DECIMAL(5", "ENUM('a')",
	} {
		require.Nil(t, arrowType(sql), sql)
	}
	for _, dt := range []arrow.DataType{arrow.ListOf(arrow.PrimitiveTypes.Int8), arrow.FixedWidthTypes.MonthDayNanoInterval, arrow.Null} {
		require.Empty(t, importedType(dt), dt)
	}
}

func TestSameValues(t *testing.T) {
	t.Parallel()
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	berlin := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}
	same := [][2]arrow.DataType{
		{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString}, {arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.Binary},
		{dict, arrow.BinaryTypes.String}, {berlin, arrowType("TIMESTAMPTZ")},
	}
	for _, c := range same {
		require.True(t, sameValues(c[0], c[1]), c)
	}
	differ := [][2]arrow.DataType{
		{arrow.BinaryTypes.String, arrow.BinaryTypes.Binary}, {berlin, arrowType("TIMESTAMP")}, {arrowType("TIMESTAMP"), arrowType("TIMESTAMP_S")},
		{arrowType("INTEGER"), arrowType("BIGINT")}, {arrowType("DECIMAL(5,2)"), arrowType("DECIMAL(6,2)")}, {arrow.Null, arrow.BinaryTypes.String},
	}
	for _, c := range differ {
		require.False(t, sameValues(c[0], c[1]), c)
	}
}

func TestNarrowest(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"s VARCHAR, l LIST, b BIGINT, i INTEGER": "i",
		"l LIST, s VARCHAR":                      "s",
		"d DICT, s VARCHAR":                      "d",
		"a INTEGER, b INTEGER":                   "a",
		"t TINYINT, bo BOOLEAN":                  "bo",
		"l LIST":                                 "l",
	}
	for fields, want := range cases {
		table := testTable(t, "x", fields, 0)
		require.Equal(t, want, table.Arrow.Field(narrowest(table)).Name, fields)
	}
}
