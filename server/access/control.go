package access

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/query"
)

// maxScopes bounds the scopes that are kept, each of which has an engine; the one
// that was not used for the longest time goes.
const maxScopes = 64

// Config configures a Control.
type Config struct {
	// Policy are the rules.
	Policy *secure.File[*Policy]
	// Snapshot are all tables.
	Snapshot func() *catalog.Snapshot
	// Binder knows all tables; conditions are read with it.
	Binder *engine.Binder
	// Logger gets conditions that cannot be used.
	Logger zerolog.Logger
}

// Control gives every user a scope. It is safe for concurrent use.
type Control struct {
	cfg     Config
	planner *plan.Planner

	mu     sync.Mutex
	policy *Policy
	scopes []*scope // last used last
	ending sync.WaitGroup
}

// New returns a Control.
func New(cfg Config) *Control {
	return &Control{cfg: cfg, planner: plan.New(query.NewBinder(cfg.Binder))}
}

// Scope is that of the user who calls.
func (c *Control) Scope(ctx context.Context) (*query.Scope, error) {
	user := auth.UserOf(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if policy := c.cfg.Policy.Get(); policy != c.policy {
		c.retire(c.scopes)
		c.policy, c.scopes = policy, nil
	}
	roles := c.policy.rolesOf(user)
	key := strings.Join(roles, "\x00")
	if c.policy.personal(roles) {
		key += "\x00\x00" + user.Name
	}
	at := slices.IndexFunc(c.scopes, func(s *scope) bool { return s.key == key })
	if at >= 0 {
		s := c.scopes[at]
		c.scopes = append(slices.Delete(c.scopes, at, at+1), s)
		return s.scope, nil
	}
	s, err := c.newScope(key, user.Name, roles)
	if err != nil {
		return nil, err
	}
	if len(c.scopes) >= maxScopes {
		c.retire(c.scopes[:1])
		c.scopes = slices.Delete(c.scopes, 0, 1)
	}
	c.scopes = append(c.scopes, s)
	return s.scope, nil
}

// retire closes engines when what runs in them has ended.
func (c *Control) retire(scopes []*scope) {
	for _, s := range scopes {
		c.ending.Go(func() { _ = s.binder.Close() })
	}
}

// Close ends all scopes.
func (c *Control) Close() {
	c.mu.Lock()
	c.retire(c.scopes)
	c.scopes, c.policy = nil, nil
	c.mu.Unlock()
	c.ending.Wait()
}
