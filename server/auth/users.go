package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
)

// userEntry is one line of the users file.
type userEntry struct {
	hash passwordHash
	// print tells one hash from another: a token is good for one.
	print string
}

// userTable is a users file as it was read.
type userTable struct {
	users map[string]userEntry
	// decoy is compared with the password of an unknown user, so that its
	// refusal takes as long as that of a wrong password.
	decoy passwordHash
}

func readUsers(path string) (userTable, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return userTable{}, status.Wrap(status.InvalidArgument, err, "cannot read the users")
	}
	t := userTable{users: map[string]userEntry{}}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, _ := strings.Cut(line, ":")
		if err := t.add(name, hash); err != nil {
			return t, status.Wrap(status.InvalidArgument, err, "%s, line %d", path, number)
		}
	}
	if len(t.users) == 0 {
		return t, status.New(status.InvalidArgument, "%s has no user: make a line with `tributary user NAME`", path)
	}
	return t, nil
}

func (t *userTable) add(name, text string) error {
	hash, err := parseHash(text)
	if err != nil {
		return err
	}
	if _, twice := t.users[name]; twice || name == "" || name == Anonymous {
		return status.New(status.InvalidArgument, "the user name %q is empty, reserved or used twice", name)
	}
	sum := sha256.Sum256([]byte(text))
	t.users[name] = userEntry{hash, base64.RawURLEncoding.EncodeToString(sum[:12])}
	if t.decoy == nil {
		t.decoy = hash
	}
	return nil
}

// check compares a password; that of an unknown user costs the same.
func (t userTable) check(name, password string) bool {
	entry, known := t.users[name]
	if !known {
		entry.hash = t.decoy
	}
	return entry.hash.matches(password) && known
}

// proven is how long a checked password is remembered: clients that send it with
// every call would have it hashed each time.
const proven = 5 * time.Minute

// Users checks passwords against a file of name:hash lines.
type Users struct {
	table  *secure.File[userTable]
	failed *limiter
	// slots bounds the hashing, which is meant to be dear.
	slots chan struct{}
	key   [32]byte
	known *expiring[string]
}

// NewUsers reads a users file, and again when it changes.
func NewUsers(path string, warn func(error)) (*Users, error) {
	table, err := secure.NewFile(func() (userTable, error) { return readUsers(path) }, warn, path)
	if err != nil {
		return nil, err
	}
	u := &Users{table: table, failed: newLimiter(), slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))), known: newExpiring[string](maxTracked)}
	_, _ = rand.Read(u.key[:]) // never fails, see crypto/rand
	return u, nil
}

// print identifies the present password of a user, "" of an unknown one.
func (u *Users) print(name string) string { return u.table.Get().users[name].print }

// Check refuses a wrong password or user, and callers that tried too often.
func (u *Users) Check(ctx context.Context, name, password string) error {
	table := u.table.Get()
	id := u.fingerprint(name, password, table.users[name].print)
	if _, ok := u.known.get(id); ok {
		return nil
	}
	host := hostOf(ctx)
	if wait := u.failed.blocked(host, name); wait > 0 {
		return status.New(status.ResourceExhausted, "too many failed logins; try again in %s", wait.Round(time.Second))
	}
	select {
	case u.slots <- struct{}{}:
		defer func() { <-u.slots }()
	case <-ctx.Done():
		return status.Wrap(status.Canceled, ctx.Err(), "waiting to check a password")
	}
	if !table.check(name, password) {
		u.failed.fail(host, name)
		return errWrong()
	}
	u.known.put(id, "", proven)
	return nil
}

// errWrong does not tell an unknown user from a wrong password.
func errWrong() error {
	return status.New(status.Unauthenticated, "the user name or the password is wrong")
}

// fingerprint stands for credentials in memory.
func (u *Users) fingerprint(parts ...string) string {
	mac := hmac.New(sha256.New, u.key[:])
	for _, p := range parts {
		sum := sha256.Sum256([]byte(p))
		mac.Write(sum[:])
	}
	return string(mac.Sum(nil))
}
