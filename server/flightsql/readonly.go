package flightsql

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"

	"github.com/tributary-db/tributary/pushdown/status"
)

// transaction is the id of every transaction: there is nothing to keep of one,
// so that any coordinator knows it.
const transaction = "read-only"

// BeginTransaction accepts: every statement only reads one snapshot anyway,
// and DB-API clients warn without it.
func (s *Server) BeginTransaction(context.Context, flightsql.ActionBeginTransactionRequest) ([]byte, error) {
	return []byte(transaction), nil
}

// EndTransaction accepts a commit or a rollback, which have nothing to do.
func (s *Server) EndTransaction(_ context.Context, req flightsql.ActionEndTransactionRequest) error {
	if len(req.GetTransactionId()) == 0 {
		return status.New(status.InvalidArgument, "the id of the transaction to end is missing")
	}
	return knownTransaction(req.GetTransactionId())
}

// knownTransaction refuses the id of a transaction that was never begun.
func knownTransaction(id []byte) error {
	if len(id) == 0 || string(id) == transaction {
		return nil
	}
	return status.New(status.NotFound, "there is no such transaction; begin one first")
}

// DoPutCommandStatementIngest refuses before anything is uploaded.
func (s *Server) DoPutCommandStatementIngest(context.Context, flightsql.StatementIngest, flight.MessageReader) (int64, error) {
	return 0, status.New(status.Unimplemented, "bulk ingest is not supported: Tributary is read-only; give a scanner the files of the table")
}
