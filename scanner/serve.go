package scanner

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/health"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Ready is why the scanner serves nothing, or nil.
func (s *Scanner) Ready() error { return context.Cause(s.ctx) }

// Register adds the scanner's Flight service, and that of health checks, to a gRPC server, which should be
// made with codec.ServerOptions.
func (s *Scanner) Register(g *grpc.Server) {
	flight.RegisterFlightServiceServer(g, &service{Scanner: s})
	health.Register(g, s.Ready)
}

// drainTime is what running scans get to end once Serve's context has.
const drainTime = time.Second

// Serve serves on a listener until ctx ends, then stops the scans that run. It
// closes the listener. Options such as TLS credentials come on top of
// codec.ServerOptions.
func (s *Scanner) Serve(ctx context.Context, lis net.Listener, opts ...grpc.ServerOption) error {
	all := slices.Concat(codec.ServerOptions(), secure.Limits(), s.recovery(), opts)
	g := grpc.NewServer(all...)
	s.Register(g)
	stopped := make(chan struct{})
	unlink := context.AfterFunc(ctx, func() {
		defer close(stopped)
		s.shutDown()
		force := time.AfterFunc(drainTime, g.Stop)
		defer force.Stop()
		g.GracefulStop()
	})
	err := g.Serve(lis)
	if !unlink() {
		<-stopped
		return nil
	}
	g.Stop()
	return status.Wrap(status.Unavailable, err, "scanner %q cannot serve", s.cfg.Name)
}
