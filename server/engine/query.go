package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown/status"
)

var errTODO = status.New(status.Unimplemented, "engine: not yet")

// Query is one statement for a [Pool].
type Query struct {
	// SQL is one SELECT-like statement; it reads inputs as remote('id').
	SQL string
	// Inputs by id.
	Inputs map[string]Input
	// Views to create for the statement, for SQL that names tables itself.
	Views []View
	// Threads and MemoryLimit override the pool's when not zero.
	Threads     int
	MemoryLimit int64
	// Schema, when set, gives the result's field names, nullability and
	// metadata; the types must be those that the statement yields.
	Schema *arrow.Schema
	// Alloc allocates the result's batches; nil means Go's heap.
	Alloc memory.Allocator
}

// View makes schema.name readable in a query's SQL.
type View struct {
	Schema, Name string
	// Input is the id of the input whose rows the view has.
	Input string
}

// Result streams the rows of a query.
type Result struct{}

// Run starts a query. The result must be closed; it ends early when ctx does.
func (p *Pool) Run(ctx context.Context, q Query) (*Result, error) { return nil, errTODO }

// Schema of the batches.
func (r *Result) Schema() *arrow.Schema { return nil }

// Next returns the next batch, or io.EOF after the last. The caller releases it.
func (r *Result) Next(ctx context.Context) (arrow.RecordBatch, error) { return nil, errTODO }

// Close interrupts the query when it still runs, and frees what it holds.
func (r *Result) Close() error { return errTODO }
