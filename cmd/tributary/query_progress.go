package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress writes a line to stderr while a statement runs for longer than a
// second.
type progress struct {
	w     io.Writer
	begun time.Time
	done  chan struct{}
	ended sync.WaitGroup

	mu    sync.Mutex
	rows  int64
	shown bool
	over  bool
}

const (
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

func startProgress(w io.Writer) *progress {
	p := &progress{w: w, begun: time.Now(), done: make(chan struct{})}
	p.ended.Go(p.loop)
	return p
}

func (p *progress) loop() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-tick.C:
			p.show()
		}
	}
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := time.Since(p.begun)
	if p.over || elapsed < progressAfter {
		return
	}
	p.shown = true
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%d rows, %.1f s (Ctrl-C cancels)", p.rows, elapsed.Seconds())
}

func (p *progress) add(rows int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rows += rows
}

// clear removes the line before rows are printed.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_, _ = io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// stop ends the line; it may be called again.
func (p *progress) stop() {
	p.clear()
	p.mu.Lock()
	over := p.over
	p.over = true
	p.mu.Unlock()
	if !over {
		close(p.done)
		p.ended.Wait()
	}
}
