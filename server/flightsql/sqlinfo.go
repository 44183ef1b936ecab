package flightsql

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/schema_ref"

	"github.com/tributary-db/tributary/pushdown/status"
)

// sqlInfo is everything that clients may ask about the server, by SqlInfo code
// (Flight SQL specification, enum SqlInfo). It is complete up to the last code
// that JDBC 18 knows: that driver throws on a code that is missing, on one
// above 576, and on 562 as int32.
func sqlInfo(version string) map[uint32]any {
	info := map[uint32]any{
		0: "Tributary", 1: version, 2: arrow.PkgVersion,
		3: true, 4: true, 5: false, 6: "", 7: "",
		8:  int32(flightsql.SqlTransactionTransaction),
		9:  true, // cancel
		10: false, 11: false,
		100: int32(0), 101: int32(0),
		503: int32(1), // identifiers: case insensitive
		504: `"`,      // quote
		505: int32(1), // quoted identifiers: case insensitive
		507: int32(3), // NULLs sort at the end
		508: keywords, 509: numericFunctions, 510: stringFunctions, 511: systemFunctions, 512: dateFunctions,
		513: `\`, 514: "",
		517: map[int32][]int32{},
		522: int32(1 << 1),             // GROUP BY beyond the select list
		525: int32(1<<0 | 1<<1 | 1<<2), // grammar: minimum, core, extended
		526: int32(1<<0 | 1<<1),        // ANSI 92: entry, intermediate
		528: int32(1<<0 | 1<<1 | 1<<2), // outer joins: none, limited, full
		529: "schema", 530: "procedure", 531: "catalog",
		533: int32(0), 534: int32(0), 535: int32(0),
		538: int32(1<<0 | 1<<1 | 1<<2 | 1<<3), // subqueries everywhere
		540: int32(1<<0 | 1<<1),               // UNION, UNION ALL
		564: int32(0), 567: int32(0), 568: int32(1), 569: int32(0), 570: int32(0), 571: int32(0),
	}
	for _, code := range []uint32{506, 515, 516, 518, 520, 521, 523, 524, 532, 539, 563} {
		info[code] = true
	}
	for _, code := range []uint32{500, 501, 502, 519, 527, 536, 537, 556, 565, 566, 572, 573, 574, 575, 576} {
		info[code] = false
	}
	for code := uint32(541); code <= 562; code++ {
		if _, ok := info[code]; !ok {
			info[code] = int64(0) // no limit
		}
	}
	return info
}

var (
	keywords         = []string{"ANTI", "ASOF", "EXCLUDE", "FILTER", "ILIKE", "LATERAL", "PIVOT", "POSITIONAL", "QUALIFY", "SEMI", "SUMMARIZE", "UNPIVOT"}
	numericFunctions = []string{"ABS", "ACOS", "ASIN", "ATAN", "ATAN2", "CEILING", "COS", "COT", "DEGREES", "EXP", "FLOOR", "LOG", "LOG10", "MOD", "PI", "POWER", "RADIANS", "RAND", "ROUND", "SIGN", "SIN", "SQRT", "TAN", "TRUNCATE"}
	stringFunctions  = []string{"ASCII", "CHAR", "CONCAT", "LCASE", "LEFT", "LENGTH", "LOCATE", "LTRIM", "REPEAT", "REPLACE", "RIGHT", "RTRIM", "SUBSTRING", "UCASE"}
	systemFunctions  = []string{"IFNULL"}
	dateFunctions    = []string{"CURDATE", "DAYNAME", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "HOUR", "MINUTE", "MONTH", "MONTHNAME", "NOW", "QUARTER", "SECOND", "WEEK", "YEAR"}
)

// DoGetSqlInfo leaves out the codes that the server does not know: clients ask
// for what newer servers may have.
func (s *Server) DoGetSqlInfo(ctx context.Context, cmd flightsql.GetSqlInfo) (*arrow.Schema, chunks, error) {
	asked := knownInfo{known: slices.DeleteFunc(slices.Clone(cmd.GetInfo()), func(code uint32) bool { return !s.info[code] })}
	if len(asked.known) == 0 && len(cmd.GetInfo()) > 0 { // not all, none
		return s.rows(schema_ref.SqlInfo, func(*array.RecordBuilder) {})
	}
	return s.BaseServer.DoGetSqlInfo(ctx, asked)
}

type knownInfo struct{ known []uint32 }

func (k knownInfo) GetInfo() []uint32 { return k.known }

func (s *Server) registerSQLInfo(version string) error {
	for code, value := range sqlInfo(version) {
		if err := s.RegisterSqlInfo(flightsql.SqlInfo(code), value); err != nil {
			return status.Wrap(status.Internal, err, "SqlInfo %d", code)
		}
		s.info[code] = true
	}
	return nil
}
