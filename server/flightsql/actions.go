package flightsql

import (
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
)

// actions are those that DoAction carries out, in the order of ListActions.
var actions = [...]struct{ name, description string }{
	{flightsql.CreatePreparedStatementActionType, "Plans a statement, to be executed with values for its parameters."},
	{flightsql.ClosePreparedStatementActionType, "Forgets a prepared statement."},
	{flightsql.BeginTransactionActionType, "Accepted; every statement only reads."},
	{flightsql.EndTransactionActionType, "Accepted; there is nothing to commit or to roll back."},
	{flight.CancelFlightInfoActionType, "Stops the queries that run for a FlightInfo and refuses its tickets from then on."},
	{flightsql.CancelQueryActionType, "The same for older clients."},
	{flight.RenewFlightEndpointActionType, "Answers with a ticket for the same rows that lives from now on."},
	{flight.SetSessionOptionsActionType, "Changes settings of the session."},
	{flight.GetSessionOptionsActionType, "Returns the settings of the session."},
	{flight.CloseSessionActionType, "Restores the defaults of all settings."},
}

// ListActions lists what DoAction carries out. The library's own list lacks the
// session actions and has those that are refused.
func (f *flightService) ListActions(_ *flight.Empty, stream flight.FlightService_ListActionsServer) error {
	for _, a := range actions {
		if err := stream.Send(&flight.ActionType{Type: a.name, Description: a.description}); err != nil {
			return err
		}
	}
	return nil
}
