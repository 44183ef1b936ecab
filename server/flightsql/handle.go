package flightsql

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"

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
	// Rows are the values bound to its parameters, as SQL literals.
	Rows [][]string `json:"rows,omitempty"`
}

const handleVersion = 2

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
