//go:build clients

package goclient

import (
	"context"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

type request func(context.Context, *flightsql.Client) error

func upload(messages ...*flight.FlightData) request {
	return func(ctx context.Context, c *flightsql.Client) error { return put(ctx, c.Client, messages...) }
}

func describe(cmd []byte) request {
	return func(ctx context.Context, c *flightsql.Client) error {
		info, err := c.Client.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: cmd})
		_, _, err = fetch(ctx, c, info, err)
		return err
	}
}

func read(ticket []byte) request {
	return func(ctx context.Context, c *flightsql.Client) error {
		_, err := c.DoGet(ctx, &flight.Ticket{Ticket: ticket})
		return err
	}
}

func garbled(t testing.TB, cmd proto.Message) request {
	t.Helper()
	d := &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: command(t, cmd)}
	return upload(&flight.FlightData{FlightDescriptor: d, DataHeader: []byte("garbage")}, &flight.FlightData{DataHeader: []byte("garbage")})
}

func TestMalformedRequestsAreRefusedAndTheServerGoesOn(t *testing.T) {
	unknown, err := flightsql.CreateStatementQueryTicket([]byte("no such handle"))
	require.NoError(t, err)
	ingest := &pb.CommandStatementIngest{Table: "t", TableDefinitionOptions: &pb.CommandStatementIngest_TableDefinitionOptions{IfNotExist: 2, IfExists: 1}}
	for name, send := range map[string]request{
		"an upload that is closed at once":    upload(),
		"an upload without a descriptor":      upload(&flight.FlightData{}),
		"an upload with a garbled header":     upload(&flight.FlightData{DataHeader: []byte{1, 2, 3}}),
		"an upload with a garbled descriptor": upload(&flight.FlightData{FlightDescriptor: &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte("garbage")}}),
		"an ingest with a garbled batch":      garbled(t, ingest),
		"parameters with a garbled batch":     garbled(t, &pb.CommandPreparedStatementQuery{PreparedStatementHandle: []byte("no such handle")}),
		"a garbled command":                   describe([]byte("garbage")),
		"no command":                          describe(nil),
		"an empty statement":                  describe(command(t, &pb.CommandStatementQuery{})),
		"an unknown transaction":              describe(command(t, &pb.CommandStatementQuery{Query: "SELECT 1 AS a", TransactionId: []byte("nope")})),
		"a Substrait plan that is none":       describe(command(t, &pb.CommandStatementSubstraitPlan{Plan: &pb.SubstraitPlan{Plan: []byte{0xff, 1}}})),
		"a ticket that is none":               read(nil),
		"a ticket with an unknown handle":     read(unknown),
		"an unknown action":                   act("NoSuchAction", nil),
		"a garbled action":                    act("CreatePreparedStatement", []byte{0xff, 0xff}),
		"to cancel nothing": func(ctx context.Context, c *flightsql.Client) error {
			_, err := c.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{})
			return err
		},
		"to end a transaction that was never started": act("EndTransaction", command(t, &pb.ActionEndTransactionRequest{TransactionId: []byte("nope"), Action: pb.ActionEndTransactionRequest_END_TRANSACTION_COMMIT})),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, client := connect(t)
			err := send(ctx, client)
			require.Error(t, err)
			require.NotContains(t, []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Internal, codes.Unknown}, status.Code(err), "%v", err)
			require.Equal(t, "1", scalar(t, ctx, client, "SELECT 1 AS a"))
		})
	}
}

func act(kind string, body []byte) request {
	return func(ctx context.Context, c *flightsql.Client) error {
		s, err := c.Client.DoAction(ctx, &flight.Action{Type: kind, Body: body})
		return received(s, err)
	}
}

func TestActionsAreListed(t *testing.T) {
	ctx, client := connect(t)
	s, err := client.Client.ListActions(ctx, &flight.Empty{})
	require.NoError(t, err)
	var names []string
	for {
		a, err := s.Recv()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		names = append(names, a.Type)
	}
	require.Subset(t, names, []string{"CreatePreparedStatement", "ClosePreparedStatement", "BeginTransaction", "EndTransaction", "CancelFlightInfo", "SetSessionOptions", "GetSessionOptions", "CloseSession"})
}
