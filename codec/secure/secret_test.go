package secure

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/pushdown/status"
)

func secretFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func testSecret(t *testing.T, text string) *Secret {
	t.Helper()
	s, err := NewSecret(secretFile(t, text), nil)
	require.NoError(t, err)
	return s
}

const theSecret = "a secret between nodes"

func carrying(t *testing.T, header, value string) context.Context {
	t.Helper()
	return metadata.NewIncomingContext(t.Context(), metadata.Pairs(header, value))
}

func TestProof(t *testing.T) {
	t.Parallel()
	scanner, coordinator := testSecret(t, theSecret+"\n"), testSecret(t, theSecret)
	proof := coordinator.prove("/scan")
	require.NotContains(t, proof, theSecret)
	require.NoError(t, scanner.Check(carrying(t, proofHeader, proof), "/scan"))
	require.NoError(t, scanner.Check(carrying(t, proofHeader, coordinator.prove("/scan")), "/scan"))
	for name, err := range map[string]error{
		"replayed":       scanner.Check(carrying(t, proofHeader, proof), "/scan"),
		"another method": scanner.Check(carrying(t, proofHeader, coordinator.prove("/scan")), "/hello"),
		"another secret": scanner.Check(carrying(t, proofHeader, testSecret(t, theSecret+"!").prove("/scan")), "/scan"),
		"tampered time":  scanner.Check(carrying(t, proofHeader, "1"+coordinator.prove("/scan")), "/scan"),
		"cut":            scanner.Check(carrying(t, proofHeader, proof[:len(proof)-1]), "/scan"),
		"empty":          scanner.Check(carrying(t, proofHeader, ""), "/scan"),
		"nothing":        scanner.Check(t.Context(), "/scan"),
	} {
		require.Equal(t, status.Unauthenticated, status.CodeOf(err), name)
		require.NotContains(t, err.Error(), theSecret)
	}
}

func TestProofIsGoodForAMinute(t *testing.T) {
	t.Parallel()
	s, now := testSecret(t, theSecret), time.Now()
	s.now = func() time.Time { return now }
	old, used := s.prove("/scan"), s.prove("/scan")
	require.NoError(t, s.Check(carrying(t, proofHeader, used), "/scan"))
	now = now.Add(maxSkew - time.Second)
	require.ErrorContains(t, s.Check(carrying(t, proofHeader, used), "/scan"), "used before")
	now = now.Add(2 * time.Second)
	require.ErrorContains(t, s.Check(carrying(t, proofHeader, old), "/scan"), "clock")
	require.NoError(t, s.Check(carrying(t, proofHeader, s.prove("/scan")), "/scan"))
}

// TestProofsAreForgotten: what is remembered does not grow for ever, and nothing
// is forgotten while its proof is young enough to be used.
func TestProofsAreForgotten(t *testing.T) {
	t.Parallel()
	s, now := testSecret(t, theSecret), time.Now()
	s.now = func() time.Time { return now }
	for range 600 {
		now = now.Add(time.Second)
		proof := s.prove("/scan")
		require.NoError(t, s.Check(carrying(t, proofHeader, proof), "/scan"))
		now = now.Add(maxSkew / 100)
		require.Error(t, s.Check(carrying(t, proofHeader, proof), "/scan"))
	}
	require.Less(t, len(s.seen)+len(s.past), 300)
}

func TestSecretAsToken(t *testing.T) {
	t.Parallel()
	s := testSecret(t, theSecret)
	require.NoError(t, s.Check(carrying(t, "authorization", "Bearer "+theSecret), "/scan"))
	for _, bad := range []string{"Bearer ", "Bearer x", theSecret, "Bearer " + theSecret + "x", "Basic " + theSecret, "Bearer " + strings.ToUpper(theSecret)} {
		require.Error(t, s.Check(carrying(t, "authorization", bad), "/scan"), bad)
	}
}

func TestSecretFile(t *testing.T) {
	t.Parallel()
	_, err := NewSecret(secretFile(t, "short\n"), nil)
	require.ErrorContains(t, err, "at least 16")
	require.NotContains(t, err.Error(), "short\n")
	_, err = NewSecret(filepath.Join(t.TempDir(), "none"), nil)
	require.Error(t, err)
}
