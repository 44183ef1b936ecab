package flightsql

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/pushdown/status"
	"github.com/tributary-db/tributary/server/auth"
	"github.com/tributary-db/tributary/server/query"
)

// sessionCookie is the cookie by which Flight clients carry a session. It holds
// the session itself, sealed, so that any coordinator with the key continues it
// and none has to keep it.
const sessionCookie = "arrow_flight_session_id"

// DefaultSessionIdle is how long a session in a cookie may rest.
const DefaultSessionIdle = 8 * time.Hour

// cookies makes and reads session cookies.
type cookies struct {
	*auth.Sealer
	idle time.Duration
}

func newCookies(secret []byte, idle time.Duration) (*cookies, error) {
	s, err := auth.NewSealer(secret, "session cookie")
	return &cookies{Sealer: s, idle: lifeOr(idle, DefaultSessionIdle)}, err
}

// carried is the content of a cookie.
type carried struct {
	Settings query.Settings `json:"set"`
	Until    int64          `json:"until"`
}

// read returns the session of the call's cookie, nil without one. A session
// that has expired fails the call once: the cookie is withdrawn with the error.
func (c *cookies) read(ctx context.Context) (*query.Session, error) {
	sent := c.sent(ctx)
	if sent == "" {
		return nil, nil
	}
	var have carried
	raw, err := base64.RawURLEncoding.DecodeString(sent)
	if err == nil {
		err = c.Open(auth.UserOf(ctx).Name, raw, &have)
	}
	left := time.Until(time.Unix(have.Until, 0))
	if err != nil || left <= 0 {
		c.withdraw(ctx)
		return nil, status.New(status.FailedPrecondition,
			"the session of this connection has expired (after %s) or is not this server's: its settings are back at their defaults; set them again and repeat the statement", c.idle)
	}
	sess := query.NewSessionOf(have.Settings)
	if left < c.idle/2 {
		return sess, c.send(ctx, sess)
	}
	return sess, nil
}

// sent is the cookie that the call came with, or "".
func (*cookies) sent(ctx context.Context) string {
	md, _ := metadata.FromIncomingContext(ctx)
	cookie, err := (&http.Request{Header: http.Header{"Cookie": md.Get("cookie")}}).Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// send gives the client the cookie of a session as it now is.
func (c *cookies) send(ctx context.Context, sess *query.Session) error {
	raw, err := c.Seal(auth.UserOf(ctx).Name, carried{Settings: sess.Settings(), Until: time.Now().Add(c.idle).Unix()})
	if err != nil {
		return err
	}
	c.set(ctx, http.Cookie{Name: sessionCookie, Value: base64.RawURLEncoding.EncodeToString(raw)})
	return nil
}

// withdraw makes the client forget its cookie.
func (c *cookies) withdraw(ctx context.Context) {
	c.set(ctx, http.Cookie{Name: sessionCookie, Value: "closed", MaxAge: -1})
}

// set sends a cookie. Java clients look for it in the header, and after an error
// in the trailer.
func (c *cookies) set(ctx context.Context, cookie http.Cookie) {
	md := metadata.Pairs("set-cookie", cookie.String())
	_ = grpc.SetHeader(ctx, md)  // fails only outside a call,
	_ = grpc.SetTrailer(ctx, md) // or when the header is sent already
}
