// Package memory is a scanner source over record batches held in Go. It is
// pure Go and only yields rows: filters and aggregates are done by the scanner.
package memory

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/partition"
	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/pushdown/widen"
	"github.com/tributary-db/tributary/scanner"
)

// Partition is a partition and its rows.
type Partition struct {
	// ID is unique in the table.
	ID string
	// Batches are its rows. Their columns are found by name; one may be narrower
	// than the table's, or missing, and is then NULL: see package widen.
	Batches []arrow.RecordBatch
	// Promise is what the owner promises of the partition; Put refuses rows that
	// break it.
	Promise partition.Promise
}

// Source is a table whose rows are record batches. It is safe for concurrent
// use; partitions may be replaced while scans run.
type Source struct {
	schema *arrow.Schema

	mu         sync.RWMutex
	partitions map[string]*stored
	puts       int
}

// stored is a partition as it was put.
type stored struct {
	batches []arrow.RecordBatch
	version string
	stats   map[string]codec.ColumnStats
	promise partition.Promise
}

var _ scanner.Source = (*Source)(nil)

// New returns a source over the given partitions. It keeps a reference to each
// batch until it is replaced, or until Release.
func New(schema *arrow.Schema, partitions []Partition) (*Source, error) {
	s := &Source{schema: nullable(schema), partitions: map[string]*stored{}}
	for _, p := range partitions {
		if _, twice := s.partitions[p.ID]; twice {
			s.Release()
			return nil, status.New(status.InvalidArgument, "partition %q is given twice", p.ID)
		}
		if err := s.Put(p); err != nil {
			s.Release()
			return nil, err
		}
	}
	return s, nil
}

// nullable is the schema as it goes over the wire: without metadata but the mark
// of UUIDs, and every field may be NULL.
func nullable(schema *arrow.Schema) *arrow.Schema {
	fields := make([]arrow.Field, schema.NumFields())
	for i, f := range schema.Fields() {
		fields[i] = arrow.Field{Name: f.Name, Type: f.Type, Nullable: true}
		if pushdown.IsUUID(f) {
			fields[i] = pushdown.MarkUUID(fields[i])
		}
	}
	return arrow.NewSchema(fields, nil)
}

// Put adds a partition or replaces it. Scans that run keep the old rows. It reads
// the rows once, for their statistics: a handshake must not wait for that.
func (s *Source) Put(p Partition) error {
	if p.ID == "" {
		return status.New(status.InvalidArgument, "a partition needs an id")
	}
	var batches []arrow.RecordBatch
	for i, b := range p.Batches {
		wide, err := s.widened(b)
		if err != nil {
			release(batches)
			return status.Wrap(status.InvalidArgument, err, "partition %q, batch %d", p.ID, i)
		}
		batches = append(batches, wide)
	}
	if err := s.keeps(p.Promise, batches); err != nil {
		release(batches)
		return status.Wrap(status.FailedPrecondition, err, "partition %q", p.ID)
	}
	stats := statistics(s.schema, batches)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(p.ID)
	s.puts++
	s.partitions[p.ID] = &stored{batches: batches, version: strconv.Itoa(s.puts), stats: stats, promise: p.Promise}
	return nil
}

