package exec

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/adapt"
	"github.com/tributary-db/tributary/server/budget"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
)

// Defaults of Config.
const (
	DefaultScanWindowBytes  = 16 << 20
	DefaultQueryWindowBytes = 64 << 20
)

// Scanners is what the executor needs of the catalog.
type Scanners interface {
	// Client is the shared connection to s.
	Client(s *catalog.Scanner) (*codec.Client, error)
	// MarkFailed reports that s did not serve a scan.
	MarkFailed(s *catalog.Scanner, cause error)
}

// Local runs statements that read no federated rows; it is engine.Binder.
type Local interface {
	Run(ctx context.Context, sql string) (*engine.Result, error)
}

// Config is what an Executor needs.
type Config struct {
	// Engine runs the residual SQL.
	Engine *engine.Pool
	// Local runs statements that read no federated rows.
	Local Local
	// Catalog gives the connections.
	Catalog Scanners
	// Alloc allocates batches; nil means Go's heap.
	Alloc memory.Allocator
	// ScanWindowBytes is how much a scanner may send ahead on one stream.
	ScanWindowBytes int64
	// QueryWindowBytes bounds the sum of a query's windows.
	QueryWindowBytes int64
	// Budget bounds all queries together; nil for no bound.
	Budget *budget.Budget
	// Compression is what scanners may do to what they send.
	Compression codec.Compression
	// HeldBytes bounds what a query holds of the scans that others wait for.
	HeldBytes int64
	// MergeBytes bounds the partial groups that are merged without the engine;
	// negative for none.
	MergeBytes int64
	// Chaos disturbs adaptive queries, for tests; nil in all else.
	Chaos *Chaos
	// Logger gets failed scans.
	Logger zerolog.Logger
	// Registry gets the metrics; nil for none.
	Registry prometheus.Registerer
}

func (c Config) withDefaults() Config {
	if c.ScanWindowBytes <= 0 {
		c.ScanWindowBytes = DefaultScanWindowBytes
	}
	if c.QueryWindowBytes <= 0 {
		c.QueryWindowBytes = DefaultQueryWindowBytes
	}
	if c.HeldBytes <= 0 {
		c.HeldBytes = DefaultHeldBytes
	}
	if c.MergeBytes == 0 {
		c.MergeBytes = DefaultMergeBytes
	}
	if c.Alloc == nil {
		c.Alloc = memory.DefaultAllocator
	}
	return c
}

// Executor runs plans. It is safe for concurrent use.
type Executor struct {
	cfg      Config
	metrics  *metrics
	feedback *adapt.Feedback
}

// New returns an Executor.
func New(cfg Config) *Executor {
	return &Executor{cfg: cfg.withDefaults(), metrics: newMetrics(cfg.Registry), feedback: adapt.NewFeedback()}
}

// Options are the settings of one query; zero means the default.
type Options struct {
	// BatchBytes is the encoded size that a scanner's batches grow to.
	BatchBytes int64
	// WindowBytes overrides Config.ScanWindowBytes.
	WindowBytes int64
	// Local overrides Config.Local.
	Local Local
	// Compression overrides Config.Compression; nil leaves it.
	Compression *codec.Compression
	// Threads overrides the engine's threads.
	Threads int
	// User is who pays for the memory.
	User string
	// Adaptive says when scans are waited for so that they narrow others.
	Adaptive adapt.Mode
}

// Run starts p. The stream must be closed; it fails when ctx ends.
func (e *Executor) Run(ctx context.Context, queryID string, p *plan.Plan, opts Options) (*Stream, error) {
	p, rounds := e.choose(p, opts.Adaptive)
	share, err := e.cfg.Budget.Admit(ctx, opts.User, p.Kind == plan.Original || p.Kind == plan.Residual && !e.merges(p))
	if err != nil {
		return nil, err
	}
	q := newQuery(ctx, e, queryID, p, opts)
	q.budget = share
	q.rounds = rounds
	for _, r := range rounds {
		e.metrics.round(r)
	}
	source, err := q.start()
	if err != nil {
		err = q.explain(err)
		q.close()
		return nil, err
	}
	return &Stream{query: q, source: source}, nil
}

// merges reports whether p first tries to do without the engine.
func (e *Executor) merges(p *plan.Plan) bool { return p.Merge != nil && e.cfg.MergeBytes >= 0 }

// start begins the plan according to its kind.
func (q *query) start() (source, error) {
	switch q.plan.Kind {
	case plan.Local:
		local := q.opts.Local
		if local == nil {
			local = q.exec.cfg.Local
		}
		if local == nil {
			return nil, status.New(status.Internal, "no engine for statements without tables")
		}
		return local.Run(q.ctx, q.plan.SQL)
	case plan.PassThrough:
		return q.passThrough()
	case plan.Original:
		return q.runEngine(q.plan.SQL, q.views(), q.inputs())
	case plan.Residual:
		if q.exec.merges(q.plan) {
			return &merging{late: late{query: q}, stage: &stage{scan: q.scans[0], state: adapt.Running}}, nil
		}
		if a := q.adaptive(); a != nil {
			return a, nil
		}
		return q.runEngine(q.plan.Residual, nil, q.inputs())
	}
	return nil, status.New(status.Internal, "unknown kind of plan %v", q.plan.Kind)
}

// runEngine runs sql in the embedded engine over the scans.
func (q *query) runEngine(sql string, views []engine.View, inputs map[string]engine.Input) (source, error) {
	if q.exec.cfg.Engine == nil {
		return nil, status.New(status.Internal, "no engine for the residual of a plan")
	}
	result, err := q.exec.cfg.Engine.Run(q.ctx, engine.Query{
		SQL: sql, Inputs: inputs, Views: views,
		Threads: q.opts.Threads, Schema: q.plan.Schema, Alloc: q.exec.cfg.Alloc,
		MaxRows: rowsAtMost(q.plan.Root), Enough: q.enough,
	})
	if err != nil {
		return nil, err // not the nil of result's own type
	}
	return result, nil
}

// enough is called when the result is complete: the scans that still run are not
// needed any more.
func (q *query) enough() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, o := range q.opened {
		o.leave()
	}
}

// inputs are the scans by their names in the SQL.
func (q *query) inputs() map[string]engine.Input {
	inputs := make(map[string]engine.Input, len(q.scans))
	for _, s := range q.scans {
		inputs[s.plan.ID] = newInput(s, q.plan.Kind == plan.Original)
	}
	return inputs
}

// views make the scans readable under their table names, for the original SQL.
func (q *query) views() []engine.View {
	var views []engine.View
	for _, s := range q.scans {
		view := engine.View{Schema: s.plan.Table.Schema, Name: s.plan.Table.Name, Input: s.plan.ID}
		for _, f := range s.plan.Table.Arrow.Fields() {
			if pushdown.IsUUID(f) {
				view.UUIDs = append(view.UUIDs, f.Name)
			}
		}
		views = append(views, view)
	}
	return views
}
