package scanner_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tributary-db/tributary/pushdown"
	"github.com/tributary-db/tributary/scanner"
)

// order is a value of the service.
type order struct {
	ID       int64
	Customer string
}

// orders are a table of the service; each shard is a partition. Shards do not
// change here: a real service would take a lock.
type orders map[string][]order

func (o orders) Schema(context.Context) (*arrow.Schema, error) {
	return arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "customer", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil), nil
}

func (o orders) Partitions(context.Context) (out []scanner.Partition, _ error) {
	for _, shard := range slices.Sorted(maps.Keys(o)) {
		out = append(out, scanner.Partition{ID: shard, Rows: int64(len(o[shard])), Bytes: -1})
	}
	return out, nil
}

// Capabilities is empty: the source yields rows, the scanner library filters
// and aggregates them.
func (o orders) Capabilities() pushdown.Capabilities { return pushdown.Capabilities{} }

func (o orders) Scan(_ context.Context, spec pushdown.Spec) (scanner.Reader, error) {
	return &ordersReader{orders: o, spec: spec}, nil
}

// ordersReader yields a batch a partition.
type ordersReader struct {
	orders orders
	spec   pushdown.Spec
	at     int
	rows   atomic.Int64
}

func (r *ordersReader) Next(ctx context.Context) (arrow.RecordBatch, error) {
	if ctx.Err() != nil || r.at == len(r.spec.Partitions) {
		return nil, cmp.Or(ctx.Err(), io.EOF)
	}
	rows := r.orders[r.spec.Partitions[r.at]]
	b := array.NewRecordBuilder(memory.DefaultAllocator, r.spec.OutputSchema())
	defer b.Release()
	for i, column := range r.spec.Columns { // only those that the query needs
		for _, row := range rows {
			switch column.Name {
			case "id":
				b.Field(i).(*array.Int64Builder).Append(row.ID)
			case "customer":
				b.Field(i).(*array.StringBuilder).Append(row.Customer)
			}
		}
	}
	r.at++
	r.rows.Add(int64(len(rows)))
	return b.NewRecordBatch(), nil
}

func (r *ordersReader) RowsScanned() int64 { return r.rows.Load() }
func (r *ordersReader) Close() error       { return nil }

// A service serves its own values as a table. Coordinators read it, and so does
// any Flight client.
func ExampleSource() {
	table := orders{"north": {{1, "ada"}, {2, "bob"}}, "south": {{3, "ada"}}}
	s, err := scanner.New(scanner.Config{Name: "shop", Tables: []scanner.Table{{Name: "orders", Source: table}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, lis) }()

	printTable(ctx, lis.Addr().String(), "orders")

	cancel()
	fmt.Println("served:", <-served, "closed:", s.Close())
	// Unordered output:
	// 2 rows: [1 2] ["ada" "bob"]
	// 1 rows: [3] ["ada"]
	// served: <nil> closed: <nil>
}

// printTable reads a whole table of a scanner with a plain Flight client.
func printTable(ctx context.Context, addr, name string) {
	client, err := flight.NewClientWithMiddleware(addr, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()
	stream, err := client.DoGet(ctx, &flight.Ticket{Ticket: []byte(name)})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := flight.NewRecordReader(stream)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rows.Release()
	for rows.Next() {
		b := rows.RecordBatch()
		fmt.Println(b.NumRows(), "rows:", b.Column(0), b.Column(1))
	}
	if rows.Err() != nil {
		fmt.Println(rows.Err())
	}
}
