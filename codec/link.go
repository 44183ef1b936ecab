package codec

import "time"

const (
	// A decision is made for that many bytes.
	linkSpan = 4 << 20
	// Beyond this rate, in bytes a second, nothing is worth compressing.
	linkFast = 400 << 20
	// Below this rate the smaller blocks of Zstandard are worth their time.
	linkSlow = 24 << 20
	// What did not pay is tried again after that many spans.
	linkPatience = 32
)

// link decides whether a stream compresses. It looks at what the connection
// carries, and, when it has tried, at whether that made the stream faster: only
// where the link is the bottleneck does it.
type link struct {
	now Compression
	// rate is what the link carried when last it was the bottleneck.
	rate float64
	wait int // spans until the next trial

	begun     time.Time
	raw, sent int64         // bytes before and after compression
	writing   time.Duration // time that the link took
	receiver  time.Duration // time spent waiting for a receiver that is busy
}

// batch notes one batch that was sent at that time, and decides for the next.
func (l *link) batch(at time.Time, raw, sent int64, writing, receiver time.Duration) {
	l.raw += raw
	l.sent += sent
	l.writing += writing
	l.receiver += receiver
	if l.begun.IsZero() {
		l.restart(at) // how long the first batch took nobody knows
	}
	if l.raw >= linkSpan {
		l.decide(at.Sub(l.begun) - l.receiver)
		l.restart(at)
	}
}

func (l *link) restart(at time.Time) {
	l.begun = at
	l.raw, l.sent, l.writing, l.receiver = 0, 0, 0, 0
}

// decide looks at a span that took so long, without the receiver's share.
func (l *link) decide(took time.Duration) {
	bound := l.writing*2 > took // the link is what held it up
	if bound {
		l.rate = float64(l.sent) / l.writing.Seconds()
	}
	switch {
	case l.now != CompressNone:
		// Without compression the link would have taken this long:
		plain := time.Duration(float64(l.raw) / l.rate * float64(time.Second))
		if took > plain*9/10 || l.rate > linkFast {
			l.now, l.wait = CompressNone, linkPatience
		}
	case l.wait > 0:
		l.wait--
	case bound && l.rate < linkSlow:
		l.now = CompressZstd
	case bound && l.rate < linkFast:
		l.now = CompressLZ4
	}
}
