package system

import (
	"context"
	"errors"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/server/query"
)

// Addr is what a coordinator calls the node of its own tables. It is not an
// address of any network.
const Addr = "in-process:system"

// name is that of the node; no scanner is likely to have it.
const name = "@coordinator"

// Node is the scanner of a coordinator's own tables. The caller closes it.
type Node struct {
	scanner *scanner.Scanner
	lis     *bufconn.Listener
	stop    context.CancelFunc
	served  chan error
}

// Start serves the history in this process.
func Start(history *query.History) (*Node, error) {
	s, err := scanner.New(scanner.Config{Name: name, Tables: tables(history), Workers: 1})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	n := &Node{scanner: s, lis: bufconn.Listen(256 << 10), stop: stop, served: make(chan error, 1)}
	go func() { n.served <- s.Serve(ctx, n.lis) }()
	return n, nil
}

func tables(history *query.History) []scanner.Table {
	sources := map[string]scanner.Source{
		"queries":      source[query.Record]{queries(), history.Records},
		"query_rounds": source[round]{rounds(), func() []round { return roundsOf(history.Records()) }},
		"scans":        source[scan]{scans(), func() []scan { return scansOf(history.Records()) }},
	}
	var out []scanner.Table
	for _, table := range query.SystemTables() {
		out = append(out, scanner.Table{Schema: query.SystemSchema, Name: table, Source: sources[table]})
	}
	return out
}

// Dial connects to this node under Addr and to others as next does; nil is
// codec.Dial.
func (n *Node) Dial(next func(addr string) (*codec.Client, error)) func(addr string) (*codec.Client, error) {
	if next == nil {
		next = func(addr string) (*codec.Client, error) { return codec.Dial(addr) }
	}
	return func(addr string) (*codec.Client, error) {
		if addr != Addr {
			return next(addr)
		}
		return codec.Dial("passthrough:///"+Addr, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return n.lis.DialContext(ctx)
		}))
	}
}

// Close ends the node; coordinators that use it are closed before.
func (n *Node) Close() error {
	n.stop()
	return errors.Join(<-n.served, n.scanner.Close())
}
