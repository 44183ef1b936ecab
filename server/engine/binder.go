package engine

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// ShadowTable is an empty table that stands for a federated one in planning.
type ShadowTable struct {
	Schema, Name string
	Arrow        *arrow.Schema
}

// Bound is a statement after parsing, binding and the standard rewrites.
type Bound struct {
	// PlanJSON is what json_serialize_plan gave: {"error":false,"plans":[…]}.
	// It is empty when the statement has parameters: DuckDB cannot write those.
	PlanJSON []byte
	// Schema has the result's names and Arrow types; nil when they depend on
	// the values of parameters.
	Schema *arrow.Schema
	// SQLTypes are the result's DuckDB types, as SQL text.
	SQLTypes []string
	// Params are the names of the statement's parameters ("1", "2", … for ?).
	Params []string
	// ParamTypes are the types that are inferred for Params.
	ParamTypes []ParamType
}

// ParamType is the type of a parameter; the zero value when nothing in the
// statement says what it is.
type ParamType struct {
	Arrow arrow.DataType
	// SQL is its DuckDB type, as SQL text.
	SQL string
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

func (c BinderConfig) withDefaults() BinderConfig {
	if c.MaxSQLBytes <= 0 {
		c.MaxSQLBytes = 1 << 20
	}
	if c.MaxDepth <= 0 {
		c.MaxDepth = 200
	}
	if c.Connections <= 0 {
		c.Connections = 4
	}
	return c
}

// Binder parses and binds statements against shadow tables. Each version of the
// tables is a DuckDB instance of its own: a statement finishes on the version
// that it started with.
type Binder struct {
	cfg BinderConfig

	syncing sync.Mutex // held by the one Sync that builds

	mu      sync.Mutex
	current *shadow
	closed  bool
	running sync.WaitGroup
}

// NewBinder opens the planning instance; at most one config is used.
func NewBinder(cfg ...BinderConfig) (*Binder, error) {
	c := BinderConfig{}
	if len(cfg) > 0 {
		c = cfg[0]
	}
	b := &Binder{cfg: c.withDefaults()}
	first, err := newShadow(0, nil, b.cfg)
	if err != nil {
		return nil, err
	}
	b.current = first
	return b, nil
}

// Sync makes the given tables the ones that statements bind against. It is
// idempotent per version and may run while statements are bound. A table that
// the engine cannot represent is left out; a statement that names it fails with
// the reason.
func (b *Binder) Sync(ctx context.Context, version uint64, tables []ShadowTable) error {
	if b.synced(version) {
		return nil
	}
	b.syncing.Lock()
	defer b.syncing.Unlock()
	if b.synced(version) {
		return nil
	}
	if ctx.Err() != nil {
		return ctxError(ctx)
	}
	if b.renumber(version, tables) {
		return nil
	}
	next, err := newShadow(version, tables, b.cfg)
	if err != nil {
		return err
	}
	return b.swap(next)
}

func (b *Binder) synced(version uint64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current != nil && b.current.version >= version
}

// renumber takes over a version that changes no table (but, say, a row count).
func (b *Binder) renumber(version uint64, tables []ShadowTable) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	same := slices.EqualFunc(b.current.tables, tables, func(x, y ShadowTable) bool {
		return x.Schema == y.Schema && x.Name == y.Name && x.Arrow != nil && y.Arrow != nil && x.Arrow.Equal(y.Arrow)
	})
	if same {
		b.current.version = version
	}
	return same
}

// swap publishes a shadow and retires the one before it.
func (b *Binder) swap(next *shadow) error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		next.release()
		return errBinderClosed()
	}
	old := b.current
	b.current = next
	b.mu.Unlock()
	old.release()
	return nil
}

// acquire returns the current shadow with one reference for the caller, which
// counts as a running call.
func (b *Binder) acquire() (*shadow, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errBinderClosed()
	}
	b.current.retain()
	b.running.Add(1)
	return b.current, nil
}

func errBinderClosed() error { return status.New(status.Unavailable, "the planner is shutting down") }

// Bind parses and binds one SELECT-like statement.
func (b *Binder) Bind(ctx context.Context, sql string) (*Bound, error) {
	return onSession(ctx, b, sql, func(s *session) (*Bound, error) { return s.bind(sql) })
}

// Close frees the planning instance, after running calls have ended.
func (b *Binder) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	last := b.current
	b.mu.Unlock()
	last.release()
	b.running.Wait()
	return nil
}

// open takes a session of the current shadow, for a statement within the limits.
// The caller gives it back with release.
func (b *Binder) open(ctx context.Context, sql string) (*session, error) {
	if err := checkLimits(sql, b.cfg); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctxError(ctx)
	}
	sh, err := b.acquire()
	if err != nil {
		return nil, err
	}
	s, err := sh.session(ctx)
	if err != nil {
		sh.release()
		b.running.Done()
		return nil, err
	}
	return s, nil
}

func (b *Binder) release(s *session) {
	sh := s.shadow
	sh.put(s)
	sh.release()
	b.running.Done()
}

// onSession runs f on a session of the current shadow. When ctx ends first, the
// caller gets its error at once, and the session is interrupted and dropped
// when DuckDB lets go of it (its parser cannot be interrupted).
func onSession[T any](ctx context.Context, b *Binder, sql string, f func(*session) (T, error)) (T, error) {
	var none T
	s, err := b.open(ctx, sql)
	if err != nil {
		return none, err
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := f(s)
		b.release(s)
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		s.interrupt()
		return none, ctxError(ctx)
	}
}

// Run runs a statement that reads no rows of federated tables, such as SHOW
// TABLES, DESCRIBE or a SELECT over information_schema. Close of the binder
// waits for the result's.
func (b *Binder) Run(ctx context.Context, sql string) (*Result, error) {
	s, err := b.open(ctx, sql)
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancelCause(ctx)
	r := &Result{run: &running{ctx: runCtx, cancel: cancel}, conn: s.conn, interrupt: s.interrupt}
	r.done = func(clean bool) {
		if !clean {
			s.interrupt()
		}
		b.release(s)
	}
	if err = s.check(sql); err == nil {
		err = r.prepare(sql, nil)
	}
	if err != nil {
		err = r.errorOr(err)
		_ = r.Close()
		return nil, err
	}
	return r, nil
}
