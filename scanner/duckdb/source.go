package duckdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
	"github.com/tributary-db/tributary/scanner"
)

// Config says where a table's rows are: every file that matches Glob is a
// partition, and Partitions lists more of them one by one.
type Config struct {
	// Engine runs the statements.
	Engine *Engine
	// Glob are patterns of filepath.Match.
	Glob []string
	// IDPrefix begins the partition ids of files found by Glob. A scanner sets
	// its own name, since the same id on two scanners means the same rows.
	IDPrefix string
	// Partitions are explicit partitions.
	Partitions []PartitionConfig
	// PieceBytes is the least that a piece of a divided scan holds, as Arrow; 0
	// means 32 MiB.
	PieceBytes int64
	// SampleFrom is the number of rows from which on a scan that groups is sampled
	// first; 0 means 1 Mi.
	SampleFrom int64
	// PlainPaths: directories named "key=value" above the files mean nothing.
	// Otherwise the key is a column of files that do not have it.
	PlainPaths bool
}

// PartitionConfig is one explicit partition: files, or a table of a database.
type PartitionConfig struct {
	// ID is the partition's id, unique in the table.
	ID string
	// Files are patterns; all matching files together are the partition.
	Files []string
	// Database is the path of a DuckDB database and Table a table or view in
	// it, "name" or "schema.name".
	Database, Table string
}

// Source is a table over DuckDB. It looks at the files again at every call, so
// that new and changed files are noticed. It is safe for concurrent use.
type Source struct {
	cfg Config

	mu   sync.Mutex
	snap *snapshot
}

var _ scanner.Widener = (*Source)(nil)

// New checks a configuration. Files are first looked at by Schema, Partitions
// or Scan.
func New(cfg Config) (*Source, error) {
	if cfg.Engine == nil {
		return nil, status.New(status.InvalidArgument, "a DuckDB source needs an engine")
	}
	if len(cfg.Glob) == 0 && len(cfg.Partitions) == 0 {
		return nil, status.New(status.InvalidArgument, "a DuckDB source needs files or partitions")
	}
	seen := map[string]bool{}
	for _, p := range cfg.Partitions {
		if err := p.check(); err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "partition %q", p.ID)
		}
		if seen[p.ID] {
			return nil, status.New(status.InvalidArgument, "partition %q is configured twice", p.ID)
		}
		seen[p.ID] = true
	}
	return &Source{cfg: cfg}, nil
}

// FromGlob returns the source of a table whose partitions are the files that
// match a pattern.
func FromGlob(engine *Engine, pattern string) (*Source, error) {
	return New(Config{Engine: engine, Glob: []string{pattern}})
}

func (p PartitionConfig) check() error {
	switch {
	case p.ID == "":
		return status.New(status.InvalidArgument, "the id is missing")
	case len(p.Files) > 0 && p.Database != "":
		return status.New(status.InvalidArgument, "files and a database exclude each other")
	case len(p.Files) == 0 && p.Database == "":
		return status.New(status.InvalidArgument, "files or a database are missing")
	case p.Database != "" && p.Table == "":
		return status.New(status.InvalidArgument, "the database needs a table")
	}
	return nil
}

// Schema returns the columns of all partitions, each of a type that holds the
// values of all.
func (s *Source) Schema(ctx context.Context) (*arrow.Schema, error) {
	snap, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	return snap.schema, nil
}

// Partitions returns the partitions in order of their ids.
func (s *Source) Partitions(ctx context.Context) ([]scanner.Partition, error) {
	snap, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]scanner.Partition, len(snap.partitions))
	for i, p := range snap.partitions {
		out[i] = scanner.Partition{ID: p.id, Rows: p.rows(), Bytes: p.bytes(), Version: p.version(), Columns: p.stats, Promise: p.promised}
	}
	return out, nil
}

// Capabilities says that DuckDB runs all of a specification but lookups, which
// the kernels do.
func (s *Source) Capabilities() pushdown.Capabilities {
	return pushdown.AllCapabilities().Without(string(pushdown.CapLookup))
}

// Scan runs a spec as one statement over the partitions it names.
func (s *Source) Scan(ctx context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	snap, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	sql, chosen, err := snap.statement(&spec)
	if err != nil {
		return nil, err
	}
	if previewable(chosen, &spec) {
		return s.preview(ctx, snap, &spec, sql, totalRows(chosen))
	}
	return s.run(ctx, &spec, sql, totalRows(chosen), s.cfg.Engine.alloc)
}

