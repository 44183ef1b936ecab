package duckdb

import (
	"context"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
)

// DuckDB groups all or nothing: with a key per row it builds a table of all rows,
// and the coordinator another one. The kernels stop grouping where that does not
// reduce the rows. Which of them groups is decided by a sample.

const (
	// sampleFrom is from how many rows on grouping for nothing costs more than a
	// sample.
	sampleFrom = 1 << 20
	// The sample is a share of the rows, at most so many, from several places: rows
	// that were written together resemble each other.
	sampleShare  = 8
	sampleRows   = 1 << 19
	samplePlaces = 4
	// worthGrouping is the largest share of groups in the rows.
	worthGrouping = 0.5
	// reductionCount is of how many lists of keys a snapshot knows it.
	reductionCount = 64
)

// reductions are, by list of keys, whether a snapshot has few groups for its rows.
type reductions struct {
	mu    sync.Mutex
	known map[string]bool
}

var _ scanner.Adviser = (*Source)(nil)

// Advise leaves an aggregate with nearly a group per row to the kernels. The files
// as last seen will do: the scan looks at them anyhow, and the advice changes no
// answer.
func (s *Source) Advise(ctx context.Context, spec pushdown.Spec) (pushdown.Capabilities, error) {
	caps, snap := s.Capabilities(), s.seen()
	if len(spec.GroupBy) == 0 || len(spec.Lookups) > 0 || spec.Reduce != nil || spec.Limit != pushdown.NoLimit || snap == nil || snap.err != nil {
		return caps, nil
	}
	chosen, err := snap.choose(spec.Partitions)
	if err != nil || totalRows(chosen) < s.sampleFrom() {
		return caps, nil // the scan itself will say what is wrong
	}
	if few, err := s.reduces(ctx, snap, &spec, chosen); few || err != nil {
		return caps, err
	}
	return caps.Without("agg"), nil
}

func (s *Source) sampleFrom() int64 {
	if s.cfg.SampleFrom > 0 {
		return s.cfg.SampleFrom
	}
	return sampleFrom
}

// reduces reports whether the groups are few. It is asked of all rows, whatever the
// filter: a filter may leave a group of one row, but then few rows as well.
func (s *Source) reduces(ctx context.Context, snap *snapshot, spec *pushdown.Spec, chosen []*partition) (bool, error) {
	keys, ok := sampledKeys(spec)
	if !ok {
		return true, nil
	}
	key := strings.Join(keys, ", ") + " of " + strings.Join(spec.Partitions, ", ")
	if few, ok := snap.reductions.find(key); ok {
		return few, nil
	}
	few := true
	if heap, rows := sample(originsOf(chosen)); rows > 0 {
		columns, err := snap.columnsOf(spec)
		if err != nil {
			return true, err
		}
		read, groups, err := s.countGroups(ctx, keys, columns, heap)
		if err != nil {
			return true, ctx.Err() // the scan itself will say what is wrong
		}
		few = estimateGroups(read, groups) < worthGrouping*float64(totalRows(chosen))
	}
	snap.reductions.keep(key, few)
	return few, nil
}

// sampledKeys are the expressions to group by, unless one might fail.
func sampledKeys(spec *pushdown.Spec) ([]string, bool) {
	keys := make([]string, len(spec.GroupBy))
	for i, k := range spec.GroupBy {
		text, err := render(k.Expr)
		if err != nil || !pushdown.Infallible(k.Expr) {
			return nil, false
		}
		keys[i] = text
	}
	return keys, true
}

// sample chooses row groups from several places; none where they are too large.
func sample(origins []*described) (heap []extract, rows int64) {
	var all []extract
	total := int64(0)
	for _, d := range origins {
		all = append(all, d.cut(1)...)
		total += d.rows
	}
	want := min(total/sampleShare, sampleRows)
	seen, next := int64(0), total/(2*samplePlaces)
	for _, x := range all {
		if seen += x.size(); seen > next && rows < want {
			heap, rows = append(heap, x), rows+x.size()
			next += total / samplePlaces
		}
	}
	if rows > 2*want {
		return nil, 0
	}
	return heap, rows
}

// size is the number of rows.
func (x extract) size() int64 {
	if x.whole() {
		return x.rows
	}
	return x.count
}

var sampleSchema = arrow.NewSchema([]arrow.Field{
	{Name: "rows", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "groups", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
}, nil)

// countGroups counts rows and groups of some row groups.
func (s *Source) countGroups(ctx context.Context, keys []string, columns []pushdown.Column, heap []extract) (rows, groups int64, err error) {
	from, err := union(extracts(heap), columns)
	if err != nil {
		return 0, 0, err
	}
	sql := "SELECT CAST(sum(n) AS BIGINT), count(*) FROM (SELECT count(*) AS n FROM " + from + " AS " + relation + " GROUP BY " + strings.Join(keys, ", ") + ")"
	r, err := s.cfg.Engine.query(ctx, sql, sampleSchema)
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	b, err := r.Next(ctx)
	if err == io.EOF {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	defer b.Release()
	return b.Column(0).(*array.Int64).Value(0), b.Column(1).(*array.Int64).Value(0), nil
}

// estimateGroups is how many groups of equal size there are, where so many random
// rows have so many of them: rows drawn from d groups have d(1 - exp(-rows/d)).
func estimateGroups(rows, groups int64) float64 {
	n, seen := float64(rows), float64(groups)
	if rows == groups {
		return math.Inf(1)
	}
	low, high := seen, n*n
	for range 64 {
		d := (low + high) / 2
		if d*-math.Expm1(-n/d) < seen {
			low = d
		} else {
			high = d
		}
	}
	return high
}

func (r *reductions) find(key string) (few, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	few, ok = r.known[key]
	return few, ok
}

// keep makes room by forgetting all others.
func (r *reductions) keep(key string, few bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= reductionCount {
		r.known = map[string]bool{}
	}
	r.known[key] = few
}
