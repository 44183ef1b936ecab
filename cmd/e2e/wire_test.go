package e2e

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// wire forwards connections to an address; it can be cut as often as wanted.
type wire struct {
	target string
	lis    net.Listener
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	copies sync.WaitGroup
}

// newWire lies before target until the test ends.
func newWire(t *testing.T, target string) *wire {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{target: target, lis: lis, open: map[net.Conn]struct{}{}}
	w.copies.Go(w.accept)
	t.Cleanup(func() {
		_ = lis.Close()
		w.cut()
		w.copies.Wait()
	})
	return w
}

func (w *wire) addr() string { return w.lis.Addr().String() }

func (w *wire) accept() {
	for {
		near, err := w.lis.Accept()
		if err != nil {
			return // closed
		}
		far, err := net.Dial("tcp", w.target)
		if err != nil {
			_ = near.Close()
			continue
		}
		w.copies.Go(func() { w.forward(near, far) })
		w.copies.Go(func() { w.forward(far, near) })
	}
}

func (w *wire) forward(to, from net.Conn) {
	w.mu.Lock()
	w.open[from] = struct{}{}
	w.mu.Unlock()
	_, _ = io.Copy(to, from) // until one of them is closed
	_, _ = to.Close(), from.Close()
	w.mu.Lock()
	delete(w.open, from)
	w.mu.Unlock()
}

// cut ends all connections, in the middle of whatever they carry.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.open {
		_ = c.Close()
	}
}
