package plan

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
)

// Bound is a statement as the embedded engine parsed and bound it.
type Bound struct {
	// PlanJSON is what json_serialize_plan gave; empty for a statement that
	// has no plan, such as SHOW TABLES.
	PlanJSON []byte
	// Schema has the names and Arrow types of the result.
	Schema *arrow.Schema
	// SQLTypes are the types of the result as SQL text.
	SQLTypes []string
}

// Binder binds SQL against the tables of a snapshot. It keeps this package
// free of the engine.
type Binder interface {
	// Sync makes the snapshot's tables known; it is cheap when they are already.
	Sync(ctx context.Context, snap *catalog.Snapshot) error
	// Bind parses and binds one SELECT-like statement.
	Bind(ctx context.Context, sql string) (*Bound, error)
}

// Pushdown is the highest rung that scans may use.
type Pushdown string

// The rungs.
const (
	// PushdownFull pushes whatever can be pushed.
	PushdownFull Pushdown = "full"
	// PushdownFilter pushes filters and columns only.
	PushdownFilter Pushdown = "filter"
	// PushdownOff reads the needed columns of whole tables.
	PushdownOff Pushdown = "off"
)

// Options are the session's wishes for one plan.
type Options struct {
	// Pushdown is PushdownFull when empty.
	Pushdown Pushdown
	// Disabled are the rules to do without.
	Disabled Disabled
	// NoStatistics plans as if nothing were known of the partitions: such a plan
	// does not become stale when rows change.
	NoStatistics bool
}

// Planner turns SQL into plans. It has no state of its own.
type Planner struct{ binder Binder }

// New returns a Planner over b.
func New(b Binder) *Planner { return &Planner{binder: b} }

// Plan plans one statement over a snapshot.
func (p *Planner) Plan(ctx context.Context, sql string, snap *catalog.Snapshot, opts Options) (*Plan, error) {
	if opts.Pushdown == "" {
		opts.Pushdown = PushdownFull
	}
	if err := p.binder.Sync(ctx, snap); err != nil {
		return nil, err
	}
	if opts.NoStatistics {
		snap = snap.WithoutStatistics()
	}
	bound, err := p.binder.Bind(ctx, sql)
	if err != nil {
		return nil, unusable(err, sql, snap)
	}
	return build(sql, bound, snap, opts)
}

// unusable replaces a binder's "no such table" by why the table is not there.
func unusable(err error, sql string, snap *catalog.Snapshot) error {
	if !strings.Contains(err.Error(), "does not exist") {
		return err
	}
	lower := strings.ToLower(sql)
	for _, id := range slices.Sorted(maps.Keys(snap.Tables)) {
		if t := snap.Tables[id]; t.Err != nil && strings.Contains(lower, strings.ToLower(t.Name)) {
			return tableError(t)
		}
	}
	if missing := snap.Usable(); missing != nil {
		return status.Wrap(status.Unavailable, missing, "%s", err.Error())
	}
	return err
}

func tableError(t *catalog.Table) error {
	return status.Wrap(status.FailedPrecondition, t.Err, "table %s cannot be read", t.ID())
}

// build goes down the ladder: rules over the IR; the original SQL over streamed
// tables; the planning instance itself when no table is read.
func build(sql string, bound *Bound, snap *catalog.Snapshot, opts Options) (*Plan, error) {
	p := &Plan{SQL: sql, Schema: bound.Schema, Snapshot: snap.Version, Options: opts}
	root, err := readPlan(bound, snap)
	if err == nil {
		err = p.residual(root, snap)
	}
	switch {
	case err == nil:
		return p, nil
	case status.CodeOf(err) != status.Unimplemented:
		return nil, err
	}
	return p.fallback(bound, snap, err)
}

func readPlan(bound *Bound, snap *catalog.Snapshot) (Node, error) {
	if len(bound.PlanJSON) == 0 {
		return nil, status.New(status.Unimplemented, "the statement has no plan")
	}
	return Read(bound.PlanJSON, snap)
}

// usableTables fails a plan over tables that cannot be read completely.
func usableTables(read []*catalog.Table, snap *catalog.Snapshot) error {
	if len(read) == 0 {
		return nil
	}
	for _, t := range read {
		if t.Err != nil {
			return tableError(t)
		}
	}
	return snap.Usable()
}

// residual runs the rules and renders what they leave.
func (p *Plan) residual(root Node, snap *catalog.Snapshot) error {
	read := mapSlice(Scans(root), func(s *Scan) *catalog.Table { return s.Table })
	if err := usableTables(read, snap); err != nil {
		return err
	}
	first, second := phases(p.Options.rules())
	var err error
	if p.middle, p.Fired, err = applyRules(root, first); err != nil {
		return err
	}
	return p.finish(second)
}

// finish moves aggregates, and what follows them, and renders what is left.
func (p *Plan) finish(rules []Rule) error {
	root, fired, err := applyRules(p.middle, rules)
	if err != nil {
		return err
	}
	p.Root, p.Fired = root, slices.Concat(p.Fired, fired)
	if err := p.remote(); err != nil {
		return err
	}
	if p.passesThrough() {
		p.Kind = PassThrough
		return nil
	}
	p.Kind, p.Merge = Residual, p.merge()
	p.Residual, err = Render(p.Root, fieldNames(p.Schema), p.scanSQL)
	if err == nil {
		p.Broadcast = p.broadcast(p.middle, rules)
	}
	return status.Wrap(status.Unimplemented, err, "the plan has no SQL form")
}

func fieldNames(s *arrow.Schema) []string {
	return mapSlice(s.Fields(), func(f arrow.Field) string { return f.Name })
}

// fallback is the lower end of the ladder.
func (p *Plan) fallback(bound *Bound, snap *catalog.Snapshot, why error) (*Plan, error) {
	read, err := tablesRead(bound.PlanJSON, snap)
	if err != nil {
		return nil, err
	}
	if err := usableTables(read.federated, snap); err != nil {
		return nil, err
	}
	p.Root, p.Scans, p.Fired, p.ids, p.middle, p.Residual, p.Merge, p.Broadcast = nil, nil, nil, nil, nil, "", nil, nil
	if len(read.federated) == 0 {
		p.Kind = Local
		return p, nil
	}
	if read.system != "" {
		return nil, status.New(status.Unimplemented,
			"%s cannot be read together with federated tables; read it in a statement of its own", read.system)
	}
	return p, p.original(read.federated, why)
}

func (p *Plan) original(read []*catalog.Table, why error) error {
	p.Kind = Original
	p.Reasons = []string{"the original SQL runs over streamed tables: " + why.Error()}
	for _, t := range read {
		if err := p.addScan(wholeTable(t), nil); err != nil {
			return err
		}
	}
	return nil
}
