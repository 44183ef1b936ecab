package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeepStructures: DuckDB would end the process over any of these.
func TestDeepStructures(t *testing.T) {
	t.Parallel()
	b, err := NewBinder()
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	deep := strings.Repeat("[", 50_000) + `"INT"` + strings.Repeat("]", 50_000)
	const structure = "needs a structure that is a constant text"
	for name, c := range map[string]struct{ sql, want string }{
		"computed":            {`SELECT json_transform('1', repeat('[', 50000) || '"INT"' || repeat(']', 50000))`, structure},
		"written out":         {"SELECT from_json('1', '" + deep + "')", structure},
		"method":              {"SELECT x.from_json('" + deep + "') FROM (SELECT '1'::JSON AS x)", structure},
		"named":               {`SELECT From_Json_Strict(structure := '` + deep + `', '"INT"')`, structure},
		"in a lambda":         {`SELECT list_transform(['1'], x -> json_transform_strict(x, repeat('[', 50000)))`, structure},
		"from a column":       {`SELECT from_json('1', s) FROM (SELECT '"INT"' AS s)`, structure},
		"a parameter":         {"SELECT from_json('1', ?)", structure},
		"a type in the text":  {`SELECT from_json('1', '"` + strings.Repeat("STRUCT(a ", 100) + "INT" + strings.Repeat(")", 100) + `"')`, structure},
		"lists in the text":   {`SELECT from_json('1', '"INT` + strings.Repeat("[]", 900) + `"')`, structure},
		"what is no JSON":     {"SELECT from_json('1', '{')", structure},
		"VARIANT in the text": {`SELECT from_json('1', '["\u0056ariant"]')`, structure},
		"to VARIANT":          {"SELECT (repeat('[', 90000) || repeat(']', 90000))::JSON::VARIANT", "VARIANT is not supported"},
		"to lists of VARIANT": {"SELECT TRY_CAST(j AS STRUCT(a \"variant\"[])) FROM (SELECT '[]'::JSON AS j)", "VARIANT is not supported"},
		"a made type":         {"SELECT cast_to_type('[]'::JSON, make_type('VARIANT'))", "make_type is not available"},
		"all types":           {"FROM test_all_types()", "test_all_types is not available"},
		"text as SQL":         {"SELECT json_serialize_plan('SELECT current_setting(''temp_directory'')', optimize := true)", "json_serialize_plan is not available"},
		"deep values":         {"SELECT json_merge_patch(s, s) FROM (SELECT repeat('{\"a\":', 100000) AS s)", "json_merge_patch is not available"},
		"by a method":         {"SELECT s.Json_Contains(s) FROM (SELECT '[]'::JSON AS s)", "json_contains is not available"},
		"of many":             {"SELECT json_group_structure(s), json_structure(s), json_pretty(s) FROM (SELECT '[]'::JSON AS s)", "is not available"},
		"text to SQL":         {"SELECT json_deserialize_sql('{}'), json_serialize_sql('SELECT 1')", "is not available"},
	} {
		_, err := b.Bind(t.Context(), c.sql)
		require.ErrorContains(t, err, c.want, name)
		_, err = runText(t, b, c.sql)
		require.ErrorContains(t, err, c.want, name)
	}
	for sql, want := range map[string]string{
		`SELECT from_json('{"a": [1, 2]}', '{"a": ["INTEGER"]}').a[2]`:                            "2",
		`SELECT json_transform('{"a": 1}', '{"a": "STRUCT(x VARCHAR[], \"variant\" DATE)"}').a.x`: "",
		`SELECT x.from_json_strict('"DECIMAL(9,2)"')::VARCHAR FROM (SELECT '1.5'::JSON AS x)`:     "1.50",
	} {
		got, err := runText(t, b, sql)
		if want == "" {
			require.ErrorContains(t, err, structure, "also a field's name: %s", sql)
			continue
		}
		require.NoError(t, err, sql)
		require.Equal(t, want, got, sql)
	}
}
