package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestStatementReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"one a line", "SELECT 1;\nSELECT 2;\n", []string{"SELECT 1", "SELECT 2"}},
		{"two on a line", "SELECT 1; SELECT 2;", []string{"SELECT 1", "SELECT 2"}},
		{"over lines", "SELECT\n 1\n;", []string{"SELECT\n 1"}},
		{"without the last semicolon", "SELECT 1", []string{"SELECT 1"}},
		{"in quotes", `SELECT ';', ";" ;`, []string{`SELECT ';', ";"`}},
		{"doubled quote", "SELECT 'a'';b';", []string{"SELECT 'a'';b'"}},
		{"in comments", "-- a;b\nSELECT /* ; */ 1;", []string{"-- a;b\nSELECT /* ; */ 1"}},
		{"quit", "\\q\nSELECT 1;", []string{`\q`, "SELECT 1"}},
		{"nothing", " ;;\n; ", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newStatementReader(strings.NewReader(c.in))
			var got []string
			for {
				sql, err := r.next()
				if sql != "" {
					got = append(got, sql)
				}
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func testBatch(t *testing.T) arrow.RecordBatch {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 10, Scale: 5}, Nullable: true},
	}, nil)
	b, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(
		`[{"n":1,"name":"a,\"b\"","at":"2026-01-02 03:04:05","price":"0.00010"},{"n":null,"name":null,"at":null,"price":null}]`))
	require.NoError(t, err)
	return b
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"csv":   "n,name,at,price\n1,\"a,\"\"b\"\"\",2026-01-02 03:04:05,0.00010\n,,,\n",
		"table": "   n  name   at                     price\n----  -----  -------------------  -------\n   1  a,\"b\"  2026-01-02 03:04:05  0.00010\nNULL  NULL   NULL                    NULL\n(2 rows)\n",
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			batch := testBatch(t)
			defer batch.Release()
			w := newRowWriter(format, &out)
			require.NoError(t, w.begin(batch.Schema()))
			require.NoError(t, w.write(batch))
			require.NoError(t, w.end())
			require.Equal(t, want, out.String())
		})
	}
}

func TestFormatJSONAndArrow(t *testing.T) {
	t.Parallel()
	batch := testBatch(t)
	defer batch.Release()
	var text strings.Builder
	require.NoError(t, newRowWriter("json", &text).write(batch))
	require.Equal(t, 2, strings.Count(text.String(), "\n"))

	var raw strings.Builder
	w := newRowWriter("arrow", &raw)
	require.NoError(t, w.begin(batch.Schema()))
	require.NoError(t, w.write(batch))
	require.NoError(t, w.end())
	r, err := ipc.NewReader(strings.NewReader(raw.String()))
	require.NoError(t, err)
	defer r.Release()
	require.True(t, r.Next())
	require.EqualValues(t, 2, r.RecordBatch().NumRows())
}

func TestTableStreamsBeyondTheFirstRows(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := &tableWriter{w: &out}
	batch := testBatch(t)
	defer batch.Release()
	require.NoError(t, w.begin(batch.Schema()))
	for range alignRows {
		require.NoError(t, w.write(batch))
	}
	require.NoError(t, w.end())
	require.Equal(t, 2*alignRows+3, strings.Count(out.String(), "\n"))
	require.Empty(t, w.head[alignRows:])
}
