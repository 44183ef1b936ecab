package secure

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/pushdown/status"
)

const (
	// minSecretBytes is the shortest secret that is accepted.
	minSecretBytes = 16
	// proofHeader carries the proof that a caller knows the secret.
	proofHeader = "x-tributary-proof"
	// maxSkew is how far the clocks of two nodes may be apart, and how long a
	// proof is good for.
	maxSkew = time.Minute
	// maxProofs bounds what is remembered of the proofs of one maxSkew.
	maxProofs = 1 << 20
)

// Secret is what a coordinator and its scanners share. A coordinator proves with
// every call that it knows it, without sending it: the header has the time, a
// number used once and an HMAC-SHA-256 of both and the method. Any other Flight
// client may send the secret itself, as a bearer token; that needs TLS.
type Secret struct {
	key *File[[]byte]
	now func() time.Time

	mu         sync.Mutex
	seen, past map[string]struct{} // proofs of this and of the last period
	rotated    time.Time
}

// NewSecret reads a secret from a file, and again when the file changes.
func NewSecret(path string, warn func(error)) (*Secret, error) {
	key, err := NewFile(func() ([]byte, error) { return readSecret(path) }, warn, path)
	if err != nil {
		return nil, err
	}
	return &Secret{key: key, now: time.Now, seen: map[string]struct{}{}}, nil
}

func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "cannot read the secret")
	}
	secret := strings.TrimSpace(string(text))
	if len(secret) < minSecretBytes {
		return nil, status.New(status.InvalidArgument, "the secret in %s has %d bytes; it needs at least %d", path, len(secret), minSecretBytes)
	}
	return []byte(secret), nil
}

// prove makes the header's value for a call of a method.
func (s *Secret) prove(method string) string {
	at := strconv.FormatInt(s.now().UnixMilli(), 10)
	once := rand.Text()
	return at + "." + once + "." + s.mac(method, at, once)
}

func (s *Secret) mac(method, at, once string) string {
	mac := hmac.New(sha256.New, s.key.Get())
	mac.Write([]byte(method + "\n" + at + "\n" + once))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Check refuses a call whose caller does not know the secret.
func (s *Secret) Check(ctx context.Context, method string) error {
	md, _ := metadata.FromIncomingContext(ctx)
	if proof := md.Get(proofHeader); len(proof) > 0 {
		return s.checkProof(proof[0], method)
	}
	for _, header := range md.Get("authorization") {
		if token, ok := strings.CutPrefix(header, "Bearer "); ok && hmac.Equal(digest([]byte(token)), digest(s.key.Get())) {
			return nil
		}
	}
	return errStranger()
}

// digest makes texts of different lengths comparable in constant time.
func digest(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:]
}

func errStranger() error {
	return status.New(status.Unauthenticated, "this scanner serves only callers that know its secret")
}

func (s *Secret) checkProof(proof, method string) error {
	at, rest, _ := strings.Cut(proof, ".")
	once, mac, _ := strings.Cut(rest, ".")
	if !hmac.Equal([]byte(mac), []byte(s.mac(method, at, once))) {
		return errStranger()
	}
	millis, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return errStranger()
	}
	if apart := s.now().Sub(time.UnixMilli(millis)); apart.Abs() > maxSkew {
		return status.New(status.Unauthenticated, "the caller's proof is %s old or its clock differs by that much: set the clocks of both nodes", apart.Round(time.Second))
	}
	return s.first(once)
}

// first remembers a number and refuses it the second time. Those of the last two
// periods are remembered: older proofs are refused for their age.
func (s *Secret) first(once string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.rotated) > 2*maxSkew {
		s.past, s.seen, s.rotated = s.seen, map[string]struct{}{}, now
	}
	_, now := s.seen[once]
	_, before := s.past[once]
	if now || before {
		return status.New(status.Unauthenticated, "the caller's proof was used before")
	}
	if len(s.seen) >= maxProofs {
		return status.New(status.ResourceExhausted, "too many calls in %s", 2*maxSkew)
	}
	s.seen[once] = struct{}{}
	return nil
}

// Credentials make a client prove with every call that it knows the secret.
func (s *Secret) Credentials() Proof { return Proof{s} }

// Proof implements credentials.PerRPCCredentials.
type Proof struct{ secret *Secret }
