// Package grpcstatus translates between [status.Error] and gRPC status: the one
// border where that happens.
package grpcstatus
