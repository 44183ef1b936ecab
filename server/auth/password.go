package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"

	"github.com/tributary-db/tributary/pushdown/status"
)

// The cost of a hash made by HashPassword: 19 MiB and two passes, as OWASP's
// password storage cheat sheet has it.
const (
	argonMemory, argonTime, argonThreads = 19 << 10, 2, 1
	saltBytes, hashBytes                 = 16, 32
	// maxArgonMemory (KiB) and maxArgonTime bound what a hash in a file may cost.
	maxArgonMemory, maxArgonTime = 1 << 20, 32
)

// HashPassword returns an argon2id hash for the users file.
func HashPassword(password string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails, see crypto/rand
	h := argonHash{memory: argonMemory, time: argonTime, threads: argonThreads, salt: salt}
	h.sum = h.of(password, hashBytes)
	return h.String()
}

// passwordHash is the hash of a password.
type passwordHash interface {
	// matches takes the same time whether it does or not.
	matches(password string) bool
}

// parseHash reads a hash of bcrypt or argon2id.
func parseHash(text string) (passwordHash, error) {
	switch {
	case strings.HasPrefix(text, "$argon2id$"):
		return parseArgon(text)
	case strings.HasPrefix(text, "$2"):
		_, err := bcrypt.Cost([]byte(text))
		return bcryptHash(text), status.Wrap(status.InvalidArgument, err, "a bcrypt hash")
	}
	return nil, status.New(status.InvalidArgument, "a password must be hashed with argon2id or bcrypt: make a line with `tributary user NAME`")
}

type bcryptHash string

func (h bcryptHash) matches(password string) bool {
	return bcrypt.CompareHashAndPassword([]byte(h), []byte(password)) == nil
}

// argonHash is written as $argon2id$v=19$m=…,t=…,p=…$salt$sum.
type argonHash struct {
	memory, time uint32
	threads      uint8
	salt, sum    []byte
}

func (h argonHash) of(password string, size int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(size))
}

func (h argonHash) matches(password string) bool {
	return subtle.ConstantTimeCompare(h.sum, h.of(password, len(h.sum))) == 1
}

// String is the form that parseArgon reads.
func (h argonHash) String() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads,
		enc.EncodeToString(h.salt), enc.EncodeToString(h.sum))
}

func parseArgon(text string) (passwordHash, error) {
	bad := status.New(status.InvalidArgument, "an argon2id hash must look like $argon2id$v=%d$m=%d,t=%d,p=%d$salt$sum", argon2.Version, argonMemory, argonTime, argonThreads)
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return nil, bad
	}
	var h argonHash
	if _, err := fmt.Sscanf(parts[3]+"\n", "m=%d,t=%d,p=%d\n", &h.memory, &h.time, &h.threads); err != nil {
		return nil, bad
	}
	var err1, err2 error
	h.salt, err1 = base64.RawStdEncoding.DecodeString(parts[4])
	h.sum, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(h.sum) < saltBytes || h.threads < 1 || h.time < 1 || h.time > maxArgonTime || h.memory > maxArgonMemory {
		return nil, bad
	}
	return h, nil
}
