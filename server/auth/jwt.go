package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
)

// JWTConfig says whose tokens are accepted.
type JWTConfig struct {
	// Issuer and Audience are what the token's iss and aud must be.
	Issuer, Audience string
	// JWKS is the file or the URL of the issuer's keys; without it they are found
	// through the issuer's OpenID configuration.
	JWKS string
	// UserClaim names the user ("sub"), RolesClaim its roles ("roles").
	UserClaim, RolesClaim string
	// Warn gets failures to read the keys again; it may be nil.
	Warn func(error)
}

const (
	// keysEvery is how often keys are fetched from a URL.
	keysEvery = 10 * time.Minute
	fetchTime = 10 * time.Second
	leeway    = 30 * time.Second
)

// signatures are the accepted algorithms. None of them uses a shared secret, so
// that nobody can sign with a public key, and none is "none".
var signatures = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Tokens checks JSON web tokens of one issuer.
type Tokens struct {
	cfg    JWTConfig
	keys   func(context.Context) (jwkset.Storage, error)
	parser *jwt.Parser
}

// NewTokens reads or fetches the keys of the issuer.
func NewTokens(ctx context.Context, cfg JWTConfig) (*Tokens, error) {
	if cfg.Issuer == "" || cfg.Audience == "" {
		return nil, status.New(status.InvalidArgument, "tokens need an issuer and an audience: anybody's tokens would be accepted otherwise")
	}
	if cfg.UserClaim == "" {
		cfg.UserClaim = "sub"
	}
	if cfg.RolesClaim == "" {
		cfg.RolesClaim = "roles"
	}
	t := &Tokens{cfg: cfg, parser: jwt.NewParser(jwt.WithValidMethods(signatures), jwt.WithIssuer(cfg.Issuer), jwt.WithAudience(cfg.Audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway))}
	return t, t.load(ctx)
}

func (t *Tokens) load(ctx context.Context) error {
	where := t.cfg.JWKS
	if where == "" {
		var err error
		if where, err = discover(ctx, t.cfg.Issuer); err != nil {
			return err
		}
	}
	if isURL(where) {
		storage, err := jwkset.NewStorageFromHTTP(where, jwkset.HTTPClientStorageOptions{
			Ctx: ctx, RefreshInterval: keysEvery, HTTPTimeout: fetchTime, NoErrorReturnFirstHTTPReq: true,
			RefreshErrorHandler: func(_ context.Context, err error) { t.warn(err) },
		})
		t.keys = func(context.Context) (jwkset.Storage, error) { return storage, nil }
		return status.Wrap(status.Unavailable, err, "cannot fetch the keys from %s", where)
	}
	file, err := secure.NewFile(func() (jwkset.Storage, error) { return readKeys(where) }, t.cfg.Warn, where)
	t.keys = func(context.Context) (jwkset.Storage, error) { return file.Get(), nil }
	return err
}

func (t *Tokens) warn(err error) {
	if t.cfg.Warn != nil {
		t.cfg.Warn(err)
	}
}

func isURL(s string) bool { return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") }

func readKeys(path string) (jwkset.Storage, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "cannot read the keys of tokens")
	}
	var set jwkset.JWKSMarshal
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) == 0 {
		return nil, status.New(status.InvalidArgument, "%s is not a JSON web key set: {\"keys\": […]}", path)
	}
	storage, err := set.ToStorage()
	return storage, status.Wrap(status.InvalidArgument, err, "the keys in %s", path)
}

// discover asks the issuer where its keys are.
func discover(ctx context.Context, issuer string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	url := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", status.Wrap(status.InvalidArgument, err, "the issuer %q", issuer)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", status.Wrap(status.Unavailable, err, "cannot find the keys of the issuer; name them with --jwt-jwks")
	}
	defer func() { _ = resp.Body.Close() }()
	var found struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	err = json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&found)
	if err != nil || found.Issuer != issuer || !isURL(found.Keys) {
		return "", status.New(status.InvalidArgument, "%s does not describe the issuer %q; name its keys with --jwt-jwks", url, issuer)
	}
	return found.Keys, nil
}

// Check returns the user of a token.
func (t *Tokens) Check(ctx context.Context, token string) (User, error) {
	claims := jwt.MapClaims{}
	if _, err := t.parser.ParseWithClaims(token, claims, func(tok *jwt.Token) (any, error) { return t.key(ctx, tok) }); err != nil {
		return User{}, status.New(status.Unauthenticated, "the token is not accepted: %s", reason(err))
	}
	name, _ := claims[t.cfg.UserClaim].(string)
	if name == "" || name == Anonymous {
		return User{}, status.New(status.Unauthenticated, "the token names no user in its claim %q", t.cfg.UserClaim)
	}
	return User{Name: name, Roles: texts(claims[t.cfg.RolesClaim])}, nil
}

// key finds the key of a token by its id, and only if it is one for the token's
// algorithm.
func (t *Tokens) key(ctx context.Context, tok *jwt.Token) (any, error) {
	storage, err := t.keys(ctx)
	if err != nil {
		return nil, err
	}
	id, _ := tok.Header["kid"].(string)
	key, err := storage.KeyRead(ctx, id)
	if err != nil {
		return nil, err
	}
	if alg := key.Marshal().ALG.String(); alg != "" && alg != tok.Method.Alg() {
		return nil, jwt.ErrTokenSignatureInvalid
	}
	return key.Key(), nil
}

// reason tells a caller what is wrong with its token, and nothing of the keys.
func reason(err error) string {
	for _, known := range []error{jwt.ErrTokenExpired, jwt.ErrTokenNotValidYet, jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenInvalidIssuer, jwt.ErrTokenInvalidAudience, jwt.ErrTokenRequiredClaimMissing} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "its form or its signature is wrong"
}

// texts reads a list of texts, or a text of words.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return strings.Fields(v)
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}
