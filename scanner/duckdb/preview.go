package duckdb

import (
	"context"
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

// Tools show the first rows of a table again and again. A file's first rows cost
// a page of every column, which may hold a row group, so those that a plain LIMIT
// had are kept as long as the snapshot they came from.

const (
	previewRows = 2048
	// previewBytes is the most that one LIMIT may keep, and previewCount how many a
	// snapshot keeps.
	previewBytes = 1 << 20
	previewCount = 8
)

// previews are the rows of plain LIMITs over one snapshot. Their memory is the
// garbage collector's, since a snapshot has no end of its own.
type previews struct {
	mu   sync.Mutex
	kept map[string][]arrow.RecordBatch
}

// previewable reports whether the rows are those of a plain LIMIT over files that
// do not change unnoticed.
func previewable(chosen []*partition, spec *pushdown.Spec) bool {
	if !plainLimit(spec) || spec.Limit > previewRows {
		return false
	}
	now := time.Now()
	return !slices.ContainsFunc(originsOf(chosen), func(d *described) bool { return !d.lasting(now) })
}

// preview runs a previewable statement, or answers it with the rows that it had.
func (s *Source) preview(ctx context.Context, snap *snapshot, spec *pushdown.Spec, sql string, rows int64) (scanner.Reader, error) {
	key := sql + "\n" + spec.OutputSchema().String()
	if batches, ok := snap.previews.find(key); ok {
		return &replay{batches: batches}, nil
	}
	r, err := s.run(ctx, spec, sql, rows, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	return &keeper{reader: r, key: key, previews: &snap.previews}, nil
}

func (p *previews) find(key string) ([]arrow.RecordBatch, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	batches, ok := p.kept[key]
	return batches, ok
}

// keep makes room by forgetting any other.
func (p *previews) keep(key string, batches []arrow.RecordBatch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.kept[key]; ok {
		return
	}
	if p.kept == nil {
		p.kept = map[string][]arrow.RecordBatch{}
	}
	for other := range p.kept {
		if len(p.kept) < previewCount {
			break
		}
		delete(p.kept, other)
	}
	p.kept[key] = batches
}

// keeper is a reader whose rows are kept when it has yielded all.
type keeper struct {
	*reader
	key      string
	previews *previews
	batches  []arrow.RecordBatch
	bytes    int64
}

func (k *keeper) Next(ctx context.Context) (arrow.RecordBatch, error) {
	batch, err := k.reader.Next(ctx)
	if err == nil {
		k.bytes += ipc.EncodedSize(batch)
		k.batches = append(k.batches, batch)
		batch.Retain()
	}
	if k.bytes <= previewBytes && (err == io.EOF || err == nil && k.sent >= k.limit) {
		k.previews.keep(k.key, k.batches)
	}
	return batch, err
}
