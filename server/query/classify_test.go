package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/pushdown/status"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]Command{
		"SELECT 1": {Kind: Select, SQL: "SELECT 1"},
		"  -- why\n /* not */ with x as (select 1) from x ; ": {Kind: Select, SQL: "  -- why\n /* not */ with x as (select 1) from x"},
		"(SELECT 1)":                     {Kind: Select, SQL: "(SELECT 1)"},
		"/* /* a */ b */ SHOW pushdown":  {Kind: ShowSetting, Name: "pushdown"},
		"; -- a\r /* '*/ ; RESET x":      {Kind: Reset, Name: "x"},
		"\u00a0SELECT 1":                 {Kind: Select, SQL: "\u00a0SELECT 1"},
		"explain select 1":               {Kind: Explain, SQL: " select 1"},
		"EXPLAIN ANALYZE FROM t":         {Kind: Explain, Analyze: true, SQL: " FROM t"},
		"SET pushdown = 'off'":           {Kind: Set, Name: "pushdown", Value: "off"},
		"set session Pushdown TO filter": {Kind: Set, Name: "pushdown", Value: "filter"},
		"SET statement_timeout = 'a''b'": {Kind: Set, Name: "statement_timeout", Value: "a'b"},
		"RESET pushdown;":                {Kind: Reset, Name: "pushdown"},
		"SHOW pushdown":                  {Kind: ShowSetting, Name: "pushdown"},
		"SHOW TABLES":                    {Kind: Select, SQL: "SHOW TABLES"},
		"BEGIN TRANSACTION":              {Kind: Transaction},
	} {
		got, err := Classify(sql)
		require.NoError(t, err, sql)
		require.Equal(t, want, got, sql)
	}
}

func TestClassifyRefuses(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]status.Code{
		"":                                 status.InvalidArgument,
		" -- nothing":                      status.InvalidArgument,
		"/* open":                          status.InvalidArgument,
		"SELEC 1":                          status.InvalidArgument,
		"'SELECT'":                         status.InvalidArgument,
		"SET pushdown":                     status.InvalidArgument,
		"SET pushdown = 'off":              status.InvalidArgument,
		"EXPLAIN SET a = b":                status.InvalidArgument,
		"COPY t TO 'x'":                    status.Unimplemented,
		"INSTALL httpfs":                   status.Unimplemented,
		"attach 'x' as y":                  status.Unimplemented,
		"CREATE TABLE t(i INT)":            status.Unimplemented,
		"INSERT INTO t VALUES (1)":         status.Unimplemented,
		"EXPLAIN INSERT INTO t VALUES (1)": status.Unimplemented,
	} {
		_, err := Classify(sql)
		require.Equal(t, want, status.CodeOf(err), "%s: %v", sql, err)
		require.NotEmpty(t, err.Error())
	}
}
