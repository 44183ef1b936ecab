package flightsql

import (
	"context"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

// directLife is how long a scanner serves a ticket by itself: it cannot be told
// that a user's rights have changed. Later the coordinator serves the ticket.
const directLife = 15 * time.Minute

// directRead encodes what the scanner of a part serves itself, and where; nil
// when the coordinator must serve the part.
func (s *Server) directRead(ctx context.Context, st *query.Statement, p *plan.Part) (read []byte, location string, err error) {
	if s.secret == nil || encrypted(ctx) && !strings.HasPrefix(p.Location, "grpc+tls:") {
		return nil, "", nil // clients would send their credentials in plain text
	}
	d := st.Direct(ctx, p)
	if d == nil {
		return nil, "", nil
	}
	read, err = codec.EncodeDirect(d)
	return read, p.Location, err
}

// encrypted: the call came over TLS.
func encrypted(ctx context.Context) bool {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return false
	}
	_, ok = p.AuthInfo.(credentials.TLSInfo)
	return ok
}

// direct lets the endpoint of a part be read from its scanner. Clients that
// cannot reach it read the same ticket here.
func (s *Server) direct(h *handle, e *flight.FlightEndpoint) error {
	if h.Direct == nil || s.secret == nil {
		return nil
	}
	until := min(time.Until(time.Unix(h.Until, 0)), directLife)
	ticket, err := codec.AppendDirect(e.Ticket.Ticket, h.Direct, time.Now().Add(until), s.secret)
	if err != nil {
		return err
	}
	e.Ticket.Ticket = ticket
	e.Location = []*flight.Location{{Uri: h.Location}, {Uri: flight.LocationReuseConnection}}
	return nil
}
