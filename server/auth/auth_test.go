package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/pushdown/status"
)

func usersFile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users")
	require.NoError(t, os.WriteFile(path, []byte("# users\n\n"+strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

func line(t *testing.T, name, password string) string {
	t.Helper()
	return name + ":" + HashPassword(password)
}

// annAndBob have the passwords "a:b" and "bob's"; bob's is hashed with bcrypt.
func annAndBob(t *testing.T) *Users {
	t.Helper()
	bob, err := bcrypt.GenerateFromPassword([]byte("bob's"), bcrypt.MinCost)
	require.NoError(t, err)
	u, err := NewUsers(usersFile(t, line(t, "ann", "a:b"), "bob:"+string(bob)), nil)
	require.NoError(t, err)
	return u
}

func testAuth(t *testing.T, cfg Config) *Authenticator {
	t.Helper()
	a, err := New(cfg)
	require.NoError(t, err)
	return a
}

func with(t *testing.T, header string) context.Context {
	t.Helper()
	return metadata.NewIncomingContext(t.Context(), metadata.Pairs("authorization", header))
}

func basic(enc *base64.Encoding, credentials string) string {
	return "Basic " + enc.EncodeToString([]byte(credentials))
}

func TestBasic(t *testing.T) {
	t.Parallel()
	a := testAuth(t, Config{Users: annAndBob(t)})
	for header, want := range map[string]string{
		basic(base64.StdEncoding, "ann:a:b"): "ann", basic(base64.RawStdEncoding, "ann:a:b"): "ann",
		basic(base64.StdEncoding, "bob:bob's"): "bob", basic(base64.RawStdEncoding, "bob:bob's"): "bob",
		strings.Replace(basic(base64.StdEncoding, "ann:a:b"), "Basic", "basic", 1): "ann",
	} {
		u, err := a.Authenticate(with(t, header))
		require.NoError(t, err, header)
		require.Equal(t, User{Name: want}, u)
	}
	var texts []string
	for _, bad := range []string{"ann:a", "ann:", "ann:bob's", "carol:a:b", ":", "ann"} {
		_, err := a.Authenticate(with(t, basic(base64.StdEncoding, bad)))
		require.Equal(t, status.Unauthenticated, status.CodeOf(err), bad)
		texts = append(texts, err.Error())
	}
	require.Equal(t, texts[0], texts[3], "an unknown user is told apart from a wrong password")
	for _, bad := range []string{"Basic", "Basic !", "Digest x", "Bearer ", "Bearer x.y.z", "Bearer tributary.x", ""} {
		_, err := a.Authenticate(with(t, bad))
		require.Equal(t, status.Unauthenticated, status.CodeOf(err), bad)
	}
	_, err := a.Authenticate(t.Context())
	require.ErrorContains(t, err, "user and a password")
}

// TestUnknownUsersCostTheSame counts hashes rather than time.
func TestUnknownUsersCostTheSame(t *testing.T) {
	t.Parallel()
	hash := &countingHash{}
	table := userTable{users: map[string]userEntry{"ann": {hash: hash}}, decoy: hash}
	require.False(t, table.check("ann", "wrong"))
	require.Equal(t, 1, hash.calls)
	require.False(t, table.check("nobody", "right"))
	require.Equal(t, 2, hash.calls)
	require.True(t, table.check("ann", "right"))
}

type countingHash struct{ calls int }

func (c *countingHash) matches(password string) bool {
	c.calls++
	return password == "right"
}

func TestNoAuthentication(t *testing.T) {
	t.Parallel()
	a := testAuth(t, Config{})
	u, err := a.Authenticate(with(t, "Basic nonsense"))
	require.NoError(t, err)
	require.Equal(t, Anonymous, u.Name)
	require.False(t, a.Required())
	header, err := a.HandshakeHeader(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, header.Get("authorization"), "clients with a user fail without it")
}

func TestLoginToken(t *testing.T) {
	t.Parallel()
	users, secret := annAndBob(t), []byte("0123456789abcdef")
	a := testAuth(t, Config{Users: users, Secret: secret, TokenLife: time.Hour})
	token, err := a.Token(User{Name: "ann", Roles: []string{"r"}})
	require.NoError(t, err)
	require.NotContains(t, token, "ann")
	u, err := testAuth(t, Config{Users: users, Secret: secret}).Authenticate(with(t, "Bearer "+token))
	require.NoError(t, err, "another coordinator with the key")
	require.Equal(t, User{Name: "ann", Roles: []string{"r"}}, u)
	_, err = testAuth(t, Config{Users: users}).Authenticate(with(t, "Bearer "+token))
	require.Error(t, err, "another coordinator without the key")
	for i := len(ownToken); i < len(token); i++ {
		bad := []byte(token)
		bad[i] ^= 1
		_, err := a.Authenticate(with(t, "Bearer "+string(bad)))
		require.Equal(t, status.Unauthenticated, status.CodeOf(err), "character %d", i)
	}
	handles, err := NewSealer(secret, "statement handle")
	require.NoError(t, err)
	handle, err := handles.Seal("", login{User: "ann", Until: time.Now().Add(time.Hour).Unix()})
	require.NoError(t, err)
	_, err = a.Authenticate(with(t, "Bearer "+ownToken+base64.RawURLEncoding.EncodeToString(handle)))
	require.Error(t, err, "what was sealed for another purpose")
}

func TestLoginTokenEndsWithTimeAndPassword(t *testing.T) {
	t.Parallel()
	path := usersFile(t, line(t, "ann", "old"))
	synctest.Test(t, func(t *testing.T) {
		users, err := NewUsers(path, nil)
		require.NoError(t, err)
		a := testAuth(t, Config{Users: users, TokenLife: time.Hour})
		token, err := a.Token(User{Name: "ann"})
		require.NoError(t, err)
		time.Sleep(59 * time.Minute)
		_, err = a.Authenticate(with(t, "Bearer "+token))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(line(t, "ann", "new")+"\n# changed\n"), 0o600))
		time.Sleep(2 * time.Second)
		_, err = a.Authenticate(with(t, "Bearer "+token))
		require.ErrorContains(t, err, "log in again", "the password was changed")
		fresh, err := a.Token(User{Name: "ann"})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(line(t, "bob", "bob")+"\n"), 0o600))
		time.Sleep(2 * time.Second)
		_, err = a.Authenticate(with(t, "Bearer "+fresh))
		require.Error(t, err, "the user is gone")
		last, err := a.Token(User{Name: "bob"})
		require.NoError(t, err)
		time.Sleep(time.Hour)
		_, err = a.Authenticate(with(t, "Bearer "+last))
		require.ErrorContains(t, err, "expired")
	})
}

