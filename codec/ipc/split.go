package ipc

import (
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// EncodedSize is an upper bound of the encoded size of batch as one IPC message,
// close to the exact one. Dictionaries are not counted: they travel in messages
// of their own.
func EncodedSize(batch arrow.RecordBatch) int64 { return 0 }

// SplitByBytes cuts batch into consecutive pieces whose encoded size is at most
// target. A single row larger than target travels alone; one larger than limit
// is a ResourceExhausted error that names its size. Pieces share the memory of
// batch, and the consumer releases each. After an error nothing follows.
func SplitByBytes(batch arrow.RecordBatch, target, limit int64) iter.Seq2[arrow.RecordBatch, error] {
	return nil
}

// Compact returns batch in memory of its own when batch keeps more than twice
// of what it needs, and batch itself otherwise. The caller releases the result.
func Compact(batch arrow.RecordBatch, mem memory.Allocator) (arrow.RecordBatch, error) {
	return nil, nil
}
