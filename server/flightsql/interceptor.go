package flightsql

import (
	"context"
	"runtime/debug"

	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown/status"
)

func (s *Server) interceptUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (resp any, err error) {
	defer s.translate(info.FullMethod, &err)
	return next(ctx, req)
}

func (s *Server) interceptStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer s.translate(info.FullMethod, &err)
	return next(srv, stream)
}

// translate turns a panic into an Internal error and any error into a gRPC
// status. It is the outermost interceptor: a hostile message can make the
// Flight library panic before anything else runs.
func (s *Server) translate(method string, err *error) {
	if r := recover(); r != nil {
		s.log.Error().Str("method", method).Interface("panic", r).Bytes("stack", debug.Stack()).Msg("recovered")
		*err = status.New(status.Internal, "internal error in %s; the server goes on", method)
	}
	*err = toClient(*err)
}

// toClient translates an error for clients. The ADBC driver knows no
// FailedPrecondition, Aborted or OutOfRange and calls them "unknown": the
// statement asks for something that cannot be done, or may be repeated.
func toClient(err error) error {
	if err == nil {
		return nil
	}
	code := status.CodeOf(err)
	switch code {
	case status.FailedPrecondition, status.OutOfRange:
		code = status.InvalidArgument
	case status.Aborted:
		code = status.Unavailable
	default:
		return grpcstatus.ToGRPC(err)
	}
	return grpcstatus.ToGRPC(&status.Error{Code: code, Cause: err})
}