func TestFailedLoginsAreLimited(t *testing.T) {
	t.Parallel()
	users, err := NewUsers(usersFile(t, line(t, "ann", "right"), line(t, "bob", "right")), nil)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		users.failed, users.known = newLimiter(), newExpiring[string](10)
		users.slots = make(chan struct{}, 1)
		ctx := t.Context()
		for range maxFailures {
			require.Equal(t, status.Unauthenticated, status.CodeOf(users.Check(ctx, "ann", "wrong")))
		}
		require.Equal(t, status.ResourceExhausted, status.CodeOf(users.Check(ctx, "ann", "right")), "guessing goes no further")
		require.NoError(t, users.Check(ctx, "bob", "right"), "another user is not disturbed")
		time.Sleep(failureTime)
		require.NoError(t, users.Check(ctx, "ann", "right"))
	})
}

func TestUsersFileErrors(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"plain password": {"ann:secret"}, "no user": nil, "twice": {line(t, "ann", "x"), line(t, "ann", "y")}, "no name": {line(t, "", "x")},
		"reserved": {line(t, Anonymous, "x")}, "dear": {"ann:$argon2id$v=19$m=99999999,t=2,p=1$c2FsdHNhbHQ$" + strings.Repeat("A", 43)},
		"half a hash": {"ann:$argon2id$v=19$m=19456,t=2"}, "md5": {"ann:$apr1$x$y"}, "bcrypt": {"ann:$2a$99$x"},
	} {
		_, err := NewUsers(usersFile(t, lines...), nil)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "secret", name)
	}
}

// issuer signs tokens with keys that it publishes.
type issuer struct {
	rsa  *rsa.PrivateKey
	ec   *ecdsa.PrivateKey
	jwks []byte
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	var err error
	i.rsa, err = rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	i.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	set := jwkset.NewMemoryStorage()
	for id, key := range map[string]any{"r": &i.rsa.PublicKey, "e": &i.ec.PublicKey} {
		k, err := jwkset.NewJWKFromKey(key, jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: id}})
		require.NoError(t, err)
		require.NoError(t, set.KeyWrite(t.Context(), k))
	}
	i.jwks, err = set.JSONPublic(t.Context())
	require.NoError(t, err)
	return i
}

