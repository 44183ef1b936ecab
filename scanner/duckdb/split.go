package duckdb

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/scanner"
)

// DuckDB streams the rows of a statement through one thread; only what it
// groups or sorts uses all. So a scan of rows is several statements, each over a
// piece: whole files and tables, or row groups of a large one.

const (
	defaultPieceBytes = 32 << 20
	// So many pieces a worker balance what takes longer than expected. A filter
	// may leave of most of them nothing but the cost of a statement.
	piecesPerWorker         = 8
	filteredPiecesPerWorker = 2
	// minCutRows: smaller Parquet files are not divided.
	minCutRows = 4096
	// tableGroup is the number of rows in the row groups of a database. Small tables
	// have at least leastGroups groups.
	tableGroup  = 122880
	leastGroups = 16
)

var _ scanner.Splitter = (*Source)(nil)

// rowGroup is a range of an origin's rows: from the end of the one before up to
// its own. Row numbers have gaps where rows were deleted.
type rowGroup struct{ end, rows int64 }

// extract is an origin or some of its row groups.
type extract struct {
	*described
	partition string
	// from and to are row numbers, -1 for the origin's own bounds; count is the
	// number of rows, -1 unknown.
	from, to, count int64
}

func (x extract) whole() bool { return x.from < 0 && x.to < 0 }

// Split divides a scan of rows by bytes.
func (s *Source) Split(ctx context.Context, spec pushdown.Spec, workers int) ([]scanner.Piece, error) {
	if spec.Limit != pushdown.NoLimit && len(spec.Filter) == 0 {
		return nil, nil // the first rows will do
	}
	snap, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	columns, err := snap.columnsOf(&spec)
	if err != nil {
		return nil, err
	}
	chosen, err := snap.choose(spec.Partitions)
	if err != nil {
		return nil, err
	}
	per := int64(piecesPerWorker)
	if len(spec.Filter) > 0 {
		per = filteredPiecesPerWorker
	}
	heaps := divide(chosen, rowBytes(columns), s.pieceBytes(), per*int64(workers))
	out := make([]scanner.Piece, len(heaps))
	for i, heap := range heaps {
		out[i] = scanner.Piece{Partition: commonPartition(heap), Scan: func(ctx context.Context) (scanner.Reader, error) {
			return s.scanHeap(ctx, &spec, columns, heap)
		}}
	}
	return out, nil
}

func (s *Source) pieceBytes() int64 {
	if s.cfg.PieceBytes > 0 {
		return s.cfg.PieceBytes
	}
	return defaultPieceBytes
}

// divide makes at most about so many heaps of at least so many bytes; none when
// one would do.
func divide(partitions []*partition, rowBytes, least, most int64) [][]extract {
	total := int64(0)
	for _, d := range originsOf(partitions) {
		total += d.weight(rowBytes)
	}
	target := max(least, total/most)
	if total < 2*target {
		return nil
	}
	var heaps [][]extract
	weight := target
	for _, p := range partitions {
		for _, d := range p.origins {
			for _, x := range d.cut(max(1, target/rowBytes)) {
				if weight >= target {
					heaps, weight = append(heaps, nil), 0
				}
				x.partition = p.id
				heaps[len(heaps)-1] = append(heaps[len(heaps)-1], x)
				weight += x.weight(rowBytes)
			}
		}
	}
	if len(heaps) < 2 {
		return nil
	}
	return heaps
}

// weight is what an origin holds, roughly.
func (d *described) weight(rowBytes int64) int64 {
	if d.rows < 0 {
		return d.stamp.size
	}
	return d.rows * rowBytes
}

func (x extract) weight(rowBytes int64) int64 {
	if x.whole() {
		return x.described.weight(rowBytes)
	}
	return x.count * rowBytes
}

// cut divides an origin into ranges of at least so many rows.
func (d *described) cut(rows int64) []extract {
	var out []extract
	next, left := extract{described: d, from: -1, to: -1}, d.rows
	for _, g := range d.groups {
		next.count += g.rows
		left -= g.rows
		if next.count >= rows && left >= rows/2 && left > 0 {
			next.to = g.end
			out = append(out, next)
			next = extract{described: d, from: g.end, to: -1}
		}
	}
	next.count += left
	return append(out, next)
}

