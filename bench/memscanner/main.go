// Command memscanner serves the demo's table from memory three times: as a
// Tributary scanner, as a bare arrow-go Flight SQL server that sends the same
// batches, which is the ceiling for what a client can read, and page by page, as
// package serialpull does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	arrowmem "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/tributary-db/tributary/bench/serialpull"
	"github.com/tributary-db/tributary/cmd/vqueue"
	"github.com/tributary-db/tributary/codec/secure"
	"github.com/tributary-db/tributary/scanner"
	"github.com/tributary-db/tributary/scanner/memory"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address of the scanner")
	bare := flag.String("bare", "127.0.0.1:0", "address of the bare Flight server")
	serial := flag.String("serial", "127.0.0.1:0", "address of the server that sends pages")
	name := flag.String("name", "m0", "name of the scanner")
	first := flag.Int("first", 0, "first partition of this scanner")
	step := flag.Int("step", 1, "distance to the next partition")
	rows := flag.Int("rows", vqueue.Default().Rows, "rows in the table")
	secret := flag.String("secret-file", "", "the secret shared with coordinators; clients may then read directly")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx, *name, [3]string{*listen, *bare, *serial}, *first, *step, *rows, *secret)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "memscanner:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, name string, addrs [3]string, first, step, rows int, secretFile string) error {
	layout := vqueue.Default()
	layout.Hot = int(int64(layout.Hot) * int64(rows) / int64(layout.Rows))
	layout.Rows = rows
	partitions, err := load(layout, first, step)
	if err != nil {
		return err
	}
	source, err := memory.New(vqueue.Schema(), partitions)
	if err != nil {
		return err
	}
	var lis [3]net.Listener
	for i, addr := range addrs {
		if lis[i], err = net.Listen("tcp", addr); err != nil {
			return err
		}
	}
	cfg := scanner.Config{Name: name, Tables: []scanner.Table{{Schema: "main", Name: vqueue.Table, Source: source}}, Logger: zerolog.Nop()}
	if secretFile != "" {
		if cfg.Tickets, err = secure.NewSecret(secretFile, nil); err != nil {
			return err
		}
		cfg.Advertise = "grpc://" + lis[0].Addr().String()
	}
	s, err := scanner.New(cfg)
	if err != nil {
		return err
	}
	fmt.Println("listening", lis[0].Addr(), lis[1].Addr(), lis[2].Addr())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Serve(ctx, lis[0]) })
	group.Go(func() error {
		return serveFlight(ctx, lis[1], flightsql.NewFlightServer(&bareServer{partitions: partitions}))
	})
	group.Go(func() error { return serveFlight(ctx, lis[2], serialpull.NewServer(vqueue.Schema(), all(partitions))) })
	return errors.Join(group.Wait(), s.Close())
}

func load(layout vqueue.Layout, first, step int) ([]memory.Partition, error) {
	var partitions []memory.Partition
	for p := first; p < layout.Partitions; p += step {
		part := memory.Partition{ID: strconv.Itoa(p)}
		err := layout.Batches(p, arrowmem.DefaultAllocator, func(b arrow.RecordBatch) error {
			// 1 MiB a batch, as the scan path aims at.
			for at := int64(0); at < b.NumRows(); at += 8 << 10 {
				part.Batches = append(part.Batches, b.NewSlice(at, min(at+8<<10, b.NumRows())))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		partitions = append(partitions, part)
	}
	return partitions, nil
}

// bareServer is the least that a Flight SQL server can be: whatever it is asked,
// it sends every batch.
type bareServer struct {
	flightsql.BaseServer
	partitions []memory.Partition
}

// all are the batches of all partitions.
func all(partitions []memory.Partition) []arrow.RecordBatch {
	var out []arrow.RecordBatch
	for _, p := range partitions {
		out = append(out, p.Batches...)
	}
	return out
}

func serveFlight(ctx context.Context, lis net.Listener, srv flight.FlightServer) error {
	g := grpc.NewServer(serialpull.ServerOptions()...)
	flight.RegisterFlightServiceServer(g, srv)
	stop := context.AfterFunc(ctx, g.Stop)
	defer stop()
	return g.Serve(lis)
}

// GetFlightInfoStatement answers every statement with the one table.
func (b *bareServer) GetFlightInfoStatement(_ context.Context, _ flightsql.StatementQuery, desc *flight.FlightDescriptor) (*flight.FlightInfo, error) {
	ticket, err := flightsql.CreateStatementQueryTicket([]byte("all"))
	return &flight.FlightInfo{
		Schema:           flight.SerializeSchema(vqueue.Schema(), arrowmem.DefaultAllocator),
		FlightDescriptor: desc,
		Endpoint:         []*flight.FlightEndpoint{{Ticket: &flight.Ticket{Ticket: ticket}}},
		TotalRecords:     -1,
		TotalBytes:       -1,
	}, err
}

// DoGetStatement sends every batch.
func (b *bareServer) DoGetStatement(ctx context.Context, _ flightsql.StatementQueryTicket) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	chunks := make(chan flight.StreamChunk, 4)
	go func() {
		defer close(chunks)
		for _, p := range b.partitions {
			for _, batch := range p.Batches {
				batch.Retain()
				select {
				case chunks <- flight.StreamChunk{Data: batch}:
				case <-ctx.Done():
					batch.Release()
					return
				}
			}
		}
	}()
	return vqueue.Schema(), chunks, nil
}
