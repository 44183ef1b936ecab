package exec

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/semaphore"
)

// queueLength bounds the number of batches in a queue; their bytes are what
// usually fills it.
const queueLength = 256

// item is a batch on its way to the consumer.
type item struct {
	batch arrow.RecordBatch
	bytes int64
	taken func() // returns the credit; may be nil
}

// queue carries batches from the streams of a scan to its consumers, bounded by
// bytes. A single batch may overdraw an empty queue.
type queue struct {
	items    chan item
	capacity int64
	room     *semaphore.Weighted
	held     atomic.Int64
	gauge    func(delta int64)
}

func newQueue(capacity int64, gauge func(int64)) *queue {
	return &queue{
		items: make(chan item, queueLength), capacity: capacity,
		room: semaphore.NewWeighted(capacity), gauge: gauge,
	}
}

func (q *queue) weight(it item) int64 { return min(it.bytes, q.capacity) }

// push takes over the item's batch. It waits for room until ctx ends, and then
// releases the batch.
func (q *queue) push(ctx context.Context, it item) error {
	if err := q.room.Acquire(ctx, q.weight(it)); err != nil {
		it.batch.Release()
		return err
	}
	q.account(it.bytes)
	select {
	case q.items <- it:
		return nil
	case <-ctx.Done():
		q.drop(it)
		return ctx.Err()
	}
}

// pop hands over an item that was received from items.
func (q *queue) pop(it item) arrow.RecordBatch {
	q.account(-it.bytes)
	q.room.Release(q.weight(it))
	if it.taken != nil {
		it.taken()
	}
	return it.batch
}

func (q *queue) drop(it item) {
	q.account(-it.bytes)
	q.room.Release(q.weight(it))
	it.batch.Release()
}

// drain releases what is left; nobody may push any more.
func (q *queue) drain() {
	for {
		select {
		case it, ok := <-q.items:
			if !ok {
				return
			}
			q.drop(it)
		default:
			return
		}
	}
}

func (q *queue) account(delta int64) {
	q.held.Add(delta)
	q.gauge(delta)
}
