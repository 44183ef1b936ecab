package e2e

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/tributary-db/tributary/scanner"
)

// restarting is a scanner that can be stopped, in the middle of whatever it does, and
// started again at its address.
type restarting struct {
	node node
	mem  memory.Allocator
	addr string

	mu      sync.Mutex
	scanner *scanner.Scanner
	cancel  context.CancelFunc
	served  chan error
	pending sync.WaitGroup
	times   atomic.Int64
}

func newRestarting(t *testing.T, n node, mem memory.Allocator) *restarting {
	t.Helper()
	r := &restarting{node: n, mem: mem, addr: "127.0.0.1:0"}
	require.NoError(t, r.start())
	t.Cleanup(func() {
		r.pending.Wait()
		require.NoError(t, r.stop())
	})
	return r
}

func (r *restarting) start() error {
	s, err := scanner.New(scanner.Config{Name: r.node.name, Tables: r.node.tables, Alloc: r.mem, Logger: zerolog.Nop(), Registry: r.node.registry})
	if err != nil {
		return err
	}
	lis, err := net.Listen("tcp", r.addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.scanner, r.cancel, r.addr, r.served = s, cancel, lis.Addr().String(), make(chan error, 1)
	go func() { r.served <- s.Serve(ctx, lis) }()
	return nil
}

func (r *restarting) stop() error {
	r.cancel()
	if err := <-r.served; err != nil {
		return err
	}
	return r.scanner.Close()
}

// restart stops the scanner after a while and starts another one in its place,
// unless that is being done.
func (r *restarting) restart(t *testing.T, after time.Duration) {
	if !r.mu.TryLock() {
		return
	}
	r.pending.Go(func() {
		defer r.mu.Unlock()
		time.Sleep(after)
		if err := r.stop(); err != nil {
			t.Errorf("scanner %s does not stop: %v", r.node.name, err)
			return
		}
		if err := r.start(); err != nil {
			t.Errorf("scanner %s does not start again: %v", r.node.name, err)
			return
		}
		r.times.Add(1)
	})
}
