package duckdb

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// footer is what a Parquet file says of its rows. It is read by one statement: at
// the start of a scanner with thousands of files statements are all that takes
// time.
type footer struct {
	rows   int64
	groups []rowGroup
	// chunks are the statistics of all row groups by column path.
	chunks map[string][]chunkStats
}

// chunkStats are the statistics of one column in one row group, as text.
type chunkStats struct {
	min, max     string
	hasMin       bool
	hasMax       bool
	nulls, rows  int64
	distinct     int64 // 0 unknown
	exact, known bool  // known: nulls is
}

const footerQuery = "SELECT CAST(row_group_id AS BIGINT), CAST(row_group_num_rows AS BIGINT), path_in_schema, stats_min_value, stats_max_value, " +
	"CAST(stats_null_count AS BIGINT), min_is_exact AND max_is_exact, CAST(stats_distinct_count AS BIGINT) FROM parquet_metadata("

var footerSchema = arrow.NewSchema([]arrow.Field{
	{Name: "group", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "rows", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "column", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "min", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "max", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "nulls", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "exact", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "distinct", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
}, nil)

// readFooter reads the footer of a file.
func (e *Engine) readFooter(ctx context.Context, path string) (*footer, error) {
	r, err := e.query(ctx, footerQuery+globLiteral(path)+")", footerSchema)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, groups := &footer{chunks: map[string][]chunkStats{}}, map[int64]int64{}
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			f.count(groups)
			return f, nil
		}
		if err != nil {
			return nil, err
		}
		f.add(b, groups)
		b.Release()
	}
}

// add takes lines of the footer, and notes the rows of their row groups.
func (f *footer) add(b arrow.RecordBatch, groups map[int64]int64) {
	group, rows, columns := b.Column(0).(*array.Int64), b.Column(1).(*array.Int64), b.Column(2).(*array.String)
	for i := range int(b.NumRows()) {
		c := chunkAt(b, i)
		if !rows.IsNull(i) {
			c.rows = rows.Value(i)
		}
		groups[group.Value(i)] = c.rows
		f.chunks[strings.Clone(columns.Value(i))] = append(f.chunks[columns.Value(i)], c)
	}
}

// count adds the row groups up, in their order.
func (f *footer) count(groups map[int64]int64) {
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		f.rows += groups[id]
		f.groups = append(f.groups, rowGroup{f.rows, groups[id]})
	}
}

func chunkAt(b arrow.RecordBatch, i int) (c chunkStats) {
	c.min, c.hasMin = textAt(b.Column(3), i)
	c.max, c.hasMax = textAt(b.Column(4), i)
	nulls, exact := b.Column(5).(*array.Int64), b.Column(6).(*array.Boolean)
	if c.known = !nulls.IsNull(i); c.known {
		c.nulls = nulls.Value(i)
	}
	c.exact = !exact.IsNull(i) && exact.Value(i)
	if distinct := b.Column(7).(*array.Int64); !distinct.IsNull(i) {
		c.distinct = distinct.Value(i)
	}
	return c
}

func textAt(column arrow.Array, i int) (string, bool) {
	a := column.(*array.String)
	if a.IsNull(i) {
		return "", false
	}
	return strings.Clone(a.Value(i)), true
}
