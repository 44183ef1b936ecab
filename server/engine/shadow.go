package engine

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// keptOptimizers are the rewrites that the planning instance runs. Others break
// the JSON of the plan, prune columns in ways it does not show, or conclude from
// empty tables that a query is empty.
var keptOptimizers = []string{
	"expression_rewriter", "filter_pullup", "filter_pushdown", "regex_range",
	"deliminator", "join_order", "limit_pushdown", "top_n", "cte_filter_pusher",
}

// catalogName is the database that federated tables appear in.
const catalogName = "tributary"

// shadow is a DuckDB instance with the empty tables of one version.
type shadow struct {
	version uint64 // guarded by the binder
	tables  []ShadowTable
	db      duckdb.Database
	refs    atomic.Int64
	broken  map[string]error // tables left out, by lower-case name
	denied  denied           // what statements may not name
	slots   chan struct{}    // one per session in use

	mu   sync.Mutex
	idle []*session
}

func newShadow(version uint64, tables []ShadowTable, cfg BinderConfig) (*shadow, error) {
	db, err := openDatabase(append(lockedDown(), setting{"threads", "1"}))
	if err != nil {
		return nil, err
	}
	sh := &shadow{version: version, tables: tables, db: db, broken: map[string]error{}, slots: make(chan struct{}, cfg.Connections)}
	sh.refs.Store(1)
	if err := sh.setUp(tables); err != nil {
		duckdb.Close(&sh.db)
		return nil, err
	}
	return sh, nil
}

func (sh *shadow) setUp(tables []ShadowTable) error {
	conn, err := connect(sh.db)
	if err != nil {
		return err
	}
	defer duckdb.Disconnect(&conn)
	disabled, err := optimizersWithout(conn, keptOptimizers)
	if err != nil {
		return err
	}
	if err := exec(conn, attachCatalog, "SET disabled_optimizers = "+quoteString(disabled)); err != nil {
		return err
	}
	if sh.denied, err = readDenied(conn); err != nil {
		return err
	}
	if err := sh.createTables(conn, tables); err != nil {
		return err
	}
	return exec(conn, pinned...)
}

// createTables creates what it can, in one transaction, and remembers why the
// others are missing.
func (sh *shadow) createTables(conn duckdb.Connection, tables []ShadowTable) error {
	var ddl strings.Builder
	for _, t := range tables {
		columns, err := columnDefinitions(t)
		if err != nil {
			sh.broken[strings.ToLower(t.Name)] = err
			continue
		}
		schema := catalogName + "." + quoteIdent(t.Schema)
		ddl.WriteString("CREATE SCHEMA IF NOT EXISTS " + schema + ";\n")
		ddl.WriteString("CREATE TABLE " + schema + "." + quoteIdent(t.Name) + " (" + columns + ");\n")
	}
	if ddl.Len() == 0 {
		return nil
	}
	return status.Wrap(status.Internal, exec(conn, "BEGIN", ddl.String(), "COMMIT"), "create the tables of catalog version %d", sh.version)
}

func columnDefinitions(t ShadowTable) (string, error) {
	if t.Arrow == nil || t.Arrow.NumFields() == 0 {
		return "", status.New(status.FailedPrecondition, "table %s.%s has no columns", t.Schema, t.Name)
	}
	columns := make([]string, t.Arrow.NumFields())
	seen := map[string]bool{}
	for i, f := range t.Arrow.Fields() {
		name, err := SQLTypeOf(f)
		if err != nil {
			return "", status.Wrap(status.Unimplemented, err, "table %s.%s: column %q", t.Schema, t.Name, f.Name)
		}
		folded := strings.ToLower(f.Name)
		if f.Name == "" || seen[folded] {
			return "", status.New(status.FailedPrecondition,
				"table %s.%s: column name %q is empty or used twice (case does not matter)", t.Schema, t.Name, f.Name)
		}
		seen[folded] = true
		columns[i] = quoteIdent(f.Name) + " " + name
	}
	return strings.Join(columns, ", "), nil
}

func (sh *shadow) retain() { sh.refs.Add(1) }

// release drops a reference; the last one closes the instance.
func (sh *shadow) release() {
	if sh.refs.Add(-1) > 0 {
		return
	}
	for _, s := range sh.idle {
		s.close()
	}
	sh.idle = nil
	duckdb.Close(&sh.db)
}

// session takes an idle session or opens one; it waits while all are in use.
func (sh *shadow) session(ctx context.Context) (*session, error) {
	select {
	case sh.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctxError(ctx)
	}
	sh.mu.Lock()
	if n := len(sh.idle); n > 0 {
		s := sh.idle[n-1]
		sh.idle = sh.idle[:n-1]
		sh.mu.Unlock()
		s.take()
		return s, nil
	}
	sh.mu.Unlock()
	s, err := newSession(sh)
	if err != nil {
		<-sh.slots
	}
	return s, err
}

// put gives a session back; an interrupted one is closed.
func (sh *shadow) put(s *session) {
	if s.retire() {
		s.close()
	} else {
		sh.mu.Lock()
		sh.idle = append(sh.idle, s)
		sh.mu.Unlock()
	}
	<-sh.slots
}

// brokenTable explains a "does not exist" error about a table that was left out.
func (sh *shadow) brokenTable(text string) error {
	_, rest, ok := strings.Cut(text, "Table with name ")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(rest, " does not exist")
	return sh.broken[strings.ToLower(name)]
}
