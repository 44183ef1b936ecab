package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"
)

// Codes of the Flight SQL specification: XdbcDataType and, for dates and times,
// XdbcDatetimeSubcode.
const (
	xdbcDecimal, xdbcInteger, xdbcSmallint, xdbcReal, xdbcDouble = 3, 4, 5, 7, 8
	xdbcDatetime, xdbcInterval, xdbcVarchar                      = 9, 10, 12
	xdbcDate, xdbcTime, xdbcTimestamp                            = 91, 92, 93
	xdbcVarbinary, xdbcBigint, xdbcTinyint, xdbcBit              = -3, -5, -6, -7

	nullable   = 1
	searchable = 3 // in any WHERE clause
)

// typeInfo is one SQL type, with the code of what results carry it as.
type typeInfo struct {
	name    string
	code    int32
	size    int32 // digits, characters or bytes; 0 is unlimited
	subcode int32 // of dates and times
	prefix  string
	radix   int32
	// unsigned is set for numbers only, with radix.
	unsigned bool
	params   []string
	maxScale int32
}

// typeInfos are in the order that the specification asks for: by code.
var typeInfos = []typeInfo{
	{name: "BOOLEAN", code: xdbcBit, size: 1},
	{name: "TINYINT", code: xdbcTinyint, size: 3, radix: 10},
	{name: "BIGINT", code: xdbcBigint, size: 19, radix: 10},
	{name: "UINTEGER", code: xdbcBigint, size: 10, radix: 10, unsigned: true},
	{name: "BLOB", code: xdbcVarbinary, prefix: "'"},
	{name: "DECIMAL", code: xdbcDecimal, size: 38, radix: 10, params: []string{"precision", "scale"}, maxScale: 38},
	{name: "HUGEINT", code: xdbcDecimal, size: 38, radix: 10},
	{name: "UBIGINT", code: xdbcDecimal, size: 20, radix: 10, unsigned: true},
	{name: "INTEGER", code: xdbcInteger, size: 10, radix: 10},
	{name: "USMALLINT", code: xdbcInteger, size: 5, radix: 10, unsigned: true},
	{name: "SMALLINT", code: xdbcSmallint, size: 5, radix: 10},
	{name: "UTINYINT", code: xdbcSmallint, size: 3, radix: 10, unsigned: true},
	{name: "FLOAT", code: xdbcReal, size: 24, radix: 2},
	{name: "DOUBLE", code: xdbcDouble, size: 53, radix: 2},
	{name: "INTERVAL", code: xdbcInterval, prefix: "INTERVAL '", maxScale: 6},
	{name: "VARCHAR", code: xdbcVarchar, prefix: "'"},
	{name: "UUID", code: xdbcVarchar, size: 36, prefix: "'"},
	{name: "DATE", code: xdbcDate, size: 10, subcode: 1, prefix: "DATE '"},
	{name: "TIME", code: xdbcTime, size: 15, subcode: 2, prefix: "TIME '", maxScale: 6},
	{name: "TIMESTAMP", code: xdbcTimestamp, size: 26, subcode: 3, prefix: "TIMESTAMP '", maxScale: 6},
	{name: "TIMESTAMP WITH TIME ZONE", code: xdbcTimestamp, size: 32, subcode: 5, prefix: "TIMESTAMPTZ '", maxScale: 6},
}

// GetFlightInfoXdbcTypeInfo describes DoGetXdbcTypeInfo.
func (s *Server) GetFlightInfoXdbcTypeInfo(_ context.Context, _ flightsql.GetXdbcTypeInfo, d desc) (info, error) {
	return s.metadataInfo(d, schema_ref.XdbcTypeInfo)
}

// DoGetXdbcTypeInfo lists the SQL types, or those of one code.
func (s *Server) DoGetXdbcTypeInfo(_ context.Context, cmd flightsql.GetXdbcTypeInfo) (*arrow.Schema, chunks, error) {
	return s.rows(schema_ref.XdbcTypeInfo, func(b *array.RecordBuilder) {
		for _, t := range typeInfos {
			if want := cmd.GetDataType(); want == nil || *want == t.code {
				t.append(typeRow{b})
			}
		}
	})
}

// append adds the row of a type, column by column in the order of the schema.
func (t typeInfo) append(row typeRow) {
	row.text(0, t.name)
	row.number(1, t.code, true)
	row.number(2, t.size, t.size > 0)
	row.quotes(3, t.prefix)
	row.list(5, t.params)
	row.number(6, nullable, true)
	row.flag(7, t.code == xdbcVarchar, true)
	row.number(8, searchable, true)
	row.flag(9, t.unsigned, t.radix > 0)
	row.flag(10, false, true)
	row.flag(11, false, t.radix > 0)
	row.text(12, t.name)
	scaled := t.maxScale > 0 || t.radix == 10 || t.subcode > 0
	row.number(13, 0, scaled)
	row.number(14, t.maxScale, scaled)
	row.number(15, t.sqlCode(), true)
	row.number(16, t.subcode, t.subcode > 0)
	row.number(17, t.radix, t.radix > 0)
	row.number(18, 0, false)
}

// sqlCode is the code without the kind of date or time.
func (t typeInfo) sqlCode() int32 {
	if t.subcode > 0 {
		return xdbcDatetime
	}
	return t.code
}

// typeRow fills the columns of one row.
type typeRow struct{ b *array.RecordBuilder }

func (r typeRow) text(column int, v string) { text(r.b, column, v) }

func (r typeRow) number(column int, v int32, valid bool) {
	b := r.b.Field(column).(*array.Int32Builder)
	if !valid {
		b.AppendNull()
		return
	}
	b.Append(v)
}

func (r typeRow) flag(column int, v, valid bool) {
	b := r.b.Field(column).(*array.BooleanBuilder)
	if !valid {
		b.AppendNull()
		return
	}
	b.Append(v)
}

// quotes fills the columns of what stands before and after a literal.
func (r typeRow) quotes(column int, prefix string) {
	if prefix == "" {
		r.b.Field(column).AppendNull()
		r.b.Field(column + 1).AppendNull()
		return
	}
	r.text(column, prefix)
	r.text(column+1, "'")
}

func (r typeRow) list(column int, vs []string) {
	b := r.b.Field(column).(*array.ListBuilder)
	if vs == nil {
		b.AppendNull()
		return
	}
	b.Append(true)
	b.ValueBuilder().(*array.StringBuilder).AppendValues(vs, nil)
}
