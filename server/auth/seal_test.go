package auth

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func testSealer(t *testing.T, secret, purpose string) *Sealer {
	t.Helper()
	key, err := SecretOr([]byte(secret))
	require.NoError(t, err)
	s, err := NewSealer(key, purpose)
	require.NoError(t, err)
	return s
}

func TestSealedOpensForTheSameUserAndPurposeOnly(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef"
	s := testSealer(t, secret, "ticket")
	sealed, err := s.Seal("ann", "SELECT secret")
	require.NoError(t, err)
	require.False(t, bytes.Contains(sealed, []byte("SELECT")), "it can be read")
	var got string
	require.NoError(t, testSealer(t, secret, "ticket").Open("ann", sealed, &got), "another server with the secret")
	require.Equal(t, "SELECT secret", got)
	for name, err := range map[string]error{
		"another user":    s.Open("bob", sealed, &got),
		"another purpose": testSealer(t, secret, "token").Open("ann", sealed, &got),
		"another secret":  testSealer(t, "fedcba9876543210", "ticket").Open("ann", sealed, &got),
		"a random secret": testSealer(t, "", "ticket").Open("ann", sealed, &got),
		"nothing":         s.Open("ann", nil, &got),
	} {
		require.ErrorIs(t, err, ErrForged, name)
	}
}

func TestSealedCannotBeChanged(t *testing.T) {
	t.Parallel()
	s := testSealer(t, "", "ticket")
	sealed, err := s.Seal("", "x")
	require.NoError(t, err)
	var got string
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 0x20
		require.ErrorIs(t, s.Open("", bad, &got), ErrForged, "byte %d", i)
		require.ErrorIs(t, s.Open("", sealed[:i], &got), ErrForged, "cut at %d", i)
	}
}
