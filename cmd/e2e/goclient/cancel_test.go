//go:build clients

package goclient

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// open starts to read a query; its first batch has arrived.
func open(t testing.TB, ctx context.Context, client *flightsql.Client, sql string) (*flight.Reader, *flight.FlightInfo) {
	t.Helper()
	info, err := client.Execute(ctx, sql)
	require.NoError(t, err)
	reader, err := client.DoGet(ctx, info.Endpoint[0].Ticket)
	require.NoError(t, err)
	require.True(t, reader.Next())
	return reader, info
}

func TestCancelledContextFreesEveryScanner(t *testing.T) {
	ctx, client := connect(t)
	// A small window keeps the scans open: otherwise the coordinator holds all
	// that they have to send.
	_, _, err := query(ctx, client, "SET scan_window_bytes = 65536")
	require.NoError(t, err)
	for name, sql := range map[string]string{"while rows come": endless, "before the first row": silent} {
		t.Run(name, func(t *testing.T) {
			cancelled, cancel := context.WithCancel(ctx)
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, _, err := query(cancelled, client, sql)
				ended <- err
			}()
			scanning(t)
			cancel()
			freed(t)
			require.Equal(t, codes.Canceled, status.Code(<-ended))
			require.Equal(t, "1", scalar(t, ctx, client, "SELECT 1 AS a"))
		})
	}
}

func TestCancelFlightInfoFreesEveryScanner(t *testing.T) {
	ctx, client := connect(t)
	reader, info := open(t, ctx, client, endless)
	scanning(t)
	result, err := client.CancelFlightInfo(ctx, &flight.CancelFlightInfoRequest{Info: info})
	require.NoError(t, err)
	require.Contains(t, []flight.CancelStatus{flight.CancelStatusCancelled, flight.CancelStatusCancelling}, result.Status)
	freed(t)
	for reader.Next() {
	}
	require.Contains(t, []codes.Code{codes.Canceled, codes.Aborted}, status.Code(reader.Err()), "%v", reader.Err())
}

func TestTwentyAbandonedStreams(t *testing.T) {
	ctx, client := connect(t)
	for range 20 {
		abandoned, cancel := context.WithCancel(ctx)
		open(t, abandoned, client, endless)
		cancel()
	}
	freed(t)
	require.Equal(t, "1", scalar(t, ctx, client, "SELECT 1 AS a"))
}

func TestDeadline(t *testing.T) {
	ctx, client := connect(t)
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	begun := time.Now()
	_, _, err := query(ctx, client, endless)
	require.Equal(t, codes.DeadlineExceeded, status.Code(err), "%v", err)
	require.Less(t, time.Since(begun), 3*time.Second)
	freed(t)
}
