package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/pushdown/status"
)

// What a client may ask for by the protocol and a read-only server does not do.
// Each refusal says what there is instead.

func refuseSubstrait() error {
	return status.New(status.Unimplemented, "Substrait plans are not supported: send the statement as SQL")
}

func refuseSavepoint() error {
	return status.New(status.Unimplemented, "savepoints are not supported: Tributary is read-only, and there is nothing to roll back to")
}

// BeginSavepoint refuses.
func (s *Server) BeginSavepoint(context.Context, flightsql.ActionBeginSavepointRequest) ([]byte, error) {
	return nil, refuseSavepoint()
}

// EndSavepoint refuses.
func (s *Server) EndSavepoint(context.Context, flightsql.ActionEndSavepointRequest) error {
	return refuseSavepoint()
}

// CreatePreparedSubstraitPlan refuses.
func (s *Server) CreatePreparedSubstraitPlan(context.Context, flightsql.ActionCreatePreparedSubstraitPlanRequest) (flightsql.ActionCreatePreparedStatementResult, error) {
	return flightsql.ActionCreatePreparedStatementResult{}, refuseSubstrait()
}

// GetFlightInfoSubstraitPlan refuses.
func (s *Server) GetFlightInfoSubstraitPlan(context.Context, flightsql.StatementSubstraitPlan, *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	return nil, refuseSubstrait()
}

// GetSchemaSubstraitPlan refuses.
func (s *Server) GetSchemaSubstraitPlan(context.Context, flightsql.StatementSubstraitPlan, *flight.FlightDescriptor) (*flight.SchemaResult, error) {
	return nil, refuseSubstrait()
}

// PollFlightInfoSubstraitPlan refuses.
func (s *Server) PollFlightInfoSubstraitPlan(context.Context, flightsql.StatementSubstraitPlan, *flight.FlightDescriptor) (*flight.PollInfo, error) {
	return nil, refuseSubstrait()
}

// DoPutCommandSubstraitPlan refuses.
func (s *Server) DoPutCommandSubstraitPlan(context.Context, flightsql.StatementSubstraitPlan) (int64, error) {
	return 0, refuseSubstrait()
}
