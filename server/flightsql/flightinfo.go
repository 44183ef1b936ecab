package flightsql

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tributary-db/tributary/pushdown/status"
)

// flightInfo plans a statement under the session's present settings and
// describes the result. The ticket has an id of its own, which finds the plan
// and the running query.
func (s *Server) flightInfo(ctx context.Context, h handle, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	sess := s.session(ctx)
	set := sess.Settings()
	st, err := s.plan(ctx, h, set)
	if err != nil {
		return nil, err
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
	h = handle{SQL: h.SQL, Rows: h.Rows, Settings: set, ID: newID()}
	endpoint, err := s.endpoint(ctx, &h)
	if err != nil {
		return nil, err
	}
	s.prepared.put(h.ID, st, 1)
	info.Endpoint = []*flight.FlightEndpoint{endpoint}
	return info, nil
}

// endpoint is where the rows of h are fetched, for as long as it says.
func (s *Server) endpoint(ctx context.Context, h *handle) (*flight.FlightEndpoint, error) {
	raw, err := s.handles.ticket(ctx, h)
	if err != nil {
		return nil, err
	}
	ticket, err := flightsql.CreateStatementQueryTicket(raw)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "cannot make a ticket")
	}
	return &flight.FlightEndpoint{
		Ticket:         &flight.Ticket{Ticket: ticket},
		ExpirationTime: timestamppb.New(time.Unix(h.Until, 0)),
	}, nil
}

// RenewFlightEndpoint answers with a ticket for the same rows that lives from
// now on. One that has expired stays so.
func (s *Server) RenewFlightEndpoint(ctx context.Context, req *flight.RenewFlightEndpointRequest) (*flight.FlightEndpoint, error) {
	raw, ok := statementHandle(req.GetEndpoint().GetTicket())
	if !ok {
		return nil, status.New(status.InvalidArgument, "only tickets of statements expire and can be renewed")
	}
	h, err := s.handles.decode(ctx, raw)
	if err != nil {
		return nil, err
	}
	renewed, err := s.endpoint(ctx, &h)
	if err != nil {
		return nil, err
	}
	renewed.Location, renewed.AppMetadata = req.GetEndpoint().GetLocation(), req.GetEndpoint().GetAppMetadata()
	return renewed, nil
}