func (i *issuer) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	require.NoError(t, os.WriteFile(path, i.jwks, 0o600))
	return path
}

// claims of a good token.
func claims() jwt.MapClaims {
	return jwt.MapClaims{"iss": "https://issuer", "aud": "tributary", "sub": "ann", "roles": []string{"r1", "r2"}, "exp": time.Now().Add(time.Hour).Unix()}
}

func sign(t *testing.T, method jwt.SigningMethod, id string, key any, c jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, c)
	token.Header["kid"] = id
	text, err := token.SignedString(key)
	require.NoError(t, err)
	return text
}

func TestTokens(t *testing.T) {
	t.Parallel()
	i, other := newIssuer(t), newIssuer(t)
	tokens, err := NewTokens(t.Context(), JWTConfig{Issuer: "https://issuer", Audience: "tributary", JWKS: i.file(t)})
	require.NoError(t, err)
	a := testAuth(t, Config{Tokens: tokens})
	for _, good := range []string{sign(t, jwt.SigningMethodRS256, "r", i.rsa, claims()), sign(t, jwt.SigningMethodES256, "e", i.ec, claims()), sign(t, jwt.SigningMethodPS512, "r", i.rsa, claims())} {
		u, err := a.Authenticate(with(t, "Bearer "+good))
		require.NoError(t, err)
		require.Equal(t, User{Name: "ann", Roles: []string{"r1", "r2"}}, u)
	}
	good := sign(t, jwt.SigningMethodRS256, "r", i.rsa, claims())
	changed := func(name string, value any) string {
		c := claims()
		c[name] = value
		if value == nil {
			delete(c, name)
		}
		return sign(t, jwt.SigningMethodRS256, "r", i.rsa, c)
	}
	public, err := x509.MarshalPKIXPublicKey(&i.rsa.PublicKey)
	require.NoError(t, err)
	parts := strings.Split(good, ".")
	for name, bad := range map[string]string{
		"expired":              changed("exp", time.Now().Add(-time.Hour).Unix()),
		"without an end":       changed("exp", nil),
		"not yet valid":        changed("nbf", time.Now().Add(time.Hour).Unix()),
		"of another issuer":    changed("iss", "https://other"),
		"for another audience": changed("aud", "other"),
		"without an audience":  changed("aud", nil),
		"without a user":       changed("sub", nil),
		"of a reserved user":   changed("sub", Anonymous),
		"another's signature":  sign(t, jwt.SigningMethodRS256, "r", other.rsa, claims()),
		"an unknown key":       sign(t, jwt.SigningMethodRS256, "x", i.rsa, claims()),
		"none":                 sign(t, jwt.SigningMethodNone, "r", jwt.UnsafeAllowNoneSignatureType, claims()),
		"HMAC by public key":   sign(t, jwt.SigningMethodHS256, "r", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), claims()),
		"HMAC by DER":          sign(t, jwt.SigningMethodHS256, "r", public, claims()),
		"EC for an RSA key":    sign(t, jwt.SigningMethodES256, "r", i.ec, claims()),
		"tampered claims":      parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"root"}`)) + "." + parts[2],
		"cut signature":        parts[0] + "." + parts[1] + ".",
		"no signature":         parts[0] + "." + parts[1],
	} {
		_, err := a.Authenticate(with(t, "Bearer "+bad))
		require.Equal(t, status.Unauthenticated, status.CodeOf(err), name)
		require.NotContains(t, err.Error(), bad)
	}
	_, err = NewTokens(t.Context(), JWTConfig{Issuer: "https://issuer", JWKS: i.file(t)})
	require.ErrorContains(t, err, "audience")
}

func TestTokensByDiscovery(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": srv.URL, "jwks_uri": srv.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(i.jwks) })
	tokens, err := NewTokens(t.Context(), JWTConfig{Issuer: srv.URL, Audience: "tributary"})
	require.NoError(t, err)
	c := claims()
	c["iss"] = srv.URL
	u, err := tokens.Check(t.Context(), sign(t, jwt.SigningMethodES256, "e", i.ec, c))
	require.NoError(t, err)
	require.Equal(t, "ann", u.Name)
	_, err = NewTokens(t.Context(), JWTConfig{Issuer: srv.URL + "/", Audience: "tributary"})
	require.ErrorContains(t, err, "does not describe", "the document is another issuer's")
}
