package engine

// Config sets up a [Pool].
type Config struct {
	// Threads of one query; 0 means one per core.
	Threads int
	// MemoryLimit of one query in bytes; 0 leaves DuckDB's own (80 % of RAM).
	MemoryLimit int64
	// TempDir holds the spill directories; empty means the system's.
	TempDir string
	// MaxTempBytes bounds the spill of one query; 0 means 16 GiB.
	MaxTempBytes int64
	// Warm is the number of idle instances kept ready.
	Warm int
	// MaxOpen bounds the queries that run at once, the others wait; 0 means no bound.
	MaxOpen int
}

// Pool runs queries, each on a DuckDB instance of its own.
type Pool struct{}

// New opens a pool.
func New(cfg Config) (*Pool, error) { return nil, errTODO }

// Close ends the pool. Running queries are interrupted.
func (p *Pool) Close() error { return errTODO }
