package catalog

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/pushdown/status"
)

// peer is a configured address and what is known of the scanner behind it.
type peer struct {
	addr     string
	kick     chan struct{}
	greeting sync.Mutex // one greeting at a time

	mu     sync.Mutex // guards the rest
	client *codec.Client
	closed bool
	hello  *codec.Hello // the last answer, nil before the first
	print  string       // fingerprint of hello
	err    error        // why it is not usable now
	tried  bool         // err is what a greeting said
	last   time.Duration
}

// patience is how long the next greeting may take: a scanner of very many tables
// needs longer than timeout.
func (p *peer) patience(timeout time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hello == nil {
		return 10 * timeout
	}
	return max(timeout, 4*p.last)
}

// took notes the duration of a greeting that was answered.
func (p *peer) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = d
}

func newPeer(addr string) *peer {
	return &peer{
		addr: addr,
		kick: make(chan struct{}, 1),
		err:  status.New(status.Unavailable, "scanner at %s has not answered yet", addr),
	}
}

// connect returns the connection, made at the first call.
func (p *peer) connect(dial func(string) (*codec.Client, error)) (*codec.Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, status.New(status.Unavailable, "the catalog is closed")
	}
	if p.client != nil {
		return p.client, nil
	}
	client, err := dial(p.addr)
	if err != nil {
		return nil, status.Wrap(status.Unavailable, err, "connect to scanner at %s", p.addr)
	}
	p.client = client
	return client, nil
}

func (p *peer) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.client != nil {
		_ = p.client.Close()
		p.client = nil
	}
}

// learn takes the outcome of a greeting and names what changed, or "".
func (p *peer) learn(hello *codec.Hello, err error) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	hadHello, hadErr, before, first := p.hello, p.err, p.print, !p.tried
	p.err, p.tried = err, true
	if err != nil {
		return lost(hadHello != nil, first, hadErr, err)
	}
	if hello.Name == "" {
		hello.Name = p.addr
	}
	p.hello, p.print = hello, fingerprint(hello)
	switch {
	case hadHello == nil:
		return "scanner joined"
	case hadHello.Epoch != hello.Epoch:
		return "scanner restarted"
	case hadErr != nil:
		return "scanner is back"
	case before != p.print:
		return "scanner changed its tables"
	}
	return ""
}

// lost names the loss of a scanner when it is news.
func lost(known, first bool, before, err error) string {
	switch {
	case known && before == nil:
		return "scanner left"
	case first || status.CodeOf(before) != status.CodeOf(err):
		return "scanner is not reachable"
	}
	return ""
}

func (p *peer) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hello == nil {
		return ""
	}
	return p.hello.Name
}

// view is what merge reads of a peer.
type view struct {
	addr        string
	hello       *codec.Hello
	err         error
	fingerprint string
}

func (p *peer) view() view {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Only the class of the error counts: its text may differ at every attempt.
	print := fmt.Sprintf("%q %v %v %s", p.addr, p.tried, status.CodeOf(p.err), p.print)
	return view{addr: p.addr, hello: p.hello, err: p.err, fingerprint: print}
}

// fingerprint is a text that differs when anything differs that a snapshot
// carries.
func fingerprint(h *codec.Hello) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q %q\n", h.Name, h.Epoch, h.Capabilities.Names(), h.Advertise)
	for _, t := range h.Tables {
		fmt.Fprintf(&b, "%q %q %q %q %t %q", t.Schema, t.Name, t.Err, t.Version, t.Versioned, t.PromiseVersion) // the versions cover statistics and promises
		if t.Arrow != nil {
			fmt.Fprintf(&b, " %s", t.Arrow)
		}
		for _, part := range t.Partitions {
			fmt.Fprintf(&b, " %q %d %d", part.ID, part.Rows, part.Bytes)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
