package secure

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/tributary-db/tributary/pushdown/status"
)

// Seal encrypts and authenticates text for a purpose: only those who know the
// secret read it, and nobody else can make or change it.
func (s *Secret) Seal(purpose string, text []byte) ([]byte, error) {
	aead, err := Cipher(s.key.Get(), purpose)
	if err != nil {
		return nil, err
	}
	return aead.Seal(nil, nil, text, nil), nil
}

// Unseal returns the text of what Seal made for the purpose.
func (s *Secret) Unseal(purpose string, sealed []byte) ([]byte, error) {
	aead, err := Cipher(s.key.Get(), purpose)
	if err != nil {
		return nil, err
	}
	text, err := aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, status.New(status.Unauthenticated, "it was not made with the secret of this scanner")
	}
	return text, nil
}

// Cipher derives a key from a secret and encrypts with it under random nonces;
// what is sealed for one purpose cannot be opened for another.
func Cipher(secret []byte, purpose string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "tributary "+purpose, 32)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "cannot derive a key")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, status.Wrap(status.Internal, err, "cannot make a cipher")
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return aead, status.Wrap(status.Internal, err, "cannot make a cipher")
}
