package query

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
	"github.com/tributary-db/tributary/server/sqllex"
)

// planCache keeps the plans of statements that clients repeat, for as long as
// the federation does not change. Only statements are kept whose plan has
// nothing of the moment at which it was made: now() is folded into a plan.
type planCache struct {
	planner *plan.Planner

	mu      sync.Mutex
	version uint64 // of the snapshot that all plans are for
	plans   map[planKey]*plan.Plan
}

type planKey struct {
	sql  string
	opts plan.Options
}

const (
	maxCachedPlans   = 256
	maxCachedSQLSize = 4 << 10
)

func newPlanCache(p *plan.Planner) *planCache { return &planCache{planner: p} }

// plan returns the kept plan of a statement or makes one.
func (c *planCache) plan(ctx context.Context, sql string, snap *catalog.Snapshot, opts plan.Options) (*plan.Plan, error) {
	key := planKey{sql, opts}
	if p := c.get(key, snap.Version); p != nil {
		return p, nil
	}
	p, err := c.planner.Plan(ctx, sql, snap, opts)
	if err == nil && len(sql) <= maxCachedSQLSize && timeless(sql) {
		c.put(key, p)
	}
	return p, err
}

func (c *planCache) get(key planKey, version uint64) *plan.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != version {
		return nil
	}
	return c.plans[key]
}

// put keeps p. A full cache starts anew, which costs each of its statements one
// more plan.
func (c *planCache) put(key planKey, p *plan.Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case p.Snapshot < c.version:
		return
	case p.Snapshot > c.version || len(c.plans) >= maxCachedPlans:
		c.version, c.plans = p.Snapshot, nil
	}
	if c.plans == nil {
		c.plans = map[planKey]*plan.Plan{}
	}
	c.plans[key] = p
}

// timelessCalls are the words before a bracket that make a plan depend on
// nothing but the statement and the tables; all others count as functions.
var timelessCalls = map[string]bool{
	"count": true, "sum": true, "min": true, "max": true, "avg": true,
	"lower": true, "upper": true, "length": true, "coalesce": true, "date_trunc": true, "year": true, "month": true, "day": true,
	"and": true, "as": true, "by": true, "cast": true, "else": true, "exists": true, "filter": true, "from": true, "having": true,
	"in": true, "join": true, "not": true, "on": true, "or": true, "over": true, "select": true, "then": true, "union": true,
	"using": true, "values": true, "when": true, "where": true, "decimal": true, "numeric": true, "varchar": true,
}

// presentNames are what DuckDB reads as functions without brackets, beside all
// names that begin with current_.
var presentNames = []string{"localtime", "localtimestamp", "session_user", "user"}

// timeless reports whether the plan of a statement stays right while its tables
// do. It may say no to a statement of which it is not sure.
func timeless(sql string) bool {
	before := ""
	for t := range sqllex.Tokens(sql) {
		text := strings.ToLower(t.Text)
		if text == "(" && before != "" && !timelessCalls[before] {
			return false
		}
		before = ""
		if t.Kind == sqllex.Word || t.Kind == sqllex.Name {
			if bare := strings.Trim(text, `"`); strings.HasPrefix(bare, "current_") || slices.Contains(presentNames, bare) {
				return false
			}
			before = text
		}
	}
	return true
}
