package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tributary-db/tributary/pushdown/status"
)

// stamp tells whether a file changed.
type stamp struct {
	modified time.Time
	size     int64
	// inode and changed, where the system has them, tell files apart that were
	// given the same time.
	inode   uint64
	changed int64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, status.Wrap(status.FailedPrecondition, err, "cannot read a file of the table")
	}
	if info.IsDir() {
		return stamp{}, status.New(status.FailedPrecondition, "%q is a directory, not a file", path)
	}
	st := stamp{modified: info.ModTime(), size: info.Size()}
	st.inode, st.changed = identity(info)
	return st, nil
}

// origin is where rows lie: a file, or a table of a database file.
type origin struct {
	path  string
	table string // of a database
}

func (o origin) String() string {
	if o.table != "" {
		return fmt.Sprintf("table %q of database %q", o.table, o.path)
	}
	return fmt.Sprintf("file %q", o.path)
}

// format is how an origin is read.
type format uint8

const (
	formatParquet format = iota + 1
	formatCSV
	formatJSON
	formatTable
)

func formatOf(o origin) (format, error) {
	if o.table != "" {
		return formatTable, nil
	}
	switch strings.ToLower(extension(o.path)) {
	case ".parquet", ".parq", ".pq":
		return formatParquet, nil
	case ".csv", ".tsv", ".txt":
		return formatCSV, nil
	case ".json", ".jsonl", ".ndjson":
		return formatJSON, nil
	default:
		return 0, status.New(status.InvalidArgument,
			"cannot tell the format of %q: name it .parquet, .csv, .tsv, .json, .jsonl or .ndjson (CSV and JSON also .gz or .zst)", o.path)
	}
}

// extension is the extension before that of a compression.
func extension(path string) string {
	ext := filepath.Ext(path)
	if ext == ".gz" || ext == ".zst" {
		return filepath.Ext(strings.TrimSuffix(path, ext))
	}
	return ext
}

// described is an origin whose columns are known.
type described struct {
	origin  origin
	stamp   stamp
	format  format
	from    string
	columns []column
	// hive are the keys of its directories that are no columns of the file.
	hive []hiveColumn
	rows int64
	// groups are where it can be divided; nil when it cannot.
	groups []rowGroup
	// stats are known of Parquet files that have settled.
	stats     map[string]extent
	unsettled bool
	err       error
}

// describeOrigin reads the schema and, where it is cheap, the number of rows.
func (e *Engine) describeOrigin(ctx context.Context, o origin, now stamp) (d *described) {
	d = &described{origin: o, stamp: now, rows: -1, unsettled: now.settling(time.Now())}
	defer func() {
		if r := recover(); r != nil { // it runs in a goroutine of its own
			d.err = status.New(status.Internal, "internal error: %v", r)
		}
		if d.err != nil {
			d.err = status.Wrap(status.FailedPrecondition, d.err, "%s", o)
		}
	}()
	d.err = d.read(ctx, e)
	return d
}

func (d *described) read(ctx context.Context, e *Engine) (err error) {
	if d.format, err = formatOf(d.origin); err != nil {
		return err
	}
	if d.from, err = d.relation(ctx, e); err != nil {
		return err
	}
	if d.columns, err = e.describe(ctx, d.from); err != nil {
		return err
	}
	if len(d.columns) == 0 {
		return status.New(status.FailedPrecondition, "no columns")
	}
	if d.format == formatJSON {
		d.from = jsonRelation(d.origin.path, d.columns)
	}
	if d.format == formatParquet {
		return d.readFooter(ctx, e)
	}
	return d.readTable(ctx, e)
}

// readFooter takes what the footer says. Where DuckDB cannot read all of it,
// nothing but the number of rows is known.
func (d *described) readFooter(ctx context.Context, e *Engine) (err error) {
	f, err := e.readFooter(ctx, d.origin.path)
	if err != nil {
		d.rows, err = e.queryInt(ctx, "SELECT CAST(sum(num_rows) AS BIGINT) FROM parquet_file_metadata("+globLiteral(d.origin.path)+")")
		return err
	}
	d.rows = f.rows
	d.stats = d.extents(f)
	if d.rows >= minCutRows && !d.has(parquetRow) {
		d.groups = f.groups
	}
	return nil
}

