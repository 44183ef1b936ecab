package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// GetFlightInfoStatement plans a statement; SET and the like take effect here,
// once, and have an empty result.
func (s *Server) GetFlightInfoStatement(ctx context.Context, cmd flightsql.StatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return s.flightInfo(ctx, cmd.GetQuery(), newID(), desc)
}

// GetSchemaStatement plans a statement for its schema.
func (s *Server) GetSchemaStatement(ctx context.Context, cmd flightsql.StatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return s.schemaOf(ctx, cmd.GetQuery())
}

// CreatePreparedStatement plans a statement and returns its schema.
func (s *Server) CreatePreparedStatement(ctx context.Context, req flightsql.ActionCreatePreparedStatementRequest) (flightsql.ActionCreatePreparedStatementResult, error) {
	set := s.session(ctx).Settings()
	st, err := s.service.Prepare(ctx, req.GetQuery(), set)
	if err != nil {
		return flightsql.ActionCreatePreparedStatementResult{}, err
	}
	h := handle{Version: handleVersion, SQL: st.SQL, Settings: set, ID: newID()}
	raw, err := s.handles.encode(h)
	if err != nil {
		return flightsql.ActionCreatePreparedStatementResult{}, err
	}
	s.prepared.put(h.ID, st)
	update := !st.Command.ReadsRows()
	return flightsql.ActionCreatePreparedStatementResult{Handle: raw, DatasetSchema: st.Schema, IsUpdate: &update}, nil
}

// ClosePreparedStatement forgets the plan of a handle.
func (s *Server) ClosePreparedStatement(_ context.Context, req flightsql.ActionClosePreparedStatementRequest) error {
	h, err := s.handles.decode(req.GetPreparedStatementHandle())
	if err == nil {
		s.prepared.take(h.ID)
	}
	return err
}

// GetFlightInfoPreparedStatement is GetFlightInfoStatement for a handle.
func (s *Server) GetFlightInfoPreparedStatement(ctx context.Context, cmd flightsql.PreparedStatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	h, err := s.handles.decode(cmd.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	return s.flightInfo(ctx, h.SQL, h.ID, desc)
}

// GetSchemaPreparedStatement is GetSchemaStatement for a handle.
func (s *Server) GetSchemaPreparedStatement(ctx context.Context, cmd flightsql.PreparedStatementQuery, _ *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	h, err := s.handles.decode(cmd.GetPreparedStatementHandle())
	if err != nil {
		return nil, err
	}
	return s.schemaOf(ctx, h.SQL)
}

// DoPutPreparedStatementQuery binds parameters, of which there are none.
func (s *Server) DoPutPreparedStatementQuery(_ context.Context, cmd flightsql.PreparedStatementQuery, params flight.MessageReader, _ flight.MetadataWriter) ([]byte, error) {
	return cmd.GetPreparedStatementHandle(), refuseParameters(params)
}

// DoPutPreparedStatementUpdate runs SET and the like from a handle.
func (s *Server) DoPutPreparedStatementUpdate(ctx context.Context, cmd flightsql.PreparedStatementUpdate, params flight.MessageReader) (int64, error) {
	h, err := s.handles.decode(cmd.GetPreparedStatementHandle())
	if err != nil {
		return 0, err
	}
	if err := refuseParameters(params); err != nil {
		return 0, err
	}
	return 0, s.update(ctx, h.SQL)
}

// DoPutCommandStatementUpdate runs SET and the like.
func (s *Server) DoPutCommandStatementUpdate(ctx context.Context, cmd flightsql.StatementUpdate) (int64, error) {
	return 0, s.update(ctx, cmd.GetQuery())
}

func (s *Server) update(ctx context.Context, sql string) error {
	cmd, err := query.Classify(sql)
	if err != nil {
		return err
	}
	if cmd.ReadsRows() {
		return status.New(status.InvalidArgument, "this statement yields rows: execute it as a query, not as an update")
	}
	return s.service.Apply(s.session(ctx), cmd)
}

func refuseParameters(params flight.MessageReader) error {
	if params != nil && params.Schema() != nil && params.Schema().NumFields() > 0 {
		return status.New(status.Unimplemented, "bound parameters are not supported; write the values into the statement")
	}
	return nil
}

func (s *Server) schemaOf(ctx context.Context, sql string) (*flight.SchemaResult, error) {
	st, err := s.service.Prepare(ctx, sql, s.session(ctx).Settings())
	if err != nil {
		return nil, err
	}
	return &flight.SchemaResult{Schema: flight.SerializeSchema(st.Schema, s.Alloc)}, nil
}

// flightInfo plans sql under the session's present settings, keeps the plan
// under id, and describes the result.
func (s *Server) flightInfo(ctx context.Context, sql, id string, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	sess := s.session(ctx)
	set := sess.Settings()
	st := s.prepared.take(id)
	if st == nil || st.Settings != set {
		var err error
		if st, err = s.service.Prepare(ctx, sql, set); err != nil {
			return nil, err
		}
	}
	info := &flight.FlightInfo{
		Schema:           flight.SerializeSchema(st.Schema, s.Alloc),
		FlightDescriptor: desc,
		TotalRecords:     -1,
		TotalBytes:       -1,
	}
	if !st.Command.ReadsRows() {
		info.TotalRecords = 0
		return info, s.service.Apply(sess, st.Command)
	}
	raw, err := s.handles.encode(handle{Version: handleVersion, SQL: sql, Settings: set, ID: id})
	if err != nil {
		return nil, err
	}
	ticket, err := flightsql.CreateStatementQueryTicket(raw)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "cannot make a ticket")
	}
	s.prepared.put(id, st)
	info.Endpoint = []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}}
	return info, nil
}

// run starts the statement of a handle.
func (s *Server) run(ctx context.Context, raw []byte) (query.Stream, error) {
	h, err := s.handles.decode(raw)
	if err != nil {
		return nil, err
	}
	st := s.prepared.take(h.ID)
	if st == nil || st.Settings != h.Settings {
		if st, err = s.service.Prepare(ctx, h.SQL, h.Settings); err != nil {
			return nil, err
		}
	}
	if !st.Command.ReadsRows() {
		return nil, status.New(status.InvalidArgument, "this statement yields no rows")
	}
	return s.service.Execute(ctx, st)
}
