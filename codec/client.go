package codec

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/codec/grpcstatus"
	"github.com/tributary-db/tributary/pushdown/status"
)

// Client is a connection to one scanner, safe for concurrent use.
type Client struct {
	addr   string
	flight flight.FlightServiceClient
	close  func() error
}

// Dial prepares a connection to the scanner at addr (host:port, with or without
// "grpc://", or a gRPC target); it connects when first used. Without transport
// credentials in opts the connection is plain text.
func Dial(addr string, opts ...grpc.DialOption) (*Client, error) {
	target := strings.TrimPrefix(strings.TrimPrefix(addr, "grpc+tcp://"), "grpc://")
	if target == "" {
		return nil, status.New(status.InvalidArgument, "a scanner address is empty: give host:port")
	}
	conn, err := grpc.NewClient(target, append(DialOptions(), opts...)...)
	if err != nil {
		return nil, status.Wrap(status.InvalidArgument, err, "scanner address %q", addr)
	}
	return &Client{
		addr: addr, flight: flight.NewFlightServiceClient(conn), close: sync.OnceValue(conn.Close),
	}, nil
}

// Close closes the connection; running scans fail. It may be called more than
// once.
func (c *Client) Close() error {
	return status.Wrap(status.Internal, c.close(), "closing the connection to %s", c.addr)
}

// Hello asks the scanner who it is and what it has. It fails when the protocol
// windows do not overlap.
func (c *Client) Hello(ctx context.Context, req HelloRequest) (*Hello, error) {
	body, err := EncodeHelloRequest(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.flight.DoAction(ctx, &flight.Action{Type: HelloAction, Body: body})
	if err != nil {
		return nil, c.failed(err, "Hello")
	}
	result, err := stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, status.New(status.Unimplemented, "%s answered Hello with nothing", c.addr)
	}
	if err != nil {
		return nil, c.failed(err, "Hello")
	}
	h, err := DecodeHello(result.GetBody())
	if err == nil {
		err = checkWindow(h, req)
	}
	if err != nil {
		return nil, c.failed(err, "Hello")
	}
	return h, nil
}

func (c *Client) failed(err error, what string) error {
	return status.Wrap(status.Unavailable, grpcstatus.FromGRPC(err), "%s of scanner %s", what, c.addr)
}

// checkWindow reports peers that share no protocol version.
func checkWindow(h *Hello, req HelloRequest) error {
	if h.ProtocolMin <= req.ProtocolLatest && req.ProtocolMin <= h.ProtocolLatest {
		return nil
	}
	return status.New(status.FailedPrecondition, "scanner %s speaks protocol %d to %d, this coordinator %d to %d: upgrade the older one",
		h.Name, h.ProtocolMin, h.ProtocolLatest, req.ProtocolMin, req.ProtocolLatest)
}

// Scan opens a scan. It returns when the connection is up, without waiting for
// the scanner's answer; cancelling ctx cancels the scan. Memory of decoded
// batches that is not part of the received message comes from mem.
func (c *Client) Scan(ctx context.Context, req OpenRequest, mem memory.Allocator) (*Scan, error) {
	open, err := encodeOpen(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stream, err := c.flight.DoExchange(ctx)
	if err != nil {
		cancel()
		return nil, c.failed(err, "scan")
	}
	f := controlFrame(open)
	f.data.FlightDescriptor = &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte(ScanDescriptor)}
	s := newScan(stream, cancel, req, mem)
	if err := s.send(f); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