// divideTable finds where a table of a database can be divided.
func (d *described) divideTable(ctx context.Context, e *Engine) ([]rowGroup, error) {
	if d.has(tableRow) {
		return nil, nil
	}
	if _, err := e.describe(ctx, "(SELECT "+tableRow+" FROM "+d.from+")"); err != nil {
		return nil, ctx.Err() // a view has no row numbers
	}
	step := min(tableGroup, max(1, d.rows/leastGroups))
	return d.rowGroups(ctx, e, fmt.Sprintf("SELECT (%[1]s // %[2]d + 1) * %[2]d AS bound, count(*) FROM %[3]s GROUP BY bound ORDER BY bound", tableRow, step, d.from))
}

// The pseudo-columns of row numbers.
const (
	parquetRow = "file_row_number"
	tableRow   = "rowid"
)

func (d *described) has(name string) bool {
	return slices.ContainsFunc(d.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
}

var rowGroupSchema = arrow.NewSchema([]arrow.Field{
	{Name: "end", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "rows", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
}, nil)

// rowGroups reads the groups; nil if they do not add up.
func (d *described) rowGroups(ctx context.Context, e *Engine, sql string) ([]rowGroup, error) {
	r, err := e.query(ctx, sql, rowGroupSchema)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var groups []rowGroup
	rows := int64(0)
	for {
		b, err := r.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, end := range b.Column(0).(*array.Int64).Int64Values() {
			n := b.Column(1).(*array.Int64).Value(i)
			groups = append(groups, rowGroup{end, n})
			rows += n
		}
		b.Release()
	}
	if rows != d.rows {
		return nil, nil
	}
	return groups, nil
}

// scanHeap reads one piece.
func (s *Source) scanHeap(ctx context.Context, spec *pushdown.Spec, columns []pushdown.Column, heap []extract) (scanner.Reader, error) {
	from, err := union(extracts(heap), columns)
	if err != nil {
		return nil, err
	}
	sql, err := statement(spec, from)
	if err != nil {
		return nil, err
	}
	if err := unchanged(heap); err != nil {
		return nil, err
	}
	rows, extent := rowsOf(heap)
	r, err := s.run(ctx, spec, sql, rows, s.cfg.Engine.alloc)
	if err != nil {
		return nil, err
	}
	r.extent = extent
	if err := unchanged(heap); err != nil { // between the look and the opening
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// unchanged makes sure that all ranges are of the same rows: those of a file that
// was replaced since the scan began would not fit together.
func unchanged(heap []extract) error {
	for _, x := range heap {
		if x.whole() && x.format != formatTable {
			continue
		}
		if now, err := stampOf(x.origin.path); err != nil || now != x.stamp {
			return status.New(status.Aborted, "%s was changed while it was read: repeat the query", x.origin)
		}
	}
	return nil
}

// extracts are the relations of a piece.
func extracts(heap []extract) []part {
	var all []*described
	var out []part
	for _, x := range heap {
		if x.whole() {
			all = append(all, x.described)
			continue
		}
		p := part{from: x.described.from, columns: byName(x.all()), where: x.condition()}
		if x.format == formatParquet {
			p.from = strings.TrimSuffix(parquetRelation([]string{x.origin.path}), ")") + ", " + parquetRow + " = true)"
		}
		out = append(out, p)
	}
	return append(out, relations(all)...)
}

// condition chooses the rows.
func (x extract) condition() string {
	row := tableRow
	if x.format == formatParquet {
		row = parquetRow
	}
	low, high := fmt.Sprintf("%s >= %d", row, x.from), fmt.Sprintf("%s < %d", row, x.to)
	switch {
	case x.from < 0:
		return high
	case x.to < 0:
		return low
	}
	return low + " AND " + high
}

// rowsOf is the number of rows of a piece, and of the files it lies in; -1 unknown.
func rowsOf(heap []extract) (rows, extent int64) {
	for _, x := range heap {
		if x.rows < 0 {
			return -1, -1
		}
		rows += x.count
		extent += x.rows
	}
	return rows, extent
}

// commonPartition is the partition of all extracts, if it is one.
func commonPartition(heap []extract) string {
	for _, x := range heap {
		if x.partition != heap[0].partition {
			return ""
		}
	}
	return heap[0].partition
}

// rowBytes is what a row takes as Arrow, roughly.
func rowBytes(columns []pushdown.Column) int64 {
	const text, nested = 24, 64
	n := int64(0)
	for _, c := range columns {
		switch t := c.DataType.(type) {
		case arrow.NestedType:
			n += nested
		case arrow.FixedWidthDataType:
			n += int64(max(1, t.Bytes()))
		default:
			n += text
		}
	}
	return max(1, n)
}
