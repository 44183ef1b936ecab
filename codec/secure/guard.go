package secure

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec/grpcstatus"
)

const (
	// handshakeTime is how long a connection may take until it can carry calls.
	handshakeTime = 10 * time.Second
	// maxHeaderBytes bounds the metadata of a call: JDBC sends every parameter
	// of its URL as a header, and a token of several KiB is common.
	maxHeaderBytes = 64 << 10
)

// Limits are the gRPC options that bound what a peer can cost before it is
// known: the time of its handshake and the size of its headers.
func Limits() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ConnectionTimeout(handshakeTime),
		grpc.MaxHeaderListSize(maxHeaderBytes),
	}
}

// Open is a method that strangers may call.
type Open struct {
	// Method is its full name, "/package.Service/Method".
	Method string
	// Request tells the requests that are good enough by themselves, of a method
	// that has one; nil is all of them.
	Request func(any) bool
}

// Guard is a gRPC option that refuses the calls of strangers, but for what is
// open to them.
func (s *Secret) Guard(open ...Open) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := s.Check(ctx, info.FullMethod); err != nil && !opens(open, info.FullMethod, req) {
				return nil, grpcstatus.ToGRPC(err)
			}
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := s.Check(stream.Context(), info.FullMethod); err != nil {
				at := slices.IndexFunc(open, func(o Open) bool { return o.Method == info.FullMethod })
				if at < 0 {
					return grpcstatus.ToGRPC(err)
				}
				stream = &openStream{stream, open[at], err}
			}
			return next(srv, stream)
		}),
	}
}

func opens(open []Open, method string, request any) bool {
	return slices.ContainsFunc(open, func(o Open) bool {
		return o.Method == method && (o.Request == nil || o.Request(request))
	})
}

// openStream refuses the requests of a stranger that are not good enough.
type openStream struct {
	grpc.ServerStream
	open    Open
	refusal error
}

// RecvMsg receives a request.
func (s *openStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	if s.open.Request != nil && !s.open.Request(m) {
		return grpcstatus.ToGRPC(s.refusal)
	}
	return nil
}
