//go:build clients

package goclient

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

func TestQuery(t *testing.T) {
	ctx, client := connect(t)
	require.Equal(t, "1000000", scalar(t, ctx, client, "SELECT count(*) AS n FROM events"))
	schema, err := client.GetExecuteSchema(ctx, "SELECT 1 AS a, 'x' AS b")
	require.NoError(t, err)
	info, err := client.Execute(ctx, "SELECT 1 AS a, 'x' AS b")
	require.NoError(t, err)
	require.Equal(t, schema.Schema, info.Schema)
	require.Len(t, info.Endpoint, 1)
	require.Empty(t, info.Endpoint[0].Location, "an address could be one that the client cannot reach")
}

func TestATicketIsReadLaterOnAnotherConnection(t *testing.T) {
	ctx, client := connect(t)
	info, err := client.Execute(ctx, "SELECT id FROM events WHERE id < 7")
	require.NoError(t, err)
	ctx, other := connect(t)
	rows, _, err := fetch(ctx, other, info, nil)
	require.NoError(t, err)
	require.EqualValues(t, 7, rows)
}

func TestPollFlightInfo(t *testing.T) {
	ctx, client := connect(t)
	var again *flight.FlightDescriptor
	for {
		poll, err := client.ExecutePoll(ctx, "SELECT count(*) AS n FROM events", again)
		require.NoError(t, err)
		require.NotNil(t, poll.Info)
		if again = poll.FlightDescriptor; again == nil {
			rows, first, err := fetch(ctx, client, poll.Info, nil)
			require.NoError(t, err)
			require.EqualValues(t, 1, rows)
			require.Equal(t, "1000000", first)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestSixteenGoroutinesShareAConnection(t *testing.T) {
	ctx, client := connect(t)
	var wg sync.WaitGroup
	errs := make(chan error, 160)
	for i := range 16 {
		wg.Go(func() {
			for j := range 10 {
				want := fmt.Sprint(i*100 + j)
				if _, got, err := query(ctx, client, "SELECT "+want+" AS a"); err != nil || got != want {
					errs <- fmt.Errorf("%s, want %s: %w", got, want, err)
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}

func TestMessagesFitTheDefaultLimitOfGRPC(t *testing.T) {
	ctx, client := connect(t)
	rows, _, err := query(ctx, client, big)
	require.NoError(t, err)
	require.EqualValues(t, 1_000_000, rows)
}

func TestSchemaOfAnEmptyResult(t *testing.T) {
	ctx, client := connect(t)
	info, err := client.Execute(ctx, "SELECT * FROM events WHERE id < 0")
	require.NoError(t, err)
	schema, err := flight.DeserializeSchema(info.Schema, memory.DefaultAllocator)
	require.NoError(t, err)
	require.Equal(t, 7, schema.NumFields())
	rows, _, err := fetch(ctx, client, info, nil)
	require.NoError(t, err)
	require.Zero(t, rows)
}
