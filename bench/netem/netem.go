// Package netem is a TCP proxy that makes a loopback connection behave like a
// longer and narrower one: for machines whose kernel cannot do that.
package netem

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link says what a connection is like, in each direction.
type Link struct {
	// Delay is the time from one end to the other: half a round trip.
	Delay time.Duration
	// BytesPerSecond is the bandwidth; 0 for no bound.
	BytesPerSecond int64
	// Loss is the share of segments that are lost: each holds up what is behind it
	// for a round trip more, as a fast retransmission does.
	Loss float64
	// CutAfter ends a connection that has carried so many bytes towards its client;
	// 0 for never.
	CutAfter int64
}

const (
	chunkBytes   = 16 << 10
	segmentBytes = 1448
	minBuffer    = 256 << 10
)

// Proxy forwards connections to one address over a Link.
type Proxy struct {
	link     Link
	target   string
	lis      net.Listener
	ctx      context.Context
	stop     context.CancelFunc
	work     sync.WaitGroup
	toClient atomic.Int64
}

// Listen begins to forward connections from a loopback port to target.
func Listen(target string, link Link) (*Proxy, error) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{link: link, target: target, lis: lis}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.work.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.lis.Addr().String() }

// ToClient is the number of bytes that were delivered to clients.
func (p *Proxy) ToClient() int64 { return p.toClient.Load() }

// Close ends the proxy and its connections.
func (p *Proxy) Close() error {
	p.stop()
	err := p.lis.Close()
	p.work.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.lis.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// serve carries one connection until either end closes it.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(p.ctx, "tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = client.Close()
		_ = server.Close()
	})()
	var both sync.WaitGroup
	both.Go(func() { defer cancel(); p.carry(ctx, server, client, new(atomic.Int64), 0) })
	both.Go(func() { defer cancel(); p.carry(ctx, client, server, &p.toClient, p.link.CutAfter) })
	both.Wait()
}

// parcel is what is on its way.
type parcel struct {
	data []byte
	at   time.Time // when it arrives
}

// carry moves bytes from one end to the other.
func (p *Proxy) carry(ctx context.Context, to io.Writer, from io.Reader, count *atomic.Int64, cutAfter int64) {
	line := make(chan parcel, p.buffer()/chunkBytes)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(line)
		p.read(ctx, from, line)
	})
	carried := int64(0)
	for c := range line {
		if !sleep(ctx, time.Until(c.at)) {
			break
		}
		if _, err := to.Write(c.data); err != nil {
			break
		}
		count.Add(int64(len(c.data)))
		if carried += int64(len(c.data)); cutAfter > 0 && carried >= cutAfter {
			break
		}
	}
	if c, ok := from.(io.Closer); ok {
		_ = c.Close() // the reader ends
	}
	for range line {
	}
	reading.Wait()
}

// buffer is what may be on its way: what the link itself holds, and some.
func (p *Proxy) buffer() int64 {
	return max(minBuffer, int64(2*p.link.Delay.Seconds()*float64(p.link.BytesPerSecond)))
}

// read puts on the line what comes, with the time at which it arrives.
func (p *Proxy) read(ctx context.Context, from io.Reader, line chan<- parcel) {
	free, last := time.Now(), time.Time{} // when the line is free, and the last arrival
	for {
		data := make([]byte, chunkBytes)
		n, err := from.Read(data)
		if n > 0 {
			free = later(free, time.Now()).Add(p.transfer(n))
			last = later(last, free.Add(p.link.Delay+p.lost(n)))
			select {
			case line <- parcel{data[:n], last}:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (p *Proxy) transfer(n int) time.Duration {
	if p.link.BytesPerSecond == 0 {
		return 0
	}
	return time.Duration(float64(n) / float64(p.link.BytesPerSecond) * float64(time.Second))
}

// lost is how long the segments of a chunk are held up by losses.
func (p *Proxy) lost(n int) (late time.Duration) {
	for ; n > 0 && p.link.Loss > 0; n -= segmentBytes {
		if rand.Float64() < p.link.Loss {
			late = 2 * p.link.Delay
		}
	}
	return late
}

// exact is how long a timer of Go may oversleep: the rest is waited for in the
// kernel, or a round trip of half a millisecond would take two.
const (
	exact = 2 * time.Millisecond
	least = 50 * time.Microsecond
)

// sleep waits, and reports false when ctx ended. What is shorter than a timer can
// measure is not waited for.
func sleep(ctx context.Context, d time.Duration) bool {
	if d < least {
		return ctx.Err() == nil
	}
	until := time.Now().Add(d)
	if d > exact {
		timer := time.NewTimer(d - exact)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	for left := time.Until(until); left > 0; left = time.Until(until) {
		nanosleep(max(left-least, time.Microsecond)) // it takes about that much longer
	}
	return ctx.Err() == nil
}
