package exec

import (
	"sync"
	"time"
)

const (
	// firstWindow is what a scanner may send ahead at first: little, for a consumer
	// that soon has enough.
	firstWindow = 512 << 10
	// A window that is consumed within burst, or within a few round trips, is what
	// holds the stream back.
	burst      = 20 * time.Millisecond
	roundTrips = 4
)

// granter lets a scanner send; it is codec.Scan.
type granter interface{ Grant(bytes int64) error }

// reserver is the memory of the query; it is budget.Query.
type reserver interface {
	Reserve(bytes int64) error
	Release(bytes int64)
}

// credit is the window of one stream: the bytes that the scanner may have sent
// and nobody has consumed. It grows while it is what holds the stream back, and so
// comes to cover bandwidth × round trip.
type credit struct {
	scan granter
	mem  reserver
	most int64
	// patience is the time within which consuming the whole window makes it grow.
	patience time.Duration
	now      func() time.Time

	mu       sync.Mutex
	size     int64
	owed     int64 // consumed and not granted again
	consumed int64 // since
	since    time.Time
	// held is what has arrived and nobody has consumed. The window is reserved, or
	// held where that is more: a single batch may be larger.
	held, reserved int64
	closed         bool
}

// newCredit takes over what is reserved already, the first window.
func newCredit(mem reserver, first, most int64) *credit {
	return &credit{mem: mem, size: first, reserved: first, most: most, now: time.Now}
}

// begin is called when the scanner has answered.
func (c *credit) begin(scan granter, roundTrip time.Duration) *credit {
	c.scan, c.patience, c.since = scan, max(burst, roundTrips*roundTrip), c.now()
	return c
}

// arrived charges for bytes that were received.
func (c *credit) arrived(bytes int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if more := c.held + bytes - c.reserved; more > 0 {
		if err := c.mem.Reserve(more); err != nil {
			return err
		}
		c.reserved += more
	}
	c.held += bytes
	return nil
}

// close gives the window back. What has arrived stays charged until it is
// consumed.
func (c *credit) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.settle()
}

// settle releases what neither the window nor held needs; the caller holds mu.
func (c *credit) settle() {
	need := max(c.size, c.held)
	if c.closed {
		need = c.held
	}
	if spare := c.reserved - need; spare > 0 {
		c.mem.Release(spare)
		c.reserved = need
	}
}

// of is called when bytes have been consumed.
func (c *credit) of(bytes int64) func() {
	return func() {
		if grant := c.take(bytes); grant > 0 {
			_ = c.scan.Grant(grant) // a stream that has ended needs no credit
		}
	}
}

// take notes consumed bytes and returns what is to be granted: they are collected
// into larger portions.
func (c *credit) take(bytes int64) (grant int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held -= bytes
	c.owed += bytes
	c.consumed += bytes
	defer c.settle()
	if c.consumed >= c.size {
		grant = c.grow()
	}
	if c.owed >= c.size/8 {
		grant += c.owed
		c.owed = 0
	}
	return grant
}

// grow doubles the window if the last one was consumed fast and there is memory
// for more, and returns by how much it grew.
func (c *credit) grow() (more int64) {
	now := c.now()
	if now.Sub(c.since) <= c.patience {
		more = min(c.size, c.most-c.size)
		if c.closed || c.mem.Reserve(more) != nil {
			more = 0
		}
		c.size += more
		c.reserved += more
	}
	c.since, c.consumed = now, 0
	return more
}
