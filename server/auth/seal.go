package auth

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
)

// minKeyBytes is the shortest secret that keys are derived from.
const minKeyBytes = 16

// ErrForged is what Open fails with when the text is not what Seal made, or was
// made with another key or for another user.
var ErrForged = errors.New("it was not made with this server's key for this user")

// Sealer encrypts and authenticates what a client keeps for the server, so that
// it can neither be read nor changed. Servers with the same secret open each
// other's.
type Sealer struct{ aead cipher.AEAD }

// SecretOr is the given secret, or a random one, which no other server has.
func SecretOr(secret []byte) ([]byte, error) {
	if len(secret) == 0 {
		secret = make([]byte, 32)
		_, _ = rand.Read(secret) // never fails, see crypto/rand
	}
	if len(secret) < minKeyBytes {
		return nil, status.New(status.InvalidArgument, "the handle key has %d bytes; it needs at least %d", len(secret), minKeyBytes)
	}
	return secret, nil
}

// NewSealer derives a key from the secret; what is sealed for one purpose cannot
// be opened for another.
func NewSealer(secret []byte, purpose string) (*Sealer, error) {
	aead, err := secure.Cipher(secret, purpose)
	return &Sealer{aead: aead}, err
}

// Seal encodes v for a user; nobody else's Open takes it.
func (s *Sealer) Seal(user string, v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "cannot encode %T", v)
	}
	return s.aead.Seal(nil, nil, body, []byte(user)), nil
}

// Open decodes what Seal made for the user into v.
func (s *Sealer) Open(user string, raw []byte, v any) error {
	body, err := s.aead.Open(nil, nil, raw, []byte(user))
	if err != nil {
		return ErrForged
	}
	return json.Unmarshal(body, v)
}
