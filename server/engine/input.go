package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// Input is one set of rows that a query reads as remote('id').
type Input interface {
	// Schema is the schema of all columns of the input.
	Schema() *arrow.Schema
	// Rows is the number of rows, or an estimate; -1 when unknown.
	Rows() (n int64, exact bool)
	// Open starts reading the given columns (indexes into Schema, at least one).
	// A query that uses the input twice opens it twice. The context ends with
	// the query.
	Open(ctx context.Context, columns []int) (Reader, error)
}

// Reader yields the batches of an opened input.
type Reader interface {
	// Next returns the next batch, with the opened columns in the order asked
	// for, or io.EOF. The caller releases the batch. Next is called from several
	// threads at once, and may block until ctx ends.
	Next(ctx context.Context) (arrow.RecordBatch, error)
	// Close ends the reading. It is called exactly once, when no Next runs.
	Close() error
}
