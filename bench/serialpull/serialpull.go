// Package serialpull moves rows the way that made this project necessary: one
// request in flight, 128 rows an answer. It is what Tributary is measured against;
// the same service also has a plain DoGet of the same batches, which is the most
// that a stream can reach.
package serialpull

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/grpc"
)

// PageRows is the number of rows in an answer.
const PageRows = 128

const (
	windowBytes  = 16 << 20
	bufferBytes  = 1 << 20
	messageBytes = 64 << 20
)

// ServerOptions are those of a well-tuned gRPC server: what is compared is the
// way of asking, not the settings.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.InitialWindowSize(windowBytes), grpc.InitialConnWindowSize(windowBytes),
		grpc.ReadBufferSize(bufferBytes), grpc.WriteBufferSize(bufferBytes), grpc.MaxSendMsgSize(messageBytes),
	}
}

// DialOptions are the client's side of ServerOptions.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithInitialWindowSize(windowBytes), grpc.WithInitialConnWindowSize(windowBytes),
		grpc.WithReadBufferSize(bufferBytes), grpc.WithWriteBufferSize(bufferBytes),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytes)),
	}
}

// Server has one table.
type Server struct {
	flight.BaseFlightServer
	schema  *arrow.Schema
	batches []arrow.RecordBatch
}

// NewServer serves batches, which stay the caller's.
func NewServer(schema *arrow.Schema, batches []arrow.RecordBatch) *Server {
	return &Server{schema: schema, batches: batches}
}

// chosen are the columns of comma-separated names; none means all.
func (s *Server) chosen(names string) (*arrow.Schema, []int, error) {
	var fields []arrow.Field
	var at []int
	for i, f := range s.schema.Fields() {
		if names == "" || strings.Contains(","+names+",", ","+f.Name+",") {
			fields, at = append(fields, f), append(at, i)
		}
	}
	if len(at) == 0 {
		return nil, nil, fmt.Errorf("none of the columns %q is there", names)
	}
	return arrow.NewSchema(fields, nil), at, nil
}

func project(b arrow.RecordBatch, schema *arrow.Schema, at []int) arrow.RecordBatch {
	columns := make([]arrow.Array, len(at))
	for i, c := range at {
		columns[i] = b.Column(c)
	}
	return array.NewRecordBatch(schema, columns, b.NumRows())
}

// DoGet streams all rows; the ticket names the columns.
func (s *Server) DoGet(t *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	schema, at, err := s.chosen(string(t.GetTicket()))
	if err != nil {
		return err
	}
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	defer w.Close()
	for _, b := range s.batches {
		part := project(b, schema, at)
		err := w.Write(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// DoExchange answers every message with the next rows; the first one names the
// columns.
func (s *Server) DoExchange(stream flight.FlightService_DoExchangeServer) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	schema, at, err := s.chosen(string(first.GetAppMetadata()))
	if err != nil {
		return err
	}
	w := flight.NewRecordWriter(stream, ipc.WithSchema(schema))
	defer w.Close()
	for _, b := range s.batches {
		if err := s.pages(stream, w, project(b, schema, at)); err != nil {
			if errors.Is(err, io.EOF) {
				return nil // the client has enough
			}
			return err
		}
	}
	return nil
}

// pages sends a batch page by page, each followed by the next request.
func (s *Server) pages(stream flight.FlightService_DoExchangeServer, w *flight.Writer, b arrow.RecordBatch) error {
	defer b.Release()
	for from := int64(0); from < b.NumRows(); from += PageRows {
		page := b.NewSlice(from, min(from+PageRows, b.NumRows()))
		err := w.Write(page)
		page.Release()
		if err != nil {
			return err
		}
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
	return nil
}

// Pull reads rows page by page until there are no more, or at least so many.
func Pull(ctx context.Context, c flight.Client, columns string, atLeast int64, use func(arrow.RecordBatch)) (rows int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.DoExchange(ctx)
	if err != nil {
		return 0, err
	}
	if err := stream.Send(&flight.FlightData{AppMetadata: []byte(columns)}); err != nil {
		return 0, err
	}
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for rows < atLeast && r.Next() {
		rows += r.RecordBatch().NumRows()
		use(r.RecordBatch())
		if err := stream.Send(&flight.FlightData{}); err != nil && !errors.Is(err, io.EOF) {
			return rows, err
		}
	}
	return rows, r.Err()
}

// Stream reads all rows of the plain DoGet.
func Stream(ctx context.Context, c flight.Client, columns string, use func(arrow.RecordBatch)) (rows int64, err error) {
	stream, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte(columns)})
	if err != nil {
		return 0, err
	}
	r, err := flight.NewRecordReader(stream)
	if err != nil {
		return 0, err
	}
	defer r.Release()
	for r.Next() {
		rows += r.RecordBatch().NumRows()
		use(r.RecordBatch())
	}
	return rows, r.Err()
}
