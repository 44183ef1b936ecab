package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
)

// ShadowTable is an empty table that stands for a federated one in planning.
type ShadowTable struct {
	Schema, Name string
	Arrow        *arrow.Schema
}

// Bound is a statement after parsing, binding and the standard rewrites.
type Bound struct {
	// PlanJSON is what json_serialize_plan gave: {"error":false,"plans":[…]}.
	PlanJSON []byte
	// Schema has the result's names and Arrow types.
	Schema *arrow.Schema
	// SQLTypes are the result's DuckDB types, as SQL text.
	SQLTypes []string
	// Params are the names of the statement's parameters ("1", "2", … for ?).
	Params []string
}

// BinderConfig bounds what planning a statement may cost; zero values mean the defaults.
type BinderConfig struct {
	// MaxSQLBytes is the longest statement accepted (1 MiB).
	MaxSQLBytes int
	// MaxDepth is the deepest nesting of brackets accepted (200).
	MaxDepth int
	// Connections is the number of statements bound at once (4).
	Connections int
}

// Binder parses and binds statements against shadow tables.
type Binder struct{}

// NewBinder opens the planning instance; at most one config is used.
func NewBinder(cfg ...BinderConfig) (*Binder, error) { return nil, errTODO }

// Sync makes the given tables the ones that statements bind against. It is
// idempotent per version and may run while statements are bound.
func (b *Binder) Sync(ctx context.Context, version uint64, tables []ShadowTable) error {
	return errTODO
}

// Bind parses and binds one SELECT-like statement.
func (b *Binder) Bind(ctx context.Context, sql string) (*Bound, error) { return nil, errTODO }

// Run runs a statement that reads no rows of federated tables, such as SHOW
// TABLES, DESCRIBE or a SELECT over information_schema.
func (b *Binder) Run(ctx context.Context, sql string) (*Result, error) { return nil, errTODO }

// Close frees the planning instance.
func (b *Binder) Close() error { return errTODO }
