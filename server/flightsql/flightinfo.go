package flightsql

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// flightInfo plans a statement under the session's present settings and
// describes the result. The ticket has an id of its own, which finds the plan
// and the running query.
func (s *Server) flightInfo(ctx context.Context, h handle, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	set, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
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
		return info, s.apply(ctx, st.Command)
	}
	if err := s.offer(ctx); err != nil {
		return nil, err
	}
	info.Endpoint, err = s.endpoints(ctx, handle{SQL: h.SQL, Rows: h.Rows, Settings: set}, st)
	return info, err
}

// endpoints are one for all rows, or, when the session asks for it, several for
// parts of them.
func (s *Server) endpoints(ctx context.Context, h handle, st *query.Statement) ([]*flight.FlightEndpoint, error) {
	parts, why := st.Parts()
	if why != nil {
		s.log.Debug().Err(why).Msg("one endpoint")
	}
	if len(parts) == 0 {
		h.ID, h.Schema = newID(), s.fingerprint(st)
		s.prepared.put(h.ID, st, 1)
		endpoint, err := s.endpoint(ctx, &h)
		return []*flight.FlightEndpoint{endpoint}, err
	}
	endpoints := make([]*flight.FlightEndpoint, len(parts))
	for i := range parts {
		var err error
		h.ID, h.Rows = newID(), nil // the part has the values in its place
		if h.Part, err = query.EncodePart(&parts[i]); err != nil {
			return nil, err
		}
		if h.Direct, h.Location, err = s.directRead(ctx, st, &parts[i]); err != nil {
			return nil, err
		}
		if endpoints[i], err = s.endpoint(ctx, &h); err != nil {
			return nil, err
		}
	}
	return endpoints, nil
}

// fingerprint tells the schema of a statement from any other.
func (s *Server) fingerprint(st *query.Statement) []byte {
	sum := sha256.Sum256(flight.SerializeSchema(st.Schema, s.Alloc))
	return sum[:8]
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
	endpoint := &flight.FlightEndpoint{
		Ticket:         &flight.Ticket{Ticket: ticket},
		ExpirationTime: timestamppb.New(time.Unix(h.Until, 0)),
	}
	return endpoint, s.direct(h, endpoint)
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
	renewed.AppMetadata = req.GetEndpoint().GetAppMetadata()
	return renewed, nil
}
