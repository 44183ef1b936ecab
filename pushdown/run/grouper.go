package run

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/agg"
)

// A table that keeps more than this share of its rows as groups does not pay.
const worstReduction = 0.8

// After a first probe that failed, this many times its rows pass through.
const firstBackoff = 8

// maxPassRows bounds how long rows pass through before grouping is tried again.
const maxPassRows = 16 << 20

// grouper aggregates while that reduces the rows and passes them through as
// partial rows while it does not.
type grouper struct {
	table   *agg.Aggregator
	keyed   bool
	hold    bool
	probe   int64
	rows    int64 // grouped since the table was empty
	probed  bool  // this filling of the table was found to reduce
	passing int64 // rows still to pass through
	passed  int64 // rows that went out as groups of one row, about
	backoff int64 // rows to pass through next time
}

func newGrouper(spec pushdown.Spec, input *arrow.Schema, opts Options) (*grouper, error) {
	table, err := agg.New(&spec, input, agg.Options{
		Alloc: opts.Alloc, MaxGroups: opts.MaxGroups, MaxBytes: opts.MaxBytes, HashMask: opts.HashMask,
	})
	g := &grouper{table: table, keyed: len(spec.GroupBy) > 0, hold: opts.Hold, probe: opts.ProbeRows, backoff: firstBackoff * opts.ProbeRows}
	if opts.Pass && g.keyed && !g.hold {
		g.passing = g.backoff
	}
	return g, err
}

// elsewhere tries grouping again soon, but not at once: where no part of a table
// reduces, as few rows as possible are grouped for nothing.
func (g *grouper) elsewhere() {
	g.passing = min(g.passing, firstBackoff*g.probe)
}

// pieceRows is how many rows go into the table between two looks at its size.
const pieceRows = 64 << 10

func (g *grouper) push(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
	return pieces(batch, sel, g.pushPiece)
}

func (g *grouper) pushPiece(batch arrow.RecordBatch, sel []int32) ([]arrow.RecordBatch, error) {
	n := batch.NumRows()
	if sel != nil {
		n = int64(len(sel))
	}
	if g.passing > 0 {
		g.passing -= n
		g.passed += n
		return g.table.PassThrough(batch, sel)
	}
	return g.grouped(n, g.table.Update(batch, sel))
}

func (g *grouper) merge(batch arrow.RecordBatch) ([]arrow.RecordBatch, error) {
	return pieces(batch, nil, func(batch arrow.RecordBatch, _ []int32) ([]arrow.RecordBatch, error) {
		if g.passing > 0 {
			g.passing -= batch.NumRows()
			batch.Retain()
			return []arrow.RecordBatch{batch}, nil
		}
		return g.grouped(batch.NumRows(), g.table.Merge(batch))
	})
}

// pieces calls f with at most pieceRows selected rows at a time.
func pieces(batch arrow.RecordBatch, sel []int32, f func(arrow.RecordBatch, []int32) ([]arrow.RecordBatch, error)) ([]arrow.RecordBatch, error) {
	n := int(batch.NumRows())
	if sel != nil {
		n = len(sel)
	}
	if n <= pieceRows {
		return f(batch, sel)
	}
	var out []arrow.RecordBatch
	for from := 0; from < n; from += pieceRows {
		ready, err := piece(batch, sel, from, min(from+pieceRows, n), f)
		if err != nil {
			agg.Release(out)
			return nil, err
		}
		out = append(out, ready...)
	}
	return out, nil
}

func piece(batch arrow.RecordBatch, sel []int32, from, to int, f func(arrow.RecordBatch, []int32) ([]arrow.RecordBatch, error)) ([]arrow.RecordBatch, error) {
	if sel != nil {
		return f(batch, sel[from:to])
	}
	slice := batch.NewSlice(int64(from), int64(to))
	defer slice.Release()
	return f(slice, nil)
}

// grouped follows n rows into the table: it empties a full one and one that
// does not reduce.
func (g *grouper) grouped(n int64, err error) ([]arrow.RecordBatch, error) {
	if err != nil || !g.keyed {
		return nil, err
	}
	g.rows += n
	full := g.table.Full()
	if g.hold {
		if full {
			return g.finish()
		}
		return nil, nil
	}
	if !full && (g.probed || g.rows < g.probe) {
		return nil, nil
	}
	if g.rows >= g.probe {
		g.probed = g.reduces()
	}
	if g.rows >= g.probe && !g.probed {
		g.passing = g.backoff
		g.passed += int64(g.table.Groups())
		g.backoff = min(2*g.backoff, maxPassRows)
		return g.finish()
	}
	if full {
		return g.finish()
	}
	return nil, nil
}

func (g *grouper) reduces() bool {
	if float64(g.table.Groups()) > worstReduction*float64(g.rows) {
		return false
	}
	g.backoff = firstBackoff * g.probe
	return true
}

func (g *grouper) finish() ([]arrow.RecordBatch, error) {
	g.rows, g.probed = 0, false
	return g.table.Emit()
}

func (g *grouper) done() bool { return false }
func (g *grouper) release()   { g.table.Release() }
