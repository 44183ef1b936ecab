package access

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/engine"
	"github.com/tributary-db/tributary/server/query"
)

// userVariable stands for the user's name in a condition.
const userVariable = "{user}"

// personal: what the roles may read depends on the user.
func (p *Policy) personal(roles []string) bool {
	return slices.ContainsFunc(roles, func(r string) bool {
		return slices.ContainsFunc(p.Roles[r], func(g Grant) bool { return strings.Contains(g.Rows, userVariable) })
	})
}

// scope is the federation as users with the same roles see it.
type scope struct {
	key     string
	scope   *query.Scope
	binder  *engine.Binder
	control *Control
	policy  *Policy
	user    string
	roles   []string

	mu         sync.Mutex
	base, seen *catalog.Snapshot // seen is what the users see of base
}

func (c *Control) newScope(key, user string, roles []string) (*scope, error) {
	binder, err := engine.NewBinder()
	if err != nil {
		return nil, err
	}
	s := &scope{key: key, binder: binder, control: c, policy: c.policy, user: user, roles: roles}
	s.scope = query.NewScope(binder, s.snapshot)
	return s, nil
}

// snapshot is what the users see of the present catalog.
func (s *scope) snapshot(ctx context.Context) (*catalog.Snapshot, error) {
	base := s.control.cfg.Snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base == base {
		return s.seen, nil
	}
	seen := *base
	seen.Tables = map[string]*catalog.Table{}
	for id, t := range base.Tables {
		grant := s.policy.grant(s.roles, t.Schema, t.Name)
		if grant == nil {
			continue
		}
		var err error
		if seen.Tables[id], err = s.restrict(ctx, base, t, grant); err != nil {
			return nil, err
		}
	}
	s.base, s.seen = base, &seen
	return s.seen, nil
}

// restrict returns t as a grant lets it be seen. A grant that cannot be applied
// makes the table unusable; an error is that of ctx.
func (s *scope) restrict(ctx context.Context, base *catalog.Snapshot, t *catalog.Table, g *Grant) (*catalog.Table, error) {
	if t.Arrow == nil || g.Rows == "" && len(g.Columns) == 0 {
		return t, nil
	}
	filter, columns, err := s.apply(ctx, base, t, g)
	if ctx.Err() != nil {
		return nil, status.Wrap(status.Canceled, ctx.Err(), "reading the access rules")
	}
	out := *t
	out.Restriction, out.Arrow = &catalog.Restriction{Filter: filter, Arrow: t.Arrow}, columns
	out.PromiseVersions = nil
	out.Partitions = slices.Clone(t.Partitions)
	for i := range out.Partitions {
		p := &out.Partitions[i]
		p.Rows, p.Bytes, p.Columns, p.Promise = -1, -1, nil, partition.Promise{}
	}
	if err != nil {
		s.control.cfg.Logger.Error().Str("table", t.ID()).Strs("roles", s.roles).Err(err).Msg("an access rule cannot be applied; the table is closed to its users")
		out.Arrow = nil
		out.Err = status.New(status.PermissionDenied, "the access rule for table %s cannot be applied; the operator's log says why", t.ID())
	}
	return &out, nil
}

func (s *scope) apply(ctx context.Context, base *catalog.Snapshot, t *catalog.Table, g *Grant) (filter []pushdown.Expr, columns *arrow.Schema, err error) {
	if g.Rows != "" {
		rows := strings.ReplaceAll(g.Rows, userVariable, "'"+strings.ReplaceAll(s.user, "'", "''")+"'")
		if filter, err = s.control.planner.Predicate(ctx, base, t, rows); err != nil {
			return nil, nil, status.Wrap(status.InvalidArgument, err, "rows: %s", g.Rows)
		}
	}
	columns, err = choose(t.Arrow, g.Columns)
	return filter, columns, err
}

// choose keeps the named columns, in the table's order; none named means all.
func choose(all *arrow.Schema, names []string) (*arrow.Schema, error) {
	if len(names) == 0 {
		return all, nil
	}
	var fields []arrow.Field
	for _, f := range all.Fields() {
		if slices.Contains(names, f.Name) {
			fields = append(fields, f)
		}
	}
	if len(fields) != len(names) {
		return nil, status.New(status.InvalidArgument, "columns: one of %s is not there or named twice", strings.Join(names, ", "))
	}
	return arrow.NewSchema(fields, nil), nil
}
