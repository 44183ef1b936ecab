package scanner

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// feed hands the batches of several reads of a source to several workers. A
// worker starts the next read; when all are started it helps with one that has
// not ended, so that one large partition keeps all workers busy.
type feed struct {
	mu      sync.Mutex
	todo    []Piece
	shares  []*share
	scanned int64 // of reads that are done
}

// share is a read of the source, begun by the first worker that asks for a
// batch.
type share struct {
	feed  *feed
	piece Piece
	// helpers counts the workers on it; feed.mu guards it and reader.
	helpers int
	reader  Reader
	ended   atomic.Bool
	// next is held while the source is asked.
	next sync.Mutex
}

// pick returns a read to take batches from, nil when all have ended. The worker
// gives it back with leave.
func (f *feed) pick() *share {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.todo) > 0 {
		s := &share{feed: f, piece: f.todo[0], helpers: 1}
		f.todo = f.todo[1:]
		f.shares = append(f.shares, s)
		return s
	}
	var best *share
	for _, s := range f.shares {
		if !s.ended.Load() && (best == nil || s.helpers < best.helpers) {
			best = s
		}
	}
	if best != nil {
		best.helpers++
	}
	return best
}

// batch reads one batch of a share.
func (s *share) batch(ctx context.Context) (arrow.RecordBatch, error) {
	s.next.Lock()
	defer s.next.Unlock()
	if s.ended.Load() {
		return nil, io.EOF
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	batch, err := s.ask(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.named(err)
	}
	return batch, err
}

// ask calls the source; whatever does not yield a batch, a panic too, ends the
// share.
func (s *share) ask(ctx context.Context) (arrow.RecordBatch, error) {
	s.ended.Store(true)
	if s.reader == nil {
		r, err := s.piece.Scan(ctx)
		if err != nil {
			return nil, err
		}
		s.feed.mu.Lock()
		s.reader = r
		s.feed.mu.Unlock()
	}
	batch, err := s.reader.Next(ctx)
	s.ended.Store(err != nil)
	return batch, err
}

// named says where an error happened when that is one partition.
func (s *share) named(err error) error {
	if s.piece.Partition == "" {
		return err
	}
	return status.Wrap(status.Internal, err, "partition %q", s.piece.Partition)
}

// leave ends a worker's use of a share; the last one closes it.
func (f *feed) leave(s *share) error {
	f.mu.Lock()
	s.helpers--
	last := s.helpers == 0
	if last {
		f.remove(s)
	}
	r := s.reader
	f.mu.Unlock()
	if !last || r == nil {
		return nil
	}
	return r.Close()
}

// remove takes a share off the list and keeps its count.
func (f *feed) remove(s *share) {
	for i, other := range f.shares {
		if other == s {
			f.shares = append(f.shares[:i], f.shares[i+1:]...)
			break
		}
	}
	if s.reader != nil {
		f.scanned += s.reader.RowsScanned()
	}
}

// rowsScanned is the progress over all reads.
func (f *feed) rowsScanned() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.scanned
	for _, s := range f.shares {
		if s.reader != nil {
			n += s.reader.RowsScanned()
		}
	}
	return n
}