// readTable counts the rows of a database's table.
func (d *described) readTable(ctx context.Context, e *Engine) (err error) {
	if d.format != formatTable {
		return nil
	}
	if d.rows, err = e.queryInt(ctx, "SELECT count(*) FROM "+d.from); err != nil {
		return err
	}
	d.groups, err = d.divideTable(ctx, e)
	return err
}

// relation is the FROM item to describe.
func (d *described) relation(ctx context.Context, e *Engine) (string, error) {
	path := globLiteral(d.origin.path)
	switch d.format {
	case formatParquet:
		return parquetRelation([]string{d.origin.path}), nil
	case formatCSV:
		return e.csvRelation(ctx, path)
	case formatJSON:
		return fmt.Sprintf("read_json(%s, hive_partitioning = false)", path), nil
	default:
		alias, err := e.attach(ctx, d.origin.path, d.stamp)
		return quoteIdent(alias) + "." + qualified(d.origin.table), err
	}
}

// qualified quotes "table" or "schema.table".
func qualified(name string) string {
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		schema, table = "main", name
	}
	return quoteIdent(schema) + "." + quoteIdent(table)
}

// globLiteral is a path as DuckDB wants it: its file functions take patterns.
func globLiteral(path string) string {
	return quoteText(strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path))
}

func parquetRelation(paths []string) string {
	list := make([]string, len(paths))
	for i, p := range paths {
		list[i] = globLiteral(p)
	}
	return "read_parquet([" + strings.Join(list, ", ") + "], hive_partitioning = false)"
}

// csvRelation sniffs a file once and fixes the dialect and types it found, so
// that every scan reads the same.
func (e *Engine) csvRelation(ctx context.Context, path string) (string, error) {
	prompt, err := e.queryText(ctx, "SELECT Prompt FROM sniff_csv("+path+")")
	if err != nil {
		return "", err
	}
	const start = "auto_detect=false"
	i := strings.Index(prompt, start)
	if i < 0 {
		return "", status.New(status.Internal, "DuckDB's CSV sniffer answered %q", prompt)
	}
	options := strings.TrimSuffix(strings.TrimSpace(prompt[i:]), ";")
	// A sample without quotes must not make quotes later on plain text.
	options = strings.Replace(options, "quote=''", `quote='"'`, 1)
	options = strings.Replace(options, "escape=''", `escape='"'`, 1)
	return "read_csv(" + path + ", hive_partitioning = false, " + strings.TrimSuffix(options, ")") + ")", nil
}

// jsonRelation fixes the types that were found.
func jsonRelation(path string, columns []column) string {
	items := make([]string, len(columns))
	for i, c := range columns {
		items[i] = quoteText(c.name) + ": " + quoteText(c.physical)
	}
	return fmt.Sprintf("read_json(%s, hive_partitioning = false, columns = {%s})", globLiteral(path), strings.Join(items, ", "))
}

// expand lists the files of patterns in order, without duplicates. A pattern
// without magic is the file of that name.
func expand(patterns []string) ([]string, error) {
	var out []string
	for _, p := range patterns {
		matches, err := filepath.Glob(p)
		if err != nil {
			return nil, status.Wrap(status.InvalidArgument, err, "pattern %q", p)
		}
		if len(matches) == 0 {
			return nil, status.New(status.NotFound, "no file matches %q", p)
		}
		out = append(out, matches...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// partitionIDs names files by their base names without extension; where those
// are not unique, by as many parent directories as it takes.
func partitionIDs(paths []string) []string {
	ids := make([]string, len(paths))
	for depth := 1; ; depth++ {
		count := map[string]int{}
		for i, p := range paths {
			ids[i] = tail(strings.TrimSuffix(p, compressedExtension(p)), depth)
			count[ids[i]]++
		}
		if len(count) == len(paths) {
			return ids
		}
		if depth > maxPathDepth {
			copy(ids, paths)
			return ids
		}
	}
}

const maxPathDepth = 64

// compressedExtension is the whole extension: ".csv.gz".
func compressedExtension(path string) string {
	last := filepath.Ext(path)
	if ext := extension(path); ext != last {
		return ext + last
	}
	return last
}

// tail returns the last n elements of a path.
func tail(path string, n int) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}
