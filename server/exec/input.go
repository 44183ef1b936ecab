package exec

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/server/engine"
)

var _ engine.Input = (*input)(nil)

// input lets the engine read a remoteScan.
type input struct {
	scan   *remoteScan
	schema *arrow.Schema
}

// newInput names the columns c0, c1, … as the residual SQL does, or as the
// table does for the original SQL.
func newInput(s *remoteScan, tableNames bool) *input {
	if tableNames {
		return &input{scan: s, schema: s.schema}
	}
	fields := s.schema.Fields()
	for i := range fields {
		fields[i].Name = fmt.Sprintf("c%d", i)
	}
	return &input{scan: s, schema: arrow.NewSchema(fields, nil)}
}

// Schema is the schema of the scan's output.
func (in *input) Schema() *arrow.Schema { return in.schema }

// Rows estimates the number of rows, -1 when there is no telling. It is never
// exact: the catalog may be older than the data.
func (in *input) Rows() (n int64, exact bool) {
	spec := &in.scan.plan.Spec
	targets := int64(max(len(in.scan.plan.Targets), 1))
	switch {
	case spec.Grouped() && len(spec.GroupBy) == 0:
		return targets, false
	case len(spec.Lookups) > 0:
		return in.scan.plan.EstimatedRows(), false
	case spec.Grouped():
		return in.scan.groups(), false
	}
	n = in.scan.passing()
	if spec.Limit != pushdown.NoLimit && (n < 0 || spec.Limit*targets < n) {
		n = spec.Limit * targets
	}
	return n, false
}

// Open starts the scan's streams.
func (in *input) Open(ctx context.Context, columns []int) (engine.Reader, error) {
	o, err := in.scan.open(ctx, columns)
	if err != nil {
		return nil, err
	}
	return &reader{open: o, schema: in.columns(columns)}, nil
}

// columns is the schema of some columns.
func (in *input) columns(columns []int) *arrow.Schema {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = in.schema.Field(c)
	}
	return arrow.NewSchema(fields, nil)
}

// reader renames the batches of an open scan.
type reader struct {
	open   *openScan
	schema *arrow.Schema
}

// Next returns the next batch or io.EOF.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := r.open.next(ctx)
	if err != nil {
		return nil, err
	}
	defer batch.Release()
	return array.NewRecordBatch(r.schema, batch.Columns(), batch.NumRows()), nil
}

// Close stops the streams.
func (r *reader) Close() error {
	r.open.close()
	return nil
}
