package engine

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Query is one statement for a [Pool].
type Query struct {
	// SQL is one SELECT-like statement; it reads inputs as remote('id').
	SQL string
	// Inputs by id.
	Inputs map[string]Input
	// Views to create for the statement, for SQL that names tables itself.
	Views []View
	// Threads and MemoryLimit override the pool's when not zero. Such a query
	// opens an instance of its own.
	Threads     int
	MemoryLimit int64
	// Schema, when set, gives the result's field names, nullability and
	// metadata; the types must be those that the statement yields.
	Schema *arrow.Schema
	// Alloc allocates the result's batches; nil means Go's heap.
	Alloc memory.Allocator
	// MaxRows is a number of rows that the statement is known not to exceed; 0 for
	// none. When that many were fetched, Enough is called: inputs may then end early.
	MaxRows int64
	Enough  func()
}

// View makes schema.name readable in a query's SQL.
type View struct {
	Schema, Name string
	// Input is the id of the input whose rows the view has.
	Input string
	// UUIDs are columns of text that the view has as UUID.
	UUIDs []string
}

func (p *Pool) limitsOf(q Query) limits {
	l := p.limits
	if q.Threads > 0 {
		l.threads = q.Threads
	}
	if q.MemoryLimit > 0 {
		l.memory = q.MemoryLimit
	}
	return l
}

// Run starts a query: the statement is bound, and executed by the first Next.
// The result must be closed; it ends early when ctx does.
func (p *Pool) Run(ctx context.Context, q Query) (*Result, error) {
	if ctx.Err() != nil {
		return nil, ctxError(ctx)
	}
	inst, err := p.acquire(ctx, p.limitsOf(q))
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancelCause(ctx)
	run := &running{ctx: runCtx, cancel: cancel, inputs: q.Inputs, threads: inst.limits.threads}
	inst.run.Store(run)
	r := &Result{run: run, conn: inst.conn, alloc: q.Alloc, interrupt: inst.interrupt, missing: q.MaxRows, enough: q.Enough}
	r.done = func(clean bool) {
		clean = clean && inst.dropViews(q.Views) == nil
		inst.run.Store(nil)
		p.finished(r, inst, clean)
	}
	if !p.track(r) {
		cancel(nil)
		inst.run.Store(nil)
		p.release(inst, false)
		return nil, errPoolClosed()
	}
	if err = inst.createViews(q.Views); err == nil {
		err = r.prepare(q.SQL, q.Schema)
	}
	if err != nil {
		err = r.errorOr(err)
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// track notes a running result, unless the pool is closed.
func (p *Pool) track(r *Result) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.running[r] = struct{}{}
	return true
}

// prepare binds the statement and makes the writers of its columns.
func (r *Result) prepare(sql string, want *arrow.Schema) error {
	stmt, err := prepare(r.conn, sql)
	if err != nil {
		return err
	}
	r.stmt = stmt
	if t := duckdb.PreparedStatementType(stmt); t != duckdb.StatementTypeSelect {
		return status.New(status.InvalidArgument, "the engine runs SELECT-like statements only")
	}
	columns, err := preparedColumns(stmt, false)
	if err != nil {
		return err
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		fields[i] = c.field
	}
	r.schema = arrow.NewSchema(fields, nil)
	if want != nil {
		if err := sameTypes(want, r.schema); err != nil {
			return err
		}
		r.schema = want
	}
	return r.newColumns()
}

// sameTypes checks that the result has the types that the caller wants.
func sameTypes(want, got *arrow.Schema) error {
	if want.NumFields() != got.NumFields() {
		return status.New(status.Internal, "the statement yields %d columns instead of %d", got.NumFields(), want.NumFields())
	}
	for i, f := range want.Fields() {
		if g := got.Field(i).Type; !arrow.TypeEqual(f.Type, g) {
			return status.New(status.Internal, "the statement yields %s for column %q of type %s", g, f.Name, f.Type)
		}
	}
	return nil
}