// keeps reports whether all rows keep a promise.
func (s *Source) keeps(p partition.Promise, batches []arrow.RecordBatch) error {
	if err := p.Validate(s.schema); err != nil {
		return err
	}
	for _, b := range batches {
		if err := p.Keep(b); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets a partition; the caller holds mu.
func (s *Source) drop(id string) {
	if p := s.partitions[id]; p != nil {
		release(p.batches)
		delete(s.partitions, id)
	}
}

// widened returns a batch with the columns of the table.
func (s *Source) widened(b arrow.RecordBatch) (arrow.RecordBatch, error) {
	for _, have := range b.Schema().Fields() {
		at := s.schema.FieldIndices(have.Name)
		if len(at) == 0 {
			return nil, status.New(status.InvalidArgument, "the table has no column %q", have.Name)
		}
		if want := s.schema.Field(at[0]).Type; !widen.Holds(want, have.Type) {
			return nil, status.New(status.InvalidArgument, "column %q is %s, which the table's %s does not hold", have.Name, have.Type, want)
		}
	}
	wide, err := widen.Batch(b, s.schema, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	if err := s.checkUUIDs(wide); err != nil {
		wide.Release()
		return nil, err
	}
	return wide, nil
}

// checkUUIDs refuses texts that are not what their column is marked as.
func (s *Source) checkUUIDs(b arrow.RecordBatch) error {
	for i, f := range s.schema.Fields() {
		texts, ok := b.Column(i).(array.StringLike)
		if !ok || !pushdown.IsUUID(f) {
			continue
		}
		for row := range texts.Len() {
			if texts.IsValid(row) && !pushdown.CanonicalUUID(texts.Value(row)) {
				return status.New(status.InvalidArgument, "column %q holds %q, which is no UUID in canonical form", f.Name, texts.Value(row))
			}
		}
	}
	return nil
}

// Remove drops a partition. Scans that run keep its rows.
func (s *Source) Remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(id)
}

// Release drops all partitions.
func (s *Source) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.partitions {
		s.drop(id)
	}
}

func retain(batches []arrow.RecordBatch) []arrow.RecordBatch {
	for _, b := range batches {
		b.Retain()
	}
	return slices.Clone(batches)
}

func release(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}

// Schema returns the schema.
func (s *Source) Schema(context.Context) (*arrow.Schema, error) { return s.schema, nil }

// Partitions returns the partitions in order of their ids.
func (s *Source) Partitions(context.Context) ([]scanner.Partition, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]scanner.Partition, 0, len(s.partitions))
	for id, have := range s.partitions {
		p := scanner.Partition{ID: id, Bytes: -1, Version: have.version, Columns: have.stats, Promise: have.promise}
		for _, b := range have.batches {
			p.Rows += b.NumRows()
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b scanner.Partition) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Capabilities is empty: the source only yields rows.
func (s *Source) Capabilities() pushdown.Capabilities { return pushdown.Capabilities{} }

// Scan reads the columns of a spec.
func (s *Source) Scan(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	if need := spec.Required(); len(need) > 0 {
		return nil, status.New(status.Unimplemented, "a memory source cannot do %q", need[0])
	}
	r := &reader{schema: spec.OutputSchema(), rows: firstRows}
	for _, c := range spec.Columns {
		at := s.schema.FieldIndices(c.Name)
		if len(at) == 0 || !arrow.TypeEqual(s.schema.Field(at[0]).Type, c.DataType) {
			return nil, status.New(status.InvalidArgument, "the table has no column %q of type %s", c.Name, c.DataType)
		}
		r.columns = append(r.columns, at[0])
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, id := range spec.Partitions {
		have, ok := s.partitions[id]
		if !ok {
			release(r.batches)
			return nil, status.New(status.NotFound, "the table has no partition %q here", id)
		}
		r.batches = append(r.batches, retain(have.batches)...)
	}
	return r, nil
}

// Batches handed out begin small, so that a scan that soon has enough has not read
// much, and grow; maxRows bounds them, so that several workers share a large one.
const (
	firstRows = 4 << 10
	maxRows   = 64 << 10
)

type reader struct {
	schema  *arrow.Schema
	columns []int
	batches []arrow.RecordBatch
	at      int64 // in the first batch
	rows    int64 // of the next batch, at most
	scanned atomic.Int64
}

// Next returns a slice of the rows, without copying.
func (r *reader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, status.Wrap(status.Canceled, err, "the scan was stopped")
	}
	for len(r.batches) > 0 && r.at >= r.batches[0].NumRows() {
		r.batches[0].Release()
		r.batches, r.at = r.batches[1:], 0
	}
	if len(r.batches) == 0 {
		return nil, io.EOF
	}
	n := min(r.rows, r.batches[0].NumRows()-r.at)
	r.rows = min(2*r.rows, maxRows)
	out := r.slice(r.batches[0], r.at, r.at+n)
	r.at += n
	r.scanned.Add(n)
	return out, nil
}

func (r *reader) slice(b arrow.RecordBatch, from, to int64) arrow.RecordBatch {
	columns := make([]arrow.Array, len(r.columns))
	for i, c := range r.columns {
		columns[i] = b.Column(c)
	}
	whole := array.NewRecordBatch(r.schema, columns, b.NumRows())
	if from == 0 && to == b.NumRows() {
		return whole
	}
	defer whole.Release()
	return whole.NewSlice(from, to)
}

// RowsScanned is the number of rows handed out.
func (r *reader) RowsScanned() int64 { return r.scanned.Load() }

// Close drops the rows that were not read.
func (r *reader) Close() error {
	release(r.batches)
	r.batches = nil
	return nil
}
