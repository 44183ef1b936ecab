package scanner

import (
	"context"
	"runtime/debug"

	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown/status"
)

// recovery are the outermost interceptors: a hostile message that makes a
// handler panic must not end the process.
func (s *Scanner) recovery() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
			defer s.survive(info.FullMethod, &err)
			return next(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
			defer s.survive(info.FullMethod, &err)
			return next(srv, stream)
		}),
	}
}

func (s *Scanner) survive(method string, err *error) {
	if r := recover(); r != nil {
		s.cfg.Logger.Error().Str("method", method).Interface("panic", r).Bytes("stack", debug.Stack()).Msg("recovered")
		*err = grpcstatus.ToGRPC(status.New(status.Internal, "internal error in %s; the scanner goes on", method))
	}
}
