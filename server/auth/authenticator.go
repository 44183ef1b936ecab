package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"github.com/tributary-db/tributary/pushdown/status"
)

// DefaultTokenLife is how long the token of a login is good.
const DefaultTokenLife = 24 * time.Hour

// Config says how callers are known. Without users, tokens and certificates
// everybody is [Anonymous].
type Config struct {
	// Users checks passwords; nil for none.
	Users *Users
	// Tokens checks the tokens of an issuer; nil for none.
	Tokens *Tokens
	// Certificates takes the common name of a verified client certificate as the
	// user of calls without other credentials.
	Certificates bool
	// TokenLife is that of the tokens that a login yields.
	TokenLife time.Duration
	// Secret seals those tokens; servers that share it take each other's.
	Secret []byte
}

// Authenticator finds out who makes a call. It is safe for concurrent use.
type Authenticator struct {
	cfg    Config
	sealer *Sealer
}

// New returns an Authenticator.
func New(cfg Config) (*Authenticator, error) {
	if cfg.TokenLife <= 0 {
		cfg.TokenLife = DefaultTokenLife
	}
	secret, err := SecretOr(cfg.Secret)
	if err != nil {
		return nil, err
	}
	sealer, err := NewSealer(secret, "login token")
	return &Authenticator{cfg: cfg, sealer: sealer}, err
}

// Required: callers must say who they are.
func (a *Authenticator) Required() bool {
	return a.cfg.Users != nil || a.cfg.Tokens != nil || a.cfg.Certificates
}

// login is the content of a token that a login yields.
type login struct {
	User  string   `json:"user"`
	Roles []string `json:"roles,omitempty"`
	// Print is that of the password; with another password the token ends.
	Print string `json:"print,omitempty"`
	Until int64  `json:"until"`
}

// ownToken begins the tokens that a login yields.
const ownToken = "tributary."

// Authenticate returns the user of a call.
func (a *Authenticator) Authenticate(ctx context.Context) (User, error) {
	if !a.Required() {
		return User{Name: Anonymous}, nil
	}
	md, _ := metadata.FromIncomingContext(ctx)
	headers := md.Get("authorization")
	if len(headers) == 0 {
		return a.fromCertificate(ctx)
	}
	scheme, rest, _ := strings.Cut(headers[0], " ")
	switch strings.ToLower(scheme) {
	case "basic":
		return a.basic(ctx, rest)
	case "bearer":
		return a.bearer(ctx, rest)
	}
	return User{}, status.New(status.Unauthenticated, "the authorization header is neither Basic nor Bearer: give a user and a password, or a token")
}

func (a *Authenticator) fromCertificate(ctx context.Context) (User, error) {
	if p, ok := peer.FromContext(ctx); ok && a.cfg.Certificates {
		if tls, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(tls.State.VerifiedChains) > 0 {
			if name := tls.State.VerifiedChains[0][0].Subject.CommonName; name != "" && name != Anonymous {
				return User{Name: name}, nil
			}
		}
	}
	return User{}, status.New(status.Unauthenticated, "this server asks who you are: give a user and a password, or a token")
}

// basic takes base64 with padding (Java) and without (Go).
func (a *Authenticator) basic(ctx context.Context, text string) (User, error) {
	if a.cfg.Users == nil {
		return User{}, status.New(status.Unauthenticated, "this server knows no passwords: give a token")
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	name, password, ok := strings.Cut(string(raw), ":")
	if err != nil || !ok {
		return User{}, status.New(status.Unauthenticated, "the Basic credentials are not base64 of user:password")
	}
	return User{Name: name}, a.cfg.Users.Check(ctx, name, password)
}

func (a *Authenticator) bearer(ctx context.Context, token string) (User, error) {
	if sealed, ok := strings.CutPrefix(token, ownToken); ok {
		return a.own(sealed)
	}
	if a.cfg.Tokens == nil {
		return User{}, errToken()
	}
	return a.cfg.Tokens.Check(ctx, token)
}

func errToken() error {
	return status.New(status.Unauthenticated, "the token is not one of this server's; log in again")
}

func (a *Authenticator) own(text string) (User, error) {
	var l login
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err = errors.Join(err, a.sealer.Open("", sealed, &l)); err != nil {
		return User{}, errToken()
	}
	if time.Now().Unix() >= l.Until {
		return User{}, status.New(status.Unauthenticated, "the token has expired; log in again")
	}
	if l.Print != a.print(l.User) {
		return User{}, errToken()
	}
	return User{Name: l.User, Roles: l.Roles}, nil
}

func (a *Authenticator) print(user string) string {
	if a.cfg.Users == nil {
		return ""
	}
	return a.cfg.Users.print(user)
}

// Token makes the token that stands for u in the calls to come.
func (a *Authenticator) Token(u User) (string, error) {
	sealed, err := a.sealer.Seal("", login{User: u.Name, Roles: u.Roles, Print: a.print(u.Name), Until: time.Now().Add(a.cfg.TokenLife).Unix()})
	return ownToken + base64.RawURLEncoding.EncodeToString(sealed), err
}
