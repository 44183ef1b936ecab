package flightsql

import (
	"context"
	"errors"
	"io"
	"runtime/debug"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/flight"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/tributary-db/tributary/codec/ipc"
	"github.com/tributary-db/tributary/pushdown/status"
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

// pump moves a result into a channel of messages that every client can take.
// It closes the stream, then the channel, when the result or ctx ends.
func (s *Server) pump(ctx context.Context, stream query.Stream) <-chan flight.StreamChunk {
	chunks := make(chan flight.StreamChunk, 1)
	go func() {
		defer close(chunks)
		err := s.pumpAll(ctx, stream, chunks)
		if err != nil {
			sendChunk(ctx, chunks, flight.StreamChunk{Err: toClient(err)})
		}
	}()
	return chunks
}

func (s *Server) pumpAll(ctx context.Context, stream query.Stream, chunks chan<- flight.StreamChunk) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s.log.Error().Interface("panic", r).Bytes("stack", debug.Stack()).Msg("recovered in a result stream")
			err = status.New(status.Internal, "internal error while sending the result")
		}
		if closeErr := stream.Close(); err == nil {
			err = closeErr
		}
	}()
	for {
		batch, err := stream.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = sendBatch(ctx, batch, chunks)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

func sendBatch(ctx context.Context, batch arrow.RecordBatch, chunks chan<- flight.StreamChunk) error {
	for part, err := range ipc.SplitByBytes(batch, clientBatchBytes, clientMaxBytes) {
		if err != nil {
			return err
		}
		if !sendChunk(ctx, chunks, flight.StreamChunk{Data: part}) {
			part.Release()
			return ctx.Err()
		}
	}
	return nil
}

func sendChunk(ctx context.Context, chunks chan<- flight.StreamChunk, chunk flight.StreamChunk) bool {
	select {
	case chunks <- chunk:
		return true
	case <-ctx.Done():
		return false
	}
}

// oneBatch is a finished result of one batch.
func oneBatch(batch arrow.RecordBatch) (*arrow.Schema, <-chan flight.StreamChunk, error) {
	chunks := make(chan flight.StreamChunk, 1)
	chunks <- flight.StreamChunk{Data: batch}
	close(chunks)
	return batch.Schema(), chunks, nil
}
