package query

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query/params"
)

const (
	// maxRows and maxValueBytes bound what is bound to one statement: it
	// travels in the statement's handle.
	maxRows       = 1024
	maxValueBytes = 1 << 20
)

// unboundError is what planning a statement with parameters fails with; it says
// what is known of the statement without their values.
type unboundError struct {
	params []params.Param
	schema *arrow.Schema // nil when it depends on the values
}

func newUnboundError(sql string, bound *engine.Bound) error {
	ps := make([]params.Param, len(bound.Params))
	for i, name := range bound.Params {
		ps[i] = params.Param{Name: name, Type: bound.ParamTypes[i].Arrow, SQL: bound.ParamTypes[i].SQL}
	}
	ps, err := params.Sort(sql, ps)
	if err != nil {
		return err
	}
	return &unboundError{params: ps, schema: bound.Schema}
}

// Error asks for the values.
func (e *unboundError) Error() string { return e.Unwrap().Error() }

// Unwrap is the error as a status.
func (e *unboundError) Unwrap() error {
	return status.New(status.InvalidArgument,
		"the statement has parameters without values (%d): prepare it and bind a value to each", len(e.params))
}

// Unbound returns an error when the statement has parameters without values.
func (st *Statement) Unbound() error {
	if st.unbound == nil {
		return nil
	}
	return st.unbound
}

// Parameters is the schema of the values to bind to the statement, with the
// types that the engine infers; nil when it has no parameters.
func (st *Statement) Parameters() *arrow.Schema {
	if st.unbound == nil {
		return nil
	}
	return params.Schema(st.unbound.params)
}

// Is reports whether st is the plan of that text with those values and settings.
func (st *Statement) Is(sql string, rows [][]string, set Settings) bool {
	return st != nil && st.SQL == sql && st.Settings == set && slices.EqualFunc(st.rows, rows, slices.Equal)
}

// describe makes st a statement that waits for its parameters. Result types
// that depend on the values are those for values of the inferred types.
func (s *Service) describe(ctx context.Context, st *Statement, unbound *unboundError) {
	st.unbound, st.plan = unbound, nil
	if st.Command.Kind == Explain {
		st.Schema = textSchema("plan")
		return
	}
	if unbound.schema != nil {
		st.Schema = newEdge(unbound.schema, st.Settings.ResultTypes).schema
		return
	}
	sql, err := params.Substitute(st.Command.SQL, params.Nulls(unbound.params))
	if err != nil {
		return
	}
	guess := &Statement{Command: Command{Kind: Select, SQL: sql}, Settings: st.Settings}
	if s.plan(ctx, guess) == nil {
		st.Schema = guess.Schema
	}
}

// Values reads the values to bind to a statement: a literal for each
// parameter, row by row. A statement without parameters takes no columns.
func (s *Service) Values(ctx context.Context, sql string, set Settings, next func() (arrow.RecordBatch, error)) ([][]string, error) {
	st, err := s.Prepare(ctx, sql, set)
	if err != nil {
		return nil, err
	}
	var ps []params.Param
	if st.unbound != nil {
		ps = st.unbound.params
	}
	var rows [][]string
	size := 0
	for {
		batch, err := next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		more, err := literals(ps, batch, maxRows-len(rows))
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
		if size += sizeOf(more); size > maxValueBytes {
			return nil, status.New(status.InvalidArgument, "the values of the parameters take more than %d bytes", maxValueBytes)
		}
	}
	if len(ps) == 0 {
		return nil, nil
	}
	if len(rows) == 0 {
		return nil, status.New(status.InvalidArgument, "the statement has parameters (%d); no row of values is bound", len(ps))
	}
	return rows, nil
}

func literals(ps []params.Param, batch arrow.RecordBatch, room int) ([][]string, error) {
	if batch.NumRows() > int64(room) {
		return nil, status.New(status.InvalidArgument, "up to %d rows of values can be bound to a statement", maxRows)
	}
	return params.Literals(ps, batch)
}

func sizeOf(rows [][]string) int {
	n := 0
	for _, row := range rows {
		for _, v := range row {
			n += len(v)
		}
	}
	return n
}

// PrepareBound plans a statement with values for its parameters, which Values
// returned. With several rows its result is that of each row, one after the
// other.
func (s *Service) PrepareBound(ctx context.Context, sql string, rows [][]string, set Settings) (*Statement, error) {
	if len(rows) == 0 {
		return s.Prepare(ctx, sql, set)
	}
	text, err := params.Substitute(sql, rows[0])
	if err != nil {
		return nil, err
	}
	st, err := s.prepare(ctx, text, set)
	if err != nil {
		s.refused(ctx, sql, true, err)
		return nil, err
	}
	st.SQL, st.rows = sql, rows
	return st, nil
}

// repeated runs a statement once for each row of values.
type repeated struct {
	service *Service
	ctx     context.Context
	st      *Statement
	rows    [][]string // still to run
	stream  Stream
}

// Schema is that of the first row, which all others must have.
func (r *repeated) Schema() *arrow.Schema { return r.st.Schema }

// QueryID is the id of the present row's query.
func (r *repeated) QueryID() string {
	if q, ok := r.stream.(interface{ QueryID() string }); ok {
		return q.QueryID()
	}
	return ""
}

// Next returns the next batch of the present row or of the next one.
func (r *repeated) Next(ctx context.Context) (arrow.RecordBatch, error) {
	for {
		batch, err := r.stream.Next(ctx)
		if !errors.Is(err, io.EOF) || len(r.rows) == 0 {
			return batch, err
		}
		if err := r.advance(); err != nil {
			return nil, err
		}
	}
}

func (r *repeated) advance() error {
	if err := r.stream.Close(); err != nil {
		return err
	}
	st, err := r.service.PrepareBound(r.ctx, r.st.SQL, r.rows[:1], r.st.Settings)
	if err != nil {
		return err
	}
	r.rows = r.rows[1:]
	if !st.Schema.Equal(r.st.Schema) {
		return status.New(status.InvalidArgument, "the values bound yield %s for one row and %s for another", r.st.Schema, st.Schema)
	}
	stream, err := r.service.Execute(r.ctx, st)
	if err == nil {
		r.stream = stream
	}
	return err
}

// Close ends the present row's query.
func (r *repeated) Close() error { return r.stream.Close() }
