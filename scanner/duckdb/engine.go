package duckdb

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
	bind "github.com/duckdb/duckdb-go-bindings"

	"github.com/tributary-db/tributary/pushdown/status"
)

// EngineConfig sizes an [Engine]. The zero value is usable.
type EngineConfig struct {
	// Threads is the number of worker threads; 0 means one per processor.
	Threads int
	// MemoryLimit bounds DuckDB's memory in bytes; 0 means DuckDB's default.
	MemoryLimit int64
	// TempDir receives spilled data. A directory of its own is made in it and
	// removed by Close; empty means the system's.
	TempDir string
	// MaxTempBytes bounds the spilled data; 0 means 16 GiB.
	MaxTempBytes int64
	// Warm is the number of idle connections kept; 0 means 16.
	Warm int
	// KeepBytes is the memory for rows of small partitions, which stay there from
	// their second scan on; 0 keeps none.
	KeepBytes int64
	// Alloc allocates Arrow buffers; nil means the default allocator.
	Alloc memory.Allocator
}

// Engine is one DuckDB instance, shared by all the sources of a process. It is
// safe for concurrent use.
type Engine struct {
	db    bind.Database
	alloc memory.Allocator
	temp  string
	warm  int
	keep  keep
	// describing bounds how many origins are described at once, whatever the
	// tables they are of.
	describing chan struct{}

	mu       sync.Mutex
	idle     []bind.Connection
	open     sync.WaitGroup
	closed   bool
	attachMu sync.Mutex
	attached map[string]*attachment
	attaches int
}

const defaultMaxTempBytes = 16 << 30

// NewEngine opens an instance and locks it down.
func NewEngine(cfg EngineConfig) (*Engine, error) {
	temp, err := os.MkdirTemp(cfg.TempDir, "tributary-scanner-")
	if err != nil {
		return nil, status.Wrap(status.FailedPrecondition, err, "cannot make a directory for temporary data")
	}
	e := &Engine{alloc: cfg.Alloc, temp: temp, warm: cfg.Warm, attached: map[string]*attachment{},
		describing: make(chan struct{}, runtime.GOMAXPROCS(0)), keep: keep{budget: cfg.KeepBytes, rows: map[*partition]*keptRows{}}}
	if e.alloc == nil {
		e.alloc = memory.DefaultAllocator
	}
	if e.warm == 0 {
		e.warm = 16
	}
	if err := e.start(cfg); err != nil {
		_ = e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Engine) start(cfg EngineConfig) error {
	if err := e.openDatabase(settings(cfg, e.temp)); err != nil {
		return err
	}
	// These are known only once the instance is up; the lock comes last.
	for _, sql := range []string{
		"SET GLOBAL TimeZone = 'UTC'",
		"SET GLOBAL parquet_metadata_cache = true",
		"SET GLOBAL disabled_optimizers = 'top_n_window_elimination'",
		"SET GLOBAL allowed_configs = ['enable_progress_bar', 'enable_progress_bar_print']", // see countProgress
		"SET GLOBAL lock_configuration = true",
	} {
		if err := e.exec(context.Background(), sql); err != nil {
			return status.Wrap(status.Internal, err, "cannot set up DuckDB")
		}
	}
	return nil
}

// settings are the options of a new instance.
func settings(cfg EngineConfig, temp string) map[string]string {
	threads := cfg.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	maxTemp := cfg.MaxTempBytes
	if maxTemp == 0 {
		maxTemp = defaultMaxTempBytes
	}
	out := map[string]string{
		"threads":                      strconv.Itoa(threads),
		"temp_directory":               temp,
		"max_temp_directory_size":      bytesText(maxTemp),
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
		"allow_community_extensions":   "false",
		"preserve_insertion_order":     "false",
	}
	if cfg.MemoryLimit > 0 {
		out["memory_limit"] = bytesText(cfg.MemoryLimit)
	}
	return out
}

func bytesText(n int64) string { return fmt.Sprintf("%dB", n) }

func (e *Engine) openDatabase(options map[string]string) error {
	var cfg bind.Config
	if bind.CreateConfig(&cfg) != bind.StateSuccess {
		return status.New(status.Internal, "cannot create a DuckDB configuration")
	}
	defer bind.DestroyConfig(&cfg)
	for name, value := range options {
		if bind.SetConfig(cfg, name, value) != bind.StateSuccess {
			return status.New(status.InvalidArgument, "DuckDB does not accept %s = %q", name, value)
		}
	}
	var msg string
	if bind.OpenExt("", &e.db, cfg, &msg) != bind.StateSuccess {
		return status.New(status.FailedPrecondition, "cannot open DuckDB: %s", msg)
	}
	return nil
}

// Close waits for running statements and closes the instance.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	idle := e.idle
	e.idle = nil
	e.mu.Unlock()
	for i := range idle {
		bind.Disconnect(&idle[i])
	}
	e.open.Wait()
	bind.Close(&e.db)
	return os.RemoveAll(e.temp)
}

// acquire takes a warm connection or opens one.
func (e *Engine) acquire() (bind.Connection, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return bind.Connection{}, status.New(status.Unavailable, "the DuckDB engine of this scanner is closed")
	}
	if n := len(e.idle); n > 0 {
		conn := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.open.Add(1)
		return conn, nil
	}
	var conn bind.Connection
	if bind.Connect(e.db, &conn) != bind.StateSuccess {
		return conn, status.New(status.Internal, "cannot open a DuckDB connection")
	}
	if err := countProgress(conn); err != nil {
		bind.Disconnect(&conn)
		return conn, err
	}
	e.open.Add(1)
	return conn, nil
}

// countProgress makes DuckDB keep track of how much of its tables a statement has
// read, without showing it.
func countProgress(conn bind.Connection) error {
	for _, sql := range []string{"SET enable_progress_bar = true", "SET enable_progress_bar_print = false"} {
		var res bind.Result
		state := bind.Query(conn, sql, &res)
		text := bind.ResultError(&res)
		bind.DestroyResult(&res)
		if state != bind.StateSuccess {
			return status.New(status.Internal, "cannot set up a DuckDB connection: %s", text)
		}
	}
	return nil
}

// release gives a connection back; one that was interrupted is not reused,
// because the interrupt may reach its next statement.
func (e *Engine) release(conn bind.Connection, discard bool) {
	defer e.open.Done()
	e.mu.Lock()
	keep := !discard && !e.closed && len(e.idle) < e.warm
	if keep {
		e.idle = append(e.idle, conn)
	}
	e.mu.Unlock()
	if !keep {
		bind.Disconnect(&conn)
	}
}

// exec runs a statement and ignores its rows.
func (e *Engine) exec(ctx context.Context, sql string) error {
	s, err := e.stream(ctx, sql)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		chunk, err := s.fetch()
		if err != nil || chunk.Ptr == nil {
			return err
		}
		bind.DestroyDataChunk(&chunk)
	}
}

// Version is the version of the DuckDB library.
func Version() string { return strings.TrimPrefix(bind.LibraryVersion(), "v") }
