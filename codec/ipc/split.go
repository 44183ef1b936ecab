package ipc

import (
	"iter"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tributary-db/tributary/pushdown/status"
)

// SplitByBytes cuts batch into consecutive pieces whose encoded size is at most
// target. A single row larger than target travels alone; one larger than limit
// is a ResourceExhausted error that names its size. Pieces share the memory of
// batch (an encoder writes only what a piece covers), and the consumer releases
// each. After an error nothing follows.
func SplitByBytes(batch arrow.RecordBatch, target, limit int64) iter.Seq2[arrow.RecordBatch, error] {
	return SplitGrowing(batch, func() int64 { return target }, limit)
}

// SplitGrowing is [SplitByBytes] with a target that is asked for before each
// piece.
func SplitGrowing(batch arrow.RecordBatch, target func() int64, limit int64) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for start := int64(0); start == 0 || start < batch.NumRows(); {
			n, err := fit(batch, start, target(), limit)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(piece(batch, start, n), nil) || batch.NumRows() == 0 {
				return
			}
			start += n
		}
	}
}

// piece is n rows from start; the caller releases it.
func piece(batch arrow.RecordBatch, start, n int64) arrow.RecordBatch {
	if start == 0 && n == batch.NumRows() {
		batch.Retain()
		return batch
	}
	return batch.NewSlice(start, start+n)
}

// fit is the number of rows from start that encode to at most target bytes, at
// least one.
func fit(batch arrow.RecordBatch, start, target, limit int64) (int64, error) {
	rest := batch.NumRows() - start
	if rest > 0 && encodedRange(batch, start, rest) > target {
		rest = max(1, int64(sort.Search(int(rest), func(n int) bool {
			return encodedRange(batch, start, int64(n)+1) > target
		})))
	}
	if rest > 1 {
		return rest, nil
	}
	if size := encodedRange(batch, start, rest); size > limit {
		return 0, status.New(status.ResourceExhausted,
			"a single row of %d bytes exceeds the limit of %d bytes for a batch", size, limit)
	}
	return rest, nil
}
