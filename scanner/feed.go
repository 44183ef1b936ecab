package scanner

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/pushdown/status"
)

// feed hands the batches of several reads of a source to several workers. A
// worker starts the next read; when all are started it helps with one that has
// not ended, so that one large partition keeps all workers busy.
type feed struct {
	source Source

	mu      sync.Mutex
	todo    []pushdown.Spec
	shares  []*share
	scanned int64 // of reads that are done
}

// share is a read that has begun.
type share struct {
	spec pushdown.Spec
	// mu is held during Next; helpers counts the workers on it.
	mu      sync.Mutex
	reader  Reader
	ended   bool
	helpers int
}

// pick returns a read to take batches from, nil when all have ended. The worker
// gives it back with leave, also after an error.
func (f *feed) pick(ctx context.Context) (*share, error) {
	f.mu.Lock()
	if len(f.todo) > 0 {
		s := &share{spec: f.todo[0], helpers: 1}
		f.todo = f.todo[1:]
		s.mu.Lock() // helpers wait until it has begun
		defer s.mu.Unlock()
		f.shares = append(f.shares, s)
		f.mu.Unlock()
		return s, f.open(ctx, s)
	}
	defer f.mu.Unlock()
	var best *share
	for _, s := range f.shares {
		if best == nil || s.helpers < best.helpers {
			best = s
		}
	}
	if best != nil {
		best.helpers++
	}
	return best, nil
}

func (f *feed) open(ctx context.Context, s *share) error {
	s.ended = true
	r, err := f.source.Scan(ctx, s.spec)
	if err != nil {
		return s.named(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.reader, s.ended = r, false
	return nil
}

// batch reads one batch of a share.
func (s *share) batch(ctx context.Context) (arrow.RecordBatch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, io.EOF
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	batch, err := s.reader.Next(ctx)
	if err != nil {
		s.ended = true
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, s.named(err)
	}
	return batch, err
}

// named says where an error happened when that is one partition.
func (s *share) named(err error) error {
	if len(s.spec.Partitions) != 1 {
		return err
	}
	return status.Wrap(status.Internal, err, "partition %q", s.spec.Partitions[0])
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
