package scanner

import (
	"context"
	"crypto/rand"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Config configures a [Scanner]. Name and Tables are enough.
type Config struct {
	// Name is the node's name, unique in a federation.
	Name string
	// Tables are the tables to serve.
	Tables []Table
	// Disable withholds capabilities, as [pushdown.Capabilities.Without] reads
	// them: "agg", "filter", "all". Specs that need them are refused.
	Disable []string
	// Workers is how many goroutines run a scan of a source that does not
	// aggregate itself; 0 means one per processor.
	Workers int
	// BatchBytes bounds the batches of plain Flight reads; 0 means 1 MiB. Those of
	// scans are bounded by the coordinator's request.
	BatchBytes int64
	// Heartbeat is how often a scan that sends nothing reports progress; 0 means
	// a second.
	Heartbeat time.Duration
	// Advertise is the Flight location (grpc://host:port or grpc+tls://host:port)
	// at which clients may read with tickets of a coordinator, sealed with Tickets;
	// empty when they must not.
	Advertise string
	// Tickets is the secret that is shared with coordinators.
	Tickets *secure.Secret
	// Alloc allocates Arrow buffers; nil means the default allocator.
	Alloc memory.Allocator
	// Logger receives structured logs; the zero value logs nothing.
	Logger zerolog.Logger
	// Registry receives the metrics; nil means none.
	Registry prometheus.Registerer
}

func (c Config) withDefaults() Config {
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.BatchBytes == 0 {
		c.BatchBytes = codec.DefaultBatchBytes
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = time.Second
	}
	if c.Alloc == nil {
		c.Alloc = memory.DefaultAllocator
	}
	return c
}

// Scanner serves the partitions of tables. It is safe for concurrent use.
type Scanner struct {
	cfg     Config
	caps    pushdown.Capabilities
	epoch   string
	tables  []*table
	metrics *metrics

	// ctx ends with Close; scans counts those that run, and gate keeps new ones
	// out while Close waits.
	ctx   context.Context
	stop  context.CancelCauseFunc
	scans sync.WaitGroup
	gate  sync.RWMutex

	// catalog guards what the last Hello said.
	catalog sync.Mutex
	seen    string
	version uint64
}

// table is a table and its full name, "schema.name".
type table struct {
	Table
	name string
	// fault is why the last Hello found it unusable; Scanner.catalog guards it.
	fault string
}

// New checks a configuration and returns a scanner, which [Scanner.Register]
// or [Scanner.Serve] put on the network.
func New(cfg Config) (*Scanner, error) {
	cfg = cfg.withDefaults()
	if cfg.Name == "" {
		return nil, status.New(status.InvalidArgument, "the scanner needs a name")
	}
	if err := checkAdvertise(cfg); err != nil {
		return nil, err
	}
	s := &Scanner{
		cfg:     cfg,
		caps:    offered().Without(cfg.Disable...),
		epoch:   rand.Text(),
		metrics: newMetrics(),
	}
	if err := s.addTables(); err != nil {
		return nil, err
	}
	if err := checkDisable(cfg.Disable); err != nil {
		return nil, err
	}
	if err := s.metrics.register(cfg.Registry); err != nil {
		return nil, status.Wrap(status.AlreadyExists, err, "metrics of scanner %q", cfg.Name)
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	return s, nil
}

func (s *Scanner) addTables() error {
	for _, t := range s.cfg.Tables {
		if t.Schema == "" {
			t.Schema = "main"
		}
		if t.Name == "" || t.Source == nil {
			return status.New(status.InvalidArgument, "table %q.%q needs a name and a source", t.Schema, t.Name)
		}
		added := &table{Table: t, name: t.Schema + "." + t.Name}
		if _, err := s.table(added.name); err == nil {
			return status.New(status.InvalidArgument, "table %s is configured twice", added.name)
		}
		s.tables = append(s.tables, added)
	}
	return nil
}

// offered is what a scanner can do whatever its sources.
func offered() pushdown.Capabilities {
	return pushdown.AllCapabilities().Union(pushdown.NewCapabilities(pushdown.CapDynamicFilter))
}

// checkDisable finds names that withhold nothing, most likely misspelt.
func checkDisable(names []string) error {
	all := offered()
	for _, n := range names {
		if len(all.Without(n).Names()) == len(all.Names()) {
			return status.New(status.InvalidArgument, "there is no capability %q to disable; try all, or one of %s", n, topLevel(all))
		}
	}
	return nil
}

// topLevel lists the first parts of the names.
func topLevel(caps pushdown.Capabilities) string {
	var out []string
	for _, c := range caps.Names() {
		first, _, _ := strings.Cut(string(c), ".")
		out = append(out, first)
	}
	return strings.Join(slices.Compact(out), ", ")
}

// table finds a table by "schema.name", or by "name" in the schema main.
func (s *Scanner) table(name string) (*table, error) {
	for _, t := range s.tables {
		if t.name == name || t.name == "main."+name {
			return t, nil
		}
	}
	return nil, status.New(status.NotFound, "scanner %q has no table %q", s.cfg.Name, name)
}

// Capabilities are what a coordinator may ask of this scanner.
func (s *Scanner) Capabilities() pushdown.Capabilities { return s.caps }

// Epoch changes whenever a scanner starts.
func (s *Scanner) Epoch() string { return s.epoch }

// OpenScans is the number of scans that run.
func (s *Scanner) OpenScans() int { return int(s.metrics.open.Load()) }

// enter counts a scan until the returned function is called.
func (s *Scanner) enter() (leave func(), err error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	s.scans.Add(1)
	return s.scans.Done, nil
}

// shutDown stops scans and lets no more begin.
func (s *Scanner) shutDown() {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.stop(status.New(status.Unavailable, "scanner %q is shutting down", s.cfg.Name))
}

// Close stops the scans that run and waits for them. Sources stay open.
func (s *Scanner) Close() error {
	s.shutDown()
	s.scans.Wait()
	s.metrics.unregister(s.cfg.Registry)
	return nil
}
