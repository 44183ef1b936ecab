package duckdb

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/codec/ipc"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
)

// A statement over a small file costs DuckDB milliseconds whatever it reads, and
// the kernels a fraction of one. So the rows of small partitions stay in memory
// from their second scan on, as long as the files do.

const (
	// keepPartition is the most that one partition may hold, as Arrow.
	keepPartition = 16 << 20
	// keepShare divides the memory: no scan may want more than such a part of it.
	keepShare = 2
	// keepIdle is how long rows must have been idle before others take their place:
	// sooner, tables read in turn would displace each other each time.
	keepIdle = time.Minute
	// textGrowth is how much larger than its file a partition of unknown size may be.
	textGrowth = 4
)

// keep is the memory for rows of all sources of an engine.
type keep struct {
	budget int64

	mu   sync.Mutex
	used int64
	rows map[*partition]*keptRows
}

type keptRows struct {
	batches []arrow.RecordBatch
	bytes   int64
	touched time.Time
}

var _ scanner.Keeper = (*Source)(nil)

// Kept is a source over the rows in memory, nil unless those of all partitions of
// the spec are.
func (s *Source) Kept(ctx context.Context, spec pushdown.Spec) (scanner.Source, error) {
	if s.cfg.Engine.keep.budget == 0 || len(spec.Partitions) == 0 {
		return nil, nil
	}
	snap, err := s.refresh(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := snap.choose(spec.Partitions)
	if err != nil || !snap.asTheyAre(slices.Concat(spec.InputColumns(), spec.Columns)) || !s.worthKeeping(snap, chosen) {
		return nil, err
	}
	out := &rowSource{schema: snap.schema, batches: map[string][]arrow.RecordBatch{}}
	for _, p := range chosen {
		batches := s.hold(ctx, snap, p)
		if batches == nil {
			return nil, nil
		}
		out.batches[p.id] = batches
	}
	return out, nil
}

// asTheyAre reports whether columns are of the types that the table has.
func (snap *snapshot) asTheyAre(columns []pushdown.Column) bool {
	return !slices.ContainsFunc(columns, func(c pushdown.Column) bool {
		at := snap.schema.FieldIndices(c.Name)
		return len(at) == 0 || !arrow.TypeEqual(snap.schema.Field(at[0]).Type, c.DataType)
	})
}

// worthKeeping reports whether partitions are small, and were scanned before.
func (s *Source) worthKeeping(snap *snapshot, chosen []*partition) bool {
	perRow, total, again, now := rowBytes(columnsOf(snap.schema)), int64(0), true, time.Now()
	for _, p := range chosen {
		bytes := int64(0)
		for _, d := range p.origins {
			if !d.lasting(now) {
				return false
			}
			if d.rows < 0 {
				bytes += d.stamp.size * textGrowth
			} else {
				bytes += d.rows * perRow
			}
		}
		total += bytes
		if bytes > keepPartition || total > s.cfg.Engine.keep.budget/keepShare {
			return false
		}
	}
	for _, p := range chosen {
		again = p.scans.Add(1) > 1 && again
	}
	return again
}

func columnsOf(schema *arrow.Schema) []pushdown.Column {
	out := make([]pushdown.Column, schema.NumFields())
	for i, f := range schema.Fields() {
		out[i] = pushdown.Column{Name: f.Name, DataType: f.Type}
	}
	return out
}

// hold returns the rows of a partition, which it reads if they are not in memory;
// nil when they cannot be. Errors are left to the scan that follows.
func (s *Source) hold(ctx context.Context, snap *snapshot, p *partition) []arrow.RecordBatch {
	k := &s.cfg.Engine.keep
	if batches, ok := k.find(p); ok {
		return batches
	}
	if !p.loading.TryLock() {
		return nil // do not wait
	}
	defer p.loading.Unlock()
	batches, bytes, err := s.load(ctx, snap, p)
	if err == nil && k.add(p, batches, bytes) {
		return batches
	}
	if ctx.Err() == nil {
		p.scans.Store(-keepRest)
	}
	return nil
}

// keepRest is for how many scans a partition is left alone that could not be kept.
const keepRest = 100

var errTooLarge = errors.New("too large to keep")

// load reads all rows of a partition.
func (s *Source) load(ctx context.Context, snap *snapshot, p *partition) (batches []arrow.RecordBatch, bytes int64, err error) {
	spec := pushdown.Spec{Partitions: []string{p.id}, Columns: columnsOf(snap.schema), Limit: pushdown.NoLimit}
	sql, chosen, err := snap.statement(&spec)
	if err != nil {
		return nil, 0, err
	}
	r, err := s.run(ctx, &spec, sql, totalRows(chosen), memory.DefaultAllocator)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	batches = []arrow.RecordBatch{}
	for {
		batch, err := r.Next(ctx)
		if err == io.EOF {
			return batches, bytes, p.unchanged()
		}
		if err != nil {
			return nil, 0, err
		}
		batches = append(batches, batch)
		if bytes += ipc.EncodedSize(batch); bytes > keepPartition {
			return nil, 0, errTooLarge
		}
	}
}

// unchanged makes sure that the files are those of the snapshot.
func (p *partition) unchanged() error {
	heap := make([]extract, len(p.origins))
	for i, d := range p.origins {
		heap[i] = extract{described: d, partition: p.id}
	}
	return unchanged(heap)
}

func (k *keep) find(p *partition) ([]arrow.RecordBatch, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.rows[p]
	if r == nil {
		return nil, false
	}
	r.touched = time.Now()
	return r.batches, true
}

// add reports whether there was room.
func (k *keep) add(p *partition, batches []arrow.RecordBatch, bytes int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for other, r := range k.rows {
		if k.used+bytes <= k.budget {
			break
		}
		if time.Since(r.touched) > keepIdle {
			k.drop(other)
		}
	}
	if k.used+bytes > k.budget {
		return false
	}
	k.used += bytes
	k.rows[p] = &keptRows{batches, bytes, time.Now()}
	return true
}

// forget drops the rows of partitions that are no more.
func (k *keep) forget(partitions []*partition) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range partitions {
		k.drop(p)
	}
}

// drop leaves the memory to the garbage collector: scans may still read it.
func (k *keep) drop(p *partition) {
	if r := k.rows[p]; r != nil {
		k.used -= r.bytes
		delete(k.rows, p)
	}
}
