package query

import (
	"context"
	"maps"
	"slices"

	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
)

// Binder lets the planner bind statements in the embedded engine, against the
// tables of a catalog snapshot.
type Binder struct {
	engine    *engine.Binder
	templates templates
}

// NewBinder returns a Binder over b.
func NewBinder(b *engine.Binder) *Binder { return &Binder{engine: b} }

// Sync gives the engine the tables of snap; it costs nothing when the engine
// has them already. Tables that cannot be used are left in, so that a statement
// that names one gets its reason.
func (b *Binder) Sync(ctx context.Context, snap *catalog.Snapshot) error {
	if b.templates.synced(snap) {
		return nil
	}
	tables := make([]engine.ShadowTable, 0, len(snap.Tables))
	for _, id := range slices.Sorted(maps.Keys(snap.Tables)) {
		if t := snap.Tables[id]; t.Arrow != nil {
			tables = append(tables, engine.ShadowTable{Schema: t.Schema, Name: t.Name, Arrow: t.Arrow})
		}
	}
	if err := b.engine.Sync(ctx, snap.Version, tables); err != nil {
		return err
	}
	b.templates.sync(snap)
	return nil
}

// Bind binds one statement. One with parameters fails with an *unboundError.
func (b *Binder) Bind(ctx context.Context, sql string) (*plan.Bound, error) {
	return b.templates.bind(ctx, sql, b.bind)
}

func (b *Binder) bind(ctx context.Context, sql string) (*plan.Bound, error) {
	bound, err := b.engine.Bind(ctx, sql)
	if err != nil {
		return nil, err
	}
	if len(bound.Params) > 0 {
		return nil, newUnboundError(sql, bound)
	}
	return &plan.Bound{PlanJSON: bound.PlanJSON, Schema: bound.Schema, SQLTypes: bound.SQLTypes}, nil
}
