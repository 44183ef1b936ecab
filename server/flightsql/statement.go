package flightsql

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// GetFlightInfoStatement plans a statement; SET and the like take effect here,
// once, and have an empty result.
func (s *Server) GetFlightInfoStatement(ctx context.Context, cmd flightsql.StatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	if err := knownTransaction(cmd.GetTransactionId()); err != nil {
		return nil, err
	}
	return s.flightInfo(ctx, handle{SQL: cmd.GetQuery()}, desc)
}

// GetSchemaStatement plans a statement for its schema.
func (s *Server) GetSchemaStatement(ctx context.Context, cmd flightsql.StatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return s.schemaOf(ctx, handle{SQL: cmd.GetQuery()})
}

// CreatePreparedStatement plans a statement and returns its schema and that of
// its parameters.
func (s *Server) CreatePreparedStatement(ctx context.Context, req flightsql.ActionCreatePreparedStatementRequest) (flightsql.ActionCreatePreparedStatementResult, error) {
	if err := knownTransaction(req.GetTransactionId()); err != nil {
		return flightsql.ActionCreatePreparedStatementResult{}, err
	}
	set, err := s.settings(ctx)
	if err != nil {
		return flightsql.ActionCreatePreparedStatementResult{}, err
	}
	st, err := s.service.Prepare(ctx, req.GetQuery(), set)
	if err != nil {
		return flightsql.ActionCreatePreparedStatementResult{}, err
	}
	h := handle{SQL: st.SQL, Settings: set, ID: newID()}
	raw, err := s.handles.prepared(ctx, &h)
	if err != nil {
		return flightsql.ActionCreatePreparedStatementResult{}, err
	}
	if st.Unbound() == nil {
		s.prepared.put(h.ID, st, 1)
	}
	update := !st.Command.ReadsRows()
	return flightsql.ActionCreatePreparedStatementResult{
		Handle: raw, DatasetSchema: st.Schema, ParameterSchema: parameterSchema(ctx, st.Parameters()), IsUpdate: &update,
	}, nil
}

// ClosePreparedStatement forgets the plan and the values of a handle, and
// refuses it from now on.
func (s *Server) ClosePreparedStatement(ctx context.Context, req flightsql.ActionClosePreparedStatementRequest) error {
	h, err := s.handles.decodeAny(ctx, req.GetPreparedStatementHandle())
	if err == nil {
		s.prepared.take(h.ID)
		s.bound.take(h.ID)
		s.closed.put(h.ID, true, 1)
	}
	return err
}

// GetFlightInfoPreparedStatement is GetFlightInfoStatement for a handle.
func (s *Server) GetFlightInfoPreparedStatement(ctx context.Context, cmd flightsql.PreparedStatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	h, err := s.boundHandle(ctx, cmd.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	return s.flightInfo(ctx, h, desc)
}

// GetSchemaPreparedStatement is GetSchemaStatement for a handle.
func (s *Server) GetSchemaPreparedStatement(ctx context.Context, cmd flightsql.PreparedStatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	h, err := s.boundHandle(ctx, cmd.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	return s.schemaOf(ctx, h)
}

// DoPutPreparedStatementUpdate runs SET and the like from a handle.
func (s *Server) DoPutPreparedStatementUpdate(ctx context.Context, cmd flightsql.PreparedStatementUpdate, params flight.MessageReader) (int64, error) {
	h, err := s.openHandle(ctx, cmd.GetPreparedStatementHandle())
	if err != nil {
		return 0, err
	}
	if err := s.update(ctx, h.SQL, params.Schema() != nil && params.Schema().NumFields() > 0); err != nil {
		return 0, err
	}
	return 0, nil
}

// DoPutCommandStatementUpdate runs SET and the like.
func (s *Server) DoPutCommandStatementUpdate(ctx context.Context, cmd flightsql.StatementUpdate) (int64, error) {
	if err := knownTransaction(cmd.GetTransactionId()); err != nil {
		return 0, err
	}
	return 0, s.update(ctx, cmd.GetQuery(), false)
}

// update runs a statement that yields no rows. Clients also send a query with
// several rows of values this way, which has no result to carry its rows.
func (s *Server) update(ctx context.Context, sql string, values bool) error {
	cmd, err := query.Classify(sql)
	if err != nil {
		return err
	}
	if cmd.ReadsRows() {
		return status.New(status.InvalidArgument,
			"this statement yields rows: execute it as a query, not as an update (execute, not executemany, in Python)")
	}
	if values {
		return status.New(status.InvalidArgument, "the statement has no parameters; write the value into it")
	}
	return s.apply(ctx, cmd)
}

func (s *Server) schemaOf(ctx context.Context, h handle) (*flight.SchemaResult, error) {
	set, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	st, err := s.service.PrepareBound(ctx, h.SQL, h.Rows, set)
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(st.Schema, s.Alloc)}, nil
}

// plan returns the plan that is kept for h, or makes it anew.
func (s *Server) plan(ctx context.Context, h handle, set query.Settings) (*query.Statement, error) {
	if h.Part != nil {
		return s.service.PreparePart(ctx, h.SQL, h.Part, set)
	}
	st := s.prepared.take(h.ID)
	if !st.Is(h.SQL, h.Rows, set) {
		var err error
		if st, err = s.service.PrepareBound(ctx, h.SQL, h.Rows, set); err != nil {
			return nil, err
		}
	}
	return st, st.Unbound()
}

// run starts the statement of a handle.
func (s *Server) run(ctx context.Context, h handle) (query.Stream, error) {
	st, err := s.plan(ctx, h, h.Settings)
	if err != nil {
		return nil, err
	}
	switch {
	case !st.Command.ReadsRows():
		return nil, status.New(status.InvalidArgument, "this statement yields no rows")
	case h.Schema != nil && !bytes.Equal(h.Schema, s.fingerprint(st)):
		return nil, status.New(status.FailedPrecondition, "the tables of this statement changed since it was planned; execute it again")
	}
	return s.service.Execute(ctx, st)
}
