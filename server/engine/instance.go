package engine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// limits are what one instance may use; they are fixed when it opens.
type limits struct {
	threads int
	memory  int64
	temp    int64
}

// instance is one DuckDB that runs one query at a time.
type instance struct {
	limits limits
	dir    string // its spill directory, made by DuckDB when needed
	db     duckdb.Database
	conn   duckdb.Connection
	run    atomic.Pointer[running]

	mu     sync.Mutex
	closed bool
}

// openInstance opens and locks down an instance.
func openInstance(l limits, dir string) (*instance, error) {
	settings := []setting{
		{"threads", strconv.Itoa(l.threads)},
		{"temp_directory", dir},
		{"max_temp_directory_size", kib(l.temp)},
	}
	if l.memory > 0 {
		settings = append(settings, setting{"memory_limit", kib(l.memory)})
	}
	settings = append(settings, lockedDown()...) // last: it forbids naming directories
	inst := &instance{limits: l, dir: dir}
	var err error
	if inst.db, err = openDatabase(settings); err != nil {
		return nil, err
	}
	if inst.conn, err = connect(inst.db); err == nil {
		err = inst.setUp()
	}
	if err != nil {
		inst.close()
		return nil, status.Wrap(status.Internal, err, "set up the engine")
	}
	return inst, nil
}

func (inst *instance) setUp() error {
	if err := registerRemote(inst); err != nil {
		return err
	}
	// The rewrite loses rows: QUALIFY row_number() over a UNION ALL with NULL keys.
	if err := exec(inst.conn, attachCatalog, "SET disabled_optimizers = 'top_n_window_elimination'", "SET streaming_buffer_size = '4MiB'"); err != nil {
		return err
	}
	return exec(inst.conn, pinned...)
}

func kib(n int64) string { return fmt.Sprintf("%dKiB", max(1, n>>10)) }

// interrupt stops the running statement, if the instance still is open.
func (inst *instance) interrupt() {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	if !inst.closed {
		duckdb.Interrupt(inst.conn)
	}
}

// close frees the instance and its spill.
func (inst *instance) close() {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	inst.closed = true
	duckdb.Disconnect(&inst.conn)
	duckdb.Close(&inst.db)
	_ = os.RemoveAll(inst.dir)
}

// createViews makes the inputs readable under their tables' names.
func (inst *instance) createViews(views []View) error {
	for _, v := range views {
		schema := catalogName + "." + quoteIdent(v.Schema)
		err := exec(inst.conn, "CREATE SCHEMA IF NOT EXISTS "+schema,
			"CREATE VIEW "+schema+"."+quoteIdent(v.Name)+" AS SELECT "+v.items()+" FROM remote("+quoteString(v.Input)+")")
		if err != nil {
			return status.Wrap(status.Internal, err, "make the input %q readable as %s.%s", v.Input, v.Schema, v.Name)
		}
	}
	return nil
}

// items are the columns of a view.
func (v View) items() string {
	if len(v.UUIDs) == 0 {
		return "*"
	}
	casts := make([]string, len(v.UUIDs))
	for i, name := range v.UUIDs {
		casts[i] = "CAST(" + quoteIdent(name) + " AS UUID) AS " + quoteIdent(name)
	}
	return "* REPLACE (" + strings.Join(casts, ", ") + ")"
}

// dropViews undoes createViews.
func (inst *instance) dropViews(views []View) error {
	for _, v := range views {
		if err := exec(inst.conn, "DROP VIEW "+catalogName+"."+quoteIdent(v.Schema)+"."+quoteIdent(v.Name)); err != nil {
			return err
		}
	}
	return nil
}
