package auth

import (
	"context"
	"net"
	"net/http"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// HTTP returns the context of an HTTP request by a user, who is known as in a
// gRPC call, but for certificates.
func (a *Authenticator) HTTP(r *http.Request) (context.Context, error) {
	ctx := r.Context()
	if addr, err := net.ResolveTCPAddr("tcp", r.RemoteAddr); err == nil {
		ctx = peer.NewContext(ctx, &peer.Peer{Addr: addr})
	}
	md := metadata.MD{}
	for _, header := range r.Header.Values("Authorization") {
		md.Append("authorization", header)
	}
	u, err := a.Authenticate(metadata.NewIncomingContext(ctx, md))
	return WithUser(ctx, u), err
}
