package duckdb

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// describe returns the columns of a relation by binding a statement over it,
// which reads no rows.
func (e *Engine) describe(ctx context.Context, from string) ([]column, error) {
	conn, err := e.acquire()
	if err != nil {
		return nil, err
	}
	g := guard(ctx, conn)
	defer func() { e.release(conn, g.disarm()) }()
	var stmt bind.PreparedStatement
	defer bind.DestroyPrepare(&stmt)
	if bind.Prepare(conn, "SELECT * FROM "+from, &stmt) != bind.StateSuccess {
		return nil, engineError(ctx, bind.PrepareError(stmt))
	}
	columns := make([]column, bind.PreparedStatementColumnCount(stmt))
	for i := range columns {
		if columns[i], err = describeColumn(stmt, bind.IdxT(i)); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

func describeColumn(stmt bind.PreparedStatement, i bind.IdxT) (column, error) {
	t := bind.PreparedStatementColumnLogicalType(stmt, i)
	defer bind.DestroyLogicalType(&t)
	return columnOf(bind.PreparedStatementColumnName(stmt, i), t)
}

// queryOne runs a statement that yields one row of one column of the given
// type, and passes the column to get.
func (e *Engine) queryOne(ctx context.Context, sql string, t arrow.DataType, get func(arrow.Array)) error {
	schema := arrow.NewSchema([]arrow.Field{{Name: "value", Type: t, Nullable: true}}, nil)
	r, err := e.query(ctx, sql, schema)
	if err != nil {
		return err
	}
	defer r.Close()
	batch, err := r.Next(ctx)
	if err == io.EOF || err == nil && (batch.NumRows() == 0 || batch.Column(0).IsNull(0)) {
		return status.New(status.Internal, "no value from %s", sql)
	}
	if err != nil {
		return err
	}
	defer batch.Release()
	get(batch.Column(0))
	return nil
}

func (e *Engine) queryInt(ctx context.Context, sql string) (n int64, err error) {
	err = e.queryOne(ctx, sql, arrow.PrimitiveTypes.Int64, func(a arrow.Array) { n = a.(*array.Int64).Value(0) })
	return n, err
}

func (e *Engine) queryText(ctx context.Context, sql string) (s string, err error) {
	err = e.queryOne(ctx, sql, arrow.BinaryTypes.String, func(a arrow.Array) { s = string([]byte(a.(*array.String).Value(0))) })
	return s, err
}