// run runs the statement of a spec over so many rows of the table.
func (s *Source) run(ctx context.Context, spec *pushdown.Spec, sql string, rows int64, alloc memory.Allocator) (*reader, error) {
	r, err := s.cfg.Engine.queryInto(ctx, sql, spec.OutputSchema(), alloc)
	if err != nil {
		return nil, err
	}
	r.table, r.extent = rows, rows
	if len(spec.OrderBy) == 0 && !spec.Grouped() {
		r.limit = spec.Limit
	}
	for i := range spec.GroupBy {
		r.canonical = append(r.canonical, i)
	}
	return r, nil
}

// statement writes the SQL of a spec, and says which partitions it reads.
func (snap *snapshot) statement(spec *pushdown.Spec) (string, []*partition, error) {
	columns, err := snap.columnsOf(spec)
	if err != nil {
		return "", nil, err
	}
	chosen, err := snap.choose(spec.Partitions)
	if err != nil {
		return "", nil, err
	}
	chosen = enough(chosen, spec)
	from, err := emptyRelation(columns)
	if len(chosen) > 0 {
		from, err = union(relations(originsOf(chosen)), columns)
	}
	if err != nil {
		return "", nil, err
	}
	sql, err := statement(spec, from)
	return sql, chosen, err
}

// columnsOf lists the columns that a spec reads, at least one, and checks that
// their types hold the values of the table's.
func (snap *snapshot) columnsOf(spec *pushdown.Spec) ([]pushdown.Column, error) {
	columns := spec.InputColumns()
	for _, c := range columns {
		at := snap.schema.FieldIndices(c.Name)
		if len(at) == 0 {
			continue
		}
		if have := snap.schema.Field(at[0]).Type; !widen.Holds(c.DataType, have) {
			return nil, status.New(status.Aborted, "column %q is %s, not %s any more; ask again", c.Name, have, c.DataType)
		}
	}
	if len(columns) == 0 {
		f := snap.schema.Field(0)
		columns = append(columns, pushdown.Column{Name: f.Name, DataType: f.Type})
	}
	return columns, nil
}

func (snap *snapshot) choose(ids []string) ([]*partition, error) {
	out := make([]*partition, len(ids))
	for i, id := range ids {
		j, ok := slices.BinarySearchFunc(snap.partitions, id, func(p *partition, id string) int { return strings.Compare(p.id, id) })
		if !ok {
			return nil, status.New(status.NotFound, "the table has no partition %q here", id)
		}
		out[i] = snap.partitions[j]
	}
	return out, nil
}

// enough keeps a partition that alone has the rows of a plain LIMIT: the
// smallest, because a file's first page may be as large as its first row group,
// and all threads would read one.
func enough(partitions []*partition, spec *pushdown.Spec) []*partition {
	if !plainLimit(spec) {
		return partitions
	}
	var best *partition
	for _, p := range partitions {
		if n := p.rows(); n >= spec.Limit && (best == nil || n < best.rows()) {
			best = p
		}
	}
	if best == nil {
		return partitions
	}
	return []*partition{best}
}

// plainLimit reports whether any rows will do.
func plainLimit(spec *pushdown.Spec) bool {
	return spec.Limit != pushdown.NoLimit && !spec.Grouped() && len(spec.Filter) == 0 && len(spec.OrderBy) == 0
}

func originsOf(partitions []*partition) []*described {
	var out []*described
	for _, p := range partitions {
		out = append(out, p.origins...)
	}
	return out
}

// relations merges the Parquet files of equal columns into one call, so that
// DuckDB spreads its threads over them.
func relations(origins []*described) []part {
	var out []part
	files := map[string][]*described{}
	for _, d := range origins {
		if d.format != formatParquet || len(d.hive) > 0 && d.has(fileIndex) {
			out = append(out, part{from: d.from, columns: byName(d.all())})
			continue
		}
		key := signature(d)
		files[key] = append(files[key], d)
	}
	for _, all := range files {
		var paths []string
		for _, d := range all {
			paths = append(paths, d.origin.path)
		}
		out = append(out, part{from: parquetRelation(paths), columns: byName(slices.Concat(all[0].columns, mergedHive(all)))})
	}
	return out
}

func byName(columns []column) map[string]column {
	out := make(map[string]column, len(columns))
	for _, c := range columns {
		out[c.name] = c
	}
	return out
}

// signature identifies a set of columns whatever their order, and the keys of
// directories in theirs.
func signature(d *described) string {
	parts := make([]string, len(d.columns))
	for i, c := range d.columns {
		parts[i] = fmt.Sprintf("%q %s", c.name, c.physical)
	}
	slices.Sort(parts)
	for _, h := range d.hive {
		parts = append(parts, fmt.Sprintf("key %q", h.name))
	}
	return strings.Join(parts, "\n")
}
