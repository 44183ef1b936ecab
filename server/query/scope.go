package query

import (
	"context"

	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
)

// Scope is the federation as some users see it: its tables, the engine that
// binds statements to them, and the plans that are kept. Nothing of one scope is
// used in another.
type Scope struct {
	snapshot func(context.Context) (*catalog.Snapshot, error)
	plans    *planCache
	local    *engine.Binder
}

// NewScope returns a scope whose tables are what snapshot returns; statements
// are bound by b, which serves no other scope.
func NewScope(b *engine.Binder, snapshot func(context.Context) (*catalog.Snapshot, error)) *Scope {
	return &Scope{snapshot: snapshot, plans: newPlanCache(plan.New(NewBinder(b))), local: b}
}

// scope is that of the user who calls; without access control there is one.
func (s *Service) scope(ctx context.Context) (*Scope, error) {
	if s.cfg.Scopes == nil {
		return s.whole, nil
	}
	return s.cfg.Scopes(ctx)
}

// Snapshot are the tables that the user who calls may read.
func (s *Service) Snapshot(ctx context.Context) (*catalog.Snapshot, error) {
	scope, err := s.scope(ctx)
	if err != nil {
		return nil, err
	}
	return scope.snapshot(ctx)
}
