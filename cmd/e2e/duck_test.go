package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/server/engine"
)

// duck runs SQL in the embedded engine, to make data and to print values as
// DuckDB prints them.
type duck struct{ pool *engine.Pool }

func newDuck(t *testing.T) *duck {
	t.Helper()
	pool, err := engine.New(engine.Config{Warm: 2, Threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return &duck{pool}
}

func (d *duck) query(sql string, inputs map[string]engine.Input) (*result, error) {
	ctx := context.Background()
	res, err := d.pool.Run(ctx, engine.Query{SQL: sql, Inputs: inputs})
	if err != nil {
		return nil, err
	}
	r := &result{schema: res.Schema()}
	for {
		b, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return r, res.Close()
		}
		if err != nil {
			r.release()
			return nil, errors.Join(err, res.Close())
		}
		r.batches = append(r.batches, b)
	}
}

// rows are those of a statement that must succeed.
func (d *duck) rows(t *testing.T, sql string) *result {
	t.Helper()
	r, err := d.query(sql, nil)
	require.NoError(t, err, sql)
	return r
}

// text returns the cells of r as CAST(… AS VARCHAR) prints them, nil for NULL.
func (d *duck) text(t *testing.T, r *result) [][]*string {
	t.Helper()
	if len(r.batches) == 0 {
		return nil
	}
	fields, casts := make([]arrow.Field, r.schema.NumFields()), make([]string, r.schema.NumFields())
	for i, f := range r.schema.Fields() {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: f.Type, Nullable: true}
		casts[i] = fmt.Sprintf("CAST(c%d AS VARCHAR)", i)
	}
	renamed := &result{schema: arrow.NewSchema(fields, nil)}
	defer renamed.release()
	for _, b := range r.batches {
		renamed.batches = append(renamed.batches, array.NewRecordBatch(renamed.schema, b.Columns(), b.NumRows()))
	}
	out, err := d.query("SELECT "+strings.Join(casts, ", ")+" FROM remote('r')", map[string]engine.Input{"r": fixed{renamed}})
	require.NoError(t, err)
	defer out.release()
	return cells(out)
}

func cells(r *result) (rows [][]*string) {
	for _, b := range r.batches {
		for i := range int(b.NumRows()) {
			row := make([]*string, b.NumCols())
			for j, col := range b.Columns() {
				if col.IsValid(i) {
					s := strings.Clone(col.(*array.String).Value(i))
					row[j] = &s
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func project(b arrow.RecordBatch, columns []int) arrow.RecordBatch {
	if columns == nil {
		b.Retain()
		return b
	}
	var fields []arrow.Field
	var cols []arrow.Array
	for _, i := range columns {
		fields = append(fields, b.Schema().Field(i))
		cols = append(cols, b.Column(i))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, b.NumRows())
}
