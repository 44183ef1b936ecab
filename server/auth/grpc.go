package auth

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/codec/health"
)

// Unary puts the user into the context of a call, or refuses it. Health checks
// are anybody's.
func (a *Authenticator) Unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if info.FullMethod == health.CheckMethod {
		return next(ctx, req)
	}
	u, err := a.Authenticate(ctx)
	if err != nil {
		return nil, err
	}
	return next(WithUser(ctx, u), req)
}

// Stream puts the user into the context of a stream, or refuses it.
func (a *Authenticator) Stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	u, err := a.Authenticate(stream.Context())
	if err != nil {
		return err
	}
	return next(srv, &userStream{stream, WithUser(stream.Context(), u)})
}

type userStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is that of the user.
func (s *userStream) Context() context.Context { return s.ctx }

// HandshakeHeader is the header that answers a handshake: what to send with the
// calls to come. A bearer token is given back, a password exchanged for one.
// Clients that were given a user fail without it, also when nobody has to say
// who he is.
func (a *Authenticator) HandshakeHeader(ctx context.Context) (metadata.MD, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if headers := md.Get("authorization"); len(headers) > 0 && isBearer(headers[0]) {
		return metadata.Pairs("authorization", headers[0]), nil
	}
	token, err := a.Token(UserOf(ctx))
	return metadata.Pairs("authorization", "Bearer "+token), err
}

func isBearer(header string) bool {
	return len(header) > 7 && (header[:7] == "Bearer " || header[:7] == "bearer ")
}
