package query

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/exec"
	"github.com/tributary-db/tributary/server/plan"
)

// planLifetime is how long a prepared plan may wait for its execution before it
// is made anew: now() is folded when a plan is made, and it pins a snapshot.
const planLifetime = 5 * time.Second

// Config is what a Service needs; all fields but Logger are required.
type Config struct {
	Catalog *catalog.Catalog
	// Binder binds statements to the tables of the catalog.
	Binder   *engine.Binder
	Executor *exec.Executor
	Alloc    memory.Allocator
	Registry prometheus.Registerer
	Logger   zerolog.Logger
	// MaxUserQueries bounds the queries that a user runs at once; 0 is no limit.
	MaxUserQueries int
	// History keeps the queries; nil makes one.
	History *History
	// Scopes gives the scope of the user who calls; nil: all see everything.
	Scopes func(context.Context) (*Scope, error)
}

// Service plans and runs statements. It is safe for concurrent use.
type Service struct {
	cfg     Config
	whole   *Scope
	metrics *metrics
	users   *userLimit
	history *History
}

// New returns a Service.
func New(cfg Config) *Service {
	whole := NewScope(cfg.Binder, func(context.Context) (*catalog.Snapshot, error) { return cfg.Catalog.Snapshot(), nil })
	if cfg.History == nil {
		cfg.History = &History{}
	}
	return &Service{cfg: cfg, history: cfg.History, whole: whole, metrics: newMetrics(cfg.Registry), users: newUserLimit(cfg.MaxUserQueries)}
}

// Catalog is the catalog that statements see.
func (s *Service) Catalog() *catalog.Catalog { return s.cfg.Catalog }

// History keeps the last queries.
func (s *Service) History() *History { return s.history }

// Statement is a classified and, if it reads rows, planned statement.
type Statement struct {
	// SQL is the text as the client sent it.
	SQL string
	// Command is its classification.
	Command Command
	// Settings are those in force when it was prepared.
	Settings Settings
	// Schema is the schema of the result; without fields for a command that
	// yields none.
	Schema *arrow.Schema

	plan    *plan.Plan
	scope   *Scope // that the plan was made in
	planned time.Time
	edge    *edge
	unbound *unboundError // what is known while parameters have no values
	rows    [][]string    // the values of parameters, as literals
	part    *plan.Part    // nil for the whole result
	// restless: tables changed faster than the statement was planned.
	restless bool
}

// Stream is a running result. Next returns io.EOF after the last batch; the
// caller releases batches and closes the stream.
type Stream interface {
	Schema() *arrow.Schema
	Next(ctx context.Context) (arrow.RecordBatch, error)
	Close() error
}

// Prepare classifies and plans one statement under the given settings. It
// never runs anything. A statement with parameters is only described.
func (s *Service) Prepare(ctx context.Context, sql string, set Settings) (*Statement, error) {
	st, err := s.prepare(ctx, sql, set)
	if err != nil {
		s.refused(ctx, sql, false, err)
	}
	return st, err
}

