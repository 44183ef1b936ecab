package auth

import (
	"sync"
	"time"
)

const (
	// A host may fail maxFailures times in failureTime for one user name, and
	// hostFailures times in all.
	maxFailures, hostFailures = 10, 100
	failureTime               = time.Minute
	// maxTracked bounds what is remembered of hosts and of passwords.
	maxTracked = 10_000
)

// limiter counts failed logins.
type limiter struct{ failures *expiring[int] }

func newLimiter() *limiter { return &limiter{newExpiring[int](maxTracked)} }

func perHost(host string) string       { return "h\x00" + host }
func perUser(host, name string) string { return "u\x00" + host + "\x00" + name }

// blocked is how long a host has to wait, 0 if not at all.
func (l *limiter) blocked(host, name string) time.Duration {
	for key, most := range map[string]int{perUser(host, name): maxFailures, perHost(host): hostFailures} {
		if n, left := l.failures.getLeft(key); n >= most {
			return left
		}
	}
	return 0
}

func (l *limiter) fail(host, name string) {
	for _, key := range []string{perUser(host, name), perHost(host)} {
		l.failures.update(key, failureTime, func(n int) int { return n + 1 })
	}
}

// expiring keeps a bounded number of values for a while.
type expiring[T any] struct {
	limit int

	mu     sync.Mutex
	values map[string]expiringValue[T]
}

type expiringValue[T any] struct {
	value T
	until time.Time
}

func newExpiring[T any](limit int) *expiring[T] {
	return &expiring[T]{limit: limit, values: map[string]expiringValue[T]{}}
}

func (e *expiring[T]) get(key string) (T, bool) {
	value, left := e.getLeft(key)
	return value, left > 0
}

// getLeft also tells how long the value is still kept.
func (e *expiring[T]) getLeft(key string) (T, time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.find(key)
}

func (e *expiring[T]) find(key string) (value T, left time.Duration) {
	if v, ok := e.values[key]; ok {
		if left := time.Until(v.until); left > 0 {
			return v.value, left
		}
	}
	return value, 0
}

func (e *expiring[T]) put(key string, value T, life time.Duration) {
	e.update(key, life, func(T) T { return value })
}

// update changes a value; a new one is kept for life from now.
func (e *expiring[T]) update(key string, life time.Duration, change func(T) T) {
	e.mu.Lock()
	defer e.mu.Unlock()
	old, left := e.find(key)
	if left <= 0 {
		e.makeRoom()
		left = life
	}
	e.values[key] = expiringValue[T]{change(old), time.Now().Add(left)}
}

// makeRoom drops what has expired when there is no room, and all when that is
// not enough: what is kept only saves work or counts failures.
func (e *expiring[T]) makeRoom() {
	if len(e.values) < e.limit {
		return
	}
	now := time.Now()
	for key, v := range e.values {
		if !now.Before(v.until) {
			delete(e.values, key)
		}
	}
	if len(e.values) >= e.limit {
		clear(e.values)
	}
}
