package flightsql

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
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
	// Part is the share of the rows that a ticket is for; none is all rows.
	Part []byte `json:"part,omitempty"`
	// Direct is the read that the part's scanner serves itself at Location, nil
	// for none.
	Direct   []byte `json:"direct,omitempty"`
	Location string `json:"location,omitempty"`
	// Schema is the fingerprint of the schema that was promised for all rows.
	Schema []byte `json:"schema,omitempty"`
	// Until is the second from which on it is refused.
	Until int64 `json:"until"`
}

const handleVersion = 3

func (h *handle) expired() bool { return !time.Now().Before(time.Unix(h.Until, 0)) }

// handles makes and reads handles of the calling user; a client can neither forge
// nor read one, and another user not use it.
type handles struct {
	*auth.Sealer
	ticketLife, preparedLife time.Duration
}

// Defaults of Config.
const (
	DefaultTicketLife   = time.Hour
	DefaultPreparedLife = 7 * 24 * time.Hour
)

func newHandles(secret []byte, ticketLife, preparedLife time.Duration) (*handles, error) {
	s, err := auth.NewSealer(secret, "statement handle")
	return &handles{Sealer: s, ticketLife: lifeOr(ticketLife, DefaultTicketLife), preparedLife: lifeOr(preparedLife, DefaultPreparedLife)}, err
}

func lifeOr(life, standard time.Duration) time.Duration {
	if life <= 0 {
		return standard
	}
	return life
}

// ticket encodes h as a ticket of a result, which lives from now on.
func (k *handles) ticket(ctx context.Context, h *handle) ([]byte, error) {
	return k.encode(ctx, h, k.ticketLife)
}

// prepared encodes h as the handle of a prepared statement.
func (k *handles) prepared(ctx context.Context, h *handle) ([]byte, error) {
	return k.encode(ctx, h, k.preparedLife)
}

func (k *handles) encode(ctx context.Context, h *handle, life time.Duration) ([]byte, error) {
	h.Version, h.Until = handleVersion, time.Now().Add(life).Unix()
	return k.Seal(auth.UserOf(ctx).Name, h)
}

// decode reads a handle that can still be used.
func (k *handles) decode(ctx context.Context, raw []byte) (handle, error) {
	h, err := k.decodeAny(ctx, raw)
	if err == nil && h.expired() {
		err = status.New(status.NotFound, "the statement handle has expired (at %s); execute or prepare the statement again",
			time.Unix(h.Until, 0).UTC().Format(time.RFC3339))
	}
	return h, err
}

// decodeAny reads a handle that may have expired.
func (k *handles) decodeAny(ctx context.Context, raw []byte) (handle, error) {
	var h handle
	switch err := k.Open(auth.UserOf(ctx).Name, raw, &h); {
	case errors.Is(err, auth.ErrForged):
		return h, status.New(status.NotFound, "the statement handle is not one of this server's for this user; prepare the statement again")
	case err != nil:
		return h, status.Wrap(status.InvalidArgument, err, "the statement handle is damaged")
	case h.Version != handleVersion:
		return h, status.New(status.InvalidArgument, "the statement handle is of version %d, this server reads %d", h.Version, handleVersion)
	}
	return h, nil
}

func newID() string { return rand.Text() }
