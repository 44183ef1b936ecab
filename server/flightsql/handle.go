package flightsql

import (
	"container/list"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/query"
)

// handle is what a prepared statement's handle and a ticket carry: all that is
// needed to plan the statement again, here or in another coordinator.
type handle struct {
	Version  int            `json:"v"`
	SQL      string         `json:"sql"`
	Settings query.Settings `json:"set"`
	// ID finds the plan made at preparation, if it is still kept.
	ID string `json:"id"`
}

const handleVersion = 1

// handleKey signs handles with HMAC-SHA-256, so that a client cannot forge one.
type handleKey struct{ key []byte }

func newHandleKey(key []byte) (*handleKey, error) {
	if len(key) == 0 {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails, see crypto/rand
	}
	if len(key) < 16 {
		return nil, status.New(status.InvalidArgument, "the handle key has %d bytes; it needs at least 16", len(key))
	}
	return &handleKey{key: key}, nil
}

func (k *handleKey) sign(body []byte) []byte {
	mac := hmac.New(sha256.New, k.key)
	mac.Write(body)
	return mac.Sum(nil)
}

func (k *handleKey) encode(h handle) ([]byte, error) {
	body, err := json.Marshal(h)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "cannot encode a statement handle")
	}
	return append(k.sign(body), body...), nil
}

func (k *handleKey) decode(raw []byte) (handle, error) {
	var h handle
	if len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], k.sign(raw[sha256.Size:])) {
		return h, status.New(status.NotFound, "the statement handle is not one of this server's; prepare the statement again")
	}
	if err := json.Unmarshal(raw[sha256.Size:], &h); err != nil {
		return h, status.Wrap(status.InvalidArgument, err, "the statement handle is damaged")
	}
	if h.Version != handleVersion {
		return h, status.New(status.InvalidArgument, "the statement handle is of version %d, this server reads %d", h.Version, handleVersion)
	}
	return h, nil
}

func newID() string { return rand.Text() }

func anonymousToken() metadata.MD { return metadata.Pairs("authorization", "Bearer anonymous") }

// statementCache keeps the plans of statements between their preparation and
// their execution; the oldest goes when it is full. Losing one costs a
// planning, nothing else.
type statementCache struct {
	mu    sync.Mutex
	limit int
	order *list.List // of string, oldest first
	byID  map[string]cached
}

type cached struct {
	st   *query.Statement
	link *list.Element
}

func newStatementCache(limit int) *statementCache {
	return &statementCache{limit: limit, order: list.New(), byID: map[string]cached{}}
}

func (c *statementCache) put(id string, st *query.Statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(id)
	if c.order.Len() >= c.limit {
		c.remove(c.order.Front().Value.(string))
	}
	c.byID[id] = cached{st: st, link: c.order.PushBack(id)}
}

// take removes and returns the statement with that id, or nil: a plan is used
// once, because now() is folded into it.
func (c *statementCache) take(id string) *query.Statement {
	c.mu.Lock()
	defer c.mu.Unlock()
	st := c.byID[id].st
	c.remove(id)
	return st
}

func (c *statementCache) remove(id string) {
	if e, ok := c.byID[id]; ok {
		c.order.Remove(e.link)
		delete(c.byID, id)
	}
}
