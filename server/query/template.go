package query

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/catalog"
	"github.com/tributary-db/tributary/server/plan"
)

// template is the engine's plan of all statements of one shape: most of the time
// that a small query takes at the coordinator is the engine's, to parse and bind
// a text of which only a constant is new. The planner's own rules see the
// constant: they read the plan that is made of the template.
type template struct {
	// parts is the JSON around the constants; gaps says which comes where.
	parts    [][]byte
	gaps     []int
	schema   *arrow.Schema
	sqlTypes []string
}

// fill is the plan for some values.
func (t *template) fill(s *shape) []byte {
	var out bytes.Buffer
	for i, p := range t.parts {
		out.Write(p)
		if i < len(t.gaps) {
			out.WriteString(jsonText(s.kinds[t.gaps[i]], s.values[t.gaps[i]]))
		}
	}
	return out.Bytes()
}

func jsonText(kind gapKind, value string) string {
	if kind == textGap {
		return `"` + value + `"`
	}
	return value
}

// bindFunc binds a statement in the engine.
type bindFunc func(ctx context.Context, sql string) (*plan.Bound, error)

// learn makes the template of a shape from the plans of two statements of it
// with values that occur nowhere else. It must give those two plans, and the one
// that was made for the statement itself, byte for byte; nil when it does not.
func learn(ctx context.Context, s *shape, bound *plan.Bound, bind bindFunc) (*template, error) {
	one, other := s.probe(1), s.probe(2)
	first, err := bind(ctx, one.with(one.values))
	if err != nil {
		return nil, err
	}
	second, err := bind(ctx, other.with(other.values))
	if err != nil {
		return nil, err
	}
	t := cut(first, one)
	if t == nil || !t.gives(one, first) || !t.gives(other, second) || !t.gives(s, bound) {
		return nil, nil
	}
	return t, nil
}

// probe is the shape with values that are all different, and the same for no two n.
func (s *shape) probe(n int) *shape {
	out := &shape{parts: s.parts, kinds: s.kinds}
	for i, kind := range s.kinds {
		base := map[gapKind]string{intGap: "19", longGap: "72057", textGap: "probe "}[kind]
		out.values = append(out.values, base+strconv.Itoa(n)+"00"+strconv.Itoa(1_000_000 + i)[2:])
	}
	return out
}

// cut takes the constants out of a plan.
func cut(bound *plan.Bound, s *shape) *template {
	t := &template{schema: bound.Schema, sqlTypes: bound.SQLTypes}
	rest := bound.PlanJSON
	for {
		at, gap := firstConstant(rest, s)
		if gap < 0 {
			t.parts = append(t.parts, slices.Clone(rest))
			return t
		}
		t.parts, t.gaps = append(t.parts, slices.Clone(rest[:at])), append(t.gaps, gap)
		rest = rest[at+len(jsonText(s.kinds[gap], s.values[gap])):]
	}
}

// firstConstant is where the first of a shape's values is in a plan, and which
// one it is; -1 for none.
func firstConstant(text []byte, s *shape) (at, gap int) {
	at, gap = len(text), -1
	for i, v := range s.values {
		label := `"value":`
		if n := bytes.Index(text, []byte(label+jsonText(s.kinds[i], v)+"}")); n >= 0 && n+len(label) < at {
			at, gap = n+len(label), i
		}
	}
	return at, gap
}

// gives reports whether the engine's plan of a statement is what the template
// makes of it.
func (t *template) gives(s *shape, bound *plan.Bound) bool {
	for i := range s.values { // a constant that is not there was folded into something
		if !slices.Contains(t.gaps, i) {
			return false
		}
	}
	return bytes.Equal(t.fill(s), bound.PlanJSON) && t.schema.Equal(bound.Schema) && slices.Equal(t.sqlTypes, bound.SQLTypes)
}

// templates keeps the templates of one version of the tables.
type templates struct {
	mu      sync.Mutex
	version uint64
	tables  map[string]*catalog.Table
	// known has a nil template for a shape that was met once, and refused for one
	// that has none.
	known map[string]*template
}

// refused stands for no template; nothing writes to it.
var refused = &template{}

const (
	maxTemplates    = 256
	maxTemplateJSON = 64 << 10
)

// synced reports whether the tables are those of snap, or newer.
func (t *templates) synced(snap *catalog.Snapshot) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tables != nil && t.version >= snap.Version
}

// sync forgets the templates of other tables. The engine must have snap's.
func (t *templates) sync(snap *catalog.Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if snap.Version > t.version || t.tables == nil {
		t.version, t.tables, t.known = snap.Version, snap.Tables, nil
	}
}

func (t *templates) current() (uint64, map[string]*catalog.Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version, t.tables
}

// get returns what is known of a shape, and whether anything is.
func (t *templates) get(key string, version uint64) (*template, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if version != t.version {
		return nil, false
	}
	known, ok := t.known[key]
	return known, ok
}

// put notes what is known of a shape; when there are too many it starts anew.
func (t *templates) put(key string, version uint64, known *template) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if version != t.version {
		return
	}
	if t.known == nil || len(t.known) >= maxTemplates {
		t.known = map[string]*template{}
	}
	t.known[key] = known
}

// bind binds a statement, by its template where it has one. A shape is learned
// when it is met for the second time: a text that is repeated as it is has its
// plan kept.
func (t *templates) bind(ctx context.Context, sql string, bind bindFunc) (*plan.Bound, error) {
	version, tables := t.current()
	if len(sql) > maxCachedSQLSize || !timeless(sql) {
		return bind(ctx, sql)
	}
	s, ok := shapeOf(sql, tables)
	if !ok {
		return bind(ctx, sql)
	}
	key := s.key()
	known, seen := t.get(key, version)
	if known != nil && known != refused {
		return &plan.Bound{PlanJSON: known.fill(s), Schema: known.schema, SQLTypes: known.sqlTypes}, nil
	}
	bound, err := bind(ctx, sql)
	switch {
	case err != nil || known == refused:
	case !seen:
		t.put(key, version, nil)
	case len(bound.PlanJSON) <= maxTemplateJSON:
		t.learn(ctx, key, version, s, bound, bind)
	}
	return bound, err
}

func (t *templates) learn(ctx context.Context, key string, version uint64, s *shape, bound *plan.Bound, bind bindFunc) {
	made, err := learn(ctx, s, bound, bind)
	if made == nil {
		made = refused
	}
	if code := status.CodeOf(err); code != status.Canceled && code != status.DeadlineExceeded {
		t.put(key, version, made)
	}
}
