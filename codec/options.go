package codec

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/keepalive"
)

const (
	windowBytes = 16 << 20
	bufferBytes = 1 << 20
	// maxMessageBytes leaves room for headers around the largest batch.
	maxMessageBytes = MaxBatchBytes + 8<<20
	// pingEvery and pingTimeout bound how long a dead peer goes unnoticed.
	pingEvery, pingTimeout = 10 * time.Second, 5 * time.Second
)

// ServerOptions are the gRPC options of a scanner: windows, buffers, message
// limits, keepalive, and the zero-copy message encoding. A server without them
// works too, but slower, and it closes connections on which scans are long,
// because [Dial] sends keepalive pings more often than gRPC's default allows.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ForceServerCodecV2(newWireCodec()),
		experimental.BufferPool(newFramePool()),
		grpc.InitialWindowSize(windowBytes),
		grpc.InitialConnWindowSize(windowBytes),
		grpc.ReadBufferSize(bufferBytes),
		grpc.WriteBufferSize(bufferBytes),
		grpc.MaxRecvMsgSize(maxMessageBytes),
		grpc.MaxSendMsgSize(maxMessageBytes),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingEvery, Timeout: pingTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingEvery / 2, PermitWithoutStream: true}),
	}
}

// DialOptions are the gRPC options of a coordinator; [Dial] applies them.
func DialOptions() []grpc.DialOption {
	retry := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		experimental.WithBufferPool(newFramePool()),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(newWireCodec()),
			grpc.MaxCallRecvMsgSize(maxMessageBytes),
			grpc.MaxCallSendMsgSize(maxMessageBytes),
		),
		grpc.WithInitialWindowSize(windowBytes),
		grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithReadBufferSize(bufferBytes),
		grpc.WithWriteBufferSize(bufferBytes),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingEvery, Timeout: pingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: pingTimeout}),
	}
}
