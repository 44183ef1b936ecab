package exec

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown"
)

// grace is how long a scanner that was told to stop may take to say how much it
// has read, before its stream is cut off.
const grace = 250 * time.Millisecond

// control reaches the running streams of a scan.
type control struct {
	mu sync.Mutex
	// streams are those that run. Of those whose value is true all rows that
	// arrive are rows of the scan, so that a scanner may count down a limit itself.
	streams map[*codec.Scan]bool
	// sated: nothing more is wanted of any stream. enough is closed then.
	sated  bool
	enough chan struct{}
}

func newControl() *control {
	return &control{streams: map[*codec.Scan]bool{}, enough: make(chan struct{})}
}

func (c *control) add(scan *codec.Scan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[scan] = false
	if c.sated {
		halt(scan)
	}
}

func (c *control) remove(scan *codec.Scan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, scan)
}

// counts says that the stream's rows are all rows of the scan.
func (c *control) counts(scan *codec.Scan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[scan] = true
}

// limit tells the streams that count how many rows are still wanted.
func (c *control) limit(rows int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for scan, counts := range c.streams {
		if counts && rows > 0 {
			_ = scan.Limit(rows) // a stream that has ended needs no limit
		}
	}
}

// sate tells every stream that nothing more is wanted, and reports whether it was
// the first to say so.
func (c *control) sate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sated {
		return false
	}
	c.sated = true
	close(c.enough)
	for scan := range c.streams {
		halt(scan)
	}
	return true
}

// done reports whether nothing more is wanted.
func (c *control) done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sated
}

// halt asks for no more rows; a stream that has ended does not mind.
func halt(scan *codec.Scan) { _ = scan.Limit(0) }

// drain waits for the end of a stream from which nothing more is wanted, for the
// sake of its statistics. However it ends, that is no failure.
func (a *attempt) drain(ctx context.Context, scan *codec.Scan, remote *pushdown.Spec) {
	halt(scan)
	late := time.AfterFunc(grace, func() { _ = scan.Close() })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { _ = scan.Close() })()
	for {
		batch, err := scan.Next()
		if errors.Is(err, io.EOF) {
			a.stats.scanned(scan.End().RowsScanned)
		}
		if err != nil {
			a.stats.scanned(scan.RowsScanned())
			return
		}
		a.stats.batch(batch, remote)
		batch.Record.Release()
	}
}
