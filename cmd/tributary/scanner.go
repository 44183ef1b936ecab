package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/scanner/duckdb"
)

// scannerCmd is `tributary scanner`.
type scannerCmd struct {
	common
	serverTLS
	SecretFile string   `help:"File with the secret that this scanner and its coordinators share; strangers are refused." placeholder:"FILE"`
	Listen     string   `help:"Address for the coordinator and for any Flight client." default:"127.0.0.1:8816"`
	Advertise  string   `help:"Where clients reach this scanner, grpc://host:port or grpc+tls://host:port: parts of results are then read from it, with tickets sealed with --secret-file." placeholder:"URI"`
	HTTP       string   `name:"http" help:"Address for /metrics, /healthz and /readyz; empty for none." default:"127.0.0.1:8081"`
	Name       string   `help:"Name of this node, unique in the federation; the default is the listen address." placeholder:"NAME"`
	Table      []string `help:"A table and its files (Parquet, CSV, JSON): [schema.]name=glob. Each file is a partition." placeholder:"NAME=GLOB" sep:"none"`
	Disable    []string `help:"Capabilities to withhold: agg, filter, limit, topn, all, or a name such as filter.like."`
	Workers    int      `help:"Partitions scanned at once; 0 is one a core." default:"0"`
	Threads    int      `help:"DuckDB threads; 0 is one a core." default:"0"`
	Memory     byteSize `help:"DuckDB memory." default:"4GiB"`
	KeepMemory byteSize `help:"Memory for the rows of small partitions (up to 16 MiB each), which are then not read again until their files change; 0 for none." default:"128MiB"`
	TempDir    string   `help:"Where DuckDB spills; the default is the system's."`
}

// scannerFile is the part of a configuration file that flags do not cover.
type scannerFile struct {
	Tables []tableConfig  `yaml:"tables"`
	Rest   map[string]any `yaml:",inline"`
}

type tableConfig struct {
	Name       string            `yaml:"name"`
	Partitions []partitionConfig `yaml:"partitions"`
	// Hive is false where directories "key=value" mean nothing.
	Hive *bool `yaml:"hive_partitioning"`
}

type partitionConfig struct {
	ID     string        `yaml:"id"`
	DuckDB *duckdbConfig `yaml:"duckdb"`
}

type duckdbConfig struct {
	Files    []string `yaml:"files"`
	Database string   `yaml:"database"`
	Table    string   `yaml:"table"`
}

// Run serves until ctx is done.
func (c *scannerCmd) Run(ctx context.Context, out *console) (err error) {
	log := c.logger(out.stderr)
	opts, err := c.options(log)
	if err != nil {
		return err
	}
	secret, err := readSecret(c.SecretFile, log)
	if err != nil {
		return err
	}
	engine, err := duckdb.NewEngine(duckdb.EngineConfig{Threads: c.Threads, MemoryLimit: int64(c.Memory), TempDir: c.TempDir, KeepBytes: int64(c.KeepMemory)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	limitHeap(scannerHeap(c.Memory, c.KeepMemory))
	lis, err := listen(c.Listen)
	if err != nil {
		return err
	}
	name := c.Name
	if name == "" {
		name = lis.Addr().String()
	}
	tables, err := c.tables(engine, name)
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	registry := newRegistry()
	node_, err := scanner.New(scanner.Config{Name: name, Tables: tables, Disable: c.Disable, Workers: c.Workers, Advertise: c.Advertise, Tickets: secret, Logger: log, Registry: registry})
	if err != nil {
		return errors.Join(err, lis.Close())
	}
	defer func() { err = errors.Join(err, node_.Close()) }()
	if secret != nil {
		opts = append(opts, secret.Guard(node_.Open()...)...)
	}
	warnHTTP(log, c.HTTP, true)
	warnOpen(log, c.Listen, c.on(), c.SecretFile != "" || c.TLSClientCA != "")
	log.Info().Str("version", version).Str("name", name).Int("tables", len(tables)).Str("uri", c.uri(lis.Addr())).Msg("scanner is up")
	return node{http: c.HTTP, registry: registry, ready: node_.Ready, log: log,
		serve: func(ctx context.Context, l net.Listener) error { return node_.Serve(ctx, l, opts...) }}.run(ctx, lis)
}

// tables makes the sources of --table and of the configuration file. Several
// --table flags of one name are one table.
func (c *scannerCmd) tables(engine *duckdb.Engine, node string) ([]scanner.Table, error) {
	var names []string
	globs := map[string][]string{}
	for _, spec := range c.Table {
		name, glob, err := parseTable(spec)
		if err != nil {
			return nil, err
		}
		if globs[name] == nil {
			names = append(names, name)
		}
		globs[name] = append(globs[name], glob)
	}
	var tables []scanner.Table
	for _, name := range names {
		source, err := duckdb.New(duckdb.Config{Engine: engine, Glob: globs[name], IDPrefix: node + "/"})
		if err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "--table %s", name)
		}
		tables = append(tables, namedTable(name, source))
	}
	configured, err := c.configuredTables(engine)
	return append(tables, configured...), err
}

func (c *scannerCmd) configuredTables(engine *duckdb.Engine) ([]scanner.Table, error) {
	if c.Config == "" {
		return nil, nil
	}
	var file scannerFile
	if err := decodeConfig(string(c.Config), &file, true); err != nil {
		return nil, err
	}
	var tables []scanner.Table
	for _, t := range file.Tables {
		made, err := configTable(t, engine)
		if err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "%s: table %q", c.Config, t.Name)
		}
		tables = append(tables, made)
	}
	return tables, nil
}

// parseTable reads [schema.]name=glob.
func parseTable(spec string) (name, glob string, err error) {
	name, glob, ok := strings.Cut(spec, "=")
	if !ok || name == "" || glob == "" {
		return "", "", status.New(status.InvalidArgument, "--table %q: write [schema.]name=glob, for example 'orders=data/orders-*.parquet'", spec)
	}
	if dir := filepath.Dir(glob); !strings.ContainsAny(dir, "*?[") {
		if _, err := os.Stat(dir); err != nil {
			return "", "", status.Wrap(status.NotFound, err, "--table %q: the directory of the files does not exist", spec)
		}
	}
	return name, glob, nil
}

func namedTable(name string, source scanner.Source) scanner.Table {
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		schema, table = "main", name
	}
	return scanner.Table{Schema: schema, Name: table, Source: source}
}

func configTable(t tableConfig, engine *duckdb.Engine) (scanner.Table, error) {
	if t.Name == "" || len(t.Partitions) == 0 {
		return scanner.Table{}, status.New(status.InvalidArgument, "a table needs a name and partitions")
	}
	var parts []duckdb.PartitionConfig
	for _, p := range t.Partitions {
		if p.DuckDB == nil {
			return scanner.Table{}, status.New(status.InvalidArgument, "partition %q has no source: write duckdb: {files: […]} or duckdb: {database: …, table: …}", p.ID)
		}
		parts = append(parts, duckdb.PartitionConfig{ID: p.ID, Files: p.DuckDB.Files, Database: p.DuckDB.Database, Table: p.DuckDB.Table})
	}
	source, err := duckdb.New(duckdb.Config{Engine: engine, Partitions: parts, PlainPaths: t.Hive != nil && !*t.Hive})
	if err != nil {
		return scanner.Table{}, err
	}
	return namedTable(t.Name, source), nil
}
