//go:build clients

package goclient

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// anyRequest sends one request of each RPC and returns its error.
var anyRequest = map[string]func(context.Context, flight.Client) error{
	"GetFlightInfo": func(ctx context.Context, c flight.Client) error {
		_, err := c.GetFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte("x")})
		return err
	},
	"GetSchema": func(ctx context.Context, c flight.Client) error {
		_, err := c.GetSchema(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte("x")})
		return err
	},
	"PollFlightInfo": func(ctx context.Context, c flight.Client) error {
		_, err := c.PollFlightInfo(ctx, &flight.FlightDescriptor{Type: flight.DescriptorCMD, Cmd: []byte("x")})
		return err
	},
	"DoGet": func(ctx context.Context, c flight.Client) error {
		s, err := c.DoGet(ctx, &flight.Ticket{Ticket: []byte("x")})
		return received(s, err)
	},
	"DoAction": func(ctx context.Context, c flight.Client) error {
		s, err := c.DoAction(ctx, &flight.Action{Type: flight.CloseSessionActionType})
		return received(s, err)
	},
	"ListActions": func(ctx context.Context, c flight.Client) error {
		s, err := c.ListActions(ctx, &flight.Empty{})
		return received(s, err)
	},
	"ListFlights": func(ctx context.Context, c flight.Client) error {
		s, err := c.ListFlights(ctx, &flight.Criteria{})
		return received(s, err)
	},
	"DoExchange": func(ctx context.Context, c flight.Client) error {
		s, err := c.DoExchange(ctx)
		return received(s, err)
	},
	"DoPut": func(ctx context.Context, c flight.Client) error {
		return put(ctx, c, &flight.FlightData{})
	},
}

func received[M any](s interface{ Recv() (M, error) }, err error) error {
	if err == nil {
		_, err = s.Recv()
	}
	return err
}

// put uploads messages and returns the error that answers them, nil when the
// server takes them. An ingest is answered twice, with a row count and with
// what went wrong, so the answer is read to its end.
func put(ctx context.Context, c flight.Client, messages ...*flight.FlightData) error {
	s, err := c.DoPut(ctx)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if err := s.Send(m); err != nil {
			break // the answer says why
		}
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for err == nil {
		_, err = s.Recv()
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func TestNoRequestPassesWithoutCredentials(t *testing.T) {
	client := dial(t)
	for name, send := range anyRequest {
		err := send(t.Context(), client.Client)
		require.Equal(t, secured(), status.Code(err) == codes.Unauthenticated, "%s: %v", name, err)
	}
}

func TestWrongCredentialsAreRefused(t *testing.T) {
	client := dial(t)
	_, err := client.Client.AuthenticateBasicToken(t.Context(), "someone", "wrong")
	require.Equal(t, secured(), status.Code(err) == codes.Unauthenticated, "%v", err)
	_, _, err = query(metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer no-token"), client, "SELECT 1 AS a")
	require.Equal(t, secured(), status.Code(err) == codes.Unauthenticated, "%v", err)
}

func TestBasicHandshakeGivesAToken(t *testing.T) {
	ctx, client := connect(t)
	if !secured() {
		var err error
		ctx, err = client.Client.AuthenticateBasicToken(ctx, "anyone", "anything")
		require.NoError(t, err)
	}
	sent, _ := metadata.FromOutgoingContext(ctx)
	require.True(t, strings.HasPrefix(strings.Join(sent.Get("authorization"), ""), "Bearer "))
	require.Equal(t, "1", scalar(t, ctx, client, "SELECT 1 AS a"))
}
