package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/pushdown/status"
)

// polled is a FlightInfo that needs no further poll: nothing runs before its
// rows are fetched, so that they can be fetched at once.
func polled(info *flight.FlightInfo, err error) (*flight.PollInfo, error) {
	if err != nil {
		return nil, err
	}
	done := 1.0
	out := &flight.PollInfo{Info: info, Progress: &done}
	if len(info.Endpoint) > 0 {
		out.ExpirationTime = info.Endpoint[0].GetExpirationTime()
	}
	return out, nil
}

// PollFlightInfoStatement is GetFlightInfoStatement for clients that poll.
func (s *Server) PollFlightInfoStatement(ctx context.Context, cmd flightsql.StatementQuery, desc *flight.FlightDescriptor) (*flight.PollInfo, error) {
	return polled(s.GetFlightInfoStatement(ctx, cmd, desc))
}

// PollFlightInfoPreparedStatement is GetFlightInfoPreparedStatement for clients
// that poll.
func (s *Server) PollFlightInfoPreparedStatement(ctx context.Context, cmd flightsql.PreparedStatementQuery, desc *flight.FlightDescriptor) (*flight.PollInfo, error) {
	return polled(s.GetFlightInfoPreparedStatement(ctx, cmd, desc))
}

// PollFlightInfo refuses what is no statement.
func (s *Server) PollFlightInfo(context.Context, *flight.FlightDescriptor) (*flight.PollInfo, error) {
	return nil, status.New(status.InvalidArgument, "only statements and prepared statements can be polled; use GetFlightInfo")
}
