package flightsql

import (
	"container/list"
	"sync"
	"time"
)

// cache keeps values by id for a while. The oldest go when it is full; losing
// one must cost no more than making it again.
type cache[T any] struct {
	limit int // of the weights
	life  time.Duration

	mu     sync.Mutex
	weight int
	order  *list.List // of *entry[T], oldest first
	byID   map[string]*list.Element
}

type entry[T any] struct {
	id     string
	value  T
	weight int
	until  time.Time
}

func newCache[T any](limit int, life time.Duration) *cache[T] {
	return &cache[T]{limit: limit, life: life, order: list.New(), byID: map[string]*list.Element{}}
}

func (c *cache[T]) put(id string, value T, weight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(id)
	now := time.Now()
	for first := c.order.Front(); first != nil; first = c.order.Front() {
		e := first.Value.(*entry[T])
		if c.weight+weight <= c.limit && now.Before(e.until) {
			break
		}
		c.remove(e.id)
	}
	c.byID[id] = c.order.PushBack(&entry[T]{id: id, value: value, weight: weight, until: now.Add(c.life)})
	c.weight += weight
}

// get returns the value with that id, or the zero value.
func (c *cache[T]) get(id string) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(id)
}

// take removes the value with that id and returns it, or the zero value.
func (c *cache[T]) take(id string) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	value := c.find(id)
	c.remove(id)
	return value
}

func (c *cache[T]) find(id string) T {
	var none T
	link, ok := c.byID[id]
	if !ok {
		return none
	}
	if e := link.Value.(*entry[T]); time.Now().Before(e.until) {
		return e.value
	}
	return none
}

func (c *cache[T]) remove(id string) {
	if link, ok := c.byID[id]; ok {
		c.weight -= c.order.Remove(link).(*entry[T]).weight
		delete(c.byID, id)
	}
}