func (s *Service) prepare(ctx context.Context, sql string, set Settings) (*Statement, error) {
	cmd, err := Classify(sql)
	if err != nil {
		return nil, err
	}
	st := &Statement{SQL: sql, Command: cmd, Settings: set, Schema: arrow.NewSchema(nil, nil)}
	switch cmd.Kind {
	case Select, Explain:
		err = s.plan(ctx, st)
	case ShowSetting:
		st.Schema = textSchema(cmd.Name)
	}
	if unbound := (*unboundError)(nil); errors.As(err, &unbound) {
		s.describe(ctx, st, unbound)
		return st, nil
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (s *Service) plan(ctx context.Context, st *Statement) error {
	planned, err := s.planned(ctx, st)
	if err != nil {
		return err
	}
	st.plan, st.planned, st.edge = planned, time.Now(), newEdge(planned.Schema, st.Settings.ResultTypes)
	st.Schema = st.edge.schema
	if st.Command.Kind == Explain {
		st.Schema = textSchema("plan")
	}
	return nil
}

func (s *Service) planned(ctx context.Context, st *Statement) (*plan.Plan, error) {
	var err error
	if st.scope, err = s.scope(ctx); err != nil {
		return nil, err
	}
	snap, err := st.scope.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if st.part != nil {
		return st.part.Plan(snap)
	}
	return st.scope.plans.plan(ctx, qualified(st.Command.SQL), snap, st.planOptions())
}

func (st *Statement) planOptions() plan.Options {
	return plan.Options{Pushdown: st.Settings.Pushdown, Disabled: st.Settings.DisabledRules, NoStatistics: st.restless}
}

// refresh plans st again when its plan is old or was used, and fails when the
// result's schema is no longer what the client was told.
func (s *Service) refresh(ctx context.Context, st *Statement) error {
	fresh, err := s.fresh(ctx, st)
	if fresh || err != nil {
		return err
	}
	promised := st.Schema
	if err := s.plan(ctx, st); err != nil {
		return err
	}
	if !promised.Equal(st.Schema) {
		return status.New(status.FailedPrecondition, "the tables of this statement changed since it was prepared; prepare it again")
	}
	return nil
}

// fresh: the plan is young, and what the user may read is what it was.
func (s *Service) fresh(ctx context.Context, st *Statement) (bool, error) {
	if st.plan == nil || time.Since(st.planned) >= planLifetime {
		return false, nil
	}
	scope, err := s.scope(ctx)
	return err == nil && scope == st.scope && st.plan.Snapshot == s.cfg.Catalog.Snapshot().Version, err
}

// Apply carries out a command that yields no rows (SET, RESET, transactions).
func (s *Service) Apply(sess *Session, cmd Command) error {
	switch cmd.Kind {
	case Set:
		return sess.Set(cmd.Name, cmd.Value)
	case Reset:
		return sess.Reset(cmd.Name)
	}
	return nil
}

// Execute runs a statement that reads rows. The query ends when the stream is
// closed or ctx is done.
func (s *Service) Execute(ctx context.Context, st *Statement) (Stream, error) {
	if err := st.Unbound(); err != nil {
		return nil, err
	}
	stream, err := s.executeOne(ctx, st)
	if err != nil || len(st.rows) < 2 {
		return stream, err
	}
	return &repeated{service: s, ctx: ctx, st: st, rows: st.rows[1:], stream: stream}, nil
}

func (s *Service) executeOne(ctx context.Context, st *Statement) (Stream, error) {
	if st.Command.Kind == ShowSetting {
		value, err := st.Settings.Get(st.Command.Name)
		return newTextStream(st.Schema, s.cfg.Alloc, []string{value}), err
	}
	id := newQueryID()
	leave, err := s.users.enter(auth.UserOf(ctx).Name)
	if err != nil {
		s.refused(ctx, st.SQL, len(st.rows) > 0, err)
		return nil, err
	}
	run := s.start(ctx, id, st)
	run.leave, st.restless = leave, false
	if err := s.refresh(run.ctx, st); err != nil {
		return nil, run.fail(err)
	}
	if st.Command.Kind == Explain {
		stream, err := s.explain(run, st)
		return stream, run.fail(err)
	}
	stream, err := s.execute(run.ctx, id, st)
	if err != nil {
		return nil, run.fail(err)
	}
	run.stream = stream
	return run, nil
}

func (s *Service) execute(ctx context.Context, id string, st *Statement) (*exec.Stream, error) {
	return s.cfg.Executor.Run(ctx, id, st.plan, exec.Options{
		BatchBytes:  st.Settings.BatchBytes,
		WindowBytes: st.Settings.ScanWindowBytes,
		Local:       st.scope.local,
		Compression: st.Settings.compression(),
		Adaptive:    st.Settings.Adaptive,
		User:        auth.UserOf(ctx).Name,
	})
}

// newQueryID returns "q_" and 20 characters of base 32.
func newQueryID() string {
	var raw [13]byte
	_, _ = rand.Read(raw[:]) // never fails, see crypto/rand
	return "q_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw[:]))[:20]
}

func clip(sql string) string { return firstRunes(sql, 500) }
