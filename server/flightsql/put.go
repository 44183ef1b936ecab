package flightsql

import (
	"github.com/apache/arrow-go/v18/arrow/flight"

	"github.com/tributary-db/tributary/pushdown/status"
)

// DoPut refuses an upload that does not begin with its command, which the
// Flight library takes for granted.
func (f *flightService) DoPut(stream flight.FlightService_DoPutServer) error {
	first, err := stream.Recv()
	if err != nil || len(first.GetFlightDescriptor().GetCmd()) == 0 {
		return status.New(status.InvalidArgument, "an upload begins with a descriptor that has a command")
	}
	return f.FlightServer.DoPut(&putStream{FlightService_DoPutServer: stream, first: first})
}

// putStream gives back the message that was read first.
type putStream struct {
	flight.FlightService_DoPutServer
	first *flight.FlightData
}

func (p *putStream) Recv() (*flight.FlightData, error) {
	if first := p.first; first != nil {
		p.first = nil
		return first, nil
	}
	return p.FlightService_DoPutServer.Recv()
}
