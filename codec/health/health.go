// Package health answers the health checks of gRPC (grpc.health.v1), as
// orchestrators and load balancers make them.
package health

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

const (
	// CheckMethod is the full name of the one method, which needs no credentials:
	// its answer says nothing but whether the node is ready.
	CheckMethod = healthpb.Health_Check_FullMethodName
	// service is what nodes serve, besides the name for all.
	service = "arrow.flight.protocol.FlightService"
)

// Register adds the health service to g. ready says why the node is not ready,
// or nil; it must be cheap.
func Register(g grpc.ServiceRegistrar, ready func() error) {
	healthpb.RegisterHealthServer(g, server{ready: ready})
}

// server has no Watch: who checks asks again.
type server struct {
	healthpb.UnimplementedHealthServer
	ready func() error
}

// Check answers whether the node is ready.
func (s server) Check(_ context.Context, r *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	if name := r.GetService(); name != "" && name != service {
		return nil, status.Errorf(codes.NotFound, "there is no service %q, only %q", name, service)
	}
	if s.ready() != nil {
		return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_NOT_SERVING}, nil
	}
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}
