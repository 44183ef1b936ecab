package secure

import (
	"context"
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

// Guard is a gRPC option that refuses the calls of strangers.
func (s *Secret) Guard() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if err := s.Check(ctx, info.FullMethod); err != nil {
				return nil, grpcstatus.ToGRPC(err)
			}
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			if err := s.Check(stream.Context(), info.FullMethod); err != nil {
				return grpcstatus.ToGRPC(err)
			}
			return next(srv, stream)
		}),
	}
}
