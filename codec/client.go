package codec

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
)

// Client is a connection to one scanner, safe for concurrent use.
type Client struct{}

// Dial prepares a connection to the scanner at addr (host:port, or a gRPC
// target); it connects when first used. Without transport credentials in opts
// the connection is plain text.
func Dial(addr string, opts ...grpc.DialOption) (*Client, error) { return nil, nil }

// Hello asks the scanner who it is and what it has.
func (c *Client) Hello(ctx context.Context, req HelloRequest) (*Hello, error) { return nil, nil }

// Scan opens a scan. It returns without waiting for the scanner; cancelling ctx
// cancels the scan. Memory of decoded batches that is not part of the received
// message comes from mem.
func (c *Client) Scan(ctx context.Context, req OpenRequest, mem memory.Allocator) (*Scan, error) {
	return nil, nil
}

// Close closes the connection; running scans fail.
func (c *Client) Close() error { return nil }
