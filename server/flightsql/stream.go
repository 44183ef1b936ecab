package flightsql

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/tributary-db/tributary/codec"
	"github.com/tributary-db/tributary/codec/ipc"
	"github.com/tributary-db/tributary/server/query"
)

const (
	// clientBatchBytes is the size of a batch to aim at: clients take 4 MiB a
	// message by default.
	clientBatchBytes = 2 << 20
	// clientMaxBytes is the largest single row that is sent; a client must
	// have raised its limit to receive it.
	clientMaxBytes = 128 << 20
	// queryIDHeader names the trailer that carries the id of a query.
	queryIDHeader = "x-query-id"
)

// announceQuery puts the query's id into the trailer of the call.
func announceQuery(ctx context.Context, stream query.Stream) {
	if q, ok := stream.(interface{ QueryID() string }); ok {
		_ = grpc.SetTrailer(ctx, metadata.Pairs(queryIDHeader, q.QueryID())) // fails only outside a call
	}
}

// DoGet streams the rows of a statement; metadata results go the library's way.
func (f *flightService) DoGet(ticket *flight.Ticket, stream flight.FlightService_DoGetServer) error {
	raw, ok := statementHandle(ticket)
	if !ok {
		return f.FlightServer.DoGet(ticket, stream)
	}
	h, err := f.server.boundHandle(stream.Context(), raw)
	if err != nil {
		return err
	}
	ctx, end, err := f.server.queries.begin(stream.Context(), h.ID)
	if err != nil {
		return err
	}
	defer end()
	rows, err := f.server.run(ctx, h)
	if err != nil {
		return err
	}
	announceQuery(stream.Context(), rows)
	return errors.Join(sendRows(stream, rows), rows.Close())
}

// statementHandle returns the handle that a ticket carries, if it is that of a
// statement.
func statementHandle(ticket *flight.Ticket) ([]byte, bool) {
	var any anypb.Any
	if proto.Unmarshal(ticket.GetTicket(), &any) != nil {
		return nil, false
	}
	msg, err := any.UnmarshalNew()
	if err != nil {
		return nil, false
	}
	switch msg := msg.(type) {
	case flightsql.StatementQueryTicket:
		return msg.GetStatementHandle(), true
	case flightsql.PreparedStatementQuery:
		return msg.GetPreparedStatementHandle(), true
	}
	return nil, false
}

// sendRows sends a result in messages that every client can take.
func sendRows(stream flight.FlightService_DoGetServer, rows query.Stream) error {
	out, err := codec.NewRecordSender(stream, rows.Schema())
	if err != nil {
		return err
	}
	for {
		batch, err := rows.Next(stream.Context())
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err == nil {
			err = sendBatch(out, batch)
			batch.Release()
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
}

func sendBatch(out *codec.RecordSender, batch arrow.RecordBatch) error {
	for part, err := range ipc.SplitByBytes(batch, clientBatchBytes, clientMaxBytes) {
		if err == nil {
			err = out.Send(part)
			part.Release()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inMessages is a finished result, which it consumes, in batches that fit
// clients.
func inMessages(batch arrow.RecordBatch) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	defer batch.Release()
	var all []flight.StreamChunk
	for part, err := range ipc.SplitByBytes(batch, clientBatchBytes, clientMaxBytes) {
		if err != nil {
			for _, c := range all {
				c.Data.Release()
			}
			return nil, nil, err
		}
		all = append(all, flight.StreamChunk{Data: part})
	}
	chunks := make(chan flight.StreamChunk, len(all))
	for _, c := range all {
		chunks <- c
	}
	close(chunks)
	return batch.Schema(), chunks, nil
}
