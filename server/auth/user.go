package auth

import (
	"context"
	"net"

	"google.golang.org/grpc/peer"
)

// User is who makes a call.
type User struct {
	// Name is unique among all ways of authentication.
	Name string
	// Roles are those that the user's token brings; an access policy may add
	// others.
	Roles []string
}

// Anonymous is the user of calls to a server without authentication, and of
// calls from inside the process.
const Anonymous = "anonymous"

type userKey struct{}

// WithUser returns a context of calls by u.
func WithUser(ctx context.Context, u User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// UserOf is the user who makes the call.
func UserOf(ctx context.Context) User {
	if u, ok := ctx.Value(userKey{}).(User); ok {
		return u
	}
	return User{Name: Anonymous}
}

// PeerOf is the address that the call comes from, "" inside the process.
func PeerOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}

// hostOf is the address without the port, which differs for each connection.
func hostOf(ctx context.Context) string {
	addr := PeerOf(ctx)
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return addr
}
