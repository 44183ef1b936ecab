package codec

import (
	"context"
	"math"
	"sync"
)

// credit is the balance of bytes that a sender may still send.
type credit struct {
	mu      sync.Mutex
	balance int64
	// wake holds one token after a grant.
	wake chan struct{}
}

func newCredit(bytes int64) *credit {
	return &credit{balance: bytes, wake: make(chan struct{}, 1)}
}

// grant adds to the balance; what is not positive is ignored.
func (c *credit) grant(bytes int64) {
	if bytes <= 0 {
		return
	}
	c.mu.Lock()
	c.balance += min(bytes, math.MaxInt64-max(c.balance, 0))
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take waits for a positive balance and then takes bytes, more than the balance
// if need be. It is ErrEnough when enough is closed before. One goroutine may wait
// at a time.
func (c *credit) take(ctx context.Context, enough <-chan struct{}, bytes int64) error {
	select {
	case <-enough:
		return ErrEnough // also when there is credit: once skipped, no batch may follow
	default:
	}
	for !c.tryTake(bytes) {
		select {
		case <-c.wake:
		case <-enough:
			return ErrEnough
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return context.Cause(ctx)
}

func (c *credit) tryTake(bytes int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.balance <= 0 {
		return false
	}
	c.balance -= bytes
	return true
}
